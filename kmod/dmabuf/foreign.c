// SPDX-License-Identifier: GPL-2.0-only
/*
 * Foreign memory: dma-bufs of other drivers, as memories.
 *
 * The exporter maps its buffer for one of memcast's devices. Such a device sees what a
 * CPU sees, so the DMA addresses that it gets are those of pages, from the exporters that
 * are listed. (The pages in an sg_table are the exporter's alone. vmap() would show
 * pages too, but warns where it fails, and udmabuf's of Linux 6.12 shows wrong ones.)
 *
 * A range of addresses that memcast has exported comes back here as well, as its
 * dma-buf stands for no single memory. The memories behind the range are asked where the
 * bytes are: that needs neither an attachment nor a table of pages, however often the
 * range shows the same page.
 *
 * The attachment is a static one and stays mapped as long as the memory lives:
 * the exporter must leave the pages where they are, so there is no move_notify()
 * to follow, and no mapping to revoke before the memory ends.
 */
#include <linux/anon_inodes.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/file.h>
#include <linux/memremap.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include "dmabuf.h"
#include "core/compat.h"

/*
 * Exporters whose dma-bufs may be imported: those whose pages are known to be ordinary memory.
 *
 * An importer may use DMA addresses for its device only. memcast's devices are the machine's
 * processors, so it maps the pages behind the addresses. That is right where an exporter gives a
 * device without an IOMMU the addresses of its own pages: not where its memory is its device's, or
 * is for no processor.
 *
 * By default udmabuf, the system heap, and vgem, whose dma-bufs have the name of DRM's core
 */
static char foreign_exporters[256] = "udmabuf,system,vgem";
static DEFINE_MUTEX(exporters_lock);	/* protects foreign_exporters */

static int exporters_set(const char *value, const struct kernel_param *param)
{
	size_t length = strcspn(value, "\n");

	if (length >= sizeof(foreign_exporters))
		return -ENOSPC;
	mutex_lock(&exporters_lock);
	memcpy(foreign_exporters, value, length);
	foreign_exporters[length] = '\0';
	mutex_unlock(&exporters_lock);
	return 0;
}

static int exporters_get(char *buffer, const struct kernel_param *param)
{
	int bytes;

	mutex_lock(&exporters_lock);
	bytes = sysfs_emit(buffer, "%s\n", foreign_exporters);
	mutex_unlock(&exporters_lock);
	return bytes;
}

static const struct kernel_param_ops exporters_ops = {
	.set = exporters_set,
	.get = exporters_get,
};
module_param_cb(foreign_exporters, &exporters_ops, NULL, 0644);
MODULE_PARM_DESC(foreign_exporters, "exporters whose dma-bufs programs may import, with commas between (default udmabuf,system,vgem)");

static bool is_listed(const char *name)
{
	const char *at = foreign_exporters;
	size_t length = strlen(name);

	lockdep_assert_held(&exporters_lock);
	for (; *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == length && !strncmp(at, name, length))
			return true;
	return false;
}

/* Is a dma-buf's exporter one of those whose pages are ordinary memory? */
static bool exporter_is_known(const struct dma_buf *dmabuf)
{
	bool known;

	mutex_lock(&exporters_lock);
	known = is_listed(dmabuf->exp_name) ||
		(dmabuf->owner && !strcmp(dmabuf->exp_name, "drm") &&
		 is_listed(module_name(dmabuf->owner)));
	mutex_unlock(&exporters_lock);
	return known;
}

/*
 * Asks a dma-buf's exporter whether programs may map the buffer to write, as it is asked by mmap().
 * Without locks. Return: 0, or its errno.
 */
static int exporter_lets_map(struct dma_buf *dmabuf)
{
	unsigned long at = vm_mmap(dmabuf->file, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
				   MAP_SHARED, 0);

	return IS_ERR_VALUE(at) ? (int)at : vm_munmap(at, PAGE_SIZE);
}

