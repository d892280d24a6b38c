// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults: look the address up, install one PMD entry per chunk, or the chunk's PTEs where
 * pages are larger than 4 KiB.
 *
 * Kernels since 6.6 call .huge_fault for an empty PMD of a PFN map; older ones,
 * and newer ones under MADV_NOHUGEPAGE, call .fault with an empty PMD, which may
 * install the PMD entry itself. Both come here.
 */
#include "core/compat.h"
#include "map.h"

/*
 * Can a PMD entry show the chunk? Only if all of it is mapped, at an address that fits.
 * Host memory, whose mappings can be smaller, dma-bufs, which are mapped
 * wherever mmap() likes, and foreign memory, which may be any pages, may not fit.
 */
static bool fits_pmd(struct vm_fault *vmf, const struct mc_memory *memory,
		     unsigned long offset, unsigned long first, unsigned long last)
{
	unsigned long address = ALIGN_DOWN(vmf->address, MC_CHUNK_SIZE);
	/* other threads may fill and zap it meanwhile: the insertion looks again, locked */
	pmd_t pmd = READ_ONCE(*vmf->pmd);

	return MC_CHUNK_IS_PMD &&
	       IS_ALIGNED((vmf->address & PAGE_MASK) - offset, MC_CHUNK_SIZE) &&
	       first <= address && last >= address + MC_CHUNK_SIZE - 1 &&
	       ALIGN(offset + 1, MC_CHUNK_SIZE) <= memory->object.bytes &&
	       (memory->shift == MC_CHUNK_SHIFT || mc_memory_has_chunk(memory, offset)) &&
	       (pmd_none(pmd) || pmd_leaf(pmd));
}

/* Inserts PTEs: of all pages that are mapped in the same chunk, so that one fault is enough. */
static vm_fault_t insert_pages(struct vm_fault *vmf, const struct mc_memory *memory,
			       unsigned long offset, unsigned long first,
			       unsigned long last, bool write)
{
	struct vm_area_struct *vma = vmf->vma;
	unsigned long fault = vmf->address & PAGE_MASK;
	unsigned long address = max(first, ALIGN_DOWN(fault, MC_CHUNK_SIZE));
	pgprot_t prot = write ? vm_get_page_prot(vma->vm_flags) : vma->vm_page_prot;
	vm_fault_t ret = VM_FAULT_NOPAGE;

	last = min(last, ALIGN_DOWN(fault, MC_CHUNK_SIZE) + MC_CHUNK_SIZE - 1);
	for (; address < last && ret == VM_FAULT_NOPAGE; address += PAGE_SIZE) {
		unsigned long in_memory = offset + address - fault;

		/* the page that faults is there; another chunk's may not be, and faults then */
		if (!mc_memory_lacks(memory, in_memory))
			ret = vmf_insert_pfn_prot(vma, address, mc_memory_pfn(memory, in_memory),
						  prot);
	}
	return ret;
}

/**
 * mc_insert() - insert the page-table entries that a fault needs
 * @vmf: the fault
 * @memory: the memory that is mapped at its address
 * @offset: of the page of that address, in the memory
 * @first: the first address at which the memory is mapped, byte for byte
 * @last: the last one
 * @write: make the entries writable
 * @huge: insert a PMD entry or none
 *
 * The caller holds the locks that keep the mapping, and is in a section of mc_loss_srcu.
 *
 * Return: VM_FAULT_NOPAGE; VM_FAULT_FALLBACK: no PMD entry fits; or an error.
 */
vm_fault_t mc_insert(struct vm_fault *vmf, const struct mc_memory *memory,
		     unsigned long offset, unsigned long first,
		     unsigned long last, bool write, bool huge)
{
	if (fits_pmd(vmf, memory, offset, first, last)) {
		unsigned long pfn = mc_memory_pfn(memory,
						  ALIGN_DOWN(offset, MC_CHUNK_SIZE));

		atomic_long_inc(&mc_stats.pmd_faults);
		return mc_insert_pmd(vmf, pfn, write);
	}
	if (huge)
		return VM_FAULT_FALLBACK;
	atomic_long_inc(&mc_stats.pte_faults);
	return insert_pages(vmf, memory, offset, first, last, write);
}

