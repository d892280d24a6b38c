// SPDX-License-Identifier: GPL-2.0-only
/*
 * dma-bufs that other drivers and processes get of a memory, or of a range of
 * addresses that shows several. Those of teams are in staging.c, but for the code that
 * is the same for both.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "dmabuf.h"

/* Bytes that a dma-buf costs the kernel, roughly: a file, its inode and name, its own struct. */
#define FILE_BYTES	2048

/* The mapping of a buffer for a device */
struct dma {
	struct list_head list;		/* in buffer->mapped, if it needs syncs */
	bool needs_sync;
	struct device *dev;
	enum dma_data_direction direction;
	struct sg_table sgt;
	unsigned long charged;
};

/* Return: the piece around an offset in the buffer, which is not of a team. */
const struct mc_piece *mc_buffer_piece(const struct mc_buffer *buffer, unsigned long offset)
{
	unsigned int low = 0, high = buffer->pieces;

	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;

		if (buffer->piece[middle].start <= offset)
			low = middle;
		else
			high = middle;
	}
	return &buffer->piece[low];
}

/* Takes the chunks that a range lacks, or (@lacks) counts them. */
static int buffer_touch(const struct mc_buffer *buffer, unsigned long offset, unsigned long end,
			bool killable, struct mc_lacks *lacks)
{
	const struct mc_piece *piece = mc_buffer_piece(buffer, offset);
	int ret = 0;

	while (offset < end && !ret) {
		unsigned long in_memory;

		if (killable && fatal_signal_pending(current))
			return -EINTR;
		if (offset >= piece->start + piece->bytes)
			piece++;
		in_memory = piece->offset + offset - piece->start;
		ret = lacks ? mc_lacks_add(lacks, piece->memory, in_memory) :
			      mc_memory_touch(piece->memory, in_memory);
		offset += min(MC_CHUNK_SIZE - (in_memory & (MC_CHUNK_SIZE - 1)),
			      piece->start + piece->bytes - offset);
		cond_resched();
	}
	return ret;
}

/**
 * mc_buffer_touch() - take the chunks that a range lacks, before its page frames are used
 * @call: for the reason if it fails, or NULL
 * @buffer: the buffer; a team's has pages of its own, and lacks none
 * @offset: bytes in it
 * @bytes: how many
 * @killable: whether a process that is being killed gives up
 *
 * It counts the chunks that lack before it takes one: if too few are left, it takes none.
 * Without locks but that of the dma-buf, or mmap_lock.
 *
 * Return: 0, -ENOMEM, or -EINTR when the caller is dying.
 */
int mc_buffer_touch(struct mc_call *call, const struct mc_buffer *buffer, unsigned long offset,
		    unsigned long bytes, bool killable)
{
	struct mc_lacks lacks = {};
	int ret;

	if (!mc_lazy() || buffer->staging)
		return 0;
	xa_init_flags(&lacks.places, XA_FLAGS_ACCOUNT);
	ret = buffer_touch(buffer, offset, offset + bytes, killable, &lacks);
	mc_xa_destroy(&lacks.places);
	if (!ret && lacks.chunks)
		ret = buffer_touch(buffer, offset, offset + bytes, killable, NULL);
	return call && ret == -ENOMEM ? mc_lazy_fail(call, ret, lacks.account, lacks.chunks) :
					ret;
}

/* Return: how many bytes from an offset on are physically contiguous; @pfn: the first page. */
unsigned long mc_buffer_extent(const struct mc_buffer *buffer, unsigned long offset,
			       unsigned long *pfn)
{
	const struct mc_piece *piece;
	unsigned long in_memory, in_chunk;

	if (buffer->staging) {
		*pfn = mc_staging_pfn(buffer->staging, offset);
		return PAGE_SIZE;
	}
	piece = mc_buffer_piece(buffer, offset);
	in_memory = piece->offset + offset - piece->start;
	in_chunk = in_memory & (MC_CHUNK_SIZE - 1);
	*pfn = mc_memory_pfn(piece->memory, in_memory);
	return min(MC_CHUNK_SIZE - in_chunk, piece->start + piece->bytes - offset);
}

