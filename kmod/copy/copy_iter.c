// SPDX-License-Identifier: GPL-2.0-only
/* One side of a copy, or the destination of a fill: found, checked, and pinned piece by piece. */
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include "dmabuf/dmabuf.h"
#include "copy.h"
#include "heap/heap.h"

/*
 * Initialises a side, which mc_copy_open() looks up. mc_copy_close() may be called from now on.
 */
void mc_copy_init(struct mc_copy_iter *side, u64 address, u64 pitch, u32 device, bool write)
{
	side->reservation = NULL;
	side->address = address;
	side->pitch = pitch;
	side->device = device;
	side->write = write;
	side->missed = 0;
	side->until = 0;
	xa_init_flags(&side->foreign, XA_FLAGS_ACCOUNT);
}

static int row_check(const struct mc_copy_iter *side, u64 address, u64 bytes, bool write)
{
	if (!side->reservation)
		return mc_user_check(address, bytes, write);
	return mc_mappings_check_access(side->reservation, address, bytes, side->device, write);
}

/* Joins rows that are so close that no page is between them: one check covers them all. */
static void side_join_rows(const struct mc_copy_iter *side, u64 *bytes, u64 *rows)
{
	if (*rows > 1 && side->pitch - *bytes < PAGE_SIZE) {
		*bytes += side->pitch * (*rows - 1);
		*rows = 1;
	}
}

