/* SPDX-License-Identifier: GPL-2.0-only */
/* Devices: their memory, the fabric between them, and IMEX channels. */
#ifndef _MC_DEVICE_H
#define _MC_DEVICE_H

#include <linux/device.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/spinlock.h>
#include <linux/uuid.h>
#include "host.h"
#include "core/core.h"

/* ---- chunk.c ---- */

struct page *mc_chunk_alloc(int node, gfp_t flags, unsigned int order);
void mc_chunk_free(struct page *chunk, unsigned int order);

/* ---- pool.c ---- */

struct mc_pool {
	spinlock_t lock;		/* protects the next four */
	struct list_head clean;		/* zeroed chunks, by page->lru */
	struct list_head dirty;		/* chunks that are zeroed when they are taken */
	unsigned long free;		/* on a list, and no thread is about to take it; lockless */
	unsigned long total;
	atomic_long_t taken;		/* of a lazy pool: chunks taken from the host */
	int node;
};

/*
 * The place of a chunk in its pool, counted in chunks: it says nothing of physical addresses.
 * Chunks of lazy pools have no place, as a lazy pool has no chunk before it is touched.
 */
static inline unsigned long mc_chunk_place(struct page *chunk)
{
	return page_private(chunk);
}

int mc_pool_init(struct mc_pool *pool, unsigned long chunks, int node);
void mc_pool_destroy(struct mc_pool *pool);
int mc_pool_take(struct mc_pool *pool, struct page **chunk, unsigned long n,
		 unsigned long *enough);
void mc_pool_give(struct mc_pool *pool, struct mc_account *account, struct page **chunk,
		  unsigned long n);

/* ---- lazy.c ---- */

extern bool mc_is_lazy;			/* constant since the module was loaded */

/* Do pools take their chunks when they are first touched? */
static inline bool mc_lazy(void)
{
	return unlikely(mc_is_lazy);
}

int mc_lazy_init(bool sized);
void mc_lazy_exit(void);
void *mc_lazy_zeros(void);
struct page *mc_lazy_take(struct mc_pool *pool, struct mc_account *account);
void mc_lazy_give(struct mc_pool *pool, struct mc_account *account, struct page *chunk);
bool mc_lazy_has_room(const struct mc_account *account, unsigned long chunks);
int mc_lazy_fail(struct mc_call *call, int error, const struct mc_account *account,
		 unsigned long chunks);

/* ---- device.c ---- */

/* States of a device's link to the fabric */
enum mc_link { MC_LINK_READY, MC_LINK_IN_PROGRESS, MC_LINK_FAILED };

struct mc_device {
	struct device dev;
	struct device_dma_parameters dma;
	u32 id;
	struct mc_host *host;		/* the device is on it */
	uuid_t uuid;
	struct mc_pool pool;
	enum mc_link link;		/* lockless */
};

static inline struct mc_device *mc_device_of(struct device *dev)
{
	return container_of(dev, struct mc_device, dev);
}

extern unsigned int mc_device_count;
int mc_devices_init(void);
void mc_devices_exit(void);
struct mc_device *mc_device_find(u32 id);
struct mc_device *mc_find_device(struct mc_call *call, u32 device);

/* ---- fabric.c, channel.c ---- */

bool mc_fabric_multicast(void);
extern struct device_attribute dev_attr_fabric_state;
int mc_fabric_check(struct mc_call *call, const struct mc_device *device);
int mc_fabric_take_slot(struct mc_call *call, struct mc_account *account);
void mc_fabric_give_slot(struct mc_account *account);
bool mc_channels_exist(void);
int mc_channels_init(void);
void mc_channels_publish(void);
void mc_channels_exit(void);

#endif /* _MC_DEVICE_H */