/*
 * A chunk that no thread has touched before this fault. The fault drops its locks, takes the
 * chunk, and looks the address up again.
 */
struct lack {
	struct mc_memory *memory;	/* with a user; NULL: nothing to populate */
	unsigned long offset;
	u64 object;			/* number of the object at the address, or 0 */
};

/*
 * Notes a chunk that is missing. A memory that is ending gets none any more: what is bound of it
 * there counts as unbound, as it does for copies.
 * Return: 0: the chunk is there; or VM_FAULT_SIGBUS, and lack->memory is the memory to populate, or
 * NULL: it is ending.
 */
static vm_fault_t find_lack(struct lack *lack, struct mc_memory *memory, unsigned long offset)
{
	if (likely(!mc_memory_lacks(memory, offset)))
		return 0;
	if (mc_object_tryget(&memory->object)) {
		lack->memory = memory;
		lack->offset = offset;
		return VM_FAULT_SIGBUS;
	}
	/* its last user may have populated the chunk since, and another fault have shown it */
	smp_rmb();
	return mc_memory_lacks(memory, offset) ? VM_FAULT_SIGBUS : 0;
}

static int lack_fill(struct lack *lack)
{
	int ret = mc_memory_touch(lack->memory, lack->offset);

	mc_object_put(&lack->memory->object);
	return ret;
}

/* Shows one member's memory: that of a replica, or for a window of the first that has any. */
static vm_fault_t fault_team(struct vm_fault *vmf, struct mc_mapping *mapping,
			     unsigned long offset, bool write, bool huge, struct lack *lack)
{
	struct mc_team *team = mc_team(mapping->object);
	struct mc_member *member;
	vm_fault_t ret = VM_FAULT_SIGBUS;

	down_read(&team->lock);
	for (member = team->member; member < team->member + team->joined; member++) {
		struct mc_binding *binding;
		unsigned long from;

		if (mapping->replica && member != mapping->replica)
			continue;
		binding = mc_binding_find(member, offset);
		if (!binding)
			continue;
		from = mc_binding_memory_offset(binding, offset);
		ret = find_lack(lack, binding->memory, from);
		if (!ret)
			ret = mc_insert(vmf, binding->memory, from, mapping->va.start,
					mapping->va.last, write, huge);
		else if (!lack->memory)
			continue;
		break;
	}
	up_read(&team->lock);
	return ret;
}

/* May the CPU do what it tried? A store to a window never reaches the replicas. */
static bool mapping_allows(const struct mc_mapping *mapping, bool write)
{
	if (mapping->strict && mc_mapping_is_window(mapping))
		return false;
	if (write)
		return (mapping->any == MEMCAST_ACCESS_READWRITE ||
			mapping->host == MEMCAST_ACCESS_READWRITE) &&
		       !mc_mapping_is_window(mapping);
	return mapping->any || mapping->host;
}

/*
 * A store to a window is a SIGSEGV, whose handler in the library stores to all replicas. This takes
 * their chunks before: a replica whose chunk cannot be had would look unbound to the handler.
 */
static vm_fault_t fault_store(struct mc_mapping *mapping, unsigned long offset, struct lack *lack)
{
	struct mc_team *team = mc_team(mapping->object);
	u32 i;

	if (mapping->strict || max(mapping->any, mapping->host) < MEMCAST_ACCESS_READWRITE)
		return VM_FAULT_SIGSEGV;
	down_read(&team->lock);
	for (i = 0; i < team->joined && !lack->memory; i++) {
		struct mc_binding *binding = mc_binding_find(&team->member[i], offset);

		if (binding)
			find_lack(lack, binding->memory, mc_binding_memory_offset(binding, offset));
	}
	up_read(&team->lock);
	return lack->memory ? VM_FAULT_SIGBUS : VM_FAULT_SIGSEGV;
}

