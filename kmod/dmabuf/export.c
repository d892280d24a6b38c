// SPDX-License-Identifier: GPL-2.0-only
/* The commands that export and import: fds of dma-bufs, and fabric handles. */
#include <linux/dma-buf.h>
#include <linux/file.h>
#include <linux/sched/signal.h>
#include "dmabuf.h"
#include "heap/heap.h"
#include "core/trace.h"

/* Answers a call with an fd of a dma-buf. Takes over the caller's reference, also if it fails. */
static int answer_fd(struct mc_call *call, struct dma_buf *dmabuf, s32 *out_fd)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);
	int ret;

	if (fd < 0) {
		ret = mc_fail(call, -ENOMEM, "the process has no free fd (errno %d)", -fd);
		goto put_dmabuf;
	}
	*out_fd = fd;
	ret = mc_respond(call);
	if (ret)
		goto put_fd;
	fd_install(fd, dmabuf->file);
	return 0;

put_fd:
	put_unused_fd(fd);
put_dmabuf:
	dma_buf_put(dmabuf);
	return ret;
}

/* Return: a dma-buf, which owns the buffer from now on; or an error, and the caller owns it. */
static struct dma_buf *buffer_export(struct mc_call *call, struct mc_buffer *buffer)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct mc_object *object = buffer->object;
	struct dma_buf *dmabuf;

	info.exp_name = "memcast";
	info.ops = &mc_buffer_ops;
	if (object && object->type == MEMCAST_TYPE_TEAM) {
		buffer->staging = mc_staging_create(call, mc_team(object));
		if (!buffer->staging)
			return ERR_PTR(-ENOMEM);
		info.exp_name = "memcast-team";
		info.ops = &mc_staging_ops;
	}
	info.size = buffer->bytes;
	info.flags = O_RDWR;
	info.priv = buffer;
	/* all dma-bufs of an object share its fences */
	info.resv = object ? &object->resv : NULL;
	dmabuf = dma_buf_export(&info);
	if (!IS_ERR(dmabuf))
		mc_buffer_publish(buffer, dmabuf, call->client);
	return dmabuf;
}

/* Return: the buffer of a dma-buf that memcast has exported; NULL: of another exporter's. */
static struct mc_buffer *buffer_of(const struct dma_buf *dmabuf)
{
	return dmabuf->ops == &mc_buffer_ops || dmabuf->ops == &mc_staging_ops ?
		dmabuf->priv : NULL;
}

static int export_buffer(struct mc_call *call, struct mc_buffer *buffer, s32 *out_fd)
{
	struct dma_buf *dmabuf = buffer_export(call, buffer);

	if (!IS_ERR(dmabuf))
		return answer_fd(call, dmabuf, out_fd);
	mc_buffer_free(buffer);
	if (call->reason[0])
		return PTR_ERR(dmabuf);
	return mc_fail(call, -ENOMEM, "the machine has no free file or memory (errno %ld)",
		       -PTR_ERR(dmabuf));
}

static int export_object(struct mc_call *call, struct mc_object *object)
{
	struct memcast_export *export = call->arg;
	bool memory = object->type == MEMCAST_TYPE_MEMORY;
	struct mc_buffer *buffer;

	if (!(object->handle_types & export->handle_type))
		return mc_fail(call, -EINVAL,
			       "it was not created to be exported %s (requestedHandleTypes, of teams handleTypes)",
			       export->handle_type == MEMCAST_HANDLE_FABRIC ?
			       "as a fabric handle" : "as an fd");
	if (export->handle_type == MEMCAST_HANDLE_FABRIC)
		return mc_fabric_export(call, object);
	memset(export->out_fabric, 0, sizeof(export->out_fabric));
	if (memory && mc_memory(object)->foreign) {
		struct dma_buf *dmabuf = mc_foreign_dmabuf(mc_memory(object)->foreign);

		get_dma_buf(dmabuf);
		return answer_fd(call, dmabuf, &export->out_fd);
	}

	buffer = mc_buffer_create(call, memory ? 1 : 0);
	if (!buffer)
		return -ENOMEM;
	buffer->bytes = object->bytes;
	buffer->object = mc_object_get(object);
	if (memory) {
		buffer->piece[0].bytes = object->bytes;
		buffer->piece[0].memory = mc_memory(mc_object_get(object));
	}
	return export_buffer(call, buffer, &export->out_fd);
}

