/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the module's files share.
 *
 * Lock order, outermost first:
 *
 *   mc_client.heap_lock	heaps, their segments and blocks
 *   mmap_lock or a VMA's lock	the kernel's
 *   mc_object.resv	taken by the dma-buf core, of dma-bufs
 *   mc_staging.lock	pages of a team's dma-buf; by faults that show them, too
 *   mc_reservation.lock	mappings in a reservation
 *   mc_team.lock		members, bindings and mappings of a team
 *   mc_memory.lock		list of a memory's bindings
 *   mc_pool.lock		free chunks
 *
 * Nothing copies to or from user space under one of them, and nothing calls the
 * exporter of a foreign dma-buf, who has locks of his own. Faults hold the
 * read side of reservation and team over lookup and insertion; who changes
 * what they look up holds the write side over the change and the zap.
 * mc_client.handles has its own lock, innermost.
 *
 * What is called lockless below is read without its lock as well, by READ_ONCE(),
 * where it does not matter that it changes; so it is written by WRITE_ONCE().
 */
#ifndef _MC_PRIVATE_H
#define _MC_PRIVATE_H

#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/interval_tree.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/rwsem.h>
#include <linux/seq_file.h>
#include <linux/uuid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <memcast.h>

/* The unit of everything: physically contiguous, one PMD entry. */
#define MC_CHUNK_SHIFT	PMD_SHIFT
#define MC_CHUNK_SIZE	BIT(MC_CHUNK_SHIFT)
#define MC_CHUNK_ORDER	(MC_CHUNK_SHIFT - PAGE_SHIFT)

struct mc_call;
struct mc_reservation;

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

/* ---- show.c ---- */

void mc_client_show(struct seq_file *out, struct file *file);

/* ---- pool.c ---- */

struct mc_pool {
	spinlock_t lock;		/* protects what follows up to total */
	struct list_head clean;		/* zeroed chunks, by page->lru */
	struct list_head dirty;		/* chunks still to be zeroed */
	unsigned long free;		/* on a list, or just being zeroed; lockless */
	unsigned long total;
	int node;
	struct work_struct zero;
	wait_queue_head_t zeroed;
};

int mc_pool_init(struct mc_pool *pool, unsigned long chunks, int node);
void mc_pool_destroy(struct mc_pool *pool);
struct page *mc_chunk_alloc(int node, gfp_t flags, unsigned int order);
void mc_chunk_free(struct page *chunk, unsigned int order);
int mc_pool_take(struct mc_pool *pool, struct page **chunk, unsigned long n);
void mc_pool_give(struct mc_pool *pool, struct page **chunk, unsigned long n);

/* ---- device.c ---- */

struct mc_device {
	struct device dev;
	struct device_dma_parameters dma;
	u32 id;
	uuid_t uuid;
	struct mc_pool pool;
};

extern unsigned int mc_device_count;
int mc_devices_init(void);
void mc_devices_exit(void);
struct mc_device *mc_device_find(u32 id);

#define MC_KEY_SIZE	16

/* ---- object.c: what memories and teams have in common ---- */

struct mc_object {
	enum memcast_type type;
	u32 handle_types;
	u64 bytes;
	u64 number;		/* unlike every other's */
	u32 granularity;	/* bytes; of sizes, offsets and mappings */
	refcount_t users;	/* handles, mappings, exported fds, calls */
	struct dma_resv resv;	/* of its dma-bufs */
	struct kref kref;	/* of the struct: its users together, its bindings */

	/* with MEMCAST_HANDLE_FABRIC; see fabric.c */
	u8 channel;
	bool exported;
	u8 key[MC_KEY_SIZE];
	struct rhash_head by_key;
};

u64 mc_object_number(void);
void mc_object_init(struct mc_object *object, enum memcast_type type,
		    u64 bytes, u32 granularity, u32 handle_types);
struct mc_object *mc_object_get(struct mc_object *object);
struct mc_object *mc_object_tryget(struct mc_object *object);
void mc_object_put(struct mc_object *object);
void mc_object_forget(struct mc_object *object);

/* ---- memory.c ---- */

struct mc_foreign;

struct mc_memory {
	struct mc_object object;
	struct mc_device *device;	/* which it is of; NULL: the host */
	struct mc_foreign *foreign;	/* whose pages these are; NULL: our own */
	u32 location, location_id, flags;	/* as created */
	u32 last_order;			/* of the last chunk: host memory ends early */
	spinlock_t lock;		/* protects bindings */
	struct list_head bindings;	/* by mc_binding.of_memory */
	u32 shift;			/* of a chunk's size, which of foreign memory is a page */
	unsigned long chunks;
	struct page *chunk[];
};

