// SPDX-License-Identifier: GPL-2.0-only
/* The copy engine: copies and fills; to a window they reach every replica. */
#include <linux/overflow.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "private.h"

#define BOUNCE_SIZE	(16 * 1024)

/* One side of a copy. */
struct side {
	struct mc_reservation *reservation;	/* NULL: any other memory */
	u64 address;
	struct mc_span span;
};

struct mc_copying {
	struct side to, from;
	char bounce[BOUNCE_SIZE];
};

static char __user *side_user(const struct side *side)
{
	return u64_to_user_ptr(side->address);
}

/* Find and check one side, all of it. */
static int side_open(struct mc_call *call, struct side *side, u64 address,
		     u64 bytes, u32 device, bool must_be_mapped, bool write)
{
	const char *what = write ? "destination" : "source";

	side->address = address;
	if (address > TASK_SIZE_MAX || bytes > TASK_SIZE_MAX - address)
		return mc_fail(call, -EINVAL, "the %s leaves the address space", what);
	side->reservation = mc_reservation_find(call->client, address);
	if (side->reservation) {
		if (bytes <= side->reservation->end - address &&
		    mc_span_check(side->reservation, address, bytes, device, write))
			return 0;
		return mc_fail(call, -EINVAL,
			       "device %u cannot %s %llu bytes at %#llx",
			       device, write ? "write" : "read", bytes, address);
	}
	if (must_be_mapped)
		return mc_fail(call, -EINVAL, "the %s %#llx is not device memory",
			       what, address);
	if (!access_ok(side_user(side), bytes) ||
	    (write ? fault_in_safe_writeable(side_user(side), bytes) :
		     fault_in_readable(side_user(side), bytes)))
		return mc_fail(call, -EFAULT, "the %s %#llx is not accessible",
			       what, address);
	return 0;
}

static void side_close(struct side *side)
{
	if (side->reservation)
		mc_reservation_put(side->reservation);
}

/* The next piece of a side; the other memory's is as long as is asked for. */
static int side_span(struct side *side, u64 bytes, u32 device, bool write)
{
	side->span.replicas = 0;
	side->span.bytes = bytes;
	if (!side->reservation)
		return 0;
	return mc_span_get(&side->span, side->reservation, side->address, bytes,
			   device, write);
}

/* Every byte of the source is read once, so that all replicas get the same. */
static int copy_block(struct mc_copying *copying, size_t offset, size_t bytes)
{
	struct side *to = &copying->to, *from = &copying->from;
	const char *source = copying->bounce;
	unsigned int i;

	if (from->span.replicas) {
		source = from->span.at[0] + offset;
	} else if (to->span.replicas == 1) {
		return copy_from_user(to->span.at[0] + offset,
				      side_user(from) + offset, bytes) ? -EFAULT : 0;
	} else if (copy_from_user(copying->bounce, side_user(from) + offset, bytes)) {
		return -EFAULT;
	}

	if (!to->span.replicas)
		return copy_to_user(side_user(to) + offset, source, bytes) ?
			-EFAULT : 0;
	for (i = 0; i < to->span.replicas; i++)
		memmove(to->span.at[i] + offset, source, bytes);
	return 0;
}

/* Copy as much as is one piece on both sides. Return: bytes, or an error. */
static ssize_t copy_piece(struct mc_copying *copying, u64 bytes, u32 device)
{
	struct side *to = &copying->to, *from = &copying->from;
	size_t piece, done = 0;
	ssize_t ret;

	ret = side_span(from, min_t(u64, bytes, MC_CHUNK_SIZE), device, false);
	if (ret)
		return ret;
	ret = side_span(to, from->span.bytes, device, true);
	if (ret)
		goto put_from;

	piece = min(to->span.bytes, from->span.bytes);
	while (!ret && done < piece) {
		size_t block = min_t(size_t, piece - done, BOUNCE_SIZE);

		ret = copy_block(copying, done, block);
		done += block;
	}
	mc_span_put(&to->span);
put_from:
	mc_span_put(&from->span);
	return ret ?: piece;
}

static int copy_all(struct mc_call *call, struct mc_copying *copying)
{
	struct memcast_copy *copy = call->arg;
	u64 left = copy->bytes;
	ssize_t ret;

	while (left) {
		if (fatal_signal_pending(current))
			return -EINTR;
		ret = copy_piece(copying, left, copy->device);
		if (ret < 0)
			return mc_fail(call, ret,
				       "the memory changed while it was copied");
		copying->to.address += ret;
		copying->from.address += ret;
		left -= ret;
		cond_resched();
	}
	return 0;
}