/*
 * Return: the most bytes that a device takes as one segment, from a physical page on.
 * DMA addresses are as contiguous as physical ones, or an IOMMU sees to that.
 */
static unsigned long longest_segment(struct device *dev, unsigned long pfn)
{
	unsigned long boundary = dma_get_seg_boundary(dev);
	unsigned long most = min_t(size_t, dma_get_max_seg_size(dev),
				   dma_max_mapping_size(dev));

	most = clamp_t(unsigned long, most, PAGE_SIZE, SZ_2G) & PAGE_MASK;
	return min(most - 1, boundary - (PFN_PHYS(pfn) & boundary)) + 1;
}

/* As mc_buffer_extent(), but across chunks and pieces, as far as a device takes one segment. */
static unsigned long buffer_run(const struct mc_buffer *buffer, struct device *dev,
				unsigned long offset, unsigned long *pfn)
{
	unsigned long bytes = mc_buffer_extent(buffer, offset, pfn);
	unsigned long most = longest_segment(dev, *pfn);

	while (offset + bytes < buffer->bytes && bytes < most) {
		unsigned long next, more;

		more = mc_buffer_extent(buffer, offset + bytes, &next);
		if (next != *pfn + (bytes >> PAGE_SHIFT))
			break;
		bytes += more;
		cond_resched();
	}
	return min(bytes, most);
}

/* Makes the table of segments: as many as pages, if the device takes no larger ones. */
static int dma_fill(const struct mc_buffer *buffer, struct device *dev, struct dma *dma)
{
	unsigned int runs = 0;
	struct scatterlist *sg;
	unsigned long offset, pfn, bytes;
	int ret;

	for (offset = 0; offset < buffer->bytes; offset += buffer_run(buffer, dev, offset, &pfn)) {
		if (runs++ == MC_MOST_SEGMENTS)
			return -ENOMEM;
		cond_resched();
	}
	bytes = sizeof(*dma) + runs * sizeof(*sg);
	ret = mc_charge(NULL, buffer->account, bytes);
	if (ret)
		return ret;
	dma->charged = bytes;
	ret = sg_alloc_table(&dma->sgt, runs, GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	for (offset = 0, sg = dma->sgt.sgl; sg; offset += bytes, sg = sg_next(sg)) {
		bytes = buffer_run(buffer, dev, offset, &pfn);
		sg_set_page(sg, pfn_to_page(pfn), bytes, 0);
		cond_resched();
	}
	return 0;
}

/*
 * Is a bounce buffer, or a cache that the device does not see, anywhere in between? On
 * most machines this is never so, and then brackets cost the same however many devices
 * have the buffer mapped.
 */
static bool dma_needs_sync(struct dma *dma, struct device *dev)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(&dma->sgt, sg, i) {
		if (dma_need_sync(dev, sg_dma_address(sg)))
			return true;
		cond_resched();
	}
	return false;
}

/*
 * Several devices may have a buffer at a time. The DMA API's debugging takes this for a
 * mistake if each mapping is to sync the caches; so mc_buffer_sync() does it instead.
 */
static int dma_map(struct mc_buffer *buffer, struct dma *dma, struct device *dev,
		   enum dma_data_direction direction)
{
	int ret = dma_map_sgtable(dev, &dma->sgt, direction, DMA_ATTR_SKIP_CPU_SYNC);

	if (ret)
		return ret;
	dma->dev = dev;
	dma->direction = direction;
	dma->needs_sync = dma_needs_sync(dma, dev);
	if (!dma->needs_sync)
		return 0;
	dma_sync_sgtable_for_device(dev, &dma->sgt, direction);
	mutex_lock(&buffer->lock);
	list_add(&dma->list, &buffer->mapped);
	mutex_unlock(&buffer->lock);
	return 0;
}

/* Undoes dma_map(): what the device wrote is in the pages afterwards. */
static void dma_unmap(struct mc_buffer *buffer, struct dma *dma)
{
	if (dma->needs_sync) {
		mutex_lock(&buffer->lock);
		list_del(&dma->list);
		mutex_unlock(&buffer->lock);
		dma_sync_sgtable_for_cpu(dma->dev, &dma->sgt, dma->direction);
	}
	dma_unmap_sgtable(dma->dev, &dma->sgt, dma->direction, DMA_ATTR_SKIP_CPU_SYNC);
}

