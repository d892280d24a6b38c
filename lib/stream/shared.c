// SPDX-License-Identifier: MIT
/* Records of events of several processes, and waits for them. */
#include <stdlib.h>
#include <string.h>

#include "shared.h"

#define WRITTEN_WITHIN	100000000L	/* nanoseconds: longer, and the writer was killed */
#define LOOKS		16		/* between two questions whether a process lives */

static struct record *record_of(const struct shared *shared, uint64_t number)
{
	return &shared->event->records[number % RECORDS];
}

/*
 * Has that record happened? So has one whose place a later one has: see begin().
 * @ask: ask for its maker, too
 */
static bool has_happened(const struct shared *shared, uint64_t number, bool ask)
{
	const struct record *record = record_of(shared, number);
	uint64_t state = record->state;

	if (!number || state >> 1 > number || shared_replaced(shared))
		return true;
	if (state >> 1 < number)
		return false;	/* it is just being written */
	return state & 1 || (ask && !shared_alive(record->maker));
}

bool shared_happened(const struct shared *shared)
{
	return has_happened(shared, shared->event->recorded, true);
}

static long nanoseconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

/* @set: whose failure ends the wait, or NULL */
static void wait_for(const struct shared *shared, uint64_t number,
		     const struct stream_set *set)
{
	long started = nanoseconds();
	struct pause pause = {};

	pause_begin(&pause);
	for (unsigned int looks = 1; library_ready() == CUDA_SUCCESS; looks++) {
		if (has_happened(shared, number, looks % LOOKS == 0) ||
		    (set && set->error != CUDA_SUCCESS))
			return;
		if (record_of(shared, number)->state >> 1 < number &&
		    nanoseconds() - started > WRITTEN_WITHIN)
			return;
		pause_sleep(&pause);
	}
}

void shared_wait(const struct shared *shared)
{
	wait_for(shared, shared->event->recorded, NULL);
}

struct shared_work {
	struct work work;
	struct shared *shared;
	uint64_t number;
};

static void happen(const struct shared *shared, uint64_t number)
{
	uint64_t state = number << 1;

	atomic_compare_exchange_strong(&record_of(shared, number)->state, &state, state | 1);
}

static CUresult run_happen(struct work *work, struct stream *stream, CUresult error)
{
	struct shared_work *it = (struct shared_work *)work;

	(void)stream;
	(void)error;
	happen(it->shared, it->number);
	shared_put(it->shared);
	return CUDA_SUCCESS;
}

static CUresult run_wait(struct work *work, struct stream *stream, CUresult error)
{
	struct shared_work *it = (struct shared_work *)work;

	if (error == CUDA_SUCCESS)
		wait_for(it->shared, it->number, stream->set);
	shared_put(it->shared);
	return CUDA_SUCCESS;
}

static struct shared_work *new_work(struct shared *shared, bool wait)
{
	struct shared_work *it = malloc(sizeof(*it));

	if (!it)
		return NULL;
	*it = (struct shared_work) { .work.run = wait ? run_wait : run_happen, .shared = shared };
	shared->references++;
	return it;
}

static CUresult submit(struct stream *stream, struct shared_work *it)
{
	CUresult result = stream_submit(stream, &it->work);

	if (result != CUDA_SUCCESS) {
		shared_put(it->shared);
		free(it);
	}
	return result;
}

/* Is a place free for a record: has the one before it happened, if there was one? */
static bool is_free(const struct record *record)
{
	uint64_t state = record->state;

	return !state || state & 1 || !shared_alive(record->maker);
}

/* Whoever looks at the place meanwhile sees an older record, and waits for this one. */
static CUresult begin(const struct shared *shared, uint64_t *number)
{
	uint64_t last = shared->event->recorded;
	struct record *record;

	if (shared_replaced(shared))
		return fail(CUDA_ERROR_INVALID_HANDLE, "its creator has destroyed the event");
	do {
		*number = last + 1;
		record = record_of(shared, *number);
		if (!is_free(record))
			return fail(CUDA_ERROR_OUT_OF_MEMORY,
				    "%d records of the event have not happened yet", RECORDS);
	} while (!atomic_compare_exchange_strong(&shared->event->recorded, &last, *number));
	record->state = 0;
	memcpy(record->maker, shared_self(), sizeof(record->maker));
	record->state = *number << 1;
	return CUDA_SUCCESS;
}

CUresult shared_record(struct shared *shared, struct stream *stream)
{
	struct shared_work *it;
	CUresult result;
	uint64_t number = 0;
	bool idle;

	result = stream_idle(stream, WAIT_OWN | WAIT_BEFORE, &idle);
	if (result != CUDA_SUCCESS)
		return result;
	it = idle ? NULL : new_work(shared, false);
	if (!idle && !it)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a record");
	result = begin(shared, &number);
	if (result != CUDA_SUCCESS) {
		if (it)
			shared_put(shared);
		free(it);
		return result;
	}
	if (idle) {
		happen(shared, number);
		return CUDA_SUCCESS;
	}
	it->number = number;
	result = submit(stream, it);
	if (result != CUDA_SUCCESS)
		happen(shared, number);
	return result;
}

CUresult shared_wait_in(struct shared *shared, struct stream *stream)
{
	uint64_t number = shared->event->recorded;
	struct shared_work *it;

	if (has_happened(shared, number, false))
		return CUDA_SUCCESS;
	it = new_work(shared, true);
	if (!it)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a wait");
	it->number = number;
	return submit(stream, it);
}
