// SPDX-License-Identifier: MIT
/*
 * Choices that depend on the CPU, or that the environment makes.
 *
 * The instruction set: the widest of x86/sets.c or arm64/sets.c, or MEMCAST_CPU=sse2|avx2|avx512|neon.
 * That holds for QEMU without KVM as well (measured: AVX2 takes 0.55 to 1.0 of SSE2's time).
 *
 * The number of bytes from which on stores always go past the caches: three quarters of the size
 * of the last cache (measured on an AMD EPYC), or MEMCAST_STREAM=BYTES. A virtual machine is told
 * of more than it gets if others use the same cache: the best way for smaller arrays is measured
 * (bulk-way.c).
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"

#define VARIABLE	"MEMCAST_CPU"
#define STREAM_VARIABLE	"MEMCAST_STREAM"
#define PAGE		4096
#define CACHE_SIZE	"/sys/devices/system/cpu/cpu0/cache/index3/size"

/* emulated CPUs do not tell the sizes */
#define CACHE_UNKNOWN	(8UL << 20)
#define CACHE1_UNKNOWN	(32UL << 10)
#define CACHE2_UNKNOWN	(1UL << 20)

struct bulk_machine bulk_machine_known;

/* Messages of the choice, which are printed when no thread waits for it any more */
static char complaints[512];
static atomic_bool unsaid;

__attribute__((format(printf, 1, 2)))
static void complain(const char *format, ...)
{
	size_t length = strlen(complaints);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(complaints + length, sizeof(complaints) - length, format, arguments);
	va_end(arguments);
	unsaid = true;
}

static const struct bulk_loops *choose_loops(void)
{
	const char *wanted = secure_getenv(VARIABLE);
	const struct bulk_loops *loops = NULL;

	for (const struct bulk_set *set = bulk_sets; set->name; set++) {
		if (!set->there())
			continue;
		if (wanted && !strcmp(wanted, set->name))
			return set->loops;
		loops = set->loops;
	}
	if (wanted && *wanted) {
		complain("memcast: " VARIABLE "=%.100s: this CPU has no such thing; it is "
			 "one of ", wanted);
		for (const struct bulk_set *set = bulk_sets; set->name; set++)
			complain("%s%s", set->name, set[1].name ? ", " : "\n");
	}
	return loops;
}

/* sysconf() is not used: in virtual machines it has returned ten times as much. */
static size_t cache_bytes(void)
{
	FILE *file = fopen(CACHE_SIZE, "re");
	size_t size = 0;
	char unit = 0;

	if (file) {
		if (fscanf(file, "%zu%c", &size, &unit) != 2)
			size = 0;
		fclose(file);
	}
	return unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : 0;
}

static size_t choose_stream(bool *set)
{
	const char *wanted = secure_getenv(STREAM_VARIABLE);
	char *end;

	if (wanted && *wanted) {
		size_t bytes = strtoull(wanted, &end, 0);

		*set = !*end && bytes;
		if (*set)
			return bytes;
		complain("memcast: " STREAM_VARIABLE "=%.100s: not a number of bytes\n", wanted);
	}
	return cache_bytes() / 4 * 3 ?: CACHE_UNKNOWN;
}

/* Return: the size of a cache that a processor does not share; for these, sysconf() is right. */
static size_t own_cache(int name, size_t unknown)
{
	long bytes = sysconf(name);

	return bytes > 0 ? (size_t)bytes : unknown;
}

static uint64_t nanoseconds(void)
{
	struct timespec time = {};

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/*
 * Is a page copied to two others faster by pieces than by the C library? Some processors' "rep
 * movsb" is as fast as any loop, others' is not. The least of several times is not disturbed by
 * other work of the machine; all take some 10 us.
 */
static bool pieces_are_faster(const struct bulk_loops *copies)
{
	static unsigned char page[3][PAGE] __attribute__((aligned(PAGE)));
	unsigned char *const to[2] = { page[1], page[2] };
	uint64_t start, time, pieces = UINT64_MAX, libc = UINT64_MAX;

	for (int round = 0; round < 6; round++) {
		start = nanoseconds();
		for (int i = 0; i < 8; i++)
			copies->copy_to_2(to, 0, page[0], PAGE);
		time = nanoseconds() - start;
		if (time < pieces)
			pieces = time;
		start = nanoseconds();
		for (int i = 0; i < 8; i++) {
			memcpy(to[0], page[0], PAGE);
			memcpy(to[1], page[0], PAGE);
		}
		time = nanoseconds() - start;
		if (time < libc)
			libc = time;
	}
	return pieces < libc;
}

static void choose(void)
{
	struct bulk_machine *machine = &bulk_machine_known;
	size_t short_bytes;

	machine->loops = choose_loops();
	machine->copies = secure_getenv(VARIABLE) ? machine->loops :
			  bulk_copies_of(machine->loops);
	machine->copy = machine->copies->copy;
	machine->stream = choose_stream(&machine->stream_set);
	machine->cache1 = own_cache(_SC_LEVEL1_DCACHE_SIZE, CACHE1_UNKNOWN);
	machine->cache2 = own_cache(_SC_LEVEL2_CACHE_SIZE, CACHE2_UNKNOWN);
	machine->pieces = pieces_are_faster(machine->copies) ? machine->cache1 / 4 * 3 : 0;
	/*
	 * The source and one replica fit the first-level cache, and all replicas of any view
	 * together are below MEMCAST_STREAM.
	 */
	short_bytes = machine->cache1 / 2;
	if (short_bytes > machine->stream / MEMCAST_VIEW_MAX)
		short_bytes = machine->stream / MEMCAST_VIEW_MAX ?: 1;
	__atomic_store_n(&machine->short_bytes, short_bytes, __ATOMIC_RELEASE);
}

/* Cancellation waits until the choice is made: a cancelled thread would leave a file open. */
void bulk_choose(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	pthread_once(&once, choose);
	if (atomic_exchange(&unsaid, false))
		while (write(STDERR_FILENO, complaints, strlen(complaints)) < 0 && errno == EINTR)
			;
	pthread_setcancelstate(before, NULL);
}
