/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that memcast is for. Kbuild looks into the
 * kernel's headers for what this asks about, as versions say nothing about
 * backports.
 *
 * MC_HUGE_FAULT_ORDER: .huge_fault takes an order, and is called for the empty
 * PMDs of a PFN map. Kernels before never do that; .fault serves them.
 *
 * MC_DMA_BUF_UNLOCKED: importers call what is to be called without the buffer's
 * lock by another name. (That of the mapping has been taken back to older ones,
 * whose exporters do not expect the lock; so this is about vmap's.)
 *
 * MC_PFN_FLAGS: what keeps GUP from the pages of a PMD entry. Some kernels mark all
 * that drivers insert as special; in others those of devices are safe, since it
 * does not find the device.
 */
#ifndef _MC_COMPAT_H
#define _MC_COMPAT_H

#include <linux/dma-buf.h>
#include <linux/mm.h>
#include <linux/pfn_t.h>

#ifdef CONFIG_ARCH_SUPPORTS_PMD_PFNMAP
#define MC_PFN_FLAGS	0
#else
#define MC_PFN_FLAGS	(PFN_DEV | PFN_MAP)
#endif

static inline void mc_vma_flags(struct vm_area_struct *vma, unsigned long set,
				unsigned long clear)
{
#ifdef MC_VM_FLAGS_MOD
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

/* For as long as a static attachment lives, in both directions */
static inline struct sg_table *mc_dma_buf_map(struct dma_buf_attachment *attachment)
{
#ifdef MC_DMA_BUF_UNLOCKED
	return dma_buf_map_attachment_unlocked(attachment, DMA_BIDIRECTIONAL);
#else
	return dma_buf_map_attachment(attachment, DMA_BIDIRECTIONAL);
#endif
}

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