static inline struct mc_memory *mc_memory(struct mc_object *object)
{
	return container_of(object, struct mc_memory, object);
}

static inline void *mc_memory_address(const struct mc_memory *memory,
				      unsigned long offset)
{
	return page_address(memory->chunk[offset >> memory->shift]) +
	       (offset & (BIT(memory->shift) - 1));
}

static inline unsigned long mc_memory_pfn(const struct mc_memory *memory,
					  unsigned long offset)
{
	return page_to_pfn(memory->chunk[offset >> memory->shift]) +
	       ((offset & (BIT(memory->shift) - 1)) >> PAGE_SHIFT);
}

unsigned long mc_foreign_extent(const struct mc_memory *memory, unsigned long offset);

/* Bytes from an offset on that are physically contiguous, up to the next chunk. */
static inline unsigned long mc_memory_extent(const struct mc_memory *memory,
					     unsigned long offset)
{
	return memory->foreign ? mc_foreign_extent(memory, offset) :
				 MC_CHUNK_SIZE - (offset & (MC_CHUNK_SIZE - 1));
}

struct mc_device *mc_memory_where(struct mc_call *call,
				  const struct memcast_memory_create *create);
struct mc_memory *mc_memory_new(struct mc_call *call, struct mc_device *device,
				const struct memcast_memory_create *create,
				u64 bytes);
struct mc_memory *mc_memory_alloc(u64 bytes, u32 shift, u32 granularity,
				  u32 handle_types);
void mc_memory_end(struct mc_memory *memory);

/* ---- foreign.c: other drivers' memory ---- */

struct dma_buf;

struct mc_object *mc_foreign_import(struct mc_call *call, struct dma_buf *dmabuf,
				    struct mc_device *device);
void mc_foreign_end(struct mc_foreign *foreign);
struct dma_buf *mc_foreign_dmabuf(const struct mc_foreign *foreign);
bool mc_foreign_has_chunk(const struct mc_memory *memory, unsigned long offset);

/* ---- bracket.c: access to it with the CPU ---- */

int mc_foreign_find(struct xarray *brackets, struct mc_reservation *reservation,
		    u64 address, u64 bytes);
int mc_foreign_begin_cpu(struct mc_call *call, struct xarray *brackets, bool write);
void mc_foreign_end_cpu(struct xarray *brackets, bool write);

/* ---- client.c ---- */

struct mc_client {
	u64 number;			/* unlike every other's, for those who look */
	/*
	 * The page tables' view of this file. A mapping's offset in it is its
	 * address, which no other VMA of the same process has: so one
	 * unmap_mapping_range() hits one reservation and nothing else.
	 */
	struct address_space mapping;
	struct mm_struct *mm;		/* the process that opened it */
	struct xarray handles;		/* its lock protects channels, refs */
	struct rb_root by_object;	/* and this, the same handles */
	u32 next;			/* where to look for a free handle */
	struct mutex heap_lock;		/* protects heaps and blocks */
	struct xarray heaps;
	u32 next_heap;
	struct rb_root_cached blocks;	/* by mc_block.at */
	u64 channels;			/* a bit per IMEX channel it has opened; lockless */
};

struct mc_handle {
	struct mc_object *object;
	struct rb_node by_object;	/* in client->by_object */
	unsigned long refs;
	u32 id;
};

struct mc_client *mc_client_create(struct inode *inode);
void mc_client_destroy(struct mc_client *client);
int mc_handle_answer(struct mc_call *call, struct mc_object *object,
		     u32 *out_handle);
struct mc_object *mc_handle_object(struct mc_client *client, u32 id);
u32 mc_handle_retain(struct mc_client *client, u32 id, struct mc_object *object);
int mc_handle_release(struct mc_client *client, u32 id);

/* ---- ioctl.c ---- */

#define MC_REASON_SIZE	160

struct mc_call {
	struct mc_client *client;
	struct file *file;
	void *arg;			/* the argument, in the kernel */
	void __user *user;		/* where it came from */
	size_t bytes;			/* how much of it to copy back */
	char reason[MC_REASON_SIZE];
};

long mc_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
int mc_respond(struct mc_call *call);
__printf(3, 4)
int mc_fail(struct mc_call *call, int error, const char *format, ...);
int mc_check_range(struct mc_call *call, const char *what, u64 first, u64 bytes,
		   u64 limit, u32 granularity);
