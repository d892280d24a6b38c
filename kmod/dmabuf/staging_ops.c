// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations of the dma-buf of a team, for devices, the kernel and processors: see staging.c.
 *
 * Processors. A page is filled when it is first touched after a bracket began
 * (DMA_BUF_SYNC_START, by any process). Until it is stored to, page tables show it read-only; the
 * first store marks it dirty. The end of a bracket that writes takes dirty pages out of all
 * page tables, broadcasts them and clears the mark: pages without stores never overwrite
 * what other processes did meanwhile. A dirty page is not filled: it has the only copy of what
 * was stored. When a mapping goes without an end (munmap, exit, kill), its dirty pages are
 * broadcast: so a process that dies does not undo its stores, as it does not with other memory.
 *
 * Devices and the kernel. Mapping fills all pages; unmapping broadcasts all of them if there
 * could have been writes, as the kernel does not know which. In between pages are not filled,
 * since they have the only copy of what was written.
 */
#include <linux/dma-buf.h>
#include <linux/iosys-map.h>
#include <linux/pagemap.h>
#include "dmabuf.h"
#include "core/compat.h"
#include "map/map.h"

/* ---- devices and the kernel ---- */

static struct sg_table *staging_map(struct dma_buf_attachment *attach,
				    enum dma_data_direction direction)
{
	bool write = direction != DMA_TO_DEVICE;
	struct sg_table *sgt;
	int ret;

	ret = mc_staging_get(attach->dmabuf, write, true);
	if (ret)
		return ERR_PTR(ret);
	sgt = mc_buffer_map(attach, direction);
	if (IS_ERR(sgt))
		mc_staging_put(attach->dmabuf, write, true);
	return sgt;
}

static void staging_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			  enum dma_data_direction direction)
{
	mc_buffer_unmap(attach, sgt, direction);
	mc_staging_put(attach->dmabuf, direction != DMA_TO_DEVICE, false);
}

/*
 * The core counts uses, and calls this for the first only, and vunmap for the last. It
 * warns of failures, so only want of memory is one.
 */
static int staging_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	int ret;

	ret = mc_staging_get(dmabuf, true, false);
	if (ret)
		return ret;
	ret = mc_buffer_vmap(dmabuf, map);
	if (ret)
		mc_staging_put(dmabuf, true, true);
	else
		mc_staging_set_vmapped(dmabuf, true);
	return ret;
}

static void staging_vunmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	mc_buffer_vunmap(dmabuf, map);
	mc_staging_set_vmapped(dmabuf, false);
	mc_staging_put(dmabuf, true, false);
}

/* ---- processors ---- */

static int staging_begin_cpu(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	mc_buffer_sync(dmabuf->priv, true);
	mc_staging_begin(dmabuf);
	return 0;
}

static int staging_end_cpu(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	if (direction != DMA_FROM_DEVICE)
		mc_staging_end(dmabuf);
	mc_buffer_sync(dmabuf->priv, false);
	return 0;
}

/* Holds the lock over lookup and insertion, so that zapped pages stay zapped. */
static vm_fault_t vma_insert(struct vm_fault *vmf, bool store, bool present)
{
	struct vm_area_struct *vma = vmf->vma;
	struct dma_buf *dmabuf = vma->vm_private_data;
	unsigned long address = vmf->address & PAGE_MASK;
	pgprot_t prot = vma->vm_page_prot;
	bool dirty = store;
	struct page *page;
	vm_fault_t ret;

	page = mc_staging_lock(dmabuf, vmf->pgoff, &dirty);
	if (!page)
		return VM_FAULT_SIGBUS;
	if (dirty)
		prot = vm_get_page_prot(vma->vm_flags);
	if (present)
		mc_zap_page(vma, address);
	ret = vmf_insert_pfn_prot(vma, address, page_to_pfn(page), prot);
	mc_staging_unlock(dmabuf);
	return ret;
}

static vm_fault_t vma_fault(struct vm_fault *vmf)
{
	return vma_insert(vmf, vmf->flags & FAULT_FLAG_WRITE, false);
}

/*
 * The first store to a page that page tables show. As this operation exists, the core
 * keeps write access out of the VMA's page protection. A change of the entry by the core
 * afterwards could undo a zap, so the core is told that all is done.
 */
static vm_fault_t vma_pfn_mkwrite(struct vm_fault *vmf)
{
	return vma_insert(vmf, true, true);
}

/* Access of debuggers. What they write is broadcast as if the program had stored it. */
static int vma_access(struct vm_area_struct *vma, unsigned long address,
		      void *buffer, int bytes, int write)
{
	struct dma_buf *dmabuf = vma->vm_private_data;
	bool dirty = write;
	struct page *page;
	void *kaddr;

	if (write && !(vma->vm_flags & VM_WRITE))
		return -EACCES;
	bytes = min_t(unsigned long, bytes, PAGE_SIZE - offset_in_page(address));
	page = mc_staging_lock(dmabuf, linear_page_index(vma, address), &dirty);
	if (!page)
		return -ENOMEM;
	kaddr = page_address(page) + offset_in_page(address);
	if (write)
		memcpy(kaddr, buffer, bytes);
	else
		memcpy(buffer, kaddr, bytes);
	mc_staging_unlock(dmabuf);
	return bytes;
}

/*
 * A mapping ends, in whole or in part, or moves, or is a child's that ends: pages that were stored
 * to are broadcast. To do so early is harmless.
 */
static void vma_close(struct vm_area_struct *vma)
{
	mc_staging_flush(vma->vm_private_data, vma->vm_pgoff,
			 vma->vm_pgoff + vma_pages(vma) - 1);
}

static const struct vm_operations_struct staging_vm_ops = {
	.fault = vma_fault,
	.pfn_mkwrite = vma_pfn_mkwrite,
	.access = vma_access,
	.close = vma_close,
};

static int staging_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_SHARED) || mc_vma_wants_exec(vma))
		return -EINVAL;
	mc_vma_flags(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP,
		     VM_EXEC | VM_MAYEXEC);
	vma->vm_private_data = dmabuf;
	vma->vm_ops = &staging_vm_ops;
	return 0;
}

static void staging_release(struct dma_buf *dmabuf)
{
	mc_buffer_free(dmabuf->priv);
}

const struct dma_buf_ops mc_staging_ops = {
	.map_dma_buf = staging_map,
	.unmap_dma_buf = staging_unmap,
	.begin_cpu_access = staging_begin_cpu,
	.end_cpu_access = staging_end_cpu,
	.vmap = staging_vmap,
	.vunmap = staging_vunmap,
	.mmap = staging_mmap,
	.release = staging_release,
};
