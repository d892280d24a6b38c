// SPDX-License-Identifier: MIT
/*
 * Finds the fastest way to copy and combine long arrays. It depends on the processor, and on how
 * much of a cache that others use as well this program gets. No size that the machine states
 * decides it: measured, an Intel Xeon in a virtual machine got 24 of its 260 MiB, and there the C
 * library's copy was faster than the loops here, which are faster on an AMD EPYC.
 *
 * So the first calls of each size go each way in turn, on the program's own arrays, and are timed;
 * later calls of all threads go the fastest way. All ways have the same result, so that measuring
 * only makes some calls slower. After AGAIN calls a thread tries all ways again: the arrays of its
 * first calls may not have been in a cache yet, or the machine may have had another load.
 *
 * Times are CPU times of the thread, without those of other threads on the processor.
 */
#include <time.h>

#include "array.h"

/*
 * The sizes of a class have the same highest bit; the first has all smaller sizes, the last all
 * larger.
 */
#define FIRST_CLASS	10
#define LONG_CLASS	24	/* 16 MiB: a call takes so long that little disturbs its time */
#define LAST_CLASS	31
#define CLASSES		(LAST_CLASS + 1 - FIRST_CLASS)

/* Tries of each way. The first is not timed: the caches have what another way left in them. */
#define TRIES		5
#define LONG_TRIES	3
#define AGAIN		1000

#define NEVER	(UINT32_MAX / 2)	/* longer than any measured time */

/* Arrays of 1 or 2 replicas have ways of their own, as have those of 3 or 4, and of more. */
#define GROUPS	3

/* Times of one thread, whose calls find in the caches what its last call left there */
struct bulk_times {
	unsigned int calls;
	uint32_t least[BULK_WAYS];	/* nanoseconds per MiB */
};

static __thread struct bulk_times thread_times[BULK_KINDS][GROUPS][CLASSES];

/* The ways of all threads; BULK_WAYS: none found yet */
static unsigned char decided[BULK_KINDS][GROUPS][CLASSES] = {
	[0 ... BULK_KINDS - 1] = { [0 ... GROUPS - 1] = { [0 ... CLASSES - 1] = BULK_WAYS } },
};

