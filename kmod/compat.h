/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between the kernels that memcast is for. Kbuild looks into the
 * kernel's headers for what this asks about, as versions say nothing about
 * backports.
 *
 * MC_HUGE_FAULT_ORDER: .huge_fault takes an order, and is called for the empty
 * PMDs of a PFN map. Kernels before never do that; .fault serves them.
 */
#ifndef _MC_COMPAT_H
#define _MC_COMPAT_H

#include <linux/mm.h>

static inline void mc_vma_flags(struct vm_area_struct *vma, unsigned long set,
				unsigned long clear)
{
#ifdef MC_VM_FLAGS_MOD
	vm_flags_mod(vma, set, clear);
#else
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#endif
}

#endif /* _MC_COMPAT_H */
