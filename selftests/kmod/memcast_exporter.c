// SPDX-License-Identifier: GPL-2.0-only
/*
 * An exporter of dma-bufs for tests: /dev/memcast-exporter, for root. Its
 * buffers have the faults of memcast_exporter.h, and it counts what importers
 * do. It is built and loaded as memcast_importer.c is.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "memcast_exporter.h"

#define MAX_PAGES	SZ_4K

struct buffer {
	u32 vice;
	u32 pages;
	struct page *page[];
};

static atomic_t buffers, attached, mapped, begun[2], ended[2], locked;

/*
 * Counts calls under mmap_lock: exporters may take locks that come before it.
 */
static void look_for_locks(void)
{
	if (!current->mm)
		return;
	if (down_write_trylock(&current->mm->mmap_lock))
		up_write(&current->mm->mmap_lock);
	else
		atomic_inc(&locked);
}

static int exporter_attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	struct buffer *buffer = dmabuf->priv;

	look_for_locks();
	if (buffer->vice == MEMCAST_EXPORTER_NO_ATTACH)
		return -ENODEV;
	atomic_inc(&attached);
	return 0;
}

static void exporter_detach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	look_for_locks();
	atomic_dec(&attached);
}

/* The address that the device gets for a page; the processor never uses it. */
static dma_addr_t wrong_address(u32 vice, struct page *page)
{
	switch (vice) {
	case MEMCAST_EXPORTER_UNALIGNED:
		return page_to_phys(page) + 512;
	case MEMCAST_EXPORTER_NO_PAGES:
		return 1ULL << 45;
	case MEMCAST_EXPORTER_RESERVED:
		return 0;
	case MEMCAST_EXPORTER_OWN_ADDRESS:
		/* 64 MiB within the device's memory: where the machine has memory of its own */
		return SZ_64M;
	default:
		return DMA_MAPPING_ERROR;
	}
}

static struct sg_table *exporter_map(struct dma_buf_attachment *attach,
				     enum dma_data_direction direction)
{
	struct buffer *buffer = attach->dmabuf->priv;
	u32 pages = buffer->pages - (buffer->vice == MEMCAST_EXPORTER_SHORT);
	dma_addr_t wrong = wrong_address(buffer->vice, buffer->page[0]);
	struct scatterlist *sg;
	struct sg_table *sgt;
	int i, ret;

	look_for_locks();
	if (buffer->vice == MEMCAST_EXPORTER_NO_MAP)
		return ERR_PTR(-EIO);
	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table(sgt, pages, GFP_KERNEL);
	if (ret)
		goto free_sgt;
	for_each_sgtable_sg(sgt, sg, i)
		sg_set_page(sg, buffer->page[i], PAGE_SIZE, 0);
	if (wrong == DMA_MAPPING_ERROR) {
		ret = dma_map_sgtable(attach->dev, sgt, direction, DMA_ATTR_SKIP_CPU_SYNC);
		if (ret)
			goto free_table;
	} else {
		for_each_sgtable_sg(sgt, sg, i) {
			sg_dma_address(sg) = wrong;
			sg_dma_len(sg) = PAGE_SIZE;
		}
	}
	atomic_inc(&mapped);
	return sgt;

free_table:
	sg_free_table(sgt);
free_sgt:
	kfree(sgt);
	return ERR_PTR(ret);
}

static void exporter_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			   enum dma_data_direction direction)
{
	struct buffer *buffer = attach->dmabuf->priv;

	look_for_locks();
	if (wrong_address(buffer->vice, buffer->page[0]) == DMA_MAPPING_ERROR)
		dma_unmap_sgtable(attach->dev, sgt, direction, DMA_ATTR_SKIP_CPU_SYNC);
	sg_free_table(sgt);
	kfree(sgt);
	atomic_dec(&mapped);
}

static int exporter_begin(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	struct buffer *buffer = dmabuf->priv;

	look_for_locks();
	if (buffer->vice == MEMCAST_EXPORTER_NO_ACCESS)
		return -EIO;
	atomic_inc(&begun[direction == DMA_TO_DEVICE]);
	return 0;
}

static int exporter_end(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	look_for_locks();
	atomic_inc(&ended[direction == DMA_TO_DEVICE]);
	return 0;
}

static int exporter_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct buffer *buffer = dmabuf->priv;

	if (buffer->vice == MEMCAST_EXPORTER_REFUSES)
		return -EPERM;
	if (buffer->vice == MEMCAST_EXPORTER_HANGS) {
		schedule_timeout_killable(MAX_SCHEDULE_TIMEOUT);
		return -EINTR;
	}
	return vm_map_pages(vma, buffer->page, buffer->pages);
}