/* MEMCAST_EXPORT: an fd, or a fabric handle, that stands for a memory or a team. */
int mc_export(struct mc_call *call)
{
	struct memcast_export *export = call->arg;
	struct mc_object *object;
	bool imported;
	int ret;

	if (export->flags)
		return mc_fail(call, -EINVAL, "unknown flags %#x", export->flags);
	if (export->handle_type != MEMCAST_HANDLE_FD &&
	    export->handle_type != MEMCAST_HANDLE_FABRIC)
		return mc_fail(call, -EINVAL, "unknown handle type %u",
			       export->handle_type);
	object = mc_handle_find(call->client, export->handle, &imported);
	if (!object)
		return mc_no_handle(call, export->handle);
	ret = imported ? mc_fail(call, -EINVAL,
				 "memory that was imported is exported by its creator alone") :
	      export_object(call, object);
	if (!ret)
		trace_memcast_export(object->number, object->bytes, export->handle_type);
	mc_object_put(object);
	return ret;
}

/*
 * Return: how many mappings the range touches, all of memory of one device, or of the host; or an
 * error. Each mapping can be a segment, when a device maps the range.
 */
static int range_pieces(struct mc_call *call, struct mc_reservation *reservation)
{
	struct memcast_export_range *range = call->arg;
	unsigned long address = range->address, end = range->address + range->bytes;
	struct mc_memory *memory, *before = NULL;
	int n = 0;

	lockdep_assert_held(&reservation->lock);
	for (; address < end; n++) {
		if (n == MC_MOST_SEGMENTS)
			return mc_fail(call, -ENOMEM, "the range has more than %u mappings",
				       MC_MOST_SEGMENTS);

		struct mc_mapping *mapping = mc_mapping_find(reservation, address);

		if (!mapping)
			return mc_fail(call, -EINVAL, "nothing is mapped at %#lx", address);
		if (mapping->object->type != MEMCAST_TYPE_MEMORY)
			return mc_fail(call, -EOPNOTSUPP,
				       "a team's addresses cannot be exported: export the team");
		memory = mc_memory(mapping->object);
		if (memory->foreign)
			return mc_fail(call, -EOPNOTSUPP,
				       "what is at %#lx is of a dma-buf already: export that",
				       address);
		if (!mc_memory_is_local(call->client, memory))
			return mc_fail(call, -EOPNOTSUPP,
				       "what is at %#lx is memory of another host", address);
		if (before && before->device != memory->device)
			return mc_fail(call, -EINVAL, "the range is on several devices");
		if (before && before->object.place != memory->object.place)
			return mc_fail(call, -EINVAL, "the range is on several hosts");
		/* each piece is a user of its memory; their count is not to get near its end */
		if (refcount_read(&memory->object.users) > INT_MAX / 2)
			return mc_fail(call, -ENOMEM, "memory %llu is exported too often",
				       memory->object.number);
		if (fatal_signal_pending(current))
			return -EINTR;
		before = memory;
		address = mapping->va.last + 1;
		cond_resched();
	}
	return n;
}

static struct mc_buffer *range_buffer(struct mc_call *call,
				      struct mc_reservation *reservation)
{
	struct memcast_export_range *range = call->arg;
	unsigned long end = range->address + range->bytes;
	struct mc_buffer *buffer;
	struct mc_piece *piece;
	int n;

	n = range_pieces(call, reservation);
	if (n < 0)
		return ERR_PTR(n);
	buffer = mc_buffer_create(call, n);
	if (!buffer)
		return ERR_PTR(-ENOMEM);
	for (piece = buffer->piece; buffer->bytes < range->bytes; piece++) {
		unsigned long address = range->address + buffer->bytes;
		struct mc_mapping *mapping = mc_mapping_find(reservation, address);

		piece->start = buffer->bytes;
		piece->offset = mc_mapping_offset(mapping, address);
		piece->bytes = min(end, mapping->va.last + 1) - address;
		piece->memory = mc_memory(mc_object_get(mapping->object));
		buffer->bytes += piece->bytes;
		cond_resched();
	}
	return buffer;
}

/*
 * Exposes the memory of a heap's reservation, so that a block's place is not given out again. The
 * reservation shows one memory, unless another thread mapped some there before the heap did.
 */
static void expose(struct mc_reservation *reservation)
{
	struct mc_mapping *mapping;

	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, reservation->start);
	if (mapping && mapping->object->type == MEMCAST_TYPE_MEMORY)
		WRITE_ONCE(mc_memory(mapping->object)->exposed, true);
	up_read(&reservation->lock);
}

/*
 * MEMCAST_EXPORT_RANGE: a dma-buf of what is mapped in a range of addresses. A block of a pool is
 * marked as exposed before the call is checked, and stays so if it fails: a block that goes
 * at the same time must not have its place given out again once a dma-buf shows it.
 */
