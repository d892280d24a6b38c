/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all of the module's files share. What a folder offers to those that come after it
 * is in a header of its own: device.h, object.h, vm.h, heap.h, buffer.h, copy.h, entry.h.
 *
 * Lock order, outermost first:
 *
 *   lose_lock (host_loss.c)	hosts that are lost, or return
 *   mc_host.lock		clients of a host
 *   mc_client.wait_lock	calls that wait for a team's members
 *   mc_client.heap_lock	heaps, their segments and blocks
 *   ipc_lock (ipc_handle.c)	blocks that other processes may open
 *   mmap_lock or a VMA's lock	the kernel's
 *   mc_object.resv	taken by the dma-buf core, of dma-bufs
 *   buffers_lock (buffers.c)	all exported dma-bufs
 *   mc_staging.lock	pages of a team's dma-buf; by faults that show them, too
 *   mc_reservation.lock	mappings in a reservation
 *   mc_team.lock		members, bindings and mappings of a team
 *   mc_memory.lock		list of a memory's bindings
 *   mc_host.objects_lock	what is lost with a host
 *   mc_pool.lock		free chunks
 *
 * Nothing copies to or from user space under one of them, and nothing calls the
 * exporter of a foreign dma-buf, which has locks of its own. Faults hold the
 * read side of reservation and team over lookup and insertion; a call that changes
 * what they look up holds the write side over the change and the zap.
 * mc_client.handles has its own lock, innermost.
 *
 * A member marked "lockless" in a header may be read without its lock, by READ_ONCE(),
 * where an old value does no harm. Writers hold its lock, if it has one, and use WRITE_ONCE().
 */
#ifndef _MC_PRIVATE_H
#define _MC_PRIVATE_H

#include <linux/device.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/uuid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <memcast.h>
#include "account.h"

/* The unit of everything: physically contiguous, one PMD entry. */
#define MC_CHUNK_SHIFT	PMD_SHIFT
#define MC_CHUNK_SIZE	BIT(MC_CHUNK_SHIFT)
#define MC_CHUNK_ORDER	(MC_CHUNK_SHIFT - PAGE_SHIFT)

struct interval_tree_node;
struct mc_call;
struct mc_host;

/* ---- stats.c: what debugfs shows ---- */

struct mc_stats {
	/* faults served with a PMD entry, with a PTE, and refused */
	atomic_long_t pmd_faults, pte_faults, bad_faults;
	/* what exists */
	atomic_long_t clients, memories, teams, bindings, reservations, mappings, blocks;
	/* memories that are others' */
	atomic_long_t foreign;
	atomic_long_t staging_pages;
};

extern struct mc_stats mc_stats;
void mc_stats_init(void);
void mc_stats_exit(void);

/* ---- clients: an open of /dev/memcast; each folder keeps its part in here ---- */

struct mc_client {
	u64 number;			/* unlike every other's; fdinfo shows it */
	struct mc_host *host;		/* whose file it is: what devices there are for it */
	struct list_head of_host;	/* in host->clients */
	u64 round;			/* of host->round: the last that has met it */
	struct kref kref;		/* the file's, and of walks through host->clients */
	bool lost;			/* its host was; only ever set, lockless */
	/*
	 * The page tables' view of this file. A mapping's offset in it is its
	 * address, which no other VMA of the same process has: so one
	 * unmap_mapping_range() hits one reservation and nothing else.
	 */
	struct address_space mapping;
	struct mm_struct *mm;		/* of the process that opened it */
	struct pid *process;		/* which that is */
	struct mc_account *account;	/* of the user who did */
	struct xarray handles;		/* its lock protects channels, refs, ended */
	u32 next;			/* where to look for a free handle */
	struct mutex heap_lock;		/* protects heaps and blocks */
	struct xarray heaps;
	u32 next_heap;
	struct rb_root_cached blocks;	/* by mc_block.va */
	struct mutex wait_lock;		/* protects waits */
	struct list_head waits;		/* by mc_wait.list */
	u64 channels;			/* a bit per IMEX channel it has opened; lockless */
	bool ended;			/* its process has; only ever set, lockless */
};

/* ---- call.c: a call of a client, from its argument to its answer ---- */

#define MC_REASON_SIZE	160

struct mc_call {
	struct mc_client *client;
	struct file *file;
	void *arg;			/* the argument, in the kernel */
	void __user *user;		/* where it came from */
	size_t bytes;			/* how much of it to copy back */
	char reason[MC_REASON_SIZE];
};

int mc_respond(struct mc_call *call);
__printf(3, 4)
int mc_fail(struct mc_call *call, int error, const char *format, ...);

/* ---- range.c ---- */

int mc_check_range(struct mc_call *call, const char *what, u64 first, u64 bytes,
		   u64 limit, u32 granularity);
int mc_range_is_covered(struct rb_root_cached *tree, unsigned long first, unsigned long last,
			unsigned long *where, struct interval_tree_node **partial);

/* ---- xarray.c ---- */

void mc_xa_destroy(struct xarray *xa);

/* ---- user.c ---- */

int mc_user_check(u64 address, u64 bytes, bool write);

/* ---- the commands' handlers, in all folders ---- */

#define COMMAND(_struct, ...)	int mc_##_struct(struct mc_call *call); MC_ROW_END
#include "commands.h"

#endif /* _MC_PRIVATE_H */
