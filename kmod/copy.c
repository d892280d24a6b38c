// SPDX-License-Identifier: GPL-2.0-only
/* The copy engine: copies and fills; to a window they reach every replica. */
#include <linux/overflow.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "private.h"

#define BOUNCE_SIZE	(16 * 1024)

/* One side of a copy: rows of bytes. */
struct side {
	struct mc_reservation *reservation;	/* NULL: any other memory */
	u64 address;				/* of what is copied next */
	u64 pitch;
	u32 device;
	bool write;
	struct xarray foreign;			/* memories, being accessed */
	struct mc_span span;
};

struct mc_copying {
	struct side to, from;
	char bounce[];		/* BOUNCE_SIZE, or a row if that is less */
};

static char __user *side_user(const struct side *side)
{
	return u64_to_user_ptr(side->address);
}

static void side_init(struct side *side, u64 address, u64 pitch, u32 device, bool write)
{
	side->reservation = NULL;
	side->address = address;
	side->pitch = pitch;
	side->device = device;
	side->write = write;
	xa_init(&side->foreign);
}

/* In slices: the core's helpers do not look for signals. */
int mc_user_check(u64 address, u64 bytes, bool write)
{
	while (bytes) {
		u64 slice = min_t(u64, bytes, MC_CHUNK_SIZE);
		char __user *user = u64_to_user_ptr(address);

		if (fatal_signal_pending(current))
			return -EINTR;
		if (write ? fault_in_safe_writeable(user, slice) :
			    fault_in_readable(user, slice))
			return -EFAULT;
		address += slice;
		bytes -= slice;
		cond_resched();
	}
	return 0;
}

static int row_check(const struct side *side, u64 address, u64 bytes, bool write)
{
	if (!side->reservation)
		return mc_user_check(address, bytes, write);
	return mc_span_check(side->reservation, address, bytes, side->device, write) ?
		0 : -EFAULT;
}

/* Rows so close that no page is between them are good if all around them is. */
static void side_join_rows(const struct side *side, u64 *bytes, u64 *rows)
{
	if (*rows > 1 && side->pitch - *bytes < PAGE_SIZE) {
		*bytes += side->pitch * (*rows - 1);
		*rows = 1;
	}
}