int mc_export_range(struct mc_call *call)
{
	struct memcast_export_range *range = call->arg;
	struct mc_reservation *reservation;
	struct mc_buffer *buffer;
	bool of_heap;

	if (range->flags)
		return mc_fail(call, -EINVAL, "unknown flags %#x", range->flags);
	reservation = mc_reservation_over(call, range->address, range->bytes);
	if (IS_ERR(reservation))
		return PTR_ERR(reservation);
	of_heap = READ_ONCE(reservation->of_heap);
	/* before the check of the block, which may be ending */
	if (of_heap) {
		expose(reservation);
		if (!mc_block_pages_hold(call->client, range->address, range->bytes)) {
			mc_reservation_put(reservation);
			return mc_fail(call, -EINVAL, "the range is not in one block");
		}
	}
	down_read(&reservation->lock);
	/* a heap may have claimed the reservation since, and none of its blocks is exposed */
	if (reservation->of_heap && !of_heap)
		buffer = ERR_PTR(mc_fail(call, -EINVAL, "what is at %#llx is a heap's",
					 range->address));
	else
		buffer = range_buffer(call, reservation);
	up_read(&reservation->lock);
	mc_reservation_put(reservation);
	return IS_ERR(buffer) ? PTR_ERR(buffer) :
	       export_buffer(call, buffer, &range->out_fd);
}

/* Return: the object of an fd, a new one for another driver's, with a user; or an error. */
static struct mc_object *fd_object(struct mc_call *call)
{
	const struct memcast_import *import = call->arg;
	struct mc_device *device = NULL;
	struct mc_buffer *buffer;
	struct mc_object *object;
	struct dma_buf *dmabuf;
	char words[MC_WORDS];

	if (import->flags & MEMCAST_IMPORT_FOREIGN &&
	    import->device != MEMCAST_DEVICE_NONE) {
		device = mc_find_device(call, import->device);
		if (IS_ERR(device))
			return ERR_CAST(device);
	}
	dmabuf = dma_buf_get(import->fd);
	if (IS_ERR(dmabuf))
		return ERR_PTR(mc_fail(call, -EBADF, PTR_ERR(dmabuf) == -EBADF ?
				       "%d is no open fd of this process" :
				       "%d is the fd of something that is no dma-buf", import->fd));
	buffer = buffer_of(dmabuf);
	if (buffer && buffer->host != call->client->host)
		object = ERR_PTR(mc_fail(call, -EBADF,
					 "fd %d was exported on %s, and means nothing on another: fabric handles do",
					 import->fd, mc_host_words(buffer->host, words)));
	else if (buffer && buffer->object)
		object = mc_object_get(buffer->object);
	else if (import->flags & MEMCAST_IMPORT_FOREIGN)
		object = mc_foreign_import(call, dmabuf, device, buffer);
	else
		object = ERR_PTR(mc_fail(call, -EBADF,
					 "the dma-buf of fd %d was not exported from a handle",
					 import->fd));
	dma_buf_put(dmabuf);
	return object;
}

/*
 * Is the object a memory that a client has created? A client that imports it may map and bind it,
 * but not export it. A team, or another driver's pages, it may export as their first client may.
 */
static bool is_created(struct mc_object *object)
{
	return object->type == MEMCAST_TYPE_MEMORY && !mc_memory(object)->foreign;
}

/* Checks that an import that asks for a memory of some size gets one. Return: 0 or -EINVAL. */
static int import_check(struct mc_call *call, const struct mc_object *object)
{
	const struct memcast_import *import = call->arg;

	if (!import->bytes)
		return 0;
	if (object->type != MEMCAST_TYPE_MEMORY)
		return mc_fail(call, -EINVAL, "the dma-buf is a team's, not a memory's");
	if (import->bytes > object->bytes)
		return mc_fail(call, -EINVAL, "the dma-buf has %llu bytes, not %llu",
			       object->bytes, import->bytes);
	return 0;
}

/* MEMCAST_IMPORT: a handle of the object that an fd or a fabric handle stands for. */
int mc_import(struct mc_call *call)
{
	struct memcast_import *import = call->arg;
	struct mc_object *object;
	int ret;

	if (import->flags & ~MEMCAST_IMPORT_FOREIGN)
		return mc_fail(call, -EINVAL, "unknown flags %#x", import->flags);
	if (import->reserved || (!import->flags && (import->device || import->bytes)))
		return mc_fail(call, -EINVAL, "an unused field is not 0");
	if (import->flags && import->handle_type != MEMCAST_HANDLE_FD)
		return mc_fail(call, -EINVAL, "only fds can be of others");
	if (import->handle_type == MEMCAST_HANDLE_FD)
		object = fd_object(call);
	else if (import->handle_type == MEMCAST_HANDLE_FABRIC)
		object = mc_fabric_import(call);
	else
		return mc_fail(call, -EOPNOTSUPP, "handle type %u is not supported",
			       import->handle_type);
	if (IS_ERR(object))
		return PTR_ERR(object);
	ret = import_check(call, object);
	if (ret) {
		mc_object_put(object);
		return ret;
	}
	trace_memcast_import(object->number, object->bytes, import->handle_type);
	return mc_handle_answer_as(call, object, is_created(object), &import->out_handle);
}
