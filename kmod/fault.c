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

static vm_fault_t insert_chunk(struct vm_fault *vmf, struct page *chunk,
			       bool write)
{
	unsigned long address = vmf->address;
	struct vm_area_struct *vma = vmf->vma;
	unsigned long pfn;
	pgprot_t prot;

	if (pmd_none(*vmf->pmd) || pmd_trans_huge(*vmf->pmd)) {
		atomic_long_inc(&mc_stats.pmd_faults);
		return vmf_insert_pfn_pmd(vmf, page_to_pfn_t(chunk), write);
	}

	/* Something left a page table there: 4 KiB is all that fits. */
	atomic_long_inc(&mc_stats.pte_faults);
	pfn = page_to_pfn(chunk) +
	      ((address & (MC_CHUNK_SIZE - 1)) >> PAGE_SHIFT);
	prot = write ? vm_get_page_prot(vma->vm_flags) : vma->vm_page_prot;
	return vmf_insert_pfn_prot(vma, address & PAGE_MASK, pfn, prot);
}

/* The first member that is bound there, in order of joining. */
static struct mc_binding *window_binding(struct mc_team *team,
					 unsigned long index)
{
	struct mc_binding *binding;
	u32 i;

	for (i = 0; i < team->joined; i++) {
		binding = mc_binding_find(&team->member[i], index);
		if (binding)
			return binding;
	}
	return NULL;
}

static vm_fault_t fault_team(struct vm_fault *vmf, struct mc_mapping *mapping,
			     unsigned long index, bool write)
{
	struct mc_team *team = mc_team(mapping->object);
	struct mc_binding *binding;
	vm_fault_t ret = VM_FAULT_SIGBUS;

	down_read(&team->lock);
	binding = mapping->replica ? mc_binding_find(mapping->replica, index) :
				     window_binding(team, index);
	if (binding)
		ret = insert_chunk(vmf, mc_binding_chunk(binding, index), write);
	up_read(&team->lock);
	return ret;
}

/* May the CPU do what it tried? A store to a window never reaches the replicas. */
static bool mapping_allows(const struct mc_mapping *mapping, bool write)
{
	if (write)
		return mapping->writable && !mc_mapping_is_window(mapping);
	return mapping->readable;
}

vm_fault_t mc_fault(struct vm_fault *vmf)
{
	struct mc_reservation *reservation = vmf->vma->vm_private_data;
	unsigned long index = vmf->address >> MC_CHUNK_SHIFT;
	struct mc_mapping *mapping;
	vm_fault_t ret = VM_FAULT_SIGSEGV;

	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, index);
	if (mapping && mapping_allows(mapping, vmf->flags & FAULT_FLAG_WRITE)) {
		/* writable from the first read on: no second fault */
		bool write = mapping_allows(mapping, true);

		index = mc_mapping_shows(mapping, index);
		if (mapping->object->type == MEMCAST_TYPE_TEAM)
			ret = fault_team(vmf, mapping, index, write);
		else
			ret = insert_chunk(vmf, mc_memory(mapping->object)->chunk[index],
					   write);
	}
	up_read(&reservation->lock);
	if (ret & VM_FAULT_ERROR)
		atomic_long_inc(&mc_stats.bad_faults);
	return ret;
}

vm_fault_t mc_huge_fault(struct vm_fault *vmf, unsigned int order)
{
	return order == MC_CHUNK_ORDER ? mc_fault(vmf) : VM_FAULT_FALLBACK;
}

/*
 * A write to a read-only PTE. That this exists makes the core keep write access
 * out of the VMA's page protection, so that a mapping can be read-only.
 */
vm_fault_t mc_pfn_mkwrite(struct vm_fault *vmf)
{
	struct mc_reservation *reservation = vmf->vma->vm_private_data;
	struct mc_mapping *mapping;
	bool allowed;

	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, vmf->address >> MC_CHUNK_SHIFT);
	allowed = mapping && mapping_allows(mapping, true);
	up_read(&reservation->lock);
	return allowed ? 0 : VM_FAULT_SIGSEGV;
}
