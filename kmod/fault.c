// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults: look the address up, install one PMD entry per chunk.
 *
 * Kernels since 6.6 call .huge_fault for an empty PMD of a PFN map; older ones,
 * and newer ones under MADV_NOHUGEPAGE, call .fault with an empty PMD, which may
 * install the PMD entry itself. Both come here.
 */
#include <linux/pfn_t.h>
#include "private.h"

/*
 * One chunk with one entry, if the mapping has all of it at an address that fits.
 * Only host memory, whose mappings can be smaller, does not.
 */
static bool fits_pmd(struct vm_fault *vmf, const struct mc_mapping *mapping,
		     const struct mc_memory *memory, unsigned long offset)
{
	unsigned long address = ALIGN_DOWN(vmf->address, MC_CHUNK_SIZE);

	return IS_ALIGNED(vmf->address - offset, MC_CHUNK_SIZE) &&
	       mapping->at.start <= address &&
	       mapping->at.last >= address + MC_CHUNK_SIZE - 1 &&
	       ALIGN(offset + 1, MC_CHUNK_SIZE) <= memory->object.bytes &&
	       (pmd_none(*vmf->pmd) || pmd_trans_huge(*vmf->pmd));
}

static vm_fault_t insert(struct vm_fault *vmf, const struct mc_mapping *mapping,
			 const struct mc_memory *memory, unsigned long offset,
			 bool write, bool huge)
{
	struct page *chunk = memory->chunk[offset >> MC_CHUNK_SHIFT];
	struct vm_area_struct *vma = vmf->vma;
	unsigned long pfn;
	pgprot_t prot;

	if (fits_pmd(vmf, mapping, memory, offset)) {
		atomic_long_inc(&mc_stats.pmd_faults);
		return vmf_insert_pfn_pmd(vmf, page_to_pfn_t(chunk), write);
	}
	if (huge)
		return VM_FAULT_FALLBACK;

	atomic_long_inc(&mc_stats.pte_faults);
	pfn = page_to_pfn(chunk) + ((offset & (MC_CHUNK_SIZE - 1)) >> PAGE_SHIFT);
	prot = write ? vm_get_page_prot(vma->vm_flags) : vma->vm_page_prot;
	return vmf_insert_pfn_prot(vma, vmf->address & PAGE_MASK, pfn, prot);
}

/* The first member that is bound there, in order of joining. */
static struct mc_binding *window_binding(struct mc_team *team,
					 unsigned long offset)
{
	struct mc_binding *binding;
	u32 i;

	for (i = 0; i < team->joined; i++) {
		binding = mc_binding_find(&team->member[i], offset);
		if (binding)
			return binding;
	}
	return NULL;
}

static vm_fault_t fault_team(struct vm_fault *vmf, struct mc_mapping *mapping,
			     unsigned long offset, bool write, bool huge)
{
	struct mc_team *team = mc_team(mapping->object);
	struct mc_binding *binding;
	vm_fault_t ret = VM_FAULT_SIGBUS;

	down_read(&team->lock);
	binding = mapping->replica ? mc_binding_find(mapping->replica, offset) :
				     window_binding(team, offset);
	if (binding)
		ret = insert(vmf, mapping, binding->memory,
			     mc_binding_shows(binding, offset), write, huge);
	up_read(&team->lock);
	return ret;
}

/* May the CPU do what it tried? A store to a window never reaches the replicas. */
static bool mapping_allows(const struct mc_mapping *mapping, bool write)
{
	if (write)
		return (mapping->writable || mapping->host == MEMCAST_ACCESS_READWRITE) &&
		       !mc_mapping_is_window(mapping);
	return mapping->readable || mapping->host;
}

static vm_fault_t fault(struct vm_fault *vmf, bool huge)
{
	struct mc_reservation *reservation = vmf->vma->vm_private_data;
	struct mc_mapping *mapping;
	vm_fault_t ret = VM_FAULT_SIGSEGV;
	unsigned long offset;

	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, vmf->address);
	if (mapping && mapping_allows(mapping, vmf->flags & FAULT_FLAG_WRITE)) {
		/* writable from the first read on: no second fault */
		bool write = mapping_allows(mapping, true);

		offset = mc_mapping_shows(mapping, vmf->address);
		if (mapping->object->type == MEMCAST_TYPE_TEAM)
			ret = fault_team(vmf, mapping, offset, write, huge);
		else
			ret = insert(vmf, mapping, mc_memory(mapping->object),
				     offset, write, huge);
	}
	up_read(&reservation->lock);
	if (ret & (VM_FAULT_SIGSEGV | VM_FAULT_SIGBUS))
		atomic_long_inc(&mc_stats.bad_faults);
	return ret;
}

vm_fault_t mc_fault(struct vm_fault *vmf)
{
	return fault(vmf, false);
}

vm_fault_t mc_huge_fault(struct vm_fault *vmf, unsigned int order)
{
	return order == MC_CHUNK_ORDER ? fault(vmf, true) : VM_FAULT_FALLBACK;
}

/*
 * A write to a read-only PTE. That this exists makes the core keep write access
 * out of the VMA's page protection, so that a mapping can be read-only. If it is
 * not (soft-dirty tracking took the access away), fault anew, under the lock:
 * what the core would do after this has let go of it could undo a zap.
 */
vm_fault_t mc_pfn_mkwrite(struct vm_fault *vmf)
{
	struct mc_reservation *reservation = vmf->vma->vm_private_data;
	unsigned long page = vmf->address & PAGE_MASK;

	mc_reservation_zap(reservation, page, page + PAGE_SIZE - 1);
	return VM_FAULT_NOPAGE;
}
