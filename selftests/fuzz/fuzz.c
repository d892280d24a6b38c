// SPDX-License-Identifier: MIT
/* The fuzzer's random numbers, and its table of the objects that calls gave, by kind. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "importer.h"
#include "peers.h"
#include "processor.h"

uint32_t fuzz_any(struct fuzz *f, uint32_t below)
{
	/* splitmix64: any seed is a good one */
	uint64_t z = f->random += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) % below;
}

bool fuzz_percent(struct fuzz *f, uint32_t chance)
{
	return fuzz_any(f, 100) < chance;
}

uint64_t fuzz_odd(struct fuzz *f)
{
	/* no size that a machine could just provide: such a call would take all its memory */
	const uint64_t odd[] = {
		0, 1, 2, 3, 7, 511, 512, PAGE - 1, PAGE, PAGE + 1, CHUNK - 1, CHUNK, CHUNK + 1,
		CHUNK - PAGE, CHUNK + PAGE, 3 * CHUNK, 1ULL << 31, 1ULL << 32, (1ULL << 32) - 1,
		1ULL << 40, (1ULL << 47) - CHUNK, (1ULL << 47) - PAGE, 1ULL << 47, 1ULL << 48,
		1ULL << 52, 1ULL << 62, (1ULL << 63) - CHUNK, (1ULL << 63) - 1, 1ULL << 63, -CHUNK,
		-PAGE, -1,
	};
	uint64_t value = odd[fuzz_any(f, sizeof(odd) / sizeof(odd[0]))];

	return value == 1ULL << 31 ? value << fuzz_any(f, 8) << 4 : value;
}

/* Handles and addresses of one client make more sense than those of many. */
int fuzz_client(struct fuzz *f)
{
	return fuzz_percent(f, 85) ? f->things->client : (int)fuzz_pick(f, CLIENT).value;
}

void fuzz_open_client(struct fuzz *f)
{
	f->things->client = open("/dev/memcast", O_RDWR);
	fuzz_keep(f, CLIENT, dup(f->things->client), 0);
}

/* The newest things are drawn more often, so that calls meet. */
struct fuzz_thing fuzz_pick(struct fuzz *f, enum fuzz_kind kind)
{
	struct fuzz_things *t = f->things;
	unsigned int newest = __atomic_load_n(&t->newest[kind], __ATOMIC_RELAXED);
	unsigned int back = fuzz_percent(f, 50) ? fuzz_any(f, 3) : fuzz_any(f, FUZZ_PLACES);
	struct fuzz_thing *thing = &t->at[kind][(newest - back) % FUZZ_PLACES];

	if (!thing->value && !thing->extra)
		thing = &t->at[kind][newest % FUZZ_PLACES];
	return *thing;
}

/* Releases the thing that it replaces, or pools and tables would soon be exhausted. */
void fuzz_keep(struct fuzz *f, enum fuzz_kind kind, uint64_t value, uint64_t extra)
{
	struct fuzz_things *t = f->things;
	unsigned int at = __atomic_add_fetch(&t->newest[kind], 1, __ATOMIC_RELAXED);
	struct fuzz_thing *place = &t->at[kind][at % FUZZ_PLACES], old = *place;
	struct memcast_handle_release release = { .header.size = sizeof(release) };
	struct memcast_heap_destroy destroy = { .header.size = sizeof(destroy) };

	*place = (struct fuzz_thing){ value, extra };
	switch (kind) {
	case MEMORY:
	case TEAM:
		release.handle = old.value;
		if (old.value)
			ioctl(f->things->client, MEMCAST_HANDLE_RELEASE, &release);
		break;
	case HEAP:
	case IMPORTED:
		destroy.heap = old.value;
		destroy.flags = MEMCAST_HEAP_FORCE;
		if (old.value)
			ioctl(f->things->client, MEMCAST_HEAP_DESTROY, &destroy);
		break;
	case CLIENT:
	case DMABUF:
	case HEAP_FD:
	case OTHER_FD:
		if (old.value > 2 && old.value != value)
			close(old.value);
		break;
	default:
		break;
	}
}

/* An address in or at the end of plain memory, a mapping, a buffer or a block; or an odd number */
void *fuzz_somewhere(struct fuzz *f)
{
	static const enum fuzz_kind kinds[] = { PLAIN, PLAIN, MAPPING, BUFFER, BLOCK };
	struct fuzz_thing thing = fuzz_pick(f, kinds[fuzz_any(f, 5)]);

	if (fuzz_percent(f, 10))
		return (void *)fuzz_odd(f);
	if (fuzz_percent(f, 50))
		return (void *)(thing.value + fuzz_any(f, 64) * 64);
	/* a structure there reaches across the end */
	return (void *)(thing.value + thing.extra - fuzz_any(f, 16) * 8);
}

