// SPDX-License-Identifier: MIT
/* Records events of several processes, and waits for them. */
#include <stdlib.h>

#include "shared.h"

#define LOOKS		16		/* between two checks whether the recording process lives */

static _Atomic uint64_t *record_of(const struct shared *shared, uint64_t number)
{
	return &shared->event->records[number % RECORDS];
}

/*
 * Has a record happened? One that a later record has overwritten did, as shared_begin() overwrites
 * no other. @ask: check, too, whether the process that made the record still lives
 */
static bool has_happened(const struct shared *shared, uint64_t number, bool ask)
{
	uint64_t record = *record_of(shared, number);

	if (!number || record >> RECORD_NUMBER_SHIFT != number || shared_replaced(shared))
		return true;
	return record & RECORD_HAPPENED || (ask && !shared_pending(shared->event, record));
}

bool shared_happened(const struct shared *shared)
{
	return has_happened(shared, shared->event->recorded, true);
}

/* @set: a failure of this set ends the wait, too; or NULL */
static void shared_wait_for(const struct shared *shared, uint64_t number,
			    const struct stream_set *set)
{
	struct pause pause = {};

	for (unsigned int looks = 1; library_ready() == CUDA_SUCCESS; looks++) {
		uint64_t progress = look_begin();

		pause_begin(&pause);
		if (has_happened(shared, number, looks % LOOKS == 0) ||
		    (set && set->error != CUDA_SUCCESS))
			return;
		look_in_vain(progress);
		pause_sleep(&pause);
	}
}

void shared_wait(const struct shared *shared)
{
	shared_wait_for(shared, shared->event->recorded, NULL);
}

struct shared_work {
	struct work work;
	struct shared *shared;
	uint64_t number;
};

static void happen(const struct shared *shared, uint64_t number)
{
	uint64_t record = *record_of(shared, number);

	/* another event in its place has records of its own, with the same numbers */
	if (record >> RECORD_NUMBER_SHIFT == number && !shared_replaced(shared))
		atomic_compare_exchange_strong(record_of(shared, number), &record,
					       record | RECORD_HAPPENED);
}

static CUresult run_happen(struct work *work, struct stream *stream, CUresult error)
{
	struct shared_work *it = (struct shared_work *)work;

	(void)stream;
	(void)error;
	/* what was to happen before the record has not, if the host is lost */
	if (!library_lost())
		happen(it->shared, it->number);
	shared_put(it->shared);
	return CUDA_SUCCESS;
}

static CUresult shared_run_wait(struct work *work, struct stream *stream, CUresult error)
{
	struct shared_work *it = (struct shared_work *)work;

	if (error == CUDA_SUCCESS)
		shared_wait_for(it->shared, it->number, stream->set);
	shared_put(it->shared);
	return CUDA_SUCCESS;
}

static struct shared_work *new_work(struct shared *shared, bool wait)
{
	struct shared_work *it = malloc(sizeof(*it));

	if (!it)
		return NULL;
	*it = (struct shared_work) { .work.run = wait ? shared_run_wait : run_happen,
				     .shared = shared };
	shared->references++;
	return it;
}

static CUresult shared_submit(struct stream *stream, struct shared_work *it)
{
	CUresult result = stream_submit(stream, &it->work);

	if (result != CUDA_SUCCESS) {
		shared_put(it->shared);
		free(it);
	}
	return result;
}

/*
 * Begins a record: writes its word, then raises the event's number. A process that finds the word
 * of the next number written raises the number for the process that wrote it, which may have been
 * stopped or killed in between. @happened: the record has happened already
 */
static CUresult shared_begin(struct shared *shared, bool happened, uint64_t *number)
{
	struct shared_event *event = shared->event;
	uint64_t last, record, old;
	unsigned int maker;
	CUresult result;

	if (shared_replaced(shared))
		return fail(CUDA_ERROR_INVALID_HANDLE, "its creator has destroyed the event");
	result = shared_maker(shared, &maker);
	if (result != CUDA_SUCCESS)
		return result;
	for (;;) {
		last = event->recorded;
		*number = last + 1;
		old = *record_of(shared, *number);
		if (old >> RECORD_NUMBER_SHIFT == *number) {
			atomic_compare_exchange_strong(&event->recorded, &last, *number);
			continue;
		}
		if (old >> RECORD_NUMBER_SHIFT > last)
			continue;	/* another process has raised the number since */
		if (shared_pending(event, old))
			return fail(CUDA_ERROR_OUT_OF_MEMORY,
				    "%d records of the event have not happened yet", RECORDS);
		record = *number << RECORD_NUMBER_SHIFT | maker << RECORD_MAKER_SHIFT |
			 (happened ? RECORD_HAPPENED : 0);
		if (atomic_compare_exchange_strong(record_of(shared, *number), &old, record))
			break;
	}
	atomic_compare_exchange_strong(&event->recorded, &last, *number);
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
	result = shared_begin(shared, idle, &number);
	if (result != CUDA_SUCCESS) {
		if (it)
			shared_put(shared);
		free(it);
		return result;
	}
	if (idle)
		return CUDA_SUCCESS;
	it->number = number;
	result = shared_submit(stream, it);
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
	return shared_submit(stream, it);
}