int mc_no_handle(struct mc_call *call, u32 handle);
struct mc_memory *mc_find_memory(struct mc_call *call, u32 handle);
struct mc_team *mc_find_team(struct mc_call *call, u32 handle);
struct mc_device *mc_find_device(struct mc_call *call, u32 device);

/* the handlers, named after the verbs of the interface */
int mc_system_info(struct mc_call *call);
int mc_device_info(struct mc_call *call);
int mc_handle_info(struct mc_call *call);
int mc_release(struct mc_call *call);
int mc_retain(struct mc_call *call);
int mc_export(struct mc_call *call);
int mc_import(struct mc_call *call);
int mc_export_range(struct mc_call *call);
int mc_memory_create(struct mc_call *call);
int mc_team_create(struct mc_call *call);
int mc_team_add(struct mc_call *call);
int mc_bind_memory(struct mc_call *call);
int mc_bind_address(struct mc_call *call);
int mc_unbind(struct mc_call *call);
int mc_reservation_free(struct mc_call *call);
int mc_map(struct mc_call *call);
int mc_unmap(struct mc_call *call);
int mc_set_access(struct mc_call *call);
int mc_get_access(struct mc_call *call);
int mc_copy(struct mc_call *call);
int mc_fill(struct mc_call *call);
int mc_open_channel(struct mc_call *call);
int mc_address_info(struct mc_call *call);
int mc_heap_create(struct mc_call *call);
int mc_heap_destroy(struct mc_call *call);
int mc_heap_info(struct mc_call *call);
int mc_heap_set(struct mc_call *call);
int mc_heap_access(struct mc_call *call);
int mc_heap_trim(struct mc_call *call);
int mc_block_alloc(struct mc_call *call);
int mc_block_register(struct mc_call *call);
int mc_block_free(struct mc_call *call);
int mc_heap_export(struct mc_call *call);
int mc_heap_import(struct mc_call *call);
int mc_block_export(struct mc_call *call);
int mc_block_import(struct mc_call *call);
int mc_block_map(struct mc_call *call);

/* ---- team.c ---- */

struct mc_member {
	struct mc_device *device;
	struct rb_root_cached bindings;	/* by mc_binding.at */
	u64 bound;			/* their bytes */
};

struct mc_team {
	struct mc_object object;
	struct rw_semaphore lock;	/* protects what follows */
	struct rb_root_cached mappings;	/* by mc_mapping.shows */
	u32 devices;			/* constant: how many will join */
	u32 joined;			/* == devices: complete, constant now; lockless */
	u64 members;			/* a bit per device that has joined */
	u8 place[MEMCAST_MAX_DEVICES];	/* by device: where a member is */
	bool has_slot;			/* of the fabric's, since the first binding */
	ktime_t ready;			/* when it is, once complete */
	wait_queue_head_t complete;
	struct mc_member member[];
};

static inline struct mc_team *mc_team(struct mc_object *object)
{
	return container_of(object, struct mc_team, object);
}

void mc_team_end(struct mc_team *team);
int mc_team_wait(struct mc_call *call, struct mc_team *team);
struct mc_member *mc_team_member(struct mc_team *team,
				 struct mc_device *device);
void mc_team_zap(struct mc_team *team, struct mc_member *member,
		 unsigned long first, unsigned long last);

/* ---- binding.c ---- */

/* Chunks of a memory that a team shows as a member's replica. */
struct mc_binding {
	struct interval_tree_node at;	/* bytes in the team */
	struct mc_team *team;		/* holds the struct */
	struct mc_member *member;
	struct mc_memory *memory;	/* holds the struct */
	unsigned long from;		/* bytes into the memory */
	struct list_head of_memory;	/* in memory->bindings */
	struct list_head list;		/* of those being made or undone */
};

void mc_bindings_free(struct list_head *list);
struct mc_binding *mc_binding_find(struct mc_member *member,
				   unsigned long offset);
struct mc_binding *mc_binding_create(struct mc_team *team,
				     struct mc_memory *memory, unsigned long at,
				     unsigned long from, unsigned long bytes);
int mc_bindings_commit(struct mc_call *call, struct mc_team *team,
		       struct mc_device *device, struct list_head *list);
int mc_bindings_undo_range(struct mc_call *call, struct mc_team *team,
			   struct mc_device *device, unsigned long first,
			   unsigned long last);