static __thread sigjmp_buf way_out;
static __thread volatile sig_atomic_t trying, failing;

static void on_fault(int number, siginfo_t *info, void *context)
{
	const ucontext_t *where = context;

	if (trying)
		siglongjmp(way_out, number);
	/* an injected failure of the kernel's own access to the thread's restartable sequences */
	if (failing && info->si_code == SI_KERNEL)
		return;
	dprintf(2, "# the fuzzer itself faulted, at %p for %p, code %d\n",
		(void *)instruction_of(where), info->si_addr, info->si_code);
	_exit(70);
}

void fuzz_catch_faults(void)
{
	struct sigaction action = {
		.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER,
	};

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	/* fds and pipes send these signals */
	signal(SIGIO, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/* The addresses may be any, NULL as well. */
__attribute__((no_sanitize_undefined))
bool fuzz_copy(void *to, const void *from, size_t bytes)
{
	bool good = false;

	trying = 1;
	/* SA_NODEFER: the handler blocks no signals, so there is no mask to restore */
	if (!sigsetjmp(way_out, 0)) {
		memcpy(to, from, bytes);
		good = true;
	}
	trying = 0;
	return good;
}

static void plain_memory(struct fuzz *f)
{
	char *at = (char *)f->things->arena;

	/* pages to read and write, pages to read, and pages without access */
	mprotect(at, 8 * PAGE, PROT_READ | PROT_WRITE);
	mprotect(at + 8 * PAGE, 4 * PAGE, PROT_READ);
	mprotect(at + CHUNK, CHUNK, PROT_READ | PROT_WRITE);
	fuzz_keep(f, PLAIN, (uintptr_t)at, 8 * PAGE);
	fuzz_keep(f, PLAIN, (uintptr_t)at + 8 * PAGE, 4 * PAGE);
	fuzz_keep(f, PLAIN, (uintptr_t)at + CHUNK, CHUNK);
	fuzz_keep(f, PLAIN, (uintptr_t)at + CHUNK + 3 * PAGE, 2 * PAGE);
}

void fuzz_start(struct fuzz *f)
{
	struct fuzz_things *t = f->things;
	/* behind the arena lies a gap that no call of the fuzzer reaches across */
	char *room = mmap(NULL, FUZZ_ARENA + 9 * CHUNK, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	const char *why;
	unsigned int i;

	t->arena = ((uintptr_t)room + CHUNK - 1) & -CHUNK;
	fuzz_catch_faults();
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, t->socket) ||
	    pipe2(t->pipe, O_NONBLOCK))
		_exit(72);
	t->vgem = vgem_open();
	t->importer = importer_open(&why);
	t->exporter = open("/dev/memcast-exporter", O_RDWR);
	t->channel = open("/dev/memcast-imex/channel0", O_RDWR);
	for (i = 0; i < 2; i++)
		fuzz_open_client(f);
	fuzz_keep(f, OTHER_FD, open("/dev/zero", O_RDWR), 0);
	fuzz_keep(f, OTHER_FD, memfd_create("fuzz", 0), 0);
	for (i = 0; i < 3; i++)
		fuzz_keep(f, HEAP, MEMCAST_HEAP_DEFAULT(i), 0);
	plain_memory(f);
	f->faults = -1;
	for (i = 4; i < 24; i += 4) {
		void *at = mmap((char *)t->arena + i * CHUNK, 4 * CHUNK, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_FIXED, t->client, 0);

		if (at != MAP_FAILED)
			fuzz_keep(f, RESERVATION, (uintptr_t)at, 4 * CHUNK);
	}
	fuzz_warm_up(f);
}

static void write_nth(int faults, unsigned int n)
{
	char text[16];
	int tries;

	/* the injected failure may hit this write; another thread may have closed the file */
	for (tries = 0; tries < 9; tries++)
		if (pwrite(faults, text, snprintf(text, sizeof(text), "%u", n), 0) >= 0)
			break;
}

bool fuzz_fail_some(struct fuzz *f)
{
	if (f->faults < 0 || !fuzz_percent(f, 10))
		return false;
	failing = true;
	write_nth(f->faults, 1 + fuzz_any(f, 24));
	return true;
}

void fuzz_fail_none(struct fuzz *f)
{
	int error = errno;

	if (f->faults < 0)
		return;
	write_nth(f->faults, 0);
	failing = false;
	errno = error;
}

void fuzz_steps(struct fuzz *f, unsigned int steps)
{
	f->faults = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	while (steps--) {
		if (fuzz_percent(f, 65))
			fuzz_call(f);
		else
			fuzz_act(f);
		__atomic_fetch_add(&f->counts->steps, 1, __ATOMIC_RELAXED);
	}
	if (f->faults >= 0)
		close(f->faults);
}
