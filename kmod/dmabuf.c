// SPDX-License-Identifier: GPL-2.0-only
/* dma-bufs: what objects are exported as, and imported from. */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/file.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include "private.h"

static unsigned long chunk_bytes(const struct mc_memory *memory,
				 unsigned long chunk)
{
	return min_t(u64, MC_CHUNK_SIZE,
		     memory->object.bytes - ((u64)chunk << MC_CHUNK_SHIFT));
}

/* How many of the chunks from @first on are next to each other. */
static unsigned long run_length(const struct mc_memory *memory,
				unsigned long first)
{
	const unsigned long most = SZ_2G >> MC_CHUNK_SHIFT;
	unsigned long n = 1;

	while (first + n < memory->chunks && n < most &&
	       page_to_pfn(memory->chunk[first + n]) ==
	       page_to_pfn(memory->chunk[first]) + (n << MC_CHUNK_ORDER))
		n++;
	return n;
}

static struct sg_table *memory_sgt(const struct mc_memory *memory)
{
	struct scatterlist *sg;
	struct sg_table *sgt;
	unsigned long i, n;
	int ret;

	for (i = 0, n = 0; i < memory->chunks; i += run_length(memory, i))
		n++;
	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table(sgt, n, GFP_KERNEL);
	if (ret) {
		kfree(sgt);
		return ERR_PTR(ret);
	}
	for (i = 0, sg = sgt->sgl; sg; i += n, sg = sg_next(sg)) {
		n = run_length(memory, i);
		sg_set_page(sg, memory->chunk[i], ((n - 1) << MC_CHUNK_SHIFT) +
			    chunk_bytes(memory, i + n - 1), 0);
	}
	return sgt;
}

static void sgt_free(struct sg_table *sgt)
{
	sg_free_table(sgt);
	kfree(sgt);
}

static struct sg_table *mc_map_dma_buf(struct dma_buf_attachment *attachment,
				       enum dma_data_direction direction)
{
	struct mc_object *object = attachment->dmabuf->priv;
	struct sg_table *sgt;
	int ret;

	/* a team has no pages of its own that a device could be given */
	if (object->type != MEMCAST_TYPE_MEMORY)
		return ERR_PTR(-EOPNOTSUPP);
	sgt = memory_sgt(mc_memory(object));
	if (IS_ERR(sgt))
		return sgt;
	ret = dma_map_sgtable(attachment->dev, sgt, direction, 0);
	if (ret) {
		sgt_free(sgt);
		return ERR_PTR(ret);
	}
	return sgt;
}

static void mc_unmap_dma_buf(struct dma_buf_attachment *attachment,
			     struct sg_table *sgt,
			     enum dma_data_direction direction)
{
	dma_unmap_sgtable(attachment->dev, sgt, direction, 0);
	sgt_free(sgt);
}

static void mc_dma_buf_release(struct dma_buf *dmabuf)
{
	mc_object_put(dmabuf->priv);
}

static const struct dma_buf_ops mc_dma_buf_ops = {
	.map_dma_buf = mc_map_dma_buf,
	.unmap_dma_buf = mc_unmap_dma_buf,
	.release = mc_dma_buf_release,
};

/* A new one each time; it uses the object. */
static struct dma_buf *object_dma_buf(struct mc_object *object)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;

	info.exp_name = object->type == MEMCAST_TYPE_TEAM ? "memcast-team" :
							    "memcast";
	info.ops = &mc_dma_buf_ops;
	info.size = object->bytes;
	info.flags = O_RDWR;
	info.priv = object;
	dmabuf = dma_buf_export(&info);
	if (!IS_ERR(dmabuf))
		mc_object_get(object);
	return dmabuf;
}

static int export_object(struct mc_call *call, struct mc_object *object)
{
	struct memcast_export *export = call->arg;
	struct dma_buf *dmabuf;
	int fd, ret;

	if (!(object->handle_types & export->handle_type))
		return mc_fail(call, -EINVAL,
			       "it was not created with handle type %u",
			       export->handle_type);
	if (export->handle_type == MEMCAST_HANDLE_FABRIC)
		return mc_fabric_export(call, object);

	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return mc_fail(call, -ENOMEM, "the process has no free fd (errno %d)",
			       -fd);
	dmabuf = object_dma_buf(object);
	if (IS_ERR(dmabuf)) {
		ret = mc_fail(call, PTR_ERR(dmabuf), "no dma-buf can be made");
		goto put_fd;
	}
	export->out_fd = fd;
	memset(export->out_fabric, 0, sizeof(export->out_fabric));
	ret = mc_respond(call);
	if (ret)
		goto put_dmabuf;
	fd_install(fd, dmabuf->file);
	return 0;

put_dmabuf:
	dma_buf_put(dmabuf);
put_fd:
	put_unused_fd(fd);
	return ret;
}

int mc_export(struct mc_call *call)
{
	struct memcast_export *export = call->arg;
	struct mc_object *object;
	int ret;

	if (export->flags)
		return mc_fail(call, -EINVAL, "unknown flags %#x", export->flags);
	if (export->handle_type != MEMCAST_HANDLE_FD &&
	    export->handle_type != MEMCAST_HANDLE_FABRIC)
		return mc_fail(call, -EINVAL, "unknown handle type %u",
			       export->handle_type);
	object = mc_handle_object(call->client, export->handle);
	if (!object)
		return mc_fail(call, -ENOENT, "no handle %u", export->handle);
	ret = export_object(call, object);
	mc_object_put(object);
	return ret;
}

/* The object behind an fd of ours, with a user for the caller. */
static struct mc_object *fd_object(struct mc_call *call, int fd)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	struct mc_object *object = NULL;

	if (IS_ERR(dmabuf))
		return ERR_PTR(mc_fail(call, -EBADF, "%d is not the fd of a dma-buf",
				       fd));
	if (dmabuf->ops == &mc_dma_buf_ops)
		object = mc_object_get(dmabuf->priv);
	dma_buf_put(dmabuf);
	return object ?: ERR_PTR(mc_fail(call, -EBADF,
					 "fd %d is another driver's dma-buf", fd));
}

int mc_import(struct mc_call *call)
{
	struct memcast_import *import = call->arg;
	struct mc_handle *handle;
	struct mc_object *object;
	int ret;

	if (import->flags)
		return mc_fail(call, -EINVAL, "unknown flags %#x", import->flags);
	if (import->handle_type == MEMCAST_HANDLE_FD)
		object = fd_object(call, import->fd);
	else if (import->handle_type == MEMCAST_HANDLE_FABRIC)
		object = mc_fabric_import(call);
	else
		return mc_fail(call, -EOPNOTSUPP, "handle type %u is not supported",
			       import->handle_type);
	if (IS_ERR(object))
		return PTR_ERR(object);

	handle = mc_handle_reserve(call->client);
	if (IS_ERR(handle)) {
		ret = PTR_ERR(handle);
		goto put_object;
	}
	import->out_handle = handle->id;
	ret = mc_respond(call);
	if (ret)
		goto cancel_handle;
	mc_handle_publish(call->client, handle, object);
	return 0;

cancel_handle:
	mc_handle_cancel(call->client, handle);
put_object:
	mc_object_put(object);
	return ret;
}
