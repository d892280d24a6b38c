/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations for all files of the module. A folder declares what it offers to the folders
 * above it in a header of its own: device.h, object.h, map.h, heap.h, dmabuf.h, copy.h, entry.h.
 *
 * Lock order, outermost first:
 *
 *   mc_list.lock (list.c)	reading of a list of what a client holds
 *   lose_lock (host_loss.c)	loss and return of hosts
 *   mc_host.lock		clients of a host
 *   mc_client.wait_lock	calls that wait for a team's members
 *   mc_client.heap_lock	heaps, their segments and blocks
 *   ipc_lock (ipc_handle.c)	IPC handles of blocks
 *   mmap_lock or a VMA's lock	the kernel's, of a process
 *   mc_object.resv	taken by the dma-buf core, of dma-bufs
 *   mc_buffer.lock	devices' mappings of a dma-buf
 *   buffers_lock (dmabuf.c)	all exported dma-bufs
 *   mc_staging.lock	pages of a team's dma-buf; also taken by faults that show them
 *   mc_reservation.lock	mappings in a reservation
 *   mc_team.lock		members, bindings and mappings of a team
 *   mc_memory.lock		tree of a memory's bindings
 *   mc_host.objects_lock	objects, and members of teams, that are lost with a host
 *   mc_pool.lock		free chunks
 *
 * No code copies to or from user space under one of them, but for mc_list.lock. None calls the
 * exporter of a foreign dma-buf under one, as exporters have locks of their own. Faults hold the
 * read side of reservation and team over lookup and insertion; a call that changes
 * what they look up holds the write side over the change and the zap. Where something is taken
 * away the zap comes first: once the trees do not have it, another thread may free its pages.
 * Innermost are the locks of mc_client.handles and mc_share.memories, mc_client.reservations_lock,
 * fabric_lock (fabric_handle.c), slots_lock (fabric.c) and accounts_lock (account.c): nothing is
 * taken under them.
 *
 * No function has __must_hold(): sparse cannot follow mutexes and rwsems, whose functions
 * carry no annotations. lockdep_assert_held() checks the same at run time.
 *
 * A member marked "lockless" in a header may be read without its lock, by READ_ONCE(),
 * where an old value does no harm. Writers hold its lock, if it has one, and use WRITE_ONCE().
 */
#ifndef _MC_CORE_H
#define _MC_CORE_H

#include <linux/device.h>
#include <linux/freezer.h>
#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/sched/jobctl.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/uuid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <memcast.h>
#include "account.h"

/*
 * A chunk, the unit of pools and teams: 2 MiB, physically contiguous. One PMD entry shows it where
 * pages have 4 KiB; with larger pages a PMD entry is longer than a chunk, and PTEs show it.
 */
#define MC_CHUNK_SHIFT	21
#define MC_CHUNK_SIZE	BIT(MC_CHUNK_SHIFT)
#define MC_CHUNK_ORDER	(MC_CHUNK_SHIFT - PAGE_SHIFT)
#define MC_CHUNK_IS_PMD	(MC_CHUNK_SHIFT == PMD_SHIFT)

struct interval_tree_node;
struct mc_call;
struct mc_host;

/* ---- stats.c: counters in debugfs ---- */

struct mc_stats {
	/* faults served with a PMD entry, with a PTE, and refused */
	atomic_long_t pmd_faults, pte_faults, bad_faults;
	/* how many exist now */
	atomic_long_t clients, memories, teams, bindings, reservations, mappings, blocks;
	/* memories of other drivers' dma-bufs */
	atomic_long_t foreign;
	atomic_long_t staging_pages;
};

extern struct mc_stats mc_stats;
void mc_stats_init(void);
void mc_stats_exit(void);

/* ---- clients: open files of /dev/memcast; each folder keeps its part of one here ---- */