int mc_copy(struct mc_call *call)
{
	const u32 flags = MEMCAST_COPY_TO_DEVICE | MEMCAST_COPY_FROM_DEVICE;
	struct memcast_copy *copy = call->arg;
	struct mc_copying *copying;
	int ret;

	if (copy->flags & ~flags)
		return mc_fail(call, -EINVAL, "unknown flags %#x", copy->flags);
	if (IS_ERR(mc_find_device(call, copy->device)))
		return -ENODEV;
	if (!copy->bytes)
		return 0;

	copying = kvmalloc(sizeof(*copying), GFP_KERNEL);
	if (!copying)
		return -ENOMEM;
	copying->to.reservation = NULL;
	copying->from.reservation = NULL;
	ret = side_open(call, &copying->to, copy->to, copy->bytes, copy->device,
			copy->flags & MEMCAST_COPY_TO_DEVICE, true) ?:
	      side_open(call, &copying->from, copy->from, copy->bytes, copy->device,
			copy->flags & MEMCAST_COPY_FROM_DEVICE, false) ?:
	      copy_all(call, copying);
	side_close(&copying->from);
	side_close(&copying->to);
	kvfree(copying);
	return ret;
}

static void fill_span(const struct mc_span *span, u32 width, u32 value)
{
	unsigned int i;

	for (i = 0; i < span->replicas; i++) {
		if (width == 1)
			memset(span->at[i], value, span->bytes);
		else if (width == 2)
			memset16(span->at[i], value, span->bytes / 2);
		else
			memset32(span->at[i], value, span->bytes / 4);
	}
}

static int fill_all(struct mc_call *call, struct side *to, u64 left)
{
	struct memcast_fill *fill = call->arg;

	while (left) {
		size_t bytes;

		if (fatal_signal_pending(current))
			return -EINTR;
		if (side_span(to, left, fill->device, true))
			return mc_fail(call, -EINVAL,
				       "the memory changed while it was filled");
		fill_span(&to->span, fill->width, fill->value);
		bytes = to->span.bytes;
		mc_span_put(&to->span);
		to->address += bytes;
		left -= bytes;
		cond_resched();
	}
	return 0;
}

int mc_fill(struct mc_call *call)
{
	struct memcast_fill *fill = call->arg;
	struct side *to;
	u64 bytes;
	int ret;

	if (fill->flags)
		return mc_fail(call, -EINVAL, "unknown flags %#x", fill->flags);
	if (fill->width != 1 && fill->width != 2 && fill->width != 4)
		return mc_fail(call, -EINVAL, "width %u is not 1, 2 or 4", fill->width);
	if (fill->width < 4 && fill->value >> (8 * fill->width))
		return mc_fail(call, -EINVAL, "value %#x is wider than %u bytes",
			       fill->value, fill->width);
	if (!IS_ALIGNED(fill->to, fill->width))
		return mc_fail(call, -EINVAL, "%#llx is not a multiple of %u",
			       fill->to, fill->width);
	if (check_mul_overflow(fill->count, (u64)fill->width, &bytes))
		return mc_fail(call, -EINVAL, "the size overflows");
	if (IS_ERR(mc_find_device(call, fill->device)))
		return -ENODEV;
	if (!bytes)
		return 0;

	to = kzalloc(sizeof(*to), GFP_KERNEL);
	if (!to)
		return -ENOMEM;
	ret = side_open(call, to, fill->to, bytes, fill->device, true, true) ?:
	      fill_all(call, to, bytes);
	side_close(to);
	kfree(to);
	return ret;
}

/* For ptrace and /proc/PID/mem, whatever devices may access. */
int mc_vma_access(struct vm_area_struct *vma, unsigned long address,
		  void *buffer, int bytes, int write)
{
	struct mc_reservation *reservation = vma->vm_private_data;
	struct mc_span *span;
	unsigned int i;
	int ret;

	span = kmalloc(sizeof(*span), GFP_KERNEL);
	if (!span)
		return -ENOMEM;
	ret = mc_span_get(span, reservation, address, bytes, MC_ANY_DEVICE, write);
	if (ret) {
		ret = -EIO;
		goto free_span;
	}
	if (write)
		for (i = 0; i < span->replicas; i++)
			memcpy(span->at[i], buffer, span->bytes);
	else
		memcpy(buffer, span->at[0], span->bytes);
	ret = span->bytes;
	mc_span_put(span);
free_span:
	kfree(span);
	return ret;
}
