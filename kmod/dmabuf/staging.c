// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dma-buf of a team: whatever is written to it reaches every replica.
 *
 * One address cannot lead to N pages, so a team's dma-buf has pages of its own, a staging
 * buffer. They are made when they are needed, *filled* with what the first bound member has
 * (or zeros), and *broadcast* to all replicas. docs/dma-bufs.md says what programs may rely on.
 *
 * Pages stay until the dma-buf is released. They are single, as stores are seen page by page;
 * a device that maps all of them gets them from chunks.
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
#include <linux/sched/signal.h>
#include "dmabuf.h"
#include "map/map.h"
#include "core/compat.h"

#define CHUNK_PAGES	BIT(MC_CHUNK_ORDER)
#define DIRTY		XA_MARK_0
/* The process that touches a page can be told that there is none: no other one has to die. */
#define STAGING_GFP	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

struct mc_staging {
	struct mc_team *team;		/* the mc_buffer is a user of it */
	struct mc_account *account;	/* the exporter's, charged with the pages */
	/*
	 * Protects what follows, the pages (not against writes of devices and the kernel), and the
	 * page-table entries that show them. Held for a chunk at a time, as faults wait for it.
	 */
	struct mutex lock;
	struct xarray pages;		/* by offset; DIRTY: stored to */
	unsigned long round;		/* of brackets; page_private(): of the page's fill */
	unsigned int mapped;		/* how often: then all pages are there, and stay */
	unsigned int writers;		/* how many of these may write */
	bool vmapped;			/* lockless */
	bool lost;			/* the exporter's host was lost; only ever set */
	struct mc_pinned_range pinned;	/* of the lock's holder; 0 bytes: none */
	unsigned long pinned_first;	/* its first page */
	struct mc_spot spot[];		/* of the pinned range */
};

static size_t staging_bytes(void)
{
	return sizeof(struct mc_staging) + mc_spots(true) * sizeof(struct mc_spot);
}

static struct mc_staging *staging_of(const struct dma_buf *dmabuf)
{
	return ((const struct mc_buffer *)dmabuf->priv)->staging;
}

static void staging_unlock(struct mc_staging *staging)
{
	mc_pinned_range_put(&staging->pinned);
	staging->pinned.bytes = 0;
	mutex_unlock(&staging->lock);
}

/*
 * Pins the chunk around a page: of the first bound member, or (@write) of each. A holder of the
 * lock seeks either to read or to write until staging_unlock(), never both: a range that was
 * pinned to be read has one replica, and would be returned again.
 */
static struct mc_pinned_range *pinned_seek(struct mc_staging *staging, unsigned long index,
					   bool write)
{
	struct mc_pinned_range *pinned = &staging->pinned;

	lockdep_assert_held(&staging->lock);
	if (index - staging->pinned_first < pinned->bytes >> PAGE_SHIFT)
		return pinned;
	mc_pinned_range_put(pinned);
	staging->pinned_first = index;
	pinned->bytes = (CHUNK_PAGES - index % CHUNK_PAGES) << PAGE_SHIFT;
	pinned->replicas = 0;
	/* the fabric carries no data to a host that was lost, or from it */
	if (!staging->lost)
		mc_pinned_range_add_team(pinned, staging->team, NULL, index << PAGE_SHIFT, write);
	/* chunks, as pages, are taken under this lock: a task that waits for it wants the same */
	mc_pinned_range_fill(pinned, write);
	return pinned;
}

static void *pinned_page(const struct mc_staging *staging, unsigned int replica,
			 unsigned long index)
{
	return staging->pinned.spot[replica].kaddr +
	       ((index - staging->pinned_first) << PAGE_SHIFT);
}

/* Populates replicas before a store, whose process can be told. Return: success? */
static bool replicas_touch(struct mc_staging *staging, unsigned long index)
{
	if (!mc_lazy())
		return true;
	mc_pinned_range_put(&staging->pinned);
	staging->pinned.bytes = 0;
	return !pinned_seek(staging, index, true)->lacks;
}

static void page_fill(struct mc_staging *staging, struct page *page, unsigned long index)
{
	if (pinned_seek(staging, index, false)->replicas)
		memcpy(page_address(page), pinned_page(staging, 0, index), PAGE_SIZE);
	else
		clear_page(page_address(page));
	set_page_private(page, staging->round);
}

