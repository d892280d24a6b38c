// SPDX-License-Identifier: GPL-2.0-only
/*
 * An importer of dma-bufs for tests: /dev/memcast-importer, for root.
 *
 * `make kmod` builds it as build/selftests/memcast_importer-RELEASE.ko, so that
 * --add build/selftests brings it along; selftests/dmabuf/importer.c loads it
 * and has a function per ioctl of memcast_importer.h.
 *
 * The importer behaves as a driver should: it attaches with a device of its
 * own, takes DMA addresses and no pages from the exporter, and unmaps with the
 * direction that it mapped with. Its device has no engine, so the processor
 * accesses the memory that the DMA addresses lead to: the buffer's pages, or a
 * bounce buffer (swiotlb=force). The module refuses an IOMMU. A second device
 * takes no segments larger than a page. Each file has a lock of its own, so
 * files do not wait for each other.
 */
#include <linux/dma-buf.h>
#include <linux/dma-direct.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>
#include "memcast_importer.h"

struct mapping {
	struct sg_table *sgt;		/* NULL: not mapped */
	enum dma_data_direction direction;
};

struct attachment {
	struct dma_buf *dmabuf;
	struct dma_buf_attachment *attach;
	struct mapping mapping[MEMCAST_IMPORTER_SLOTS];
	struct iosys_map vmap;		/* NULL: not mapped */
};

struct importer {
	struct mutex lock;		/* protects the fields below */
	struct xarray attachments;
};

/* The second device takes segments of a page only. */
static struct platform_device *devices[2];

/* Kernels before 6.2 take the dma-buf's lock in dma_buf_vmap() itself. */
static int importer_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
#ifdef IMPORTER_VMAP_UNLOCKED
	return dma_buf_vmap_unlocked(dmabuf, map);
#else
	return dma_buf_vmap(dmabuf, map);
#endif
}

static void importer_vunmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
#ifdef IMPORTER_VMAP_UNLOCKED
	dma_buf_vunmap_unlocked(dmabuf, map);
#else
	dma_buf_vunmap(dmabuf, map);
#endif
	iosys_map_clear(map);
}

static void unmap(struct attachment *attachment, struct mapping *mapping)
{
	dma_buf_unmap_attachment_unlocked(attachment->attach, mapping->sgt,
					  mapping->direction);
	mapping->sgt = NULL;
}

static void detach(struct attachment *attachment)
{
	int i;

	for (i = 0; i < MEMCAST_IMPORTER_SLOTS; i++)
		if (attachment->mapping[i].sgt)
			unmap(attachment, &attachment->mapping[i]);
	if (iosys_map_is_set(&attachment->vmap))
		importer_vunmap(attachment->dmabuf, &attachment->vmap);
	dma_buf_detach(attachment->dmabuf, attachment->attach);
	dma_buf_put(attachment->dmabuf);
	kfree(attachment);
}

static int do_attach(struct importer *importer, struct memcast_importer *arg)
{
	struct attachment *attachment = kzalloc(sizeof(*attachment), GFP_KERNEL);
	int ret;

	if (!attachment)
		return -ENOMEM;
	if (arg->single_pages >= ARRAY_SIZE(devices)) {
		ret = -EINVAL;
		goto free_attachment;
	}
	attachment->dmabuf = dma_buf_get(arg->fd);
	if (IS_ERR(attachment->dmabuf)) {
		ret = PTR_ERR(attachment->dmabuf);
		goto free_attachment;
	}
	attachment->attach = dma_buf_attach(attachment->dmabuf,
					    &devices[arg->single_pages]->dev);
	if (IS_ERR(attachment->attach)) {
		ret = PTR_ERR(attachment->attach);
		goto put_dmabuf;
	}
	arg->out_bytes = attachment->dmabuf->size;
	ret = xa_alloc(&importer->attachments, &arg->id, attachment, xa_limit_31b,
		       GFP_KERNEL);
	if (ret)
		detach(attachment);
	return ret;

put_dmabuf:
	dma_buf_put(attachment->dmabuf);
free_attachment:
	kfree(attachment);
	return ret;
}