struct mc_foreign {
	struct dma_buf *dmabuf;
	struct mc_account *account;	/* of the client that imported it */
	/* of another driver's dma-buf only */
	unsigned long table_bytes;
	struct file *file;		/* whose release ends all of this */
	struct dma_buf_attachment *attachment;
	struct sg_table *sgt;
};

/* Return: the dma-buf that foreign memory came from; the memory keeps it. */
struct dma_buf *mc_foreign_dmabuf(const struct mc_foreign *foreign)
{
	return foreign->dmabuf;
}

static void foreign_free(struct mc_foreign *foreign)
{
	if (foreign->sgt)
		mc_dma_buf_unmap(foreign->attachment, foreign->sgt);
	if (foreign->attachment)
		dma_buf_detach(foreign->dmabuf, foreign->attachment);
	dma_buf_put(foreign->dmabuf);
	mc_uncharge(foreign->account, foreign->table_bytes);
	if (foreign->file)
		mc_uncharge(foreign->account, MC_FILE_BYTES);
	mc_free(foreign->account, foreign, sizeof(*foreign));
}

static int foreign_release(struct inode *inode, struct file *file)
{
	foreign_free(file->private_data);
	return 0;
}

static const struct file_operations foreign_fops = {
	.owner = THIS_MODULE,
	.release = foreign_release,
};

/*
 * A memory may end under mmap_lock, where the exporter must not be called: it may have locks
 * that are taken before that one. So a file gives the dma-buf back: the kernel releases a file
 * without any lock, before the program goes on, and a file keeps the module until then. A
 * range's dma-buf needs none: its exporter is this module.
 */
static void foreign_give_back(struct mc_memory *memory)
{
	struct mc_foreign *foreign = memory->foreign;

	atomic_long_dec(&mc_stats.foreign);
	if (foreign->file)
		fput(foreign->file);
	else
		foreign_free(foreign);
}

static const struct mc_memory_ops foreign_ops = { .give_back = foreign_give_back };

/* As mc_memory_ops.extent, of an imported range: its dma-buf knows where the bytes are. */
static unsigned long range_extent(const struct mc_memory *memory, unsigned long offset,
				  unsigned long *pfn)
{
	return mc_buffer_extent(memory->foreign->dmabuf->priv, offset, pfn);
}

static const struct mc_memory_ops range_ops = {
	.give_back = foreign_give_back,
	.extent = range_extent,
};

/* Are DMA addresses those of pages? Not behind an IOMMU, bounce buffers or encryption. */
static bool addresses_are_physical(struct device *dev)
{
	struct page *page = ZERO_PAGE(0);
	dma_addr_t address = dma_map_page(dev, page, 0, PAGE_SIZE, DMA_TO_DEVICE);
	bool physical;

	if (dma_mapping_error(dev, address))
		return false;
	physical = address == page_to_phys(page);
	dma_unmap_page(dev, address, PAGE_SIZE, DMA_TO_DEVICE);
	return physical;
}

/* Is it a page that the kernel and programs can access as they do their own? */
static bool is_plain(unsigned long pfn)
{
	struct page *page;

	if (!pfn_valid(pfn))
		return false;
	page = pfn_to_page(pfn);
	return !is_zone_device_page(page) && !PageReserved(page) &&
	       !PageHighMem(page) && !PageSlab(page);
}

/*
 * The core's iterator over pages takes the DMA address for that of a segment's
 * first page, which it is not where an exporter's offset is larger than one.
 */
static int foreign_pages(struct mc_call *call, const struct mc_foreign *foreign,
			 struct mc_memory *memory)
{
	struct scatterlist *sg;
	unsigned long n = 0;
	unsigned int i;