/*
 * Was the process's host lost, or that of the memory? Bindings of lost memory are undone. A lasting
 * heap's memory is of the process's own host, and stays.
 */
static bool is_lost(const struct mc_reservation *reservation, const struct mc_mapping *mapping)
{
	if (READ_ONCE(reservation->lasting))
		return false;
	return READ_ONCE(reservation->client->lost) ||
	       (mapping && mapping->object->type == MEMCAST_TYPE_MEMORY &&
		READ_ONCE(mapping->object->lost));
}

static vm_fault_t look_and_insert(struct vm_fault *vmf, bool huge, struct lack *lack)
{
	struct mc_reservation *reservation = vmf->vma->vm_private_data;
	struct mc_mapping *mapping;
	vm_fault_t ret = VM_FAULT_SIGSEGV;
	unsigned long offset;

	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, vmf->address);
	lack->object = mapping ? mapping->object->number : 0;
	if (unlikely(is_lost(reservation, mapping))) {
		ret = VM_FAULT_SIGBUS;
	} else if (mapping && mapping_allows(mapping, vmf->flags & FAULT_FLAG_WRITE)) {
		/* entries are writable from the first read on: a store needs no second fault */
		bool write = mapping_allows(mapping, true);

		offset = mc_mapping_offset(mapping, vmf->address & PAGE_MASK);
		if (mapping->object->type == MEMCAST_TYPE_TEAM)
			ret = fault_team(vmf, mapping, offset, write, huge, lack);
		else
			ret = find_lack(lack, mc_memory(mapping->object), offset) ?:
			      mc_insert(vmf, mc_memory(mapping->object), offset,
					mapping->va.start, mapping->va.last,
					write, huge);
	} else if (mc_lazy() && mapping && mc_mapping_is_window(mapping) &&
		   vmf->flags & FAULT_FLAG_WRITE) {
		ret = fault_store(mapping, mc_mapping_offset(mapping, vmf->address & PAGE_MASK),
				  lack);
	}
	up_read(&reservation->lock);
	return ret;
}

static vm_fault_t fault(struct vm_fault *vmf, bool huge)
{
	struct lack lack;
	vm_fault_t ret;
	int section;

	do {
		lack.memory = NULL;
		section = srcu_read_lock(&mc_loss_srcu);
		ret = look_and_insert(vmf, huge, &lack);
		srcu_read_unlock(&mc_loss_srcu, section);
	} while (unlikely(lack.memory) && !lack_fill(&lack));
	trace_memcast_fault(vmf->address, lack.object, vmf->flags & FAULT_FLAG_WRITE, huge,
			    (__force u32)ret);
	if (ret & (VM_FAULT_SIGSEGV | VM_FAULT_SIGBUS))
		atomic_long_inc(&mc_stats.bad_faults);
	return ret;
}

/* The VMA's .fault: inserts PTEs, or a PMD entry where one fits. */
vm_fault_t mc_fault(struct vm_fault *vmf)
{
	return fault(vmf, false);
}

/* The VMA's .huge_fault: inserts a PMD entry, or none. */
vm_fault_t mc_huge_fault(struct vm_fault *vmf, unsigned int order)
{
	return order == MC_CHUNK_ORDER ? fault(vmf, true) : VM_FAULT_FALLBACK;
}

/*
 * A write to a read-only PTE. As this operation exists, the core keeps write access
 * out of the VMA's page protection, so that a mapping can be read-only. If the mapping
 * is writable (soft-dirty tracking took the access away), the thread faults anew, under
 * the lock: an entry that the core changed after the lock was released could undo a zap.
 */
vm_fault_t mc_pfn_mkwrite(struct vm_fault *vmf)
{
	struct mc_reservation *reservation = vmf->vma->vm_private_data;
	unsigned long page = vmf->address & PAGE_MASK;

	mc_reservation_zap(reservation, page, page + PAGE_SIZE - 1);
	return VM_FAULT_NOPAGE;
}