/*
 * Syncs a buffer for the CPU, or back for devices, where a device's mapping needs it. (The core
 * waits for fences.) Takes buffer->lock.
 */
void mc_buffer_sync(struct mc_buffer *buffer, bool for_cpu)
{
	struct dma *dma;

	mutex_lock(&buffer->lock);
	list_for_each_entry(dma, &buffer->mapped, list) {
		if (for_cpu)
			dma_sync_sgtable_for_cpu(dma->dev, &dma->sgt, dma->direction);
		else
			dma_sync_sgtable_for_device(dma->dev, &dma->sgt, dma->direction);
		cond_resched();
	}
	mutex_unlock(&buffer->lock);
}

/* Frees a device's mapping, or as much of it as has been made. */
static void dma_free(struct mc_buffer *buffer, struct dma *dma)
{
	sg_free_table(&dma->sgt);
	mc_uncharge(buffer->account, dma->charged);
	kfree(dma);
}

/* Return: a memory in the buffer whose host was lost, or NULL. */
const struct mc_memory *mc_buffer_lost_memory(const struct mc_buffer *buffer)
{
	const struct mc_piece *piece;

	for (piece = buffer->piece; piece < buffer->piece + buffer->pieces; piece++) {
		if (READ_ONCE(piece->memory->object.lost))
			return piece->memory;
		cond_resched();
	}
	return NULL;
}

/*
 * Return: the pages of a buffer, mapped for an attached device until mc_buffer_unmap(); or an
 * error. With the dma-buf's lock.
 */
struct sg_table *mc_buffer_map(struct dma_buf_attachment *attach,
			       enum dma_data_direction direction)
{
	struct mc_buffer *buffer = attach->dmabuf->priv;
	struct dma *dma;
	int ret;

	/* a range may show the same memory over and over */
	if (buffer->bytes >> PAGE_SHIFT > totalram_pages())
		return ERR_PTR(-ENOMEM);
	if (mc_buffer_lost_memory(buffer))
		return ERR_PTR(-EHOSTDOWN);
	dma = kzalloc(sizeof(*dma), GFP_KERNEL_ACCOUNT);
	if (!dma)
		return ERR_PTR(-ENOMEM);
	ret = mc_buffer_touch(NULL, buffer, 0, buffer->bytes, true) ?:
	      dma_fill(buffer, attach->dev, dma) ?:
	      dma_map(buffer, dma, attach->dev, direction);
	if (!ret)
		return &dma->sgt;
	dma_free(buffer, dma);
	return ERR_PTR(ret);
}

/* Undoes mc_buffer_map(): what the device wrote is in the pages afterwards. */
void mc_buffer_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
		     enum dma_data_direction direction)
{
	struct dma *dma = container_of(sgt, struct dma, sgt);

	dma_unmap(attach->dmabuf->priv, dma);
	dma_free(attach->dmabuf->priv, dma);
}

/* Maps all of a buffer for the kernel. With the dma-buf's lock. Return: 0 or -ENOMEM. */
int mc_buffer_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct mc_buffer *buffer = dmabuf->priv;
	unsigned long offset, pfn, bytes, n = 0;
	struct page **pages;
	void *address;

	/* a range may show the same memory over and over; vmap() walks pages and does not yield */
	if (buffer->bytes >> PAGE_SHIFT >
		    min_t(unsigned long, totalram_pages(), MC_MOST_SEGMENTS) ||
	    mc_buffer_touch(NULL, buffer, 0, buffer->bytes, false))
		return -ENOMEM;
	pages = kvmalloc_array(buffer->bytes >> PAGE_SHIFT, sizeof(*pages),
			       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!pages)
		return -ENOMEM;
	for (offset = 0; offset < buffer->bytes; offset += bytes) {
		bytes = mc_buffer_extent(buffer, offset, &pfn);
		while (n < (offset + bytes) >> PAGE_SHIFT)
			pages[n++] = pfn_to_page(pfn++);
		cond_resched();
	}
	address = vmap(pages, n, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	if (!address)
		return -ENOMEM;
	iosys_map_set_vaddr(map, address);
	return 0;
}