	for_each_sgtable_dma_sg(foreign->sgt, sg, i) {
		unsigned long pfn = PHYS_PFN(sg_dma_address(sg));
		unsigned long end = pfn + (sg_dma_len(sg) >> PAGE_SHIFT);

		if (!PAGE_ALIGNED(sg_dma_address(sg) | sg_dma_len(sg)))
			return mc_fail(call, -EOPNOTSUPP,
				       "the exporter maps parts of pages");
		for (; pfn < end && n < memory->chunks; pfn++) {
			if (fatal_signal_pending(current))
				return -EINTR;
			if (!is_plain(pfn))
				return mc_fail(call, -EOPNOTSUPP,
					       "the dma-buf is not of ordinary memory");
			memory->chunk[n++] = pfn_to_page(pfn);
			cond_resched();
		}
	}
	if (n < memory->chunks)
		return mc_fail(call, -EOPNOTSUPP,
			       "the exporter maps only %lu of %lu pages of the dma-buf",
			       n, memory->chunks);
	return 0;
}

/* Gives a memory its pages, and the file that gives them back. */
static int foreign_take(struct mc_call *call, struct mc_foreign *foreign,
			struct mc_memory *memory)
{
	struct file *file;
	int ret;

	ret = foreign_pages(call, foreign, memory) ?:
	      mc_charge(call, foreign->account, MC_FILE_BYTES);
	if (ret)
		return ret;
	file = anon_inode_getfile("memcast-foreign", &foreign_fops, foreign, O_RDONLY);
	if (IS_ERR(file)) {
		mc_uncharge(foreign->account, MC_FILE_BYTES);
		return mc_fail(call, -ENOMEM, "the machine has no free file (errno %ld)",
			       -PTR_ERR(file));
	}
	foreign->file = file;
	return 0;
}

static int foreign_check(struct mc_call *call, struct dma_buf *dmabuf, struct device *dev)
{
	int error;

	if (!exporter_is_known(dmabuf))
		return mc_fail(call, -EOPNOTSUPP,
			       "dma-bufs of %s are not imported: their pages may not be ordinary memory (parameter foreign_exporters)",
			       dmabuf->exp_name);
	if (!dmabuf->size || !PAGE_ALIGNED(dmabuf->size))
		return mc_fail(call, -EINVAL, "the dma-buf's size %zu is not whole pages",
			       dmabuf->size);
	/* a dma-buf may show the same memory over and over */
	if (dmabuf->size >> PAGE_SHIFT > totalram_pages())
		return mc_fail(call, -ENOMEM, "the dma-buf's size %zu is more than there is",
			       dmabuf->size);
	if (!(dmabuf->file->f_mode & FMODE_WRITE))
		return mc_fail(call, -EPERM, "the dma-buf is read-only (not exported with %s)",
			       "O_RDWR or DRM_RDWR");
	error = exporter_lets_map(dmabuf);
	if (error)
		return mc_fail(call, error == -ENOMEM ? -ENOMEM : -EOPNOTSUPP,
			       "its exporter %s lets no program map the dma-buf (errno %d)",
			       dmabuf->exp_name, -error);
	if (!addresses_are_physical(dev))
		return mc_fail(call, -EOPNOTSUPP,
			       "this machine's DMA addresses are not those of pages");
	return 0;
}

static int exporter_failed(struct mc_call *call, const struct dma_buf *dmabuf, int error)
{
	if (error == -EINTR || error == -ERESTARTSYS)
		return error;
	return mc_fail(call, error == -ENOMEM ? -ENOMEM : -EOPNOTSUPP,
		       "the exporter %s does not map the dma-buf (errno %d)",
		       dmabuf->exp_name, -error);
}

static struct mc_foreign *foreign_new(struct mc_call *call, struct dma_buf *dmabuf)
{
	struct mc_foreign *foreign = mc_alloc(call, call->client->account,
					     sizeof(*foreign));

	if (!foreign)
		return ERR_PTR(-ENOMEM);
	foreign->account = call->client->account;
	get_dma_buf(dmabuf);
	foreign->dmabuf = dmabuf;
	return foreign;
}

/* Charges the table of segments, which the exporter has made for this import. */
static int charge_table(struct mc_call *call, struct mc_foreign *foreign)
{
	unsigned long bytes = (unsigned long)foreign->sgt->orig_nents *
			      sizeof(*foreign->sgt->sgl);
	int ret = mc_charge(call, foreign->account, bytes);

	if (!ret)
		foreign->table_bytes = bytes;
	return ret;
}

