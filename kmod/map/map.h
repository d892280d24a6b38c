/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses: reservations, mappings in them, faults, and the kernel's own access. */
#ifndef _MC_MAP_H
#define _MC_MAP_H

#include <linux/interval_tree.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/personality.h>
#include <linux/rwsem.h>
#include "object/object.h"
#include "device/set.h"
#include "core/trace.h"

/* ---- reservation.c ---- */

/* The mapping that was unmapped last, for the words of fault_reason.c. @object 0: none yet */
struct mc_unmapped {
	unsigned long first, last;	/* addresses */
	u64 object;			/* its number */
	enum memcast_type type;
};

struct mc_reservation {
	struct kref kref;
	struct mc_client *client;	/* its file outlives the VMA and the call */
	struct rb_node of_client;	/* in client->reservations, from mmap() to the VMA's end */
	unsigned long start, end;	/* addresses */
	struct rw_semaphore lock;	/* protects what follows */
	struct rb_root_cached mappings;	/* by mc_mapping.va; all below @reach */
	unsigned long reach;		/* @end, or the tail's end; read without the lock as well */
	bool retiring;			/* being freed, unless munmap fails */
	bool dead;			/* the VMA went away */
	bool of_heap;			/* a heap's, and only it maps; only ever set, lockless */
	bool of_pool;			/* and the heap is a pool */
	bool of_block;			/* and one block has all of it */
	bool lasting;			/* and it outlasts the host; only ever set, lockless */
	bool zapped;			/* page tables show nothing of what is being removed */
	struct mc_unmapped unmapped;
};

/*
 * Does the program ask mmap() for memory that it can run? With setarch -X the kernel adds VM_EXEC
 * to what it asks for, and the caller takes that away.
 */
static inline bool mc_vma_wants_exec(const struct vm_area_struct *vma)
{
	return vma->vm_flags & VM_EXEC && !(current->personality & READ_IMPLIES_EXEC);
}

unsigned long mc_reservation_place(struct file *file, unsigned long hint, unsigned long bytes,
				   unsigned long pgoff, unsigned long flags);
int mc_reservation_mmap(struct file *file, struct vm_area_struct *vma);

/* Is all of a range between a reservation's start, or an address in it, and its reach? */
static inline bool mc_reservation_reaches(const struct mc_reservation *reservation, u64 address,
					  u64 bytes)
{
	unsigned long reach = READ_ONCE(reservation->reach);

	return address < reach && bytes <= reach - address;
}

struct mc_reservation *mc_reservation_find(struct mc_client *client,
					   u64 address);
struct mc_reservation *mc_reservation_at(struct mc_call *call, u64 address);
struct mc_reservation *mc_reservation_over(struct mc_call *call, u64 address,
					   u64 bytes);
struct mc_reservation *mc_reservation_around(struct mc_call *call, u64 address,
					     u64 bytes);
int mc_reservation_lock(struct mc_call *call, struct mc_reservation *reservation, u64 address);
bool mc_reservation_in(struct mc_client *client, u64 address, u64 bytes);
void mc_reservation_put(struct mc_reservation *reservation);
struct mc_reservation *mc_reservation_next(struct mc_client *client, unsigned long from);
void mc_client_unmap(struct mc_client *client, bool host_lost);

/* Removes the page-table entries of a range of addresses. */
static inline void mc_reservation_zap(struct mc_reservation *reservation,
				      unsigned long first, unsigned long last)
{
	trace_memcast_zap(first, last - first + 1);
	unmap_mapping_range(&reservation->client->mapping, first, last - first + 1, 1);
}

/* ---- mapping.c ---- */

/* A part of a reservation that shows a memory, a window or a replica. */
struct mc_mapping {
	struct interval_tree_node va;	/* addresses */
	struct mc_object_range range;	/* which bytes of the object */
	struct mc_reservation *reservation;
	struct mc_object *object;
	struct mc_member *replica;	/* of a team; NULL: its window */
	u64 number;			/* no other mapping's, block's or object's */
	u32 handle;			/* that it was mapped by, and which it keeps; 0: a heap's */
	u32 flags;			/* MEMCAST_BLOCK_SET's: only the client interprets them */
	/* enum memcast_access; small, so that a mapping of a module of 64 devices has 192 bytes */
	u8 host;			/* what the host may do with its own memory */
	u8 any;				/* the most that any device may do */
	bool strict;			/* a window without page-table entries */
	struct list_head list;		/* of mappings being removed */
	unsigned long access[];		/* sets of devices that may read, and that may write */
};

/* Return: the set of devices that may read the mapping. */
static inline unsigned long *mc_mapping_readable(struct mc_mapping *mapping)
{
	return mapping->access;
}

