/* SPDX-License-Identifier: GPL-2.0-only */
/* Objects: memories and teams, which handles stand for, and the bindings between them. */
#ifndef _MC_OBJECT_H
#define _MC_OBJECT_H

#include <linux/dma-resv.h>
#include <linux/interval_tree.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/refcount.h>
#include <linux/rhashtable-types.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/srcu.h>
#include <linux/wait.h>
#include "device/device.h"
#include "device/set.h"

/* ---- object.c: what memories and teams have in common ---- */

#define MC_KEY_SIZE	16

struct mc_object;

/* Operations that differ between memories and teams */
struct mc_object_ops {
	enum memcast_type type;
	/* no user is left, so no mapping shows the object: it gives back what it has */
	void (*end)(struct mc_object *object);
	/* nothing points to the struct any more; may be NULL */
	void (*free)(struct mc_object *object);
};

struct mc_object {
	const struct mc_object_ops *ops;
	enum memcast_type type;	/* ops->type; here for faults and copies to read one line less */
	u32 handle_types;
	u64 bytes;
	u64 number;		/* no other object's */
	u32 granularity;	/* bytes; of sizes, offsets and mappings */
	const struct mc_host *host;	/* of the client that created it */
	refcount_t users;	/* handles, mappings, exported fds, calls */
	struct dma_resv resv;	/* of its dma-bufs */
	struct kref kref;	/* of the struct: held by its users together, by bindings */
	struct mc_account *account;	/* charged with the struct, and host memory */
	unsigned long struct_bytes;

	struct list_head ended;	/* without users: of those that end together, mc_objects_end() */

	struct mc_host *place;	/* with which it is lost; NULL: not entered yet */
	struct list_head of_place;	/* in place->objects or place->lost_objects */
	bool lost;		/* only ever set, lockless; see lost_objects.c */

	/* with MEMCAST_HANDLE_FABRIC; see fabric_handle.c */
	u8 channel;
	bool exported;
	u8 key[MC_KEY_SIZE];
	struct rhash_head by_key;
};

u64 mc_object_number(void);
struct mc_object *mc_object_alloc(struct mc_call *call, unsigned long struct_bytes);
void mc_object_init(struct mc_object *object, const struct mc_object_ops *ops,
		    u64 bytes, u32 granularity, u32 handle_types);
struct mc_object *mc_object_get(struct mc_object *object);
struct mc_object *mc_object_tryget(struct mc_object *object);

/* Has the last user of an object gone, so that it ends or has ended? The caller holds it. */
static inline bool mc_object_has_ended(const struct mc_object *object)
{
	return !refcount_read(&object->users);
}

void mc_object_put(struct mc_object *object);
void mc_object_put_later(struct mc_object *object, struct list_head *ended);
void mc_object_forget(struct mc_object *object);

/*
 * A fault looks whether a memory is lost and inserts its page-table entry in one read section.
 * The loss of a host marks memories, waits for all sections, and only then removes the entries
 * that they have inserted.
 */
extern struct srcu_struct mc_loss_srcu;

int mc_object_enter(struct mc_call *call, struct mc_object *object, struct mc_host *place);
int mc_object_fail_lost(struct mc_call *call, const struct mc_object *object);

/* Return: 0, or as mc_object_fail_lost(). Inline, as room for words there costs each call. */
static inline int mc_object_check(struct mc_call *call, const struct mc_object *object)
{
	return likely(!READ_ONCE(object->lost)) ? 0 : mc_object_fail_lost(call, object);
}

/* ---- lost_objects.c: objects of hosts that are lost ---- */

void mc_objects_mark(struct mc_host *host);
void mc_members_undo(struct mc_host *host);
void mc_objects_undo(struct mc_host *host);

/* ---- handle.c: a client's handles ---- */

struct mc_handle {
	struct mc_object *object;
	unsigned long refs;		/* references: how often it may be released */
	unsigned long maps;		/* its mappings; without refs and maps it ends */
	bool imported;			/* of a memory that it may not export */
	u32 id;
};

int mc_handle_answer_as(struct mc_call *call, struct mc_object *object, bool imported,
			u32 *out_handle);