void mc_bindings_undo_team(struct mc_team *team);
void mc_bindings_undo_memory(struct mc_memory *memory);

/* Where in the memory is what is shown at an offset in the team. */
static inline unsigned long mc_binding_shows(const struct mc_binding *binding,
					     unsigned long offset)
{
	return binding->from + offset - binding->at.start;
}

/* ---- reservation.c ---- */

struct mc_reservation {
	struct kref kref;
	struct mc_client *client;	/* its file outlives the VMA and the call */
	unsigned long start, end;	/* addresses */
	struct rw_semaphore lock;	/* protects what follows */
	struct rb_root_cached mappings;	/* by mc_mapping.at */
	bool retiring;			/* being freed, unless munmap fails */
	bool dead;			/* the VMA went away */
	bool of_heap;			/* which alone maps here; only ever set, lockless */
	bool of_block;			/* and one block of a pool has it all */
	bool lent;			/* to a team or a dma-buf; only ever set, lockless */
};

extern const struct vm_operations_struct mc_vm_ops;

int mc_reservation_mmap(struct file *file, struct vm_area_struct *vma);
struct mc_reservation *mc_reservation_of(struct mc_client *client,
					 const struct vm_area_struct *vma);
struct mc_reservation *mc_reservation_find(struct mc_client *client,
					   u64 address);
struct mc_reservation *mc_reservation_over(struct mc_call *call, u64 address,
					   u64 bytes);
struct mc_reservation *mc_reservation_around(struct mc_call *call, u64 address,
					     u64 bytes);
bool mc_reservation_in(struct mc_client *client, u64 address, u64 bytes);
void mc_reservation_put(struct mc_reservation *reservation);
void mc_reservation_zap(struct mc_reservation *reservation,
			unsigned long first, unsigned long last);

/* ---- mapping.c ---- */

/* A part of a reservation that shows a memory, a window or a replica. */
struct mc_mapping {
	struct interval_tree_node at;	/* addresses */
	struct interval_tree_node shows;	/* bytes in the object */
	struct mc_reservation *reservation;
	struct mc_object *object;
	struct mc_member *replica;	/* of a team; NULL: its window */
	u32 handle;			/* what mc_retain() tries first */
	u64 readable, writable;		/* a bit per device */
	u32 host;			/* what it may, of its own memory */
	bool strict;			/* a window that has no page-table entries */
	struct list_head list;		/* of those being undone */
};

struct mc_mapping *mc_mapping_find(struct mc_reservation *reservation,
				   unsigned long address);
struct mc_mapping *mc_mapping_new(struct mc_reservation *reservation,
				  struct mc_object *object, unsigned long address,
				  unsigned long offset, unsigned long bytes);
int mc_mapping_insert(struct mc_call *call, struct mc_mapping *mapping);
int mc_mappings_whole(struct mc_call *call, struct mc_reservation *reservation,
		      unsigned long first, unsigned long last);
void mc_mappings_undo(struct mc_reservation *reservation);

static inline bool mc_mapping_is_window(const struct mc_mapping *mapping)
{
	return mapping->object->type == MEMCAST_TYPE_TEAM && !mapping->replica;
}

/* Where in the object is what is shown at an address. */
static inline unsigned long mc_mapping_shows(const struct mc_mapping *mapping,
					     unsigned long address)
{
	return mapping->shows.start + address - mapping->at.start;
}

/* ---- heap.c: where blocks come from ---- */

struct mc_heap {
	u32 id, flags, options;
	struct memcast_memory_create create;	/* what its memory is like */
	struct mc_device *device;	/* NULL: the host */
	u64 readable, writable;		/* a bit per device */
	u32 host;			/* enum memcast_access */
	struct mc_share *share;		/* NULL: other processes get nothing of it */
	u64 limit, threshold;
	u64 taken, taken_high;		/* bytes of segments, or of those to come */
	u64 used, used_high;		/* bytes of blocks */
	unsigned long blocks;		/* and calls that are about to make one */
	bool ending;			/* its segments are being walked: reap later */
	bool ended;			/* gone with its last block */
	struct list_head segments;
	struct list_head rooms;		/* those where a block may fit */
};

#define MC_SLOTS	(MC_CHUNK_SIZE / MEMCAST_BLOCK_ALIGN)

/*
 * A reservation with one mapping of one memory: a chunk that blocks share, or
 * what a larger block has for itself.
 */