static bool page_is_good(struct mc_staging *staging, struct page *page, unsigned long index)
{
	return page_private(page) == staging->round || staging->writers ||
	       xa_get_mark(&staging->pages, index, DIRTY);
}

static void page_free(struct mc_staging *staging, struct page *page)
{
	__free_page(page);
	mc_uncharge(staging->account, PAGE_SIZE);
}

/* @page: charged, or NULL for a new one. Return: the page, filled; or NULL. */
static struct page *page_add(struct mc_staging *staging, struct page *page,
			     unsigned long index)
{
	if (!page)
		page = mc_pages_alloc(staging->account, STAGING_GFP, 0);
	if (!page)
		return NULL;
	page_fill(staging, page, index);
	if (xa_err(xa_store(&staging->pages, index, page, STAGING_GFP))) {
		page_free(staging, page);
		return NULL;
	}
	atomic_long_inc(&mc_stats.staging_pages);
	return page;
}

static void page_drop(struct mc_staging *staging, struct page *page, unsigned long index)
{
	xa_erase(&staging->pages, index);
	page_free(staging, page);
	atomic_long_dec(&mc_stats.staging_pages);
	cond_resched();
}

/* Return: the page at an offset, filled if it has to be; NULL: no memory for a page. */
static struct page *page_get(struct mc_staging *staging, unsigned long index)
{
	struct page *page = xa_load(&staging->pages, index);

	if (!page)
		return page_add(staging, NULL, index);
	if (!page_is_good(staging, page, index))
		page_fill(staging, page, index);
	return page;
}

/* Makes and fills all pages of a chunk. Return: 0 or -ENOMEM. */
static int chunk_get(struct mc_staging *staging, unsigned long first)
{
	unsigned long index = first, last = first + CHUNK_PAGES - 1;
	struct page *chunk = NULL;
	int ret = 0;

	if (!xa_find(&staging->pages, &index, last, XA_PRESENT))
		chunk = mc_pages_alloc(staging->account, GFP_KERNEL_ACCOUNT |
				       __GFP_NORETRY | __GFP_NOWARN, MC_CHUNK_ORDER);
	if (chunk)
		split_page(chunk, MC_CHUNK_ORDER);

	for (index = first; index <= last && !ret; index++) {
		if (!(chunk ? page_add(staging, chunk++, index) : page_get(staging, index)))
			ret = -ENOMEM;
		cond_resched();
	}
	/* pages of the chunk that got no place */
	for (; chunk && index <= last; index++)
		page_free(staging, chunk++);
	return ret;
}

static void staging_zap(struct dma_buf *dmabuf, unsigned long first, unsigned long pages)
{
	unmap_mapping_pages(dmabuf->file->f_mapping, first, pages, false);
}

/* Marks that the exporter's host was lost: no page is filled, shown or broadcast any more. */
void mc_staging_lose(struct mc_staging *staging)
{
	mutex_lock(&staging->lock);
	staging->lost = true;
	mutex_unlock(&staging->lock);
}

/* Copies pages of a chunk to every replica; zaps them first, so that stores fault and wait. */
static void chunk_broadcast(struct dma_buf *dmabuf, unsigned long index, unsigned long last,
			    xa_mark_t which)
{
	struct mc_staging *staging = staging_of(dmabuf);
	struct page *page;
	unsigned int i, replicas;

	staging_zap(dmabuf, index, last - index + 1);
	for (page = xa_find(&staging->pages, &index, last, which); page;
	     page = xa_find_after(&staging->pages, &index, last, which)) {
		replicas = pinned_seek(staging, index, true)->replicas;
		/* a replica that was bound since, and whose chunk cannot be had, is left out */
		for (i = 0; i < replicas; i++)
			if (staging->pinned.spot[i].kaddr)
				memcpy(pinned_page(staging, i, index), page_address(page),
				       PAGE_SIZE);
		xa_clear_mark(&staging->pages, index, DIRTY);
		cond_resched();
	}
}

/* @which: DIRTY, or XA_PRESENT for all. Return: whether there may be more. */
static bool broadcast_next(struct dma_buf *dmabuf, unsigned long *index, unsigned long last,
			   xa_mark_t which)
{
	struct mc_staging *staging = staging_of(dmabuf);
	unsigned long end = 0;

	mutex_lock(&staging->lock);
	if (xa_find(&staging->pages, index, last, which)) {
		end = min(last, *index | (CHUNK_PAGES - 1));
		chunk_broadcast(dmabuf, *index, end, which);
	}
	staging_unlock(staging);
	cond_resched();
	*index = end + 1;
	return end && end < last;
}

