/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that memcast builds for. Kbuild searches the
 * kernel's headers for each of them, as versions say nothing about backports.
 *
 * MC_VM_FLAGS_MOD: a function changes the flags of a VMA.
 *
 * MC_HUGE_FAULT_ORDER: .huge_fault takes an order, and is called for the empty
 * PMDs of a PFN map. Older kernels never call it for those; they call .fault.
 *
 * MC_DMA_BUF_UNLOCKED: functions that importers call without the dma-buf's lock
 * end in _unlocked. (The one that maps was backported to older kernels, whose
 * exporters do not expect the lock; so Kbuild searches for the one of vmap.)
 *
 * MC_PFN_T: a PMD entry is inserted by a pfn_t, whose flags say what keeps GUP from
 * its pages. Kernels with CONFIG_ARCH_SUPPORTS_PMD_PFNMAP mark every entry that a
 * driver inserts as special and need no flag. In older ones GUP refuses an entry
 * of a device (PFN_DEV | PFN_MAP), since it finds no such device. Newer kernels
 * mark every entry as special and have no pfn_t.
 *
 * MC_ZAP_SPECIAL: zap_special_vma_range() removes entries from a PFN map.
 *
 * MC_DEVNODE_CONST: the function that names a device's node gets a const device.
 *
 * MC_IN_EXECVE: exec() marks its task. Some kernels close files in it while the old
 * address space is still there.
 */
#ifndef _MC_COMPAT_H
#define _MC_COMPAT_H

#include <linux/dma-buf.h>
#include <linux/huge_mm.h>
#include <linux/mm.h>
#include <linux/page_table_check.h>
#include <linux/pkeys.h>
#include <linux/rcupdate.h>
#ifdef MC_PFN_T
#include <linux/pfn_t.h>
#endif

/* Chunks are shown by one PMD entry each, and addressed in the kernel's map of all memory. */
#ifndef CONFIG_64BIT
#error "memcast needs a 64-bit kernel"
#endif
#ifndef CONFIG_TRANSPARENT_HUGEPAGE
#error "memcast needs CONFIG_TRANSPARENT_HUGEPAGE, for entries of 2 MiB"
#endif
#ifndef CONFIG_MMU_NOTIFIER
#error "memcast needs CONFIG_MMU_NOTIFIER, which says when programs unmap registered memory"
#endif
#ifndef CONFIG_INTERVAL_TREE
#error "memcast needs CONFIG_INTERVAL_TREE, which CONFIG_DRM or CONFIG_MMU_NOTIFIER's users select"
#endif

#ifdef MC_DEVNODE_CONST
#define mc_devnode_const	const
#else
#define mc_devnode_const
#endif

/* Inserts a PMD entry that get_user_pages() and get_user_pages_fast() refuse. */
static inline vm_fault_t mc_insert_pmd(struct vm_fault *vmf, unsigned long pfn,
				       bool write)
{
#ifndef MC_PFN_T
	return vmf_insert_pfn_pmd(vmf, pfn, write);
#elif defined(CONFIG_ARCH_SUPPORTS_PMD_PFNMAP)
	return vmf_insert_pfn_pmd(vmf, __pfn_to_pfn_t(pfn, 0), write);
#else
	return vmf_insert_pfn_pmd(vmf, __pfn_to_pfn_t(pfn, PFN_DEV | PFN_MAP), write);
#endif
}

/*
 * A device's accesses are those of processors, through their caches: exporters of dma-bufs have
 * nothing to clean for it, and nothing to throw away, as they would on arm64. Kernels that never do
 * have no such field.
 */
static inline void mc_device_set_coherent(struct device *device)
{
#if defined(CONFIG_ARCH_HAS_SYNC_DMA_FOR_DEVICE) || \
	defined(CONFIG_ARCH_HAS_SYNC_DMA_FOR_CPU) || defined(CONFIG_ARCH_HAS_SYNC_DMA_FOR_CPU_ALL)
	device->dma_coherent = true;
#endif
}

/* Removes the page-table entry of one page of a PFN map. */
static inline void mc_zap_page(struct vm_area_struct *vma, unsigned long address)
{
#ifdef MC_ZAP_SPECIAL
	zap_special_vma_range(vma, address, PAGE_SIZE);
#else
	zap_vma_ptes(vma, address, PAGE_SIZE);
#endif
}

/* Is the task in exec()? If it closes a file there, it is about to leave the address space. */
static inline bool mc_in_exec(void)
{
#ifdef MC_IN_EXECVE
	return current->in_execve;
#else
	return false;
#endif
}

/* Sets and clears flags of a VMA that mmap() is making. */
static inline void mc_vma_flags(struct vm_area_struct *vma, unsigned long set,
				unsigned long clear)
{
#ifdef MC_VM_FLAGS_MOD
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/* Can this machine's page tables have the protection key? Key 0 is that of all other pages. */
static inline bool mc_key_exists(unsigned long key)
{
	return !key || (arch_pkeys_enabled() && key < arch_max_pkey());
}

/*
 * page_table_check, of debug kernels, counts a huge entry's pages after the entry has been cleared.
 * A thread that finds no entry may give the pages back while the thread that has cleared it still
 * counts: this waits for that one.
 */
static inline void mc_wait_for_counts(void)
{
#ifdef CONFIG_PAGE_TABLE_CHECK
	if (!static_branch_likely(&page_table_check_disabled))
		synchronize_rcu_expedited();
#endif
}

/* Gives a VMA that mmap() is making a protection key. */
static inline void mc_vma_set_key(struct vm_area_struct *vma, unsigned long key)
{
#ifdef CONFIG_ARCH_HAS_PKEYS
	if (key)
		mc_vma_flags(vma, key << VM_PKEY_SHIFT, 0);
#endif
}

/* Maps a static attachment in both directions, for as long as it lives. */
static inline struct sg_table *mc_dma_buf_map(struct dma_buf_attachment *attachment)
{
#ifdef MC_DMA_BUF_UNLOCKED
	return dma_buf_map_attachment_unlocked(attachment, DMA_BIDIRECTIONAL);
#else
	return dma_buf_map_attachment(attachment, DMA_BIDIRECTIONAL);
#endif
}

/* Undoes mc_dma_buf_map(). */
static inline void mc_dma_buf_unmap(struct dma_buf_attachment *attachment,
				    struct sg_table *sgt)
{
#ifdef MC_DMA_BUF_UNLOCKED
	dma_buf_unmap_attachment_unlocked(attachment, sgt, DMA_BIDIRECTIONAL);
#else
	dma_buf_unmap_attachment(attachment, sgt, DMA_BIDIRECTIONAL);
#endif
}

#endif /* _MC_COMPAT_H */
