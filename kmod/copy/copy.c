// SPDX-License-Identifier: GPL-2.0-only
/* The copy engine: copies; to a window they reach every replica. fill.c has fills. */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "copy.h"
#include "core/trace.h"

#define BOUNCE_SIZE	(16 * 1024)

struct mc_copying {
	struct mc_copy_iter to, from;
	struct mc_spot spot[];	/* of both sides; the bounce buffer follows them */
};

/* The bounce buffer: BOUNCE_SIZE bytes, or a row if that is less */
static char *bounce_of(struct mc_copying *copying)
{
	return (char *)&copying->spot[mc_spots(true) + mc_spots(false)];
}

static bool is_word(const struct mc_copying *copying, u64 bytes)
{
	return (bytes == 4 || bytes == 8) && IS_ALIGNED(copying->to.address, bytes) &&
	       IS_ALIGNED(copying->from.address, bytes);
}

/* Copies a word at once: streams write words and wait for them, and must never see half of one. */
static int copy_word(struct mc_copying *copying, size_t bytes)
{
	struct mc_copy_iter *to = &copying->to, *from = &copying->from;
	u64 word = 0;
	unsigned int i;
	int ret = 0;

	if (from->pinned.replicas)
		word = bytes == 8 ? READ_ONCE(*(u64 *)from->pinned.spot->kaddr) :
				    READ_ONCE(*(u32 *)from->pinned.spot->kaddr);
	else
		ret = bytes == 8 ? get_user(word, (u64 __user *)mc_copy_user(from)) :
				   get_user(word, (u32 __user *)mc_copy_user(from));
	if (ret)
		return ret;

	/* bytes that were written before are seen before the word is */
	smp_mb();
	if (!to->pinned.replicas)
		return bytes == 8 ? put_user(word, (u64 __user *)mc_copy_user(to)) :
				    put_user((u32)word, (u32 __user *)mc_copy_user(to));
	for (i = 0; i < to->pinned.replicas; i++) {
		if (bytes == 8)
			WRITE_ONCE(*(u64 *)to->pinned.spot[i].kaddr, word);
		else
			WRITE_ONCE(*(u32 *)to->pinned.spot[i].kaddr, word);
	}
	return 0;
}

/* Every byte of the source is read once, so that all replicas get the same. */
static int copy_block(struct mc_copying *copying, size_t offset, size_t bytes)
{
	struct mc_copy_iter *to = &copying->to, *from = &copying->from;
	const char *source = bounce_of(copying);
	unsigned int i;

	if (from->pinned.replicas) {
		source = from->pinned.spot->kaddr + offset;
	} else if (to->pinned.replicas == 1) {
		return copy_from_user(to->pinned.spot->kaddr + offset,
				      mc_copy_user(from) + offset, bytes) ? -EFAULT : 0;
	} else if (copy_from_user(bounce_of(copying), mc_copy_user(from) + offset, bytes)) {
		return -EFAULT;
	}

	if (!to->pinned.replicas)
		return copy_to_user(mc_copy_user(to) + offset, source, bytes) ?
			-EFAULT : 0;
	for (i = 0; i < to->pinned.replicas; i++)
		memmove(to->pinned.spot[i].kaddr + offset, source, bytes);
	return 0;
}

/* Copies as many bytes as are one piece on both sides. Return: how many, or an error. */
static ssize_t copy_piece(struct mc_copying *copying, u64 bytes, bool word)
{
	struct mc_copy_iter *to = &copying->to, *from = &copying->from;
	size_t piece, done = 0;
	ssize_t ret;

	ret = mc_copy_next(from, min_t(u64, bytes, MC_CHUNK_SIZE));
	if (ret)
		return ret;
	ret = mc_copy_next(to, from->pinned.bytes);
	if (ret)
		goto put_from;

	piece = min(to->pinned.bytes, from->pinned.bytes);
	if (word) {
		ret = copy_word(copying, piece);
		done = piece;
	}
	while (!ret && done < piece) {
		size_t block = min_t(size_t, piece - done, BOUNCE_SIZE);

		ret = copy_block(copying, done, block);
		done += block;
		cond_resched();
	}
	mc_pinned_range_put(&to->pinned);
put_from:
	mc_pinned_range_put(&from->pinned);
	return ret ?: piece;
}