static void staging_broadcast(struct dma_buf *dmabuf, unsigned long first,
			      unsigned long last, xa_mark_t which)
{
	while (broadcast_next(dmabuf, &first, last, which))
		;
}

/*
 * Return: the page at an offset, with the lock held until staging_unlock(); or NULL, without.
 * @dirty: in: the caller is going to store to the page; out: the page has stores to broadcast.
 */
static struct page *staging_lock_page(struct dma_buf *dmabuf, unsigned long index, bool *dirty)
{
	struct mc_staging *staging = staging_of(dmabuf);
	struct page *page;

	mutex_lock(&staging->lock);
	page = staging->lost ? NULL : page_get(staging, index);
	if (!page || (*dirty && !replicas_touch(staging, index))) {
		staging_unlock(staging);
		return NULL;
	}
	if (*dirty)
		xa_set_mark(&staging->pages, index, DIRTY);
	*dirty = xa_get_mark(&staging->pages, index, DIRTY);
	return page;
}

/* Frees the pages of a chunk that no device, kernel or store uses. Takes the lock. */
static void chunk_drop(struct dma_buf *dmabuf, unsigned long first)
{
	struct mc_staging *staging = staging_of(dmabuf);
	unsigned long index, last = first + CHUNK_PAGES - 1;
	struct page *page;

	mutex_lock(&staging->lock);
	if (!staging->mapped) {
		staging_zap(dmabuf, first, CHUNK_PAGES);
		xa_for_each_range(&staging->pages, index, page, first, last)
			if (!xa_get_mark(&staging->pages, index, DIRTY))
				page_drop(staging, page, index);
	}
	staging_unlock(staging);
	cond_resched();
}

/*
 * Ends what staging_get() began. If the device or the kernel may have written, all pages are
 * broadcast; if it @failed, unused pages are freed with the last use. Takes the lock.
 */
static void staging_put(struct dma_buf *dmabuf, bool write, bool failed)
{
	struct mc_staging *staging = staging_of(dmabuf);
	unsigned long first;

	if (write && !failed)
		staging_broadcast(dmabuf, 0, ULONG_MAX, XA_PRESENT);
	mutex_lock(&staging->lock);
	staging->writers -= write;
	staging->mapped--;
	staging_unlock(staging);
	/* faults and the loss of a host wait for the lock: so a chunk at a time */
	for (first = 0; failed && first < dmabuf->size >> PAGE_SHIFT; first += CHUNK_PAGES)
		chunk_drop(dmabuf, first);
}

/*
 * Makes and fills all pages, for a @device or the kernel, until staging_put(). Other threads may
 * fill them meanwhile. For the kernel only want of memory is an error; a process that is being
 * killed goes on. Takes the lock. Return: 0, -ENOMEM, -EHOSTDOWN or -EINTR.
 */
static int staging_get(struct dma_buf *dmabuf, bool write, bool device)
{
	struct mc_staging *staging = staging_of(dmabuf);
	unsigned long first, pages = dmabuf->size >> PAGE_SHIFT;
	int ret = 0;

	/* vmap() walks single pages, however they lie, and does not yield */
	if (pages > totalram_pages() || (!device && pages > MC_MOST_SEGMENTS))
		return -ENOMEM;
	mutex_lock(&staging->lock);
	staging->mapped++;
	staging->round++;
	staging_unlock(staging);

	for (first = 0; first < pages && !ret; first += CHUNK_PAGES) {
		mutex_lock(&staging->lock);
		ret = device && staging->lost ? -EHOSTDOWN :
		      device && fatal_signal_pending(current) ? -EINTR : chunk_get(staging, first);
		if (!ret && write && !replicas_touch(staging, first))
			ret = -ENOMEM;
		staging_unlock(staging);
		cond_resched();
	}
	if (ret) {
		staging_put(dmabuf, false, true);
		return ret;
	}
	mutex_lock(&staging->lock);
	staging->writers += write;
	staging_unlock(staging);
	return 0;
}

/*
 * Return: a staging buffer for the dma-buf of a team, without pages yet; or NULL. The mc_buffer
 * is a user of the team.
 */
struct mc_staging *mc_staging_create(struct mc_call *call, struct mc_team *team)
{
	struct mc_staging *staging = mc_alloc(call, call->client->account, staging_bytes());