static void buffer_free(struct buffer *buffer)
{
	while (buffer->pages--)
		if (buffer->page[buffer->pages])
			__free_page(buffer->page[buffer->pages]);
	kvfree(buffer);
	atomic_dec(&buffers);
}

static void exporter_release(struct dma_buf *dmabuf)
{
	buffer_free(dmabuf->priv);
}

#define OPS						\
	.attach = exporter_attach,			\
	.detach = exporter_detach,			\
	.map_dma_buf = exporter_map,			\
	.unmap_dma_buf = exporter_unmap,		\
	.begin_cpu_access = exporter_begin,		\
	.end_cpu_access = exporter_end,			\
	.release = exporter_release

static const struct dma_buf_ops exporter_ops = {
	OPS,
	.mmap = exporter_mmap,
};

static const struct dma_buf_ops exporter_no_cpu_ops = {
	OPS,
};

static struct buffer *buffer_alloc(u32 vice, u32 pages)
{
	struct buffer *buffer = kvzalloc(struct_size(buffer, page, pages), GFP_KERNEL);
	u32 i;

	if (!buffer)
		return NULL;
	atomic_inc(&buffers);
	buffer->vice = vice;
	buffer->pages = pages;
	for (i = 0; i < pages; i++) {
		buffer->page[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!buffer->page[i]) {
			buffer_free(buffer);
			return NULL;
		}
	}
	return buffer;
}

static int exporter_create(struct memcast_exporter *arg)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;
	struct buffer *buffer;
	int fd;

	if (arg->vice > MEMCAST_EXPORTER_HANGS || !arg->pages || arg->pages > MAX_PAGES)
		return -EINVAL;
	buffer = buffer_alloc(arg->vice, arg->pages);
	if (!buffer)
		return -ENOMEM;
	info.ops = arg->vice == MEMCAST_EXPORTER_NO_CPU ? &exporter_no_cpu_ops : &exporter_ops;
	info.size = (size_t)arg->pages << PAGE_SHIFT;
	if (arg->vice == MEMCAST_EXPORTER_ODD_SIZE)
		info.size -= 100;
	info.flags = arg->vice == MEMCAST_EXPORTER_READ_ONLY ? O_RDONLY : O_RDWR;
	info.priv = buffer;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		buffer_free(buffer);
		return PTR_ERR(dmabuf);
	}
	fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(dmabuf);
	arg->out_fd = fd;
	return min(fd, 0);
}

static long exporter_ioctl(struct file *file, unsigned int cmd, unsigned long user)
{
	struct memcast_exporter_counts counts = {
		.buffers = atomic_read(&buffers),
		.attached = atomic_read(&attached),
		.mapped = atomic_read(&mapped),
		.begun_reads = atomic_read(&begun[0]),
		.begun_writes = atomic_read(&begun[1]),
		.ended_reads = atomic_read(&ended[0]),
		.ended_writes = atomic_read(&ended[1]),
		.locked = atomic_read(&locked),
	};
	struct memcast_exporter arg;
	int ret;

	switch (cmd) {
	case MEMCAST_EXPORTER_CREATE:
		if (copy_from_user(&arg, (void __user *)user, sizeof(arg)))
			return -EFAULT;
		ret = exporter_create(&arg);
		if (ret)
			return ret;
		return copy_to_user((void __user *)user, &arg, sizeof(arg)) ? -EFAULT : 0;
	case MEMCAST_EXPORTER_COUNTS:
		return copy_to_user((void __user *)user, &counts, sizeof(counts)) ? -EFAULT : 0;
	default:
		return -ENOTTY;
	}
}

static const struct file_operations exporter_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = exporter_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice exporter_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "memcast-exporter",
	.fops = &exporter_fops,
	.mode = 0600,
};

/* A test takes the numbers that another module needs, to make that one fail late in its init. */
static bool take_majors;
module_param(take_majors, bool, 0444);
MODULE_PARM_DESC(take_majors, "take all major numbers that are free (default no)");

static dev_t taken[512];
static unsigned int taken_count;

static int __init exporter_init(void)
{
	int ret = misc_register(&exporter_misc);

	if (ret)
		return ret;
	while (take_majors && taken_count < ARRAY_SIZE(taken) &&
	       !alloc_chrdev_region(&taken[taken_count], 0, 1, "memcast-exporter"))
		taken_count++;
	return 0;
}
module_init(exporter_init);

static void __exit exporter_exit(void)
{
	while (taken_count)
		unregister_chrdev_region(taken[--taken_count], 1);
	misc_deregister(&exporter_misc);
}
module_exit(exporter_exit);

MODULE_DESCRIPTION("Exports dma-bufs, for memcast's selftests");
MODULE_AUTHOR("The memcast authors");
MODULE_LICENSE("GPL");
/* Expands MODULE_IMPORT_NS(), which takes a string in some kernels only. */
MODULE_INFO(import_ns, "DMA_BUF");