static inline int mc_handle_answer(struct mc_call *call, struct mc_object *object,
				   u32 *out_handle)
{
	return mc_handle_answer_as(call, object, false, out_handle);
}

struct mc_object *mc_handle_find(struct mc_client *client, u32 id, bool *imported);
struct mc_object *mc_handle_mapped(struct mc_client *client, u32 id);
void mc_handle_unmapped(struct mc_client *client, u32 id);
bool mc_handle_hold(struct mc_client *client, u32 id);
int mc_handle_drop(struct mc_client *client, u32 id);
void mc_client_end(struct mc_client *client);
void mc_client_end_objects(struct mc_client *client, struct list_head *ended);
void mc_handles_destroy(struct mc_client *client);
int mc_handle_hold_named(struct mc_call *call);
int mc_no_handle(struct mc_call *call, u32 handle);
struct mc_memory *mc_find_memory(struct mc_call *call, u32 handle);
struct mc_team *mc_find_team(struct mc_call *call, u32 handle);

/* ---- fabric_handle.c ---- */

int mc_fabric_init(void);
void mc_fabric_exit(void);
int mc_fabric_channel(struct mc_call *call, u32 handle_types);
int mc_fabric_export(struct mc_call *call, struct mc_object *object);
void mc_fabric_forget(struct mc_object *object);
struct mc_object *mc_fabric_import(struct mc_call *call);

/* ---- memory.c ---- */

struct mc_foreign;
struct mc_memory;

/* Operations that differ by where a memory's pages come from */
struct mc_memory_ops {
	/* the memory has ended: give its pages back */
	void (*give_back)(struct mc_memory *memory);
	/*
	 * The page frame at an offset, and how many bytes from there on are physically
	 * contiguous, up to the next chunk. NULL: mc_memory.chunk has the pages.
	 */
	unsigned long (*extent)(const struct mc_memory *memory, unsigned long offset,
				unsigned long *pfn);
};

struct mc_memory {
	struct mc_object object;
	const struct mc_memory_ops *ops;
	struct mc_device *device;	/* that it is memory of; NULL: the host */
	struct mc_foreign *foreign;	/* the dma-buf that it shows; NULL: none */
	u32 location, location_id, flags;	/* as created; an id is the machine's */
	u32 last_order;			/* of the last chunk, of host memory smaller */
	bool exposed;			/* by a team, dma-buf, IPC handle; only set, lockless */
	spinlock_t lock;		/* protects bindings */
	/* by mc_binding.of_memory; if it is empty no team shows the memory: see binding.c */
	struct rb_root bindings;
	/* for mc_objects_end(): among memories that end together, and by what they are sorted */
	struct rb_node by_team;
	unsigned long next_team;
	u32 shift;			/* of a chunk's size, which in foreign memory is a page's */
	unsigned long chunks;
	struct page *chunk[];
};

static inline struct mc_memory *mc_memory(struct mc_object *object)
{
	return container_of(object, struct mc_memory, object);
}

/* Return: the page frame at an offset, which must be populated. */
static inline unsigned long mc_memory_pfn(const struct mc_memory *memory,
					  unsigned long offset)
{
	unsigned long pfn;

	if (memory->ops->extent) {
		memory->ops->extent(memory, offset, &pfn);
		return pfn;
	}
	return page_to_pfn(memory->chunk[offset >> memory->shift]) +
	       ((offset & (BIT(memory->shift) - 1)) >> PAGE_SHIFT);
}

/* Is an offset not populated yet, as no thread has touched it? See lazy.c. */
static inline bool mc_memory_lacks(const struct mc_memory *memory, unsigned long offset)
{
	return !memory->ops->extent && !READ_ONCE(memory->chunk[offset >> memory->shift]);
}

/* Return: the kernel's address of an offset, which must be populated. */
static inline void *mc_memory_address(const struct mc_memory *memory,
				      unsigned long offset)
{
	return pfn_to_kaddr(mc_memory_pfn(memory, offset)) + offset_in_page(offset);
}

unsigned long mc_memory_pages_extent(const struct mc_memory *memory, unsigned long offset);

