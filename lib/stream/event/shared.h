/* SPDX-License-Identifier: MIT */
/*
 * Events of several processes. An event's state is in memory that the processes share: how
 * often it was recorded, and for its last records, whether they have happened and which process
 * made them. That memory has no locks, so any of the processes may be killed at any moment; a
 * record of a process that has ended counts as one that has happened.
 */
#ifndef MEMCAST_SHARED_H
#define MEMCAST_SHARED_H

#include "stream/stream.h"

struct page;

#define RECORDS		80	/* records of an event that may be pending */

#define MAKERS		52	/* processes, or openings of the event, that record it */

/*
 * A record is one word, so that it is written as a whole: its number among the event's records,
 * the place of its maker, and whether it has happened.
 */
#define RECORD_HAPPENED		1ULL
#define RECORD_MAKER_SHIFT	1
#define RECORD_MAKER_MASK	0x7fU
#define RECORD_NUMBER_SHIFT	8

/*
 * State of a maker, a process that records, in the lowest bits of its word. If it is killed while it
 * takes a place, the place stays FILLING. Above them is a count of the processes that have taken the
 * place: one that has looked at a maker sees by it that another one has come since.
 */
enum { MAKER_NONE, MAKER_FILLING, MAKER_THERE };

#define MAKER_STATE	3U
#define MAKER_TAKEN	4U	/* once more */

struct maker {
	_Atomic uint64_t state;
	uint8_t key[MEMCAST_IPC_KEY_SIZE];	/* of the page of the process, gone when it ends */
};

/* In the page of the process that created the event; all zeros at first */
struct shared_event {
	_Atomic uint32_t generation;	/* odd: in use */
	_Atomic uint32_t openers;	/* includes processes that were killed */
	_Atomic uint64_t recorded;	/* number of the last record; its word comes first */
	_Atomic uint64_t records[RECORDS];
	struct maker makers[MAKERS];
	uint64_t zero[18];
};

_Static_assert(sizeof(struct shared_event) == 2048, "the same in every process");

struct shared {
	atomic_uint references;
	struct page *page;
	struct shared_event *event;
	uint32_t generation;	/* the event's, as long as it is not destroyed */
	bool own;
	atomic_int maker;	/* its place in makers, + 1; 0: none yet */
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

/* Has the creator destroyed the event, and created another event in its place? */
static inline bool shared_replaced(const struct shared *shared)
{
	return shared->event->generation - shared->generation > 1;
}

/* shared_maker.c */
CUresult shared_maker(struct shared *shared, unsigned int *place);
void shared_maker_end(const struct shared *shared);
bool shared_pending(const struct shared_event *event, uint64_t record);

/* shared.c */
CUresult shared_record(struct shared *shared, struct stream *stream);
bool shared_happened(const struct shared *shared);
void shared_wait(const struct shared *shared);
CUresult shared_wait_in(struct shared *shared, struct stream *stream);

#endif /* MEMCAST_SHARED_H */