/* Undoes mc_buffer_vmap(). */
void mc_buffer_vunmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	vunmap(map->vaddr);
}

/* Return: a buffer with room for so many pieces, all empty, charged to the caller; or NULL. */
struct mc_buffer *mc_buffer_create(struct mc_call *call, unsigned int pieces)
{
	struct mc_account *account = call->client->account;
	struct mc_buffer *buffer;
	unsigned long bytes = struct_size(buffer, piece, pieces);

	if (mc_charge(call, account, FILE_BYTES))
		return NULL;
	buffer = mc_alloc_large(call, bytes);
	if (!buffer) {
		mc_uncharge(account, FILE_BYTES);
		return NULL;
	}
	buffer->host = call->client->host;
	buffer->account = account;
	buffer->struct_bytes = bytes;
	mutex_init(&buffer->lock);
	INIT_LIST_HEAD(&buffer->mapped);
	buffer->pieces = pieces;
	return buffer;
}

/*
 * All dma-bufs that were exported. When a host is lost, its dma-bufs leave the page tables of
 * all processes. Other drivers keep what they have mapped of one until they unmap it.
 * The lock is taken under lose_lock or no lock of the module, and outside mc_staging.lock.
 */
static DEFINE_MUTEX(buffers_lock);
static LIST_HEAD(buffers);

/**
 * mc_buffer_publish() - list a buffer, so that the loss of a host finds it
 * @buffer: the buffer
 * @dmabuf: its dma-buf, which no process has mapped yet
 * @client: the exporter
 */
void mc_buffer_publish(struct mc_buffer *buffer, struct dma_buf *dmabuf,
		       const struct mc_client *client)
{
	/* the kernel lets go of a file's inode before it releases the dma-buf */
	buffer->inode = file_inode(dmabuf->file);
	ihold(buffer->inode);
	mutex_lock(&buffers_lock);
	list_add_tail(&buffer->list, &buffers);
	/* the loss of the host may have marked the list before this buffer was in it */
	if (READ_ONCE(client->lost) && buffer->staging)
		mc_staging_lose(buffer->staging);
	mutex_unlock(&buffers_lock);
}

/* Takes a buffer off the list, if it was published: its dma-buf is being released. */
static void buffer_withdraw(struct mc_buffer *buffer)
{
	if (!buffer->inode)
		return;
	mutex_lock(&buffers_lock);
	list_del(&buffer->list);
	mutex_unlock(&buffers_lock);
	iput(buffer->inode);
}

/* Marks the buffers of teams that a lost host has exported: they show no pages any more. */
void mc_buffers_mark(const struct mc_host *host)
{
	struct mc_buffer *buffer;

	mutex_lock(&buffers_lock);
	list_for_each_entry(buffer, &buffers, list) {
		if (buffer->staging && buffer->host == host)
			mc_staging_lose(buffer->staging);
		cond_resched();
	}
	mutex_unlock(&buffers_lock);
}

/* Empties all page tables of dma-bufs: a fault brings back all but lost memory. */
void mc_buffers_zap(void)
{
	struct mc_buffer *buffer;

	mutex_lock(&buffers_lock);
	list_for_each_entry(buffer, &buffers, list) {
		unmap_mapping_range(buffer->inode->i_mapping, 0, 0, 1);
		cond_resched();
	}
	mutex_unlock(&buffers_lock);
}

/* Frees a buffer, and gives up the objects that it uses. Without locks: memories may end here. */
void mc_buffer_free(struct mc_buffer *buffer)
{
	buffer_withdraw(buffer);
	while (buffer->pieces--) {
		if (buffer->piece[buffer->pieces].memory)
			mc_object_put(&buffer->piece[buffer->pieces].memory->object);
		cond_resched();
	}
	if (buffer->staging)
		mc_staging_free(buffer->staging);
	if (buffer->object)
		mc_object_put(buffer->object);
	mc_uncharge(buffer->account, FILE_BYTES);
	mc_free_large(buffer->account, buffer, buffer->struct_bytes);
}