	if (!staging)
		return NULL;
	staging->pinned.spot = staging->spot;
	staging->account = call->client->account;
	staging->team = team;
	staging->round = 1;
	mutex_init(&staging->lock);
	xa_init_flags(&staging->pages, XA_FLAGS_ACCOUNT);
	return staging;
}

/* Frees a staging buffer and its pages. No process maps it any more, so no page is dirty. */
void mc_staging_free(struct mc_staging *staging)
{
	struct page *page;
	unsigned long index;

	xa_for_each(&staging->pages, index, page)
		page_drop(staging, page, index);
	xa_destroy(&staging->pages);
	mc_free(staging->account, staging, staging_bytes());
}

/* Return: the page frame at an offset, while staging_get() keeps all pages. */
unsigned long mc_staging_pfn(struct mc_staging *staging, unsigned long offset)
{
	return page_to_pfn((struct page *)xa_load(&staging->pages, offset >> PAGE_SHIFT));
}

/* ---- devices and the kernel ---- */

static struct sg_table *staging_map(struct dma_buf_attachment *attach,
				    enum dma_data_direction direction)
{
	bool write = direction != DMA_TO_DEVICE;
	struct sg_table *sgt;
	int ret;

	ret = staging_get(attach->dmabuf, write, true);
	if (ret)
		return ERR_PTR(ret);
	sgt = mc_buffer_map(attach, direction);
	if (IS_ERR(sgt))
		staging_put(attach->dmabuf, write, true);
	return sgt;
}

static void staging_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			  enum dma_data_direction direction)
{
	mc_buffer_unmap(attach, sgt, direction);
	staging_put(attach->dmabuf, direction != DMA_TO_DEVICE, false);
}

/*
 * The core counts uses, and calls this for the first only, and vunmap for the last. It
 * warns of failures, so only want of memory is one.
 */
static int staging_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	int ret;

	ret = staging_get(dmabuf, true, false);
	if (ret)
		return ret;
	ret = mc_buffer_vmap(dmabuf, map);
	if (ret)
		staging_put(dmabuf, true, true);
	else
		WRITE_ONCE(staging_of(dmabuf)->vmapped, true);
	return ret;
}

static void staging_vunmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	mc_buffer_vunmap(dmabuf, map);
	WRITE_ONCE(staging_of(dmabuf)->vmapped, false);
	staging_put(dmabuf, true, false);
}

/* ---- processors ---- */

/* A bracket begins: pages are filled anew when touched next. */
static int staging_begin_cpu(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	struct mc_staging *staging = staging_of(dmabuf);

	mc_buffer_sync(dmabuf->priv, true);
	mutex_lock(&staging->lock);
	staging->round++;
	staging_zap(dmabuf, 0, dmabuf->size >> PAGE_SHIFT);
	staging_unlock(staging);
	return 0;
}

/* A bracket ends: if it writes, what was stored is broadcast. */
static int staging_end_cpu(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	/* the kernel's stores to its own mapping leave no marks */
	xa_mark_t which = READ_ONCE(staging_of(dmabuf)->vmapped) ? XA_PRESENT : DIRTY;

	if (direction != DMA_FROM_DEVICE)
		staging_broadcast(dmabuf, 0, ULONG_MAX, which);
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

	page = staging_lock_page(dmabuf, vmf->pgoff, &dirty);
	if (!page)
		return VM_FAULT_SIGBUS;
	if (dirty)
		prot = vm_get_page_prot(vma->vm_flags);
	if (present)
		mc_zap_page(vma, address);
	ret = vmf_insert_pfn_prot(vma, address, page_to_pfn(page), prot);
	staging_unlock(staging_of(dmabuf));
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
	page = staging_lock_page(dmabuf, linear_page_index(vma, address), &dirty);
	if (!page)
		return -ENOMEM;
	kaddr = page_address(page) + offset_in_page(address);
	if (write)
		memcpy(kaddr, buffer, bytes);
	else
		memcpy(buffer, kaddr, bytes);
	staging_unlock(staging_of(dmabuf));
	return bytes;
}

/*
 * A mapping ends, in whole or in part, or moves, or is a child's that ends: pages that were stored
 * to are broadcast. To do so early is harmless.
 */
static void vma_close(struct vm_area_struct *vma)
{
	staging_broadcast(vma->vm_private_data, vma->vm_pgoff,
			  vma->vm_pgoff + vma_pages(vma) - 1, DIRTY);
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