struct mc_client {
	u64 number;			/* no other client's; fdinfo shows it */
	u64 key;			/* random: who knows it may list the client */
	struct mc_host *host;		/* whose file was opened: it has those devices */
	struct list_head of_host;	/* in host->clients */
	struct rb_node by_key;		/* in host->keys */
	u64 round;			/* the last host->round that visited it */
	struct kref kref;		/* held by the file and walks of host->clients */
	bool lost;			/* its host was lost; only ever set, lockless */
	/*
	 * The page tables' view of this file. A mapping's offset in it is its
	 * address, which no other VMA of the same process has: so one
	 * unmap_mapping_range() hits one reservation and nothing else.
	 */
	struct address_space mapping;
	struct mm_struct *mm;		/* of the process that opened it */
	struct pid *process;		/* that process */
	struct wait_queue_entry process_ends;	/* in process->wait_pidfd; see client.c */
	struct work_struct outlived;
	struct mc_account *account;	/* of the user who opened it */
	struct xarray handles;		/* its lock protects channels, refs, ended, handle_count */
	unsigned long handle_count;	/* lockless */
	struct list_head ended_objects;	/* that end with it; with the lock of handles */
	spinlock_t reservations_lock;	/* protects reservations */
	struct rb_root reservations;	/* by mc_reservation.of_client, in order of addresses */
	atomic_long_t mapping_count;
	unsigned long zero_enough;	/* see mc_pool_take(); lockless */
	u32 next;			/* where to look for a free handle */
	struct mutex heap_lock;		/* protects heaps and blocks */
	struct xarray heaps;
	u32 next_heap;
	struct list_head freed;		/* heaps over their threshold, by mc_heap.freed */
	struct rb_root_cached blocks;	/* by mc_block.va */
	struct list_head registered_ended;	/* see kmod/heap/registered.c */
	atomic_t unmapped;		/* registered ranges that were unmapped, not yet said */
	struct mutex wait_lock;		/* protects waits and wait_count */
	struct list_head waits;		/* by mc_wait.list */
	unsigned int wait_count;	/* lockless */
	u32 protection;			/* key of what heaps map of devices; lockless */
	u64 channels;			/* a bit per IMEX channel it has opened; lockless */
	bool ended;			/* its process has ended; only ever set, lockless */
};

/* ---- call.c: a call of a client, from its argument to its answer ---- */

#define MC_REASON_SIZE	160

struct mc_call {
	struct mc_client *client;
	struct file *file;
	void *arg;			/* the argument, in the kernel */
	void __user *user;		/* the same, in user space */
	size_t bytes;			/* how many of its bytes to copy back */
	char reason[MC_REASON_SIZE];
};

int mc_respond(struct mc_call *call);
__printf(3, 4)
int mc_fail(struct mc_call *call, int error, const char *format, ...);

int mc_check_range(struct mc_call *call, const char *what, u64 first, u64 bytes,
		   u64 limit, u32 granularity);
int mc_range_is_covered(struct rb_root_cached *tree, unsigned long first, unsigned long last,
			unsigned long *where, struct interval_tree_node **partial);
int mc_user_check(u64 address, u64 bytes, bool write);

/* ---- xarray.c ---- */

void mc_xa_destroy(struct xarray *xa);

/* ---- freezing ---- */

/*
 * Is the caller to be frozen, with its cgroup or for suspend? Calls whose progress cannot be kept
 * stop only then, and begin anew afterwards; at every signal, they might never end.
 */
static inline bool mc_freezing(void)
{
	return unlikely(signal_pending(current)) &&
	       (freezing(current) || READ_ONCE(current->jobctl) & JOBCTL_TRAP_FREEZE);
}

/*
 * Has a call to stop before it has done anything? Return: 0; -EINTR: the caller is dying; or
 * -ERESTARTNOINTR: it is to be frozen.
 */
static inline int mc_must_stop(void)
{
	if (likely(!signal_pending(current)))
		return 0;
	return fatal_signal_pending(current) ? -EINTR : mc_freezing() ? -ERESTARTNOINTR : 0;
}

/* ---- handlers of commands, in all folders ---- */

#define COMMAND(_struct, ...)	int mc_##_struct(struct mc_call *call); MC_ROW_END
#include "commands.h"

#endif /* _MC_CORE_H */
