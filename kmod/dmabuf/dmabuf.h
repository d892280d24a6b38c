/* SPDX-License-Identifier: GPL-2.0-only */
/* dma-bufs that memcast exports, of memories, ranges and teams; and other drivers', as memories. */
#ifndef _MC_DMABUF_H
#define _MC_DMABUF_H

#include <linux/dma-buf.h>
#include <linux/iosys-map.h>
#include <linux/mutex.h>
#include <linux/xarray.h>
#include "object/object.h"

struct mc_reservation;

/*
 * The most segments that a driver gets of a dma-buf, and single pages that the kernel maps of one.
 * The kernel's core walks them in one go, with the dma-buf locked, and does not yield.
 */
#define MC_MOST_SEGMENTS	SZ_256K

/* ---- dmabuf.c ---- */

/* @bytes of a memory from @offset on, at @start in a buffer. */
struct mc_piece {
	unsigned long start, offset, bytes;
	struct mc_memory *memory;	/* with a user for this piece */
};

/* Behind a dma-buf that memcast exports: pieces of memories, or pages of a team. */
struct mc_buffer {
	struct mc_object *object;	/* that an import gives, with a user; or NULL */
	unsigned long bytes;
	const struct mc_host *host;	/* the exporter's: fds are good there only */
	struct mc_account *account;	/* the exporter's, charged with all of this */
	unsigned long struct_bytes;
	struct mutex lock;		/* protects mapped */
	struct list_head mapped;	/* mappings for devices that need syncs */
	struct list_head list;		/* of all that were exported, in dmabuf.c */
	struct inode *inode;		/* of its file, held; NULL: it was never exported */
	struct mc_staging *staging;	/* a team's pages; NULL: it has pieces */
	unsigned int pieces;
	struct mc_piece piece[];	/* in order */
};

const struct mc_piece *mc_buffer_piece(const struct mc_buffer *buffer, unsigned long offset);
const struct mc_memory *mc_buffer_lost_memory(const struct mc_buffer *buffer);
int mc_buffer_touch(struct mc_call *call, const struct mc_buffer *buffer, unsigned long offset,
		    unsigned long bytes, bool killable);
unsigned long mc_buffer_extent(const struct mc_buffer *buffer, unsigned long offset,
			       unsigned long *pfn);
struct sg_table *mc_buffer_map(struct dma_buf_attachment *attach,
			       enum dma_data_direction direction);
void mc_buffer_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
		     enum dma_data_direction direction);
int mc_buffer_vmap(struct dma_buf *dmabuf, struct iosys_map *map);
void mc_buffer_vunmap(struct dma_buf *dmabuf, struct iosys_map *map);
void mc_buffer_sync(struct mc_buffer *buffer, bool for_cpu);
struct mc_buffer *mc_buffer_create(struct mc_call *call, unsigned int pieces);
void mc_buffer_free(struct mc_buffer *buffer);

void mc_buffer_publish(struct mc_buffer *buffer, struct dma_buf *dmabuf,
		       const struct mc_client *client);
void mc_buffers_mark(const struct mc_host *host);
void mc_buffers_zap(void);

/* ---- dmabuf_ops.c ---- */

extern const struct dma_buf_ops mc_buffer_ops;

/* ---- staging.c: pages of a team's dma-buf ---- */

struct mc_staging;

extern const struct dma_buf_ops mc_staging_ops;
struct mc_staging *mc_staging_create(struct mc_call *call, struct mc_team *team);
void mc_staging_free(struct mc_staging *staging);
void mc_staging_lose(struct mc_staging *staging);
unsigned long mc_staging_pfn(struct mc_staging *staging, unsigned long offset);

/* ---- foreign.c: other drivers' memory ---- */

struct mc_object *mc_foreign_import(struct mc_call *call, struct dma_buf *dmabuf,
				    struct mc_device *device, const struct mc_buffer *range);
struct dma_buf *mc_foreign_dmabuf(const struct mc_foreign *foreign);

/* ---- cpu_access.c: access to foreign memory with the CPU ---- */

int mc_foreign_find(struct xarray *brackets, struct mc_reservation *reservation,
		    u64 address, u64 bytes);
int mc_foreign_begin_cpu(struct mc_call *call, struct xarray *brackets, bool write);
void mc_foreign_end_cpu(struct xarray *brackets, bool write);

#endif /* _MC_DMABUF_H */