static int rows_check(const struct side *side, u64 bytes, u64 rows, bool write)
{
	u64 address = side->address;
	int ret;

	side_join_rows(side, &bytes, &rows);
	for (; rows; rows--, address += side->pitch) {
		if (fatal_signal_pending(current))
			return -EINTR;
		ret = row_check(side, address, bytes, write);
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

/* Find and check one side, all of it. */
static int side_open(struct mc_call *call, struct side *side, u64 bytes, u64 rows,
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
		ret = access_ok(side_user(side), length) ?
			rows_check(side, bytes, rows, write) : -EFAULT;
		return ret ? mc_fail(call, ret, "the %s %#llx is not accessible",
				     what, address) : 0;
	}
	if (side->reservation->of_heap &&
	    !mc_block_holds(call->client, address, length))
		return mc_fail(call, -EINVAL, "the %s leaves the block at %#llx",
			       what, address);
	ret = length <= side->reservation->end - address ?
		rows_check(side, bytes, rows, write) : -EFAULT;
	if (ret == -EFAULT)
		return mc_fail(call, -EINVAL, "device %u cannot %s %llu bytes at %#llx",
			       side->device, write ? "write" : "read", length, address);
	return ret;
}

/* What others share with us, once for all rows, but nothing that is between them. */
static int side_begin(struct mc_call *call, struct side *side, u64 bytes, u64 rows)
{
	u64 address = side->address;
	int ret;

	if (!side->reservation || !atomic_long_read(&mc_stats.foreign))
		return 0;
	side_join_rows(side, &bytes, &rows);
	for (; rows; rows--, address += side->pitch) {
		if (fatal_signal_pending(current))
			return -EINTR;
		ret = mc_foreign_find(&side->foreign, side->reservation, address, bytes);
		if (ret)
			return ret;
		cond_resched();
	}
	return mc_foreign_begin_cpu(call, &side->foreign, side->write);
}

static void side_close(struct side *side)
{
	mc_foreign_end_cpu(&side->foreign, side->write);
	if (side->reservation)
		mc_reservation_put(side->reservation);
}

/* The next piece of a side; the other memory's is as long as is asked for. */
static int side_span(struct side *side, u64 bytes)
{
	side->span.replicas = 0;
	side->span.bytes = bytes;
	if (!side->reservation)
		return 0;
	return mc_span_get(&side->span, side->reservation, side->address, bytes,
			   side->device, side->write);
}

static bool is_word(const struct mc_copying *copying, u64 bytes)
{
	return (bytes == 4 || bytes == 8) && IS_ALIGNED(copying->to.address, bytes) &&
	       IS_ALIGNED(copying->from.address, bytes);
}

/* Streams write words and wait for them: never show half of one. */
static int copy_word(struct mc_copying *copying, size_t bytes)
{
	struct side *to = &copying->to, *from = &copying->from;
	u64 word = 0;
	unsigned int i;
	int ret = 0;

	if (from->span.replicas)
		word = bytes == 8 ? READ_ONCE(*(u64 *)from->span.at[0]) :
				    READ_ONCE(*(u32 *)from->span.at[0]);
	else
		ret = bytes == 8 ? get_user(word, (u64 __user *)side_user(from)) :
				   get_user(word, (u32 __user *)side_user(from));
	if (ret)
		return ret;

	/* what was written before is seen before the word is */
	smp_mb();
	if (!to->span.replicas)
		return bytes == 8 ? put_user(word, (u64 __user *)side_user(to)) :
				    put_user((u32)word, (u32 __user *)side_user(to));
	for (i = 0; i < to->span.replicas; i++) {
		if (bytes == 8)
			WRITE_ONCE(*(u64 *)to->span.at[i], word);
		else
			WRITE_ONCE(*(u32 *)to->span.at[i], word);
	}
	return 0;
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
static ssize_t copy_piece(struct mc_copying *copying, u64 bytes, bool word)
{
	struct side *to = &copying->to, *from = &copying->from;
	size_t piece, done = 0;
	ssize_t ret;

	ret = side_span(from, min_t(u64, bytes, MC_CHUNK_SIZE));
	if (ret)
		return ret;
	ret = side_span(to, from->span.bytes);
	if (ret)
		goto put_from;

	piece = min(to->span.bytes, from->span.bytes);
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
	mc_span_put(&to->span);
put_from:
	mc_span_put(&from->span);
	return ret ?: piece;
}

static int copy_row(struct mc_call *call, struct mc_copying *copying)
{
	struct memcast_copy *copy = call->arg;
	u64 left = copy->bytes;
	bool word = is_word(copying, left);
	ssize_t ret;

	while (left) {
		if (fatal_signal_pending(current))
			return -EINTR;
		ret = copy_piece(copying, left, word);
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

static int copy_rows(struct mc_call *call, struct mc_copying *copying, u64 rows)
{
	struct memcast_copy *copy = call->arg;
	int ret;

	if (copy->flags & MEMCAST_COPY_CHECK)
		return 0;
	ret = side_begin(call, &copying->to, copy->bytes, rows) ?:
	      side_begin(call, &copying->from, copy->bytes, rows);
	while (!ret && rows--) {
		ret = copy_row(call, copying);
		copying->to.address += copying->to.pitch - copy->bytes;
		copying->from.address += copying->from.pitch - copy->bytes;
	}
	return ret;
}

int mc_copy(struct mc_call *call)
{
	const u32 flags = MEMCAST_COPY_TO_DEVICE | MEMCAST_COPY_FROM_DEVICE |
			  MEMCAST_COPY_CHECK | MEMCAST_COPY_PEER;
	struct memcast_copy *copy = call->arg;
	u32 peer = copy->flags & MEMCAST_COPY_PEER ? copy->from_device : copy->device;
	u64 rows = copy->rows ?: 1;
	struct mc_copying *copying;
	int ret;

	if (copy->flags & ~flags)
		return mc_fail(call, -EINVAL, "unknown flags %#x", copy->flags);
	if (copy->reserved || (copy->from_device && peer != copy->from_device))
		return mc_fail(call, -EINVAL, "an unused field is not 0");
	if (IS_ERR(mc_find_device(call, copy->device)) ||
	    IS_ERR(mc_find_device(call, peer)))
		return -ENODEV;
	if (!copy->bytes)
		return 0;

	/* as much as is needed: kernels that zero it take long for all of it */
	copying = kvmalloc(struct_size(copying, bounce,
				       min_t(u64, copy->bytes, BOUNCE_SIZE)),
			   GFP_KERNEL_ACCOUNT);
	if (!copying)
		return -ENOMEM;
	side_init(&copying->to, copy->to, copy->to_pitch, copy->device, true);
	side_init(&copying->from, copy->from, copy->from_pitch, peer, false);
	ret = side_open(call, &copying->to, copy->bytes, rows,
			copy->flags & MEMCAST_COPY_TO_DEVICE) ?:
	      side_open(call, &copying->from, copy->bytes, rows,
			copy->flags & MEMCAST_COPY_FROM_DEVICE) ?:
	      copy_rows(call, copying, rows);
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
		cond_resched();
	}
}

static int fill_row(struct mc_call *call, struct side *to, u64 left)
{
	struct memcast_fill *fill = call->arg;

	while (left) {
		size_t bytes;

		if (fatal_signal_pending(current))
			return -EINTR;
		if (side_span(to, left))
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

static int fill_rows(struct mc_call *call, struct side *to, u64 bytes, u64 rows)
{
	struct memcast_fill *fill = call->arg;
	int ret;

	if (fill->flags & MEMCAST_FILL_CHECK)
		return 0;
	ret = side_begin(call, to, bytes, rows);
	while (!ret && rows--) {
		ret = fill_row(call, to, bytes);
		to->address += to->pitch - bytes;
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
	if (check_mul_overflow(fill->count, (u64)fill->width, bytes))
		return mc_fail(call, -EINVAL, "the size overflows");
	return 0;
}

int mc_fill(struct mc_call *call)
{
	struct memcast_fill *fill = call->arg;
	u64 rows = fill->rows ?: 1;
	struct side *to;
	u64 bytes;
	int ret;

	ret = fill_check(call, &bytes);
	if (ret)
		return ret;
	if (IS_ERR(mc_find_device(call, fill->device)))
		return -ENODEV;
	if (!bytes)
		return 0;

	to = kmalloc(sizeof(*to), GFP_KERNEL);
	if (!to)
		return -ENOMEM;
	side_init(to, fill->to, fill->pitch, fill->device, true);
	ret = side_open(call, to, bytes, rows, true) ?:
	      fill_rows(call, to, bytes, rows);
	side_close(to);
	kfree(to);
	return ret;
}