static struct mc_foreign *foreign_map(struct mc_call *call, struct dma_buf *dmabuf,
				      struct device *dev)
{
	struct mc_foreign *foreign;
	int ret;

	ret = foreign_check(call, dmabuf, dev);
	if (ret)
		return ERR_PTR(ret);
	foreign = foreign_new(call, dmabuf);
	if (IS_ERR(foreign))
		return foreign;
	foreign->attachment = dma_buf_attach(dmabuf, dev);
	if (IS_ERR(foreign->attachment)) {
		ret = exporter_failed(call, dmabuf, PTR_ERR(foreign->attachment));
		foreign->attachment = NULL;
		goto free_foreign;
	}
	foreign->sgt = mc_dma_buf_map(foreign->attachment);
	if (IS_ERR(foreign->sgt)) {
		ret = exporter_failed(call, dmabuf, PTR_ERR(foreign->sgt));
		foreign->sgt = NULL;
		goto free_foreign;
	}
	ret = charge_table(call, foreign);
	if (ret)
		goto free_foreign;
	return foreign;

free_foreign:
	foreign_free(foreign);
	return ERR_PTR(ret);
}

/* Return: the host with which an import is lost: that of the pages, or of the device. */
static struct mc_host *import_place(const struct mc_call *call, const struct mc_device *device,
				    const struct mc_buffer *range)
{
	/* all of a range is memory of one device, or of the exporter's host */
	if (range)
		return range->piece[0].memory->object.place;
	return device ? device->host : call->client->host;
}

/* Gives the memory of a range what it needs: all chunks, as it is mapped by page frames. */
static int range_take(struct mc_call *call, const struct mc_buffer *range)
{
	/* the host may have been lost, and have returned, before the import entered its list */
	const struct mc_memory *lost = mc_buffer_lost_memory(range);

	return lost ? mc_object_fail_lost(call, &lost->object) :
		      mc_buffer_touch(call, range, 0, range->bytes, true);
}

/**
 * mc_foreign_import() - make a memory of another driver's dma-buf, or of a range's
 * @call: the call
 * @dmabuf: held by the caller; not exported of an object
 * @device: which it counts as memory of; NULL: the host's
 * @range: the buffer, if the dma-buf is of a range of addresses that memcast has exported; or NULL
 *
 * Return: an object with one user, or an error.
 */
struct mc_object *mc_foreign_import(struct mc_call *call, struct dma_buf *dmabuf,
				    struct mc_device *device, const struct mc_buffer *range)
{
	struct mc_device *by = device ?: mc_device_find(call->client->host->first);
	struct mc_foreign *foreign;
	struct mc_memory *memory;
	int ret = -ENOMEM;

	foreign = range ? foreign_new(call, dmabuf) : foreign_map(call, dmabuf, &by->dev);
	if (IS_ERR(foreign))
		return ERR_CAST(foreign);
	memory = mc_memory_alloc(call, range ? &range_ops : &foreign_ops, dmabuf->size,
				 range ? 0 : dmabuf->size >> PAGE_SHIFT, PAGE_SIZE,
				 MEMCAST_HANDLE_FD);
	if (!memory)
		goto free_foreign;
	memory->shift = PAGE_SHIFT;
	memory->device = device;
	memory->location = device ? MEMCAST_LOCATION_DEVICE : MEMCAST_LOCATION_HOST;
	memory->location_id = device ? device->id : 0;
	memory->foreign = foreign;
	ret = mc_object_enter(call, &memory->object, import_place(call, device, range)) ?:
	      (range ? range_take(call, range) : foreign_take(call, foreign, memory));
	if (ret)
		goto forget_memory;
	atomic_long_inc(&mc_stats.memories);
	atomic_long_inc(&mc_stats.foreign);
	return &memory->object;

forget_memory:
	mc_object_forget(&memory->object);
free_foreign:
	foreign_free(foreign);
	return ERR_PTR(ret);
}