static struct mapping *mapping_of(struct attachment *attachment, u32 slot)
{
	return slot < MEMCAST_IMPORTER_SLOTS ? &attachment->mapping[slot] : NULL;
}

static int do_map(struct attachment *attachment, struct memcast_importer *arg)
{
	struct mapping *mapping = mapping_of(attachment, arg->slot);
	struct sg_table *sgt;

	if (arg->slot == MEMCAST_IMPORTER_VMAP)
		return iosys_map_is_set(&attachment->vmap) ? -EBUSY :
			importer_vmap(attachment->dmabuf, &attachment->vmap);
	if (!mapping || arg->direction > MEMCAST_IMPORTER_WRITES)
		return -EINVAL;
	if (mapping->sgt)
		return -EBUSY;
	sgt = dma_buf_map_attachment_unlocked(attachment->attach, arg->direction);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	mapping->sgt = sgt;
	mapping->direction = arg->direction;
	arg->out_segments = sgt->nents;
	return 0;
}

static int do_unmap(struct attachment *attachment, struct memcast_importer *arg)
{
	struct mapping *mapping = mapping_of(attachment, arg->slot);

	if (arg->slot == MEMCAST_IMPORTER_VMAP) {
		if (iosys_map_is_null(&attachment->vmap))
			return -EINVAL;
		importer_vunmap(attachment->dmabuf, &attachment->vmap);
		return 0;
	}
	if (!mapping || !mapping->sgt)
		return -EINVAL;
	unmap(attachment, mapping);
	return 0;
}

/*
 * Returns the processor's address for an offset, and in @bytes how much follows
 * it in one piece.
 */
static void *mapped_at(struct attachment *attachment, u32 slot, u64 offset, size_t *bytes)
{
	struct mapping *mapping = mapping_of(attachment, slot);
	struct scatterlist *sg;
	int i;

	if (slot == MEMCAST_IMPORTER_VMAP && iosys_map_is_set(&attachment->vmap)) {
		*bytes = PAGE_SIZE - offset_in_page(offset);
		return attachment->vmap.vaddr + offset;
	}
	if (!mapping || !mapping->sgt)
		return NULL;
	for_each_sgtable_dma_sg(mapping->sgt, sg, i) {
		if (offset < sg_dma_len(sg)) {
			phys_addr_t phys = dma_to_phys(attachment->attach->dev,
						       sg_dma_address(sg));

			*bytes = min_t(u64, sg_dma_len(sg) - offset,
				       PAGE_SIZE - offset_in_page(offset));
			return pfn_valid(PHYS_PFN(phys)) ? phys_to_virt(phys) + offset : NULL;
		}
		offset -= sg_dma_len(sg);
	}
	return NULL;
}

static bool may(const struct attachment *attachment, u32 slot, bool write)
{
	if (slot >= MEMCAST_IMPORTER_SLOTS)
		return true;
	return attachment->mapping[slot].direction !=
		(write ? DMA_TO_DEVICE : DMA_FROM_DEVICE);
}

/*
 * Copies page by page, as user memory may fault and the mapping has segments.
 */
static int do_transfer(struct attachment *attachment, struct memcast_importer *arg, bool write)
{
	char __user *data = u64_to_user_ptr(arg->data);
	u64 offset = arg->offset, left = arg->bytes;

	if (left > attachment->dmabuf->size || offset > attachment->dmabuf->size - left)
		return -EINVAL;
	if (!may(attachment, arg->slot, write))
		return -EACCES;
	while (left) {
		size_t bytes = 0;
		void *at = mapped_at(attachment, arg->slot, offset, &bytes);

		if (!at)
			return -EINVAL;
		if (fatal_signal_pending(current))
			return -EINTR;
		bytes = min_t(u64, bytes, left);
		if (write ? copy_from_user(at, data, bytes) : copy_to_user(data, at, bytes))
			return -EFAULT;
		data += bytes;
		offset += bytes;
		left -= bytes;
		cond_resched();
	}
	return 0;
}

