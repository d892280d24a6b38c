// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exporters of other drivers whose dma-bufs memcast may show: those whose pages are known to be
 * ordinary memory.
 *
 * An importer may use DMA addresses for its device only. memcast's devices are the machine's
 * processors, so it maps the pages behind the addresses. That is right where an exporter gives a
 * device without an IOMMU the addresses of its own pages: not where its memory is its device's, or
 * is for no processor.
 */
#include <linux/dma-buf.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include "dmabuf.h"

/* udmabuf, the system heap, and vgem, whose dma-bufs have the name of DRM's core */
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
bool mc_exporter_is_known(const struct dma_buf *dmabuf)
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
int mc_exporter_lets_map(struct dma_buf *dmabuf)
{
	unsigned long at = vm_mmap(dmabuf->file, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
				   MAP_SHARED, 0);

	return IS_ERR_VALUE(at) ? (int)at : vm_munmap(at, PAGE_SIZE);
}
