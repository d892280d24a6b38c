/* SPDX-License-Identifier: MIT */
/*
 * Events of several processes. What there is to know of one is in memory that they
 * share: how often it was recorded, and of its last records, whether they have happened
 * and who made them. Nobody holds anything in there, so any of them may be killed at any
 * moment; a record of a process that has gone counts as one that has happened.
 */
#ifndef MEMCAST_SHARED_H
#define MEMCAST_SHARED_H

#include "stream.h"

struct page;

#define RECORDS		80	/* of an event that have not happened yet */

struct record {
	_Atomic uint64_t state;	/* which of the event's records this is, twice; + 1: happened */
	uint8_t maker[MEMCAST_IPC_KEY_SIZE];	/* the page of who made it */
};

/* In the page of who created the event; all of it is zero at first. */
struct shared_event {
	_Atomic uint32_t generation;	/* odd: in use */
	_Atomic uint32_t openers;	/* also those that were killed */
	_Atomic uint64_t recorded;	/* number of the last record */
	struct record records[RECORDS];
	uint64_t zero[14];
};

_Static_assert(sizeof(struct shared_event) == 2048, "the same in every process");

struct shared {
	atomic_uint references;
	struct page *page;
	struct shared_event *event;
	uint32_t generation;	/* of the event, while it is not destroyed */
	bool own;
};

/* shared_page.c */
CUresult shared_create(struct shared **shared);
CUresult shared_open(struct shared **shared, const CUipcEventHandle *handle);
CUresult shared_handle(const struct shared *shared, CUipcEventHandle *handle);
void shared_put(struct shared *shared);		/* NULL: nothing to do */
const uint8_t *shared_self(void);
bool shared_alive(const uint8_t *key);

static inline struct shared *shared_reference(struct shared *shared)
{
	if (shared)
		shared->references++;
	return shared;
}

/* Has the creator destroyed the event, and made another one in its place? */
static inline bool shared_replaced(const struct shared *shared)
{
	return shared->event->generation - shared->generation > 1;
}

/* shared.c */
CUresult shared_record(struct shared *shared, struct stream *stream);
bool shared_happened(const struct shared *shared);
void shared_wait(const struct shared *shared);
CUresult shared_wait_in(struct shared *shared, struct stream *stream);

#endif /* MEMCAST_SHARED_H */
