// SPDX-License-Identifier: GPL-2.0-only
/* The copy engine: fills; of a window they reach every replica. */
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "copy.h"
#include "core/trace.h"

static void fill_pinned(const struct mc_pinned_range *pinned, u32 width, u32 value)
{
	unsigned int i;

	for (i = 0; i < pinned->replicas; i++) {
		if (width == 1)
			memset(pinned->spot[i].kaddr, value, pinned->bytes);
		else if (width == 2)
			memset16(pinned->spot[i].kaddr, value, pinned->bytes / 2);
		else
			memset32(pinned->spot[i].kaddr, value, pinned->bytes / 4);
		cond_resched();
	}
}

/* Fills the program's own memory by stores to its addresses, as the program itself would. */
static int fill_user(struct mc_call *call, struct mc_copy_iter *to, u64 left, u64 *done)
{
	struct memcast_fill *fill = call->arg;
	u32 words[64];
	int ret;

	/* a width divides a word, so each piece continues the pattern of the one before */
	memset32(words, fill->width == 1 ? fill->value * 0x01010101 :
			fill->width == 2 ? fill->value * 0x00010001 : fill->value,
		 ARRAY_SIZE(words));
	while (left) {
		size_t bytes = min_t(u64, left, sizeof(words));

		if (copy_to_user(mc_copy_user(to), words, bytes))
			return mc_fail(call, -EFAULT,
				       "the memory changed while it was filled");
		to->address += bytes;
		left -= bytes;
		*done += bytes;
		ret = left ? mc_copy_must_stop(call, to, &fill->progress, *done) : 0;
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

/* Fills the rest of a row. @done: bytes of all rows; counts what is filled */
static int fill_row(struct mc_call *call, struct mc_copy_iter *to, u64 left, u64 *done)
{
	struct memcast_fill *fill = call->arg;

	if (!to->reservation)
		return fill_user(call, to, left, done);
	while (left) {
		size_t bytes;
		int ret;

		ret = mc_copy_next(to, left);
		if (ret == -EHOSTUNREACH)
			return mc_fail(call, ret,
				       "the memory's host was lost while it was filled");
		if (ret)
			return mc_fail(call, -EINVAL,
				       "the memory changed while it was filled");
		fill_pinned(&to->pinned, fill->width, fill->value);
		bytes = to->pinned.bytes;
		mc_pinned_range_put(&to->pinned);
		to->address += bytes;
		left -= bytes;
		*done += bytes;
		ret = left ? mc_copy_must_stop(call, to, &fill->progress, *done) : 0;
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

static int fill_rows(struct mc_call *call, struct mc_copy_iter *to, u64 bytes, u64 rows)
{
	struct memcast_fill *fill = call->arg;
	u64 done = fill->progress.done, left = bytes;
	int ret;

	if (fill->flags & MEMCAST_FILL_CHECK)
		return 0;
	ret = mc_copy_touch(call, to, bytes, rows) ?: mc_copy_begin(call, to, bytes, rows);
	if (unlikely(ret))
		return mc_copy_checked(&fill->progress, ret);
	if (unlikely(done)) {
		ret = mc_copy_resume(call, to, bytes, rows, &fill->progress);
		left -= done % bytes;
		rows -= done / bytes;
	}
	while (!ret && rows--) {
		ret = fill_row(call, to, left, &done);
		left = bytes;
		to->address += to->pitch - bytes;
		if (!ret && rows)
			ret = mc_copy_must_stop(call, to, &fill->progress, done);
	}
	return ret;
}

static int fill_check(struct mc_call *call, u64 *bytes)
{
	struct memcast_fill *fill = call->arg;

	if (fill->flags & ~MEMCAST_FILL_CHECK)
		return mc_fail(call, -EINVAL, "unknown flags %#x", fill->flags);
	if (fill->width != 1 && fill->width != 2 && fill->width != 4)
		return mc_fail(call, -EINVAL, "width %u is not 1, 2 or 4", fill->width);
	if (fill->width < 4 && fill->value >> (8 * fill->width))
		return mc_fail(call, -EINVAL, "value %#x is wider than %u bytes",
			       fill->value, fill->width);
	if (!IS_ALIGNED(fill->to | fill->pitch, fill->width))
		return mc_fail(call, -EINVAL, "%#llx or the pitch %llu is not a multiple of %u",
			       fill->to, fill->pitch, fill->width);
	if (!IS_ALIGNED(fill->progress.done, fill->width))
		return mc_fail(call, -EINVAL, "progress of %llu bytes is not whole elements",
			       fill->progress.done);
	if (check_mul_overflow(fill->count, (u64)fill->width, bytes))
		return mc_fail(call, -EINVAL, "the size overflows");
	return 0;
}

/* MEMCAST_FILL: fill rows with a value, as a device does it; of a window, on every replica. */
int mc_fill(struct mc_call *call)
{
	struct memcast_fill *fill = call->arg;
	const struct mc_device *device;
	u64 rows = fill->rows ?: 1;
	struct mc_copy_iter *to;
	u64 bytes;
	int ret;

	ret = fill_check(call, &bytes);
	if (ret)
		return ret;
	device = mc_find_device(call, fill->device);
	if (IS_ERR(device))
		return PTR_ERR(device);
	if (!bytes)
		return 0;

	to = kmalloc(sizeof(*to) + mc_spots(true) * sizeof(*to->pinned.spot), GFP_KERNEL_ACCOUNT);
	if (!to) {
		mc_copy_forget(call, &fill->progress, -ENOMEM);
		return -ENOMEM;
	}
	to->pinned.spot = (void *)(to + 1);
	mc_copy_init(to, fill->to, fill->pitch, device->id, true);
	if (unlikely(fill->progress.done))
		to->began = ktime_get_ns();
	ret = mc_copy_open(call, to, bytes, rows, true) ?:
	      fill_rows(call, to, bytes, rows);
	trace_memcast_fill(fill->to, bytes, rows, device->id, ret);
	mc_copy_forget(call, &fill->progress, ret);
	ret = ret ?: mc_copy_note(call, to, fill->to, bytes, rows);
	mc_copy_close(to);
	kfree(to);
	return ret;
}