/* Copies the rest of a row. @done: of all rows; counts what is copied */
static int copy_row(struct mc_call *call, struct mc_copying *copying, u64 left, u64 *done)
{
	struct memcast_copy *copy = call->arg;
	bool word = is_word(copying, left);
	ssize_t ret;

	while (left) {
		ret = copy_piece(copying, left, word);
		if (ret < 0)
			return mc_fail(call, ret, ret == -EHOSTUNREACH ?
				       "the memory's host was lost while it was copied" :
				       "the memory changed while it was copied");
		copying->to.address += ret;
		copying->from.address += ret;
		left -= ret;
		*done += ret;
		ret = left ? mc_copy_must_stop(call, &copying->to, &copy->progress, *done) : 0;
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

static int copy_rows(struct mc_call *call, struct mc_copying *copying, u64 rows)
{
	struct memcast_copy *copy = call->arg;
	u64 done = copy->progress.done, row = copy->bytes, left = row;
	int ret;

	if (copy->flags & MEMCAST_COPY_CHECK)
		return 0;
	ret = mc_copy_touch(call, &copying->to, copy->bytes, rows) ?:
	      mc_copy_begin(call, &copying->to, copy->bytes, rows) ?:
	      mc_copy_begin(call, &copying->from, copy->bytes, rows);
	if (unlikely(ret))
		return mc_copy_checked(&copy->progress, ret);
	if (unlikely(done)) {
		ret = mc_copy_resume(call, &copying->to, row, rows, &copy->progress) ?:
		      mc_copy_resume(call, &copying->from, row, rows, &copy->progress);
		left -= done % row;
		rows -= done / row;
	}
	while (!ret && rows--) {
		ret = copy_row(call, copying, left, &done);
		left = row;
		copying->to.address += copying->to.pitch - row;
		copying->from.address += copying->from.pitch - row;
		if (!ret && rows)
			ret = mc_copy_must_stop(call, &copying->to, &copy->progress, done);
	}
	return ret;
}

/* MEMCAST_COPY: copy rows of bytes as a device does it; to a window they reach every replica. */
int mc_copy(struct mc_call *call)
{
	const u32 flags = MEMCAST_COPY_TO_DEVICE | MEMCAST_COPY_FROM_DEVICE |
			  MEMCAST_COPY_CHECK | MEMCAST_COPY_PEER;
	struct memcast_copy *copy = call->arg;
	u32 peer = copy->flags & MEMCAST_COPY_PEER ? copy->from_device : copy->device;
	const struct mc_device *to, *from;
	u64 rows = copy->rows ?: 1;
	struct mc_copying *copying;
	int ret;

	if (copy->flags & ~flags)
		return mc_fail(call, -EINVAL, "unknown flags %#x", copy->flags);
	if (copy->reserved || (copy->from_device && peer != copy->from_device))
		return mc_fail(call, -EINVAL, "an unused field is not 0");
	to = mc_find_device(call, copy->device);
	from = mc_find_device(call, peer);
	if (IS_ERR(to) || IS_ERR(from))
		return -ENODEV;
	if (!copy->bytes)
		return 0;

	/* no larger than needed: kernels that zero what they allocate take long for the largest */
	copying = kvmalloc(struct_size(copying, spot, mc_spots(true) + mc_spots(false)) +
			   min_t(u64, copy->bytes, BOUNCE_SIZE), GFP_KERNEL_ACCOUNT);
	if (!copying) {
		mc_copy_forget(call, &copy->progress, -ENOMEM);
		return -ENOMEM;
	}
	copying->to.pinned.spot = copying->spot;
	copying->from.pinned.spot = copying->spot + mc_spots(true);
	mc_copy_init(&copying->to, copy->to, copy->to_pitch, to->id, true);
	mc_copy_init(&copying->from, copy->from, copy->from_pitch, from->id, false);
	if (unlikely(copy->progress.done))
		copying->to.began = ktime_get_ns();
	ret = mc_copy_open(call, &copying->to, copy->bytes, rows,
			   copy->flags & MEMCAST_COPY_TO_DEVICE) ?:
	      mc_copy_open(call, &copying->from, copy->bytes, rows,
			   copy->flags & MEMCAST_COPY_FROM_DEVICE) ?:
	      copy_rows(call, copying, rows);
	trace_memcast_copy(copy->to, copy->from, copy->bytes, rows, to->id, ret);
	mc_copy_forget(call, &copy->progress, ret);
	ret = ret ?: mc_copy_note(call, &copying->to, copy->to, copy->bytes, rows) ?:
	      mc_copy_note(call, &copying->from, copy->from, copy->bytes, rows);
	mc_copy_close(&copying->from);
	mc_copy_close(&copying->to);
	kvfree(copying);
	return ret;
}