static int do_locked(struct importer *importer, unsigned int cmd, struct memcast_importer *arg)
{
	struct attachment *attachment = xa_load(&importer->attachments, arg->id);

	if (cmd == MEMCAST_IMPORTER_ATTACH)
		return do_attach(importer, arg);
	if (!attachment)
		return -ENOENT;
	switch (cmd) {
	case MEMCAST_IMPORTER_DETACH:
		xa_erase(&importer->attachments, arg->id);
		detach(attachment);
		return 0;
	case MEMCAST_IMPORTER_MAP:
		return do_map(attachment, arg);
	case MEMCAST_IMPORTER_UNMAP:
		return do_unmap(attachment, arg);
	case MEMCAST_IMPORTER_WRITE:
		return do_transfer(attachment, arg, true);
	case MEMCAST_IMPORTER_READ:
		return do_transfer(attachment, arg, false);
	default:
		return -ENOTTY;
	}
}

static long importer_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	struct importer *importer = file->private_data;
	struct memcast_importer arg;
	int ret;

	if (_IOC_SIZE(cmd) != sizeof(arg))
		return -ENOTTY;
	if (copy_from_user(&arg, (void __user *)user, sizeof(arg)))
		return -EFAULT;
	if (mutex_lock_killable(&importer->lock))
		return -EINTR;
	ret = do_locked(importer, cmd, &arg);
	mutex_unlock(&importer->lock);
	if (ret)
		return ret;
	return copy_to_user((void __user *)user, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static int importer_open(struct inode *inode, struct file *file)
{
	struct importer *importer = kzalloc(sizeof(*importer), GFP_KERNEL);

	if (!importer)
		return -ENOMEM;
	mutex_init(&importer->lock);
	xa_init_flags(&importer->attachments, XA_FLAGS_ALLOC1);
	file->private_data = importer;
	return 0;
}

static int importer_release(struct inode *inode, struct file *file)
{
	struct importer *importer = file->private_data;
	struct attachment *attachment;
	unsigned long id;

	xa_for_each(&importer->attachments, id, attachment) {
		xa_erase(&importer->attachments, id);
		detach(attachment);
		cond_resched();
	}
	xa_destroy(&importer->attachments);
	kfree(importer);
	return 0;
}

static const struct file_operations importer_fops = {
	.owner = THIS_MODULE,
	.open = importer_open,
	.release = importer_release,
	.unlocked_ioctl = importer_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice importer_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "memcast-importer",
	.fops = &importer_fops,
	.mode = 0600,
};

static struct platform_device *device_new(const char *name, unsigned int segment)
{
	struct platform_device *device;
	int ret;

	device = platform_device_register_simple(name, PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(device))
		return device;
	ret = dma_coerce_mask_and_coherent(&device->dev, DMA_BIT_MASK(64));
	if (!ret && device_iommu_mapped(&device->dev))
		ret = -EOPNOTSUPP;
	if (ret) {
		platform_device_unregister(device);
		return ERR_PTR(ret);
	}
	dma_set_max_seg_size(&device->dev, segment);
	return device;
}

static int __init importer_init(void)
{
	int ret;

	devices[0] = device_new("memcast-importer", UINT_MAX);
	if (IS_ERR(devices[0]))
		return PTR_ERR(devices[0]);
	devices[1] = device_new("memcast-importer-pages", PAGE_SIZE);
	if (IS_ERR(devices[1])) {
		ret = PTR_ERR(devices[1]);
		goto unregister_first;
	}
	ret = misc_register(&importer_misc);
	if (ret)
		goto unregister;
	return 0;

unregister:
	platform_device_unregister(devices[1]);
unregister_first:
	platform_device_unregister(devices[0]);
	return ret;
}
module_init(importer_init);

static void __exit importer_exit(void)
{
	misc_deregister(&importer_misc);
	platform_device_unregister(devices[1]);
	platform_device_unregister(devices[0]);
}
module_exit(importer_exit);

MODULE_DESCRIPTION("Imports dma-bufs, for memcast's selftests");
MODULE_AUTHOR("The memcast authors");
MODULE_LICENSE("GPL");
/* Expands MODULE_IMPORT_NS(), which takes a string in some kernels only. */
MODULE_INFO(import_ns, "DMA_BUF");
