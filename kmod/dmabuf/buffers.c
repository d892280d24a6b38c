// SPDX-License-Identifier: GPL-2.0-only
/*
 * All dma-bufs that were exported. When a host is lost, its dma-bufs leave the page tables of
 * all processes. Other drivers keep what they have mapped of one until they unmap it.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include "dmabuf.h"

/* Protects the list; under lose_lock or no lock of the module, and outside mc_staging.lock. */
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
void mc_buffer_withdraw(struct mc_buffer *buffer)
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