/* Return: how many bytes from an offset on are physically contiguous, up to the next chunk. */
static inline unsigned long mc_memory_extent(const struct mc_memory *memory,
					     unsigned long offset)
{
	return memory->shift == PAGE_SHIFT ? mc_memory_pages_extent(memory, offset) :
					     MC_CHUNK_SIZE - (offset & (MC_CHUNK_SIZE - 1));
}

int mc_memory_touch(struct mc_memory *memory, unsigned long offset);

/* Chunks that a call has to populate: each counts once, however many mappings show it */
struct mc_lacks {
	struct xarray places;		/* by place in mc_memory.chunk */
	unsigned long chunks;
	struct mc_account *account;	/* that the last of them is charged to */
};

int mc_lacks_add(struct mc_lacks *lacks, const struct mc_memory *memory,
		 unsigned long offset);

bool mc_memory_has_chunk(const struct mc_memory *memory, unsigned long offset);
struct mc_device *mc_memory_find_device(struct mc_call *call,
					const struct memcast_memory_create *create);
struct mc_memory *mc_memory_new(struct mc_call *call, struct mc_device *device,
				const struct memcast_memory_create *create,
				u64 bytes);
struct mc_memory *mc_memory_alloc(struct mc_call *call, const struct mc_memory_ops *ops,
				  u64 bytes, unsigned long chunks, u32 granularity,
				  u32 handle_types);

/* ---- location.c ---- */

bool mc_memory_is_local(const struct mc_client *client, const struct mc_memory *memory);
void mc_memory_tell_location(const struct mc_client *client, const struct mc_memory *memory,
			     u32 *location, u32 *id);

/* ---- process.c: names of processes, also after they have ended ---- */

struct mc_process {
	struct pid *pid;		/* held; NULL: none yet, or a kernel thread */
	char name[TASK_COMM_LEN];
};

/* Lets go of the process. */
static inline void mc_process_put(struct mc_process *process)
{
	if (process->pid)
		put_pid(process->pid);
	process->pid = NULL;
}

void mc_process_set(struct mc_process *process);
bool mc_process_is_caller(const struct mc_process *process);
bool mc_process_has_ended(const struct mc_process *process);
void mc_process_name(const struct mc_process *process, char *name);
#define MC_PROCESS_WORDS	48	/* bytes, for mc_process_print() */
int mc_process_print(const struct mc_process *process, char *text, size_t size);

/* ---- team.c ---- */

/* Why a member has lost memory: it was unbound, it has ended, or its host was lost. */
enum mc_loss_cause { MC_LOSS_UNBOUND, MC_LOSS_ENDED, MC_LOSS_HOST };

/* The memory that a member lost last, for words */
struct mc_loss {
	unsigned long first, last;	/* bytes in the team */
	u64 order;			/* counts the team's losses; 0: none yet */
	enum mc_loss_cause cause;
	bool more;			/* earlier losses were forgotten */
	struct mc_process process;
};

struct mc_member {
	struct mc_device *device;
	struct mc_team *team;
	struct list_head of_host;	/* in host->members or host->lost_members */
	struct rb_root_cached bindings;	/* by mc_binding.range */
	struct rb_root_cached replicas;	/* its mappings, by mc_object_range.bytes */
	u64 bound;			/* the bindings' bytes */
	struct mc_process joined_by;
	struct mc_loss loss;
};

struct mc_team {
	struct mc_object object;
	struct rw_semaphore lock;	/* protects what follows */
	struct rb_root_cached windows;	/* mappings, by mc_object_range.bytes */
	u32 devices;			/* constant: how many will join */
	u32 joined;			/* == devices: complete, constant now; lockless */
	MC_DECLARE_SET(members);		/* the devices that have joined */
	u16 *place;			/* by device: index of its member */
	bool has_slot;			/* of the fabric, since the first binding */
	u64 losses;			/* of all members, counted */
	/* what mc_team_zap() took out of page tables, until mc_team_zap_done() */
	struct mc_member *zapped_member;	/* NULL: of all members */
	unsigned long zapped_first, zapped_last;
	atomic64_t writes;		/* by copies and fills to windows; lockless */
	atomic64_t multimem;		/* operations at windows, as processes say; lockless */
	ktime_t ready;			/* when it will be, once complete */
	wait_queue_head_t complete;
	struct mc_member member[];
};