struct mc_segment {
	struct list_head list;		/* in heap->segments */
	struct list_head room;		/* in heap->rooms, unless it is full */
	struct mc_heap *heap;
	struct mc_share *share;		/* held; NULL: others do not find it */
	u64 object;			/* number of its memory */
	struct mc_reservation *reservation;
	unsigned long start, bytes;
	unsigned long blocks;
	unsigned int free;		/* slots, of a chunk */
	unsigned int most;		/* no run of free slots is longer */
	bool alone;			/* one block's, wherever in it that starts */
	DECLARE_BITMAP(slots, MC_SLOTS);
};

struct mc_block;

struct mc_heap *mc_heap_new(const struct memcast_memory_create *create,
			    struct mc_device *device, u32 flags);
int mc_heap_publish(struct mc_call *call, struct mc_heap *heap, u32 *id);
struct mc_heap *mc_heap_find(struct mc_call *call, u32 id);
void mc_heap_settle(struct mc_heap *heap, struct list_head *reaped);
bool mc_heap_reap_all(struct mc_client *client, struct list_head *reaped);
void mc_heaps_destroy(struct mc_client *client);
void mc_heap_grant(struct mc_segment *segment);

/* ---- segment.c ---- */

struct mc_segment *mc_segment_new(struct mc_call *call, struct mc_heap *heap,
				  u64 bytes, struct mc_memory *memory, u64 from);
void mc_segment_add(struct mc_segment *segment, struct list_head *reaped);
void mc_segment_place(struct mc_segment *segment, struct mc_block *block,
		      unsigned long offset, u64 bytes);
bool mc_segments_place(struct mc_heap *heap, struct mc_block *block, u64 bytes);
void mc_segment_take_back(struct mc_block *block);
void mc_segments_reap(struct mc_heap *heap, u64 keep, struct list_head *reaped);
void mc_segments_free(struct mc_client *client, struct list_head *reaped);

/* ---- block.c ---- */

struct mc_block {
	struct interval_tree_node at;	/* addresses */
	struct mc_segment *segment;	/* NULL: memory of the program's own */
	u64 number;			/* unlike every other's and any object's */
	u32 flags;			/* the caller's */
	bool freeing;			/* somebody has said that he will free it */
};

static inline unsigned long mc_block_bytes(const struct mc_block *block)
{
	return block->at.last - block->at.start + 1;
}

struct mc_block *mc_block_find(struct mc_client *client, unsigned long first,
			       unsigned long last);
void mc_block_insert(struct mc_client *client, struct mc_block *block);
int mc_block_respond(struct mc_call *call, unsigned long address);
void mc_block_end(struct mc_client *client, struct mc_block *block,
		  struct list_head *reaped);
bool mc_block_describe(struct mc_client *client,
		       struct memcast_address_info *info);
bool mc_block_holds(struct mc_client *client, u64 address, u64 bytes);

/* ---- share.c: heaps of several processes ---- */

struct mc_share *mc_share_new(const struct memcast_memory_create *create,
			      struct mc_device *device);
struct mc_share *mc_share_get(struct mc_share *share);
void mc_share_put(struct mc_share *share);
int mc_share_add(struct mc_share *share, struct mc_memory *memory);
void mc_share_remove(struct mc_share *share, u64 object);

/* ---- span.c: the kernel's own way to what is mapped ---- */

/* Bytes within one chunk, of one memory or of every replica. */
struct mc_span {
	size_t bytes;
	unsigned int replicas;
	void *at[MEMCAST_MAX_DEVICES];
	struct mc_memory *memory[MEMCAST_MAX_DEVICES];	/* each one used */
};

#define MC_ANY_DEVICE	MEMCAST_MAX_DEVICES

void mc_span_team(struct mc_span *span, struct mc_team *team,
		  struct mc_member *replica, unsigned long offset, bool write);
int mc_span_get(struct mc_span *span, struct mc_reservation *reservation,
		u64 address, u64 bytes, u32 device, bool write);
void mc_span_put(struct mc_span *span);
int mc_vma_access(struct vm_area_struct *vma, unsigned long address,
		  void *buffer, int bytes, int write);
bool mc_span_check(struct mc_reservation *reservation, u64 address, u64 bytes,
		   u32 device, bool write);

/* ---- side.c, for copy.c and fill.c ---- */

/* One side of a copy: rows of bytes. */
struct mc_side {
	struct mc_reservation *reservation;	/* NULL: any other memory */
	u64 address;				/* of what is copied next */
	u64 pitch;
	u32 device;
	bool write;
	struct xarray foreign;			/* memories, being accessed */
	struct mc_span span;
};

