// SPDX-License-Identifier: MIT
/* Makers: the processes that record an event of several processes, and whether they live. */
#include <string.h>

#include "shared.h"

static struct maker *maker_of(struct shared_event *event, uint64_t record)
{
	return &event->makers[(record >> RECORD_MAKER_SHIFT & RECORD_MAKER_MASK) % MAKERS];
}

/*
 * Is a record pending: not happened, and of a living process? Who takes a maker's place from a
 * process that has ended marks all its records as happened before the place is THERE again.
 */
bool shared_pending(const struct shared_event *event, uint64_t record)
{
	const struct maker *maker = maker_of((struct shared_event *)event, record);

	if (!record || record & RECORD_HAPPENED)
		return false;
	return (maker->state & MAKER_STATE) == MAKER_THERE && shared_alive(maker->key);
}

/* The caller has the place. */
static void set_state(struct maker *maker, uint64_t state)
{
	maker->state = (maker->state & ~(uint64_t)MAKER_STATE) | state;
}

/* Marks as happened all records of a process that has ended. */
static void end_records(struct shared_event *event, const struct maker *maker)
{
	for (unsigned int i = 0; i < RECORDS; i++) {
		uint64_t record = event->records[i];

		if (record && !(record & RECORD_HAPPENED) && maker_of(event, record) == maker)
			atomic_compare_exchange_strong(&event->records[i], &record,
						       record | RECORD_HAPPENED);
	}
}

/* Takes a maker's place that has @state: a free one, or that of a process that has ended. */
static struct maker *take_place(struct shared_event *event, uint64_t state)
{
	for (unsigned int i = 0; i < MAKERS; i++) {
		struct maker *maker = &event->makers[i];
		uint64_t found = maker->state, taken;

		if ((found & MAKER_STATE) != state ||
		    (state == MAKER_THERE && shared_alive(maker->key)))
			continue;
		taken = (found & ~(uint64_t)MAKER_STATE) + MAKER_TAKEN + MAKER_FILLING;
		/* fails if another process has taken the place meanwhile: that one may live */
		if (!atomic_compare_exchange_strong(&maker->state, &found, taken))
			continue;
		if (state == MAKER_THERE)
			end_records(event, maker);
		return maker;
	}
	return NULL;
}

/**
 * shared_maker() - this process's place among those that record the event
 * @shared: the event, as it was created or opened here
 * @place: output
 *
 * Return: CUDA_ERROR_OUT_OF_MEMORY if MAKERS other processes record it.
 */
CUresult shared_maker(struct shared *shared, unsigned int *place)
{
	struct maker *maker;
	int none = 0;

	if (!shared->maker) {
		maker = take_place(shared->event, MAKER_NONE);
		if (!maker)
			maker = take_place(shared->event, MAKER_THERE);
		if (!maker)
			return fail(CUDA_ERROR_OUT_OF_MEMORY,
				    "%d others record the event already", MAKERS);
		memcpy(maker->key, shared_self(), sizeof(maker->key));
		set_state(maker, MAKER_THERE);
		/* another thread may have been faster */
		if (!atomic_compare_exchange_strong(&shared->maker, &none,
						    maker - shared->event->makers + 1))
			set_state(maker, MAKER_NONE);
	}
	*place = shared->maker - 1;
	return CUDA_SUCCESS;
}

/* Gives up this process's place, with the last reference: all its records have happened. */
void shared_maker_end(const struct shared *shared)
{
	if (shared->maker)
		set_state(&shared->event->makers[shared->maker - 1], MAKER_NONE);
}