/* Return: the set of devices that may write the mapping. */
static inline unsigned long *mc_mapping_writable(struct mc_mapping *mapping)
{
	return mapping->access + mc_set_words();
}

struct mc_mapping *mc_mapping_find(struct mc_reservation *reservation,
				   unsigned long address);
struct mc_mapping *mc_mapping_new(struct mc_call *call, struct mc_reservation *reservation,
				  struct mc_object *object, unsigned long address,
				  unsigned long offset, unsigned long bytes);
int mc_mapping_insert(struct mc_call *call, struct mc_mapping *mapping);
int mc_mappings_cover(struct mc_call *call, struct mc_reservation *reservation,
		      unsigned long first, unsigned long last);
void mc_mappings_remove(struct mc_reservation *reservation, struct interval_tree_node *node,
			unsigned long first, unsigned long last, struct list_head *removed);
void mc_mappings_free(struct list_head *removed);
void mc_mappings_undo(struct mc_reservation *reservation, struct list_head *ended);
void mc_mappings_cut(struct mc_reservation *reservation);
void mc_reservation_shrink(struct mc_reservation *reservation);

/* Does the mapping show a team's window? */
static inline bool mc_mapping_is_window(const struct mc_mapping *mapping)
{
	return mapping->object->type == MEMCAST_TYPE_TEAM && !mapping->replica;
}

/* Return: the offset in the object of the byte that is mapped at an address. */
static inline unsigned long mc_mapping_offset(const struct mc_mapping *mapping,
					      unsigned long address)
{
	return mapping->range.bytes.start + address - mapping->va.start;
}

/* ---- access.c: which devices may access a mapping ---- */

/* The entries of a MEMCAST_SET_ACCESS, as sets of devices */
struct mc_grant {
	MC_DECLARE_SET(named);
	MC_DECLARE_SET(readable);
	MC_DECLARE_SET(writable);
	bool host_named;
	u32 host;
};

int mc_grant_read(struct mc_call *call, u64 address, u32 count, struct mc_grant *grant);
void mc_grant_apply(struct mc_reservation *reservation, unsigned long first,
		    unsigned long last, const struct mc_grant *grant);

/* ---- fault.c ---- */

vm_fault_t mc_insert(struct vm_fault *vmf, const struct mc_memory *memory,
		     unsigned long offset, unsigned long first,
		     unsigned long last, bool write, bool huge);
vm_fault_t mc_fault(struct vm_fault *vmf);
vm_fault_t mc_huge_fault(struct vm_fault *vmf, unsigned int order);
vm_fault_t mc_pfn_mkwrite(struct vm_fault *vmf);

/* ---- pinned_range.c: the kernel's own access to mapped chunks ---- */

/* A pinned range in one memory: of one replica, if a team is mapped there */
struct mc_spot {
	void *kaddr;			/* in the kernel; NULL: no chunk was taken yet */
	struct mc_memory *memory;	/* with a user for this spot */
	unsigned long offset;		/* in the memory */
};

/*
 * Bytes within one chunk, of one memory or of every replica. It is a user of each memory, so the
 * chunks stay until mc_pinned_range_put(). The caller provides the array of spots.
 */
struct mc_pinned_range {
	size_t bytes;
	unsigned int replicas;
	bool lacks;			/* some spot is not populated yet */
	bool missed;			/* some member of a window has nothing bound there */
	struct mc_spot *spot;		/* of each */
};

/* Return: the number of spots that a pinned range needs: more than one only to write. */
static inline unsigned int mc_spots(bool write)
{
	return write ? mc_device_count : 1;
}

#define MC_ANY_DEVICE	MEMCAST_MAX_DEVICES

void mc_pinned_range_add_team(struct mc_pinned_range *pinned, struct mc_team *team,
			      struct mc_member *replica, unsigned long offset, bool write);
int mc_pinned_range_find(struct mc_pinned_range *pinned, struct mc_reservation *reservation,
			 u64 address, u64 bytes, u32 device, bool write);
int mc_pinned_range_get(struct mc_pinned_range *pinned, struct mc_reservation *reservation,
			u64 address, u64 bytes, u32 device, bool write);
int mc_pinned_range_fill(struct mc_pinned_range *pinned, bool write);
void mc_pinned_range_put(struct mc_pinned_range *pinned);
int mc_vma_access(struct vm_area_struct *vma, unsigned long address,
		  void *buffer, int bytes, int write);
int mc_mappings_check_access(struct mc_reservation *reservation, u64 address, u64 bytes,
			     u32 device, bool write);

/* ---- fault_reason.c: why an access fails, or misses a member, in words ---- */

bool mc_say_missed(struct mc_call *call, struct mc_reservation *reservation, u64 address);

#endif /* _MC_MAP_H */