static inline struct mc_team *mc_team(struct mc_object *object)
{
	return container_of(object, struct mc_team, object);
}

/*
 * Return: the member that a device is, or NULL if it has not joined. The caller holds the team's
 * lock, unless the team is complete.
 */
static inline struct mc_member *mc_team_member(struct mc_team *team,
					       const struct mc_device *device)
{
	if (!mc_set_has(team->members, device->id))
		return NULL;
	return &team->member[team->place[device->id]];
}

#define MC_LOSS_WORDS	96	/* room for mc_loss_print() */
void mc_loss_print(const struct mc_loss *loss, char *text, size_t size);
int mc_fail_not_bound(struct mc_call *call, struct mc_team *team, struct mc_member *member,
		      unsigned long offset);

/* Return: -ENODEV, with the reason that a device is not a member. */
static inline int mc_no_member(struct mc_call *call, u32 device)
{
	return mc_fail(call, -ENODEV, "device %u is not a member of the team",
		       mc_device_ordinal(call->client, device));
}

/* ---- team_mappings.c ---- */

/*
 * The bytes of an object that a mapping shows. A mapping of a team has it in the tree of the
 * team's windows or of a member's replicas, under the team's lock.
 */
struct mc_object_range {
	struct interval_tree_node bytes;	/* in the object */
	unsigned long address;			/* where the first is mapped */
	struct address_space *tables;		/* the client's, whose entries a zap removes */
};

void mc_team_zap_windows(struct mc_team *team, unsigned long first, unsigned long last);
void mc_team_zap(struct mc_team *team, struct mc_member *member,
		 unsigned long first, unsigned long last);
void mc_team_zap_done(struct mc_team *team);

/* ---- wait.c ---- */

/* A call that waits for a team's members, on its stack and in client->waits */
struct mc_wait {
	struct list_head list;
	struct mc_team *team;
	struct pid *pid;		/* of the process, which waits: it is not freed */
	u32 command;			/* MEMCAST_NR_... */
	ktime_t since;
};

void mc_waits_wake(struct mc_client *client);
int mc_team_await(struct mc_call *call, struct mc_team *team, u32 command, bool no_wait);

/* ---- binding.c ---- */

/* Chunks of a memory that are a part of a member's replica */
struct mc_binding {
	struct interval_tree_node range;	/* bytes in the team */
	struct mc_team *team;		/* holds the struct */
	struct mc_member *member;
	struct mc_memory *memory;	/* holds the struct */
	unsigned long memory_offset;		/* bytes into the memory */
	struct rb_node of_memory;	/* in memory->bindings */
	struct list_head list;		/* of bindings being made or revoked */
	struct mc_account *account;	/* of the client that made it */
};

void mc_bindings_free(struct list_head *list);
struct mc_binding *mc_binding_find(struct mc_member *member,
				   unsigned long offset);
struct mc_binding *mc_binding_create(struct mc_call *call, struct mc_team *team,
				     struct mc_memory *memory, unsigned long team_offset,
				     unsigned long memory_offset, unsigned long bytes);
int mc_bindings_commit(struct mc_call *call, struct mc_team *team,
		       struct mc_device *device, struct list_head *list);
int mc_bindings_undo_range(struct mc_call *call, struct mc_team *team,
			   struct mc_device *device, unsigned long first,
			   unsigned long last);
void mc_bindings_undo_team(struct mc_team *team);
void mc_bindings_undo_member(struct mc_member *member);

void mc_bindings_revoke(struct mc_team *team, struct mc_member *member,
			unsigned long first, unsigned long last, struct list_head *revoked);
void mc_member_lost(struct mc_member *member, struct mc_team *team,
		    unsigned long first, unsigned long last, enum mc_loss_cause cause);

/* Return: the offset in the memory of a byte that is bound at an offset in the team. */
static inline unsigned long mc_binding_memory_offset(const struct mc_binding *binding,
						     unsigned long offset)
{
	return binding->memory_offset + offset - binding->range.start;
}

/* ---- evict.c ---- */

void mc_bindings_undo_memory(struct mc_memory *memory);
void mc_objects_end(struct list_head *ended);

#endif /* _MC_OBJECT_H */
