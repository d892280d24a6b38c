/* SPDX-License-Identifier: GPL-2.0-only */
/* The copy engine: copies and fills, as the devices of a program see its memory. */
#ifndef _MC_COPY_H
#define _MC_COPY_H

#include <linux/sched/signal.h>
#include <linux/xarray.h>
#include "map/map.h"

/* ---- copy_iter.c ---- */

/* One side of a copy: rows of bytes. */
struct mc_copy_iter {
	struct mc_reservation *reservation;	/* NULL: the program's own memory */
	u64 address;				/* of the byte that is copied next */
	u64 pitch;
	u32 device;			/* the machine's number */
	bool write;
	u64 missed;		/* first address that is not bound for all members; or 0 */
	u64 began, until;	/* of a call that goes on: its time, and till when signals wait */
	struct xarray foreign;			/* foreign memories, being accessed */
	struct mc_pinned_range pinned;
};

static inline char __user *mc_copy_user(const struct mc_copy_iter *side)
{
	return u64_to_user_ptr(side->address);
}

void mc_copy_init(struct mc_copy_iter *side, u64 address, u64 pitch, u32 device, bool write);
int mc_copy_open(struct mc_call *call, struct mc_copy_iter *side, u64 bytes, u64 rows,
		 bool must_be_mapped);
int mc_copy_begin(struct mc_call *call, struct mc_copy_iter *side, u64 bytes, u64 rows);
int mc_copy_touch(struct mc_call *call, struct mc_copy_iter *side, u64 bytes, u64 rows);
void mc_copy_close(struct mc_copy_iter *side);
int mc_copy_next(struct mc_copy_iter *side, u64 bytes);
int mc_copy_note(struct mc_call *call, const struct mc_copy_iter *side, u64 address, u64 bytes,
		 u64 rows);
int mc_copy_resume(struct mc_call *call, struct mc_copy_iter *side, u64 bytes, u64 rows,
		   const struct memcast_progress *progress);
int mc_copy_checked(const struct memcast_progress *progress, int ret);
int mc_copy_leave(struct mc_call *call, const struct mc_copy_iter *to,
		  struct memcast_progress *progress, u64 done);
void mc_copy_forget(struct mc_call *call, struct memcast_progress *progress, int error);

/*
 * Has a call to stop between two pieces, of which @done bytes are done? Return: 0, or -EINTR or
 * -ERESTARTNOINTR. Without locks.
 */
static inline int mc_copy_must_stop(struct mc_call *call, const struct mc_copy_iter *to,
				    struct memcast_progress *progress, u64 done)
{
	return likely(!signal_pending(current)) ? 0 : mc_copy_leave(call, to, progress, done);
}

#endif /* _MC_COPY_H */