/* Return: 0 if there is no such clock; then no way is faster than another. */
static uint64_t own_nanoseconds(void)
{
	struct timespec time = {};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static unsigned int class_of(size_t bytes)
{
	unsigned int class = 63 - (unsigned int)__builtin_clzl(bytes | 1);

	return class < FIRST_CLASS ? FIRST_CLASS : class > LAST_CLASS ? LAST_CLASS : class;
}

static unsigned int group_of(unsigned int replicas)
{
	return replicas <= 2 ? 0 : replicas <= 4 ? 1 : 2;
}

/*
 * From machine->stream bytes on, sums into a buffer are a kind of their own, which goes past
 * the caches.
 */
static enum bulk_kind kind_from(enum bulk_kind kind, size_t bytes)
{
	if (bytes < bulk_machine()->stream)
		return kind;
	return kind == BULK_SUM ? BULK_SUM_PAST :
	       kind == BULK_SUM_NARROW ? BULK_SUM_NARROW_PAST : kind;
}

static bool always_past(enum bulk_kind kind)
{
	return kind == BULK_SUM_PAST || kind == BULK_SUM_NARROW_PAST;
}

/*
 * May the stores of a call go past the caches? Not if it reads the memory that it writes: that
 * is in the caches.
 */
static bool may_go_past(enum bulk_kind kind, unsigned int class)
{
	const struct bulk_machine *machine = bulk_machine();

	return (kind == BULK_COPY || kind == BULK_SUM || kind == BULK_SUM_NARROW) &&
	       !machine->stream_set && 1UL << class >= 2 * machine->cache2;
}

/* Lists the ways to try; calls take the first one before there are times. */
static unsigned int candidates(enum bulk_kind kind, unsigned int class, enum bulk_way *ways)
{
	unsigned int count = 0;

	if (!always_past(kind)) {
		ways[count++] = BULK_LOOP;
		if (kind == BULK_COPY) {
			ways[count++] = BULK_LIBC;
			ways[count++] = BULK_WHOLE;
		} else {
			ways[count++] = BULK_AHEAD;
		}
	}
	if (always_past(kind) || may_go_past(kind, class)) {
		ways[count++] = BULK_PAST;
		if (kind != BULK_COPY)
			ways[count++] = BULK_PAST_AHEAD;
	}
	return count;
}

/*
 * Return: a way's time, changed by other effects: fetching ahead evicts lines from the caches
 * that others may need, and a loop has to beat N copies by the C library clearly.
 */
static uint32_t cost(enum bulk_way way, uint32_t time)
{
	switch (way) {
	case BULK_AHEAD:
	case BULK_PAST_AHEAD:
		return time + time / 16;
	case BULK_WHOLE:
		return time - time / 32;
	default:
		return time;
	}
}

static enum bulk_way fastest(const uint32_t *least)
{
	enum bulk_way best = BULK_LOOP, way;

	for (way = best + 1; way < BULK_WAYS; way++)
		if (least[way] < NEVER && cost(way, least[way]) < cost(best, least[best]))
			best = way;
	return best;
}

enum bulk_way bulk_way(enum bulk_kind kind, unsigned int replicas, size_t bytes, size_t written,
		       struct bulk_trial *trial)
{
	const struct bulk_machine *machine = bulk_machine();
	unsigned int class = class_of(bytes), group = group_of(replicas), each, tries, call;
	enum bulk_way ways[BULK_WAYS];
	struct bulk_times *times;
	unsigned char *known, way;

	trial->times = NULL;
	if (kind == BULK_COPY && written >= machine->stream)
		return BULK_PAST;
	kind = kind_from(kind, bytes);
	each = class < LONG_CLASS ? TRIES : LONG_TRIES;
	tries = each * candidates(kind, class, ways);
	if (bytes < machine->cache1 / 4)	/* reading the clock would take longer */
		return ways[0];

	times = &thread_times[kind][group][class - FIRST_CLASS];
	known = &decided[kind][group][class - FIRST_CLASS];
	way = __atomic_load_n(known, __ATOMIC_RELAXED);
	if (!times->calls && way != BULK_WAYS)
		times->calls = tries;		/* another thread has found the way */
	if (times->calls >= AGAIN)
		times->calls = 0;
	call = times->calls++;
	if (call >= tries)
		return way == BULK_WAYS ? ways[0] : way;

	if (!call)
		for (unsigned int i = 0; i < BULK_WAYS; i++)
			times->least[i] = NEVER;
	*trial = (struct bulk_trial) {
		.way = ways[call / each], .bytes = bytes, .written = written,
	};
	if (call % each) {
		trial->times = times;
		trial->decide = times->calls == tries ? known : NULL;
		trial->start = own_nanoseconds();
	}
	return trial->way;
}

/*
 * A later read of bytes that a call stored past the caches was measured to be three tenths slower
 * (14 instead of 20 GB/s). So a way past the caches is charged three tenths of the time that the
 * call took for the bytes which it wrote.
 */
void bulk_way_measured(const struct bulk_trial *trial)
{
	uint64_t time = ((own_nanoseconds() - trial->start) << 20) / trial->bytes;
	uint32_t *least = trial->times->least;

	if (bulk_goes_past(trial->way))
		time += (uint64_t)((double)time * 0.3 * trial->written / trial->bytes);
	if (time >= NEVER)
		time = NEVER - 1;
	if (time < least[trial->way])
		least[trial->way] = (uint32_t)time;
	if (trial->decide)
		__atomic_store_n(trial->decide, fastest(least), __ATOMIC_RELAXED);
}