static inline char __user *mc_side_user(const struct mc_side *side)
{
	return u64_to_user_ptr(side->address);
}

int mc_user_check(u64 address, u64 bytes, bool write);
void mc_side_init(struct mc_side *side, u64 address, u64 pitch, u32 device, bool write);
int mc_side_open(struct mc_call *call, struct mc_side *side, u64 bytes, u64 rows,
		 bool must_be_mapped);
int mc_side_begin(struct mc_call *call, struct mc_side *side, u64 bytes, u64 rows);
void mc_side_close(struct mc_side *side);
int mc_side_span(struct mc_side *side, u64 bytes);

/* ---- dmabuf.c ---- */

/* Bytes of a memory, at an offset in a buffer. */
struct mc_piece {
	unsigned long at, offset, bytes;
	struct mc_memory *memory;	/* used */
};

/* What a dma-buf has. */
struct mc_buffer {
	struct mc_object *object;	/* used; what importing gives. NULL: nothing */
	unsigned long bytes;
	struct mutex lock;		/* protects the next */
	struct list_head mapped;	/* for devices */
	struct mc_staging *staging;	/* a team's pages; NULL: has pieces */
	unsigned int pieces;
	struct mc_piece piece[];	/* in order */
};

struct sg_table *mc_buffer_map(struct dma_buf_attachment *attach,
			       enum dma_data_direction direction);
void mc_buffer_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
		     enum dma_data_direction direction);
int mc_buffer_vmap(struct dma_buf *dmabuf, struct iosys_map *map);
void mc_buffer_vunmap(struct dma_buf *dmabuf, struct iosys_map *map);
void mc_buffer_sync(struct mc_buffer *buffer, bool for_cpu);
struct mc_buffer *mc_buffer_create(unsigned int pieces);
void mc_buffer_free(struct mc_buffer *buffer);
struct dma_buf *mc_buffer_export(struct mc_buffer *buffer);
struct mc_object *mc_buffer_object(struct dma_buf *dmabuf);

/* ---- staging.c, staging_ops.c: what the dma-buf of a team has for pages ---- */

struct mc_staging;

extern const struct dma_buf_ops mc_staging_ops;
struct mc_staging *mc_staging_create(struct mc_team *team);
void mc_staging_free(struct mc_staging *staging);
unsigned long mc_staging_pfn(struct mc_staging *staging, unsigned long at);
int mc_staging_get(struct dma_buf *dmabuf, bool write, bool killable);
void mc_staging_put(struct dma_buf *dmabuf, bool write, bool failed);
void mc_staging_set_vmapped(struct dma_buf *dmabuf, bool vmapped);
void mc_staging_begin(struct dma_buf *dmabuf);
void mc_staging_end(struct dma_buf *dmabuf);
void mc_staging_flush(struct dma_buf *dmabuf, unsigned long first, unsigned long last);
struct page *mc_staging_lock(struct dma_buf *dmabuf, unsigned long index, bool *dirty);
void mc_staging_unlock(struct dma_buf *dmabuf);

/* ---- fabric.c, channel.c ---- */

int mc_fabric_init(void);
void mc_fabric_exit(void);
bool mc_fabric_multicast(void);
u64 mc_fabric_recommended(void);
ktime_t mc_fabric_setup_delay(void);
ktime_t mc_fabric_timeout(void);
int mc_fabric_check(struct mc_call *call);
int mc_fabric_take_slot(struct mc_call *call);
void mc_fabric_give_slot(void);
int mc_fabric_channel(struct mc_call *call, u32 handle_types);
int mc_fabric_export(struct mc_call *call, struct mc_object *object);
void mc_fabric_forget(struct mc_object *object);
struct mc_object *mc_fabric_import(struct mc_call *call);
bool mc_channels_exist(void);
int mc_channels_init(void);
void mc_channels_exit(void);

/* ---- fault.c ---- */

vm_fault_t mc_insert(struct vm_fault *vmf, const struct mc_memory *memory,
		     unsigned long offset, unsigned long first,
		     unsigned long last, bool write, bool huge);
vm_fault_t mc_fault(struct vm_fault *vmf);
vm_fault_t mc_huge_fault(struct vm_fault *vmf, unsigned int order);
vm_fault_t mc_pfn_mkwrite(struct vm_fault *vmf);

#endif /* _MC_PRIVATE_H */
