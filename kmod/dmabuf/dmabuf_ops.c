// SPDX-License-Identifier: GPL-2.0-only
/* Operations of the dma-buf of a memory, or of a range, for devices, the kernel and processors. */
#include "dmabuf.h"
#include "core/compat.h"
#include "map/map.h"

static vm_fault_t look_and_insert(struct vm_fault *vmf, bool huge)
{
	const struct vm_area_struct *vma = vmf->vma;
	const struct mc_buffer *buffer = vma->vm_private_data;
	unsigned long vma_offset = vma->vm_pgoff << PAGE_SHIFT;
	unsigned long offset = vma_offset + (vmf->address & PAGE_MASK) - vma->vm_start;
	const struct mc_piece *piece = mc_buffer_piece(buffer, offset);
	unsigned long first = max(piece->start, vma_offset);
	unsigned long last = piece->start + piece->bytes - 1;

	if (READ_ONCE(piece->memory->object.lost) ||
	    mc_buffer_touch(NULL, buffer, offset, PAGE_SIZE, true))
		return VM_FAULT_SIGBUS;
	first = vma->vm_start + first - vma_offset;
	last = min(vma->vm_start + last - vma_offset, vma->vm_end - 1);
	return mc_insert(vmf, piece->memory, piece->offset + offset - piece->start,
			 first, last, vma->vm_flags & VM_WRITE, huge);
}

static vm_fault_t vma_insert(struct vm_fault *vmf, bool huge)
{
	int section = srcu_read_lock(&mc_loss_srcu);
	vm_fault_t ret = look_and_insert(vmf, huge);

	srcu_read_unlock(&mc_loss_srcu, section);
	return ret;
}

static vm_fault_t vma_fault(struct vm_fault *vmf)
{
	return vma_insert(vmf, false);
}

static vm_fault_t __maybe_unused vma_huge_fault(struct vm_fault *vmf, unsigned int order)
{
	return order == MC_CHUNK_ORDER ? vma_insert(vmf, true) : VM_FAULT_FALLBACK;
}

static int vma_access(struct vm_area_struct *vma, unsigned long address,
		      void *to, int bytes, int write)
{
	const struct mc_buffer *buffer = vma->vm_private_data;
	unsigned long offset, pfn;
	void *mapped;

	if (write && !(vma->vm_flags & VM_WRITE))
		return -EACCES;
	offset = address - vma->vm_start + (vma->vm_pgoff << PAGE_SHIFT);
	bytes = min_t(unsigned long, bytes, PAGE_SIZE - offset_in_page(offset));
	if (READ_ONCE(mc_buffer_piece(buffer, offset)->memory->object.lost))
		return -EIO;
	if (mc_buffer_touch(NULL, buffer, offset & PAGE_MASK, PAGE_SIZE, true))
		return -ENOMEM;
	mc_buffer_extent(buffer, offset & PAGE_MASK, &pfn);
	mapped = pfn_to_kaddr(pfn) + offset_in_page(offset);
	if (write)
		memcpy(mapped, to, bytes);
	else
		memcpy(to, mapped, bytes);
	return bytes;
}

/*
 * mremap() or fork() copies the VMA, and then its page-table entries. No zap sees a PMD entry on
 * the way, and the copy would go on showing the memory of a host that is lost. So the entries
 * go first, under the locks that keep faults out until the copy is made.
 */
static void vma_open(struct vm_area_struct *vma)
{
	unmap_mapping_pages(vma->vm_file->f_mapping, vma->vm_pgoff, vma_pages(vma), false);
}

static const struct vm_operations_struct buffer_vm_ops = {
	.open = vma_open,
	.fault = vma_fault,
#ifdef MC_HUGE_FAULT_ORDER
	.huge_fault = vma_huge_fault,
#endif
	.access = vma_access,
};

/* The file keeps the buffer, the buffer its memories: only the loss of a host takes pages away. */
static int buffer_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct mc_buffer *buffer = dmabuf->priv;

	if (!(vma->vm_flags & VM_SHARED) || mc_vma_wants_exec(vma))
		return -EINVAL;
	mc_vma_flags(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP,
		     VM_EXEC | VM_MAYEXEC);
	vma->vm_private_data = buffer;
	vma->vm_ops = &buffer_vm_ops;
	return 0;
}

static int buffer_begin_cpu(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	mc_buffer_sync(dmabuf->priv, true);
	return 0;
}

static int buffer_end_cpu(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	mc_buffer_sync(dmabuf->priv, false);
	return 0;
}

static void buffer_release(struct dma_buf *dmabuf)
{
	mc_buffer_free(dmabuf->priv);
}

const struct dma_buf_ops mc_buffer_ops = {
	.map_dma_buf = mc_buffer_map,
	.unmap_dma_buf = mc_buffer_unmap,
	.begin_cpu_access = buffer_begin_cpu,
	.end_cpu_access = buffer_end_cpu,
	.vmap = mc_buffer_vmap,
	.vunmap = mc_buffer_vunmap,
	.mmap = buffer_mmap,
	.release = buffer_release,
};