static int rows_check(const struct mc_copy_iter *side, u64 bytes, u64 rows, bool write)
{
	u64 address = side->address;
	int ret;

	side_join_rows(side, &bytes, &rows);
	for (; rows; rows--, address += side->pitch) {
		ret = mc_must_stop() ?: row_check(side, address, bytes, write);
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

/*
 * Finds and checks all of one side, and holds its reservation until mc_copy_close(). Without locks.
 * Return: 0, or an error.
 */
int mc_copy_open(struct mc_call *call, struct mc_copy_iter *side, u64 bytes, u64 rows,
		 bool must_be_mapped)
{
	const char *what = side->write ? "destination" : "source";
	bool write = side->write;
	u64 address = side->address, length;
	int ret;

	if (rows > 1 && side->pitch < bytes)
		return mc_fail(call, -EINVAL, "the %s's pitch %llu is less than a row of %llu",
			       what, side->pitch, bytes);
	if (check_mul_overflow(rows - 1, side->pitch, &length) ||
	    check_add_overflow(length, bytes, &length) ||
	    address > TASK_SIZE_MAX || length > TASK_SIZE_MAX - address)
		return mc_fail(call, -EINVAL, "the %s leaves the address space", what);

	side->reservation = mc_reservation_find(call->client, address);
	if (!side->reservation) {
		if (must_be_mapped && !mc_block_holds(call->client, address, length))
			return mc_fail(call, -EINVAL,
				       "the %s %#llx is not device memory", what, address);
		ret = access_ok(mc_copy_user(side), length) ?
			rows_check(side, bytes, rows, write) : -EFAULT;
		if (!ret || ret == -ERESTARTNOINTR)
			return ret;
		return mc_fail(call, ret, "the %s %#llx is not accessible", what, address);
	}
	if (READ_ONCE(side->reservation->of_heap) &&
	    !mc_block_holds(call->client, address, length))
		return mc_fail(call, -EINVAL, "the %s leaves the block at %#llx",
			       what, address);
	ret = mc_reservation_reaches(side->reservation, address, length) ?
		rows_check(side, bytes, rows, write) : -EFAULT;
	if (ret == -EFAULT)
		return mc_fail(call, -EINVAL,
			       "device %u cannot %s %llu bytes at %#llx: unmapped, unbound or without cuMemSetAccess",
			       mc_device_ordinal(call->client, side->device),
			       write ? "write" : "read", length, address);
	if (ret == -EHOSTUNREACH)
		return mc_fail(call, ret,
			       "device %u cannot %s %llu bytes at %#llx: memory there is of a host that was lost",
			       mc_device_ordinal(call->client, side->device),
			       write ? "write" : "read", length, address);
	return ret;
}

/*
 * Begins the CPU's access to the foreign memories that the rows of one side touch, to each
 * once; memories between the rows are left out. mc_copy_close() ends it. Without locks.
 * Return: 0, or an error.
 */
int mc_copy_begin(struct mc_call *call, struct mc_copy_iter *side, u64 bytes, u64 rows)
{
	u64 address = side->address;
	int ret;

	if (!side->reservation || !atomic_long_read(&mc_stats.foreign))
		return 0;
	side_join_rows(side, &bytes, &rows);
	for (; rows; rows--, address += side->pitch) {
		ret = mc_must_stop() ?:
		      mc_foreign_find(&side->foreign, side->reservation, address, bytes);
		if (ret)
			return ret;
		cond_resched();
	}
	return mc_foreign_begin_cpu(call, &side->foreign, side->write);
}

/* Populates a row, or (@lacks) counts the chunks that this would take. */
static int row_touch(struct mc_copy_iter *side, u64 address, u64 bytes, struct mc_lacks *lacks)
{
	struct mc_pinned_range *pinned = &side->pinned;
	unsigned int i;
	bool taken;
	int ret = 0;

	for (; bytes && !ret; bytes -= pinned->bytes, address += pinned->bytes) {
		/* access was checked, and team->writes counts what is written: so for any device */
		ret = mc_must_stop() ?:
		      mc_pinned_range_find(pinned, side->reservation, address, bytes, MC_ANY_DEVICE,
					   true);
		if (ret)
			return ret;
		taken = !lacks && pinned->lacks;
		if (!lacks)
			ret = mc_pinned_range_fill(pinned, true);
		for (i = 0; lacks && pinned->lacks && !ret && i < pinned->replicas; i++)
			ret = mc_lacks_add(lacks, pinned->spot[i].memory, pinned->spot[i].offset);
		mc_pinned_range_put(pinned);
		/* the call is made again, and finds the chunks that were taken */
		if (taken && !ret && signal_pending(current))
			ret = -ERESTARTNOINTR;
		cond_resched();
	}
	return ret;
}

static int rows_touch(struct mc_copy_iter *side, u64 bytes, u64 rows, struct mc_lacks *lacks)
{
	u64 address = side->address;
	int ret = 0;

	side_join_rows(side, &bytes, &rows);
	for (; rows && !ret; rows--, address += side->pitch)
		ret = row_touch(side, address, bytes, lacks);
	return ret;
}

/**
 * mc_copy_touch() - take all chunks that a call is going to write
 * @call: the call
 * @side: one side of it, opened
 * @bytes: of a row
 * @rows: how many
 *
 * It counts the chunks that it needs before it takes one, so that a call writes all or nothing.
 *
 * Return: 0, or an error.
 */
int mc_copy_touch(struct mc_call *call, struct mc_copy_iter *side, u64 bytes, u64 rows)
{
	struct mc_lacks lacks = {};
	int ret;

	if (!mc_lazy() || !side->reservation || !side->write)
		return 0;
	xa_init_flags(&lacks.places, XA_FLAGS_ACCOUNT);
	ret = rows_touch(side, bytes, rows, &lacks);
	mc_xa_destroy(&lacks.places);
	if (!ret && lacks.chunks)
		ret = rows_touch(side, bytes, rows, NULL);
	if (ret == -ENOMEM)
		return mc_lazy_fail(call, ret, lacks.account, lacks.chunks);
	if (ret && ret != -EINTR && ret != -ERESTARTNOINTR)
		return mc_fail(call, ret, "the memory changed under the call");
	return ret;
}

/* Ends what mc_copy_begin() began, and lets go of the reservation. Without locks. */
void mc_copy_close(struct mc_copy_iter *side)
{
	mc_foreign_end_cpu(&side->foreign, side->write);
	if (side->reservation)
		mc_reservation_put(side->reservation);
}

/*
 * Pins the next piece of a side, up to @bytes, until mc_pinned_range_put(). The program's own
 * memory is not pinned, and its piece has @bytes. Return: as mc_pinned_range_get().
 */
int mc_copy_next(struct mc_copy_iter *side, u64 bytes)
{
	int ret;

	side->pinned.replicas = 0;
	side->pinned.bytes = bytes;
	if (!side->reservation)
		return 0;
	ret = mc_pinned_range_get(&side->pinned, side->reservation, side->address, bytes,
				  side->device, side->write);
	if (unlikely(side->pinned.missed) && side->write && !side->missed)
		side->missed = side->address;
	return ret;
}

/*
 * Moves one side to the byte at which an interrupted call goes on. Return: 0, or -EINVAL: the
 * caller has changed @progress.
 */
int mc_copy_resume(struct mc_call *call, struct mc_copy_iter *side, u64 bytes, u64 rows,
		   const struct memcast_progress *progress)
{
	u64 now;

	/* the side was checked, so all its bytes can be counted */
	if (progress->done > bytes * rows)
		return mc_fail(call, -EINVAL, "progress of %llu bytes is more than there are",
			       progress->done);
	side->address += progress->done / bytes * side->pitch + progress->done % bytes;
	if (!side->write)
		return 0;
	/* only a window misses a member, whatever the caller has made of @progress */
	if (side->reservation)
		side->missed = progress->missed;
	/* a call that signals interrupt all the time is to copy as long as it checks, at least */
	now = ktime_get_ns();
	side->until = now + (now - side->began);
	return 0;
}

/*
 * Return: the result of checks that may have waited. A signal that interrupts them does not make an
 * interrupted call forget what it has done.
 */
int mc_copy_checked(const struct memcast_progress *progress, int ret)
{
	bool again = (ret == -ERESTARTSYS || ret == -EINTR) && progress->done &&
		     signal_pending(current) && !fatal_signal_pending(current);

	return again ? -ERESTARTNOINTR : ret;
}

/*
 * A signal is there, of a call with @done bytes done: notes them where the program has the
 * argument. Return: -EINTR: the caller is dying; -ERESTARTNOINTR; or 0: the call has to go on, as
 * its argument cannot be written. Without locks.
 */
int mc_copy_leave(struct mc_call *call, const struct mc_copy_iter *to,
		  struct memcast_progress *progress, u64 done)
{
	if (fatal_signal_pending(current))
		return -EINTR;
	if (call->bytes < (void *)(progress + 1) - call->arg)
		return 0;
	if (to->until && ktime_get_ns() < to->until)
		return 0;
	progress->done = done;
	progress->missed = to->missed;
	if (!mc_respond(call))
		return -ERESTARTNOINTR;
	call->reason[0] = '\0';
	return 0;
}

/* A call ends that was interrupted: it leaves the argument as it was. */
void mc_copy_forget(struct mc_call *call, struct memcast_progress *progress, int error)
{
	if (likely(!progress->done) || error == -ERESTARTNOINTR)
		return;
	*progress = (struct memcast_progress) {};
	/* best effort: the result is the answer */
	if (call->bytes >= (void *)(progress + 1) - call->arg &&
	    copy_to_user(call->user, call->arg, call->bytes))
		return;
}

/**
 * mc_copy_note() - say that a finished call left out a member, or used unmapped registered memory
 * @call: the call; its reason is the output
 * @side: which it wrote or read
 * @address: where that begins
 * @bytes: of a row
 * @rows: how many
 *
 * Without locks.
 *
 * Return: MEMCAST_MISSED: a member of a team that it wrote to; MEMCAST_UNMAPPED; or 0.
 */
int mc_copy_note(struct mc_call *call, const struct mc_copy_iter *side, u64 address, u64 bytes,
		 u64 rows)
{
	if (!side->reservation)
		return mc_registered_note(call, address, bytes, rows, side->pitch) ?
			MEMCAST_UNMAPPED : 0;
	return unlikely(side->missed) && mc_say_missed(call, side->reservation, side->missed) ?
		MEMCAST_MISSED : 0;
}
