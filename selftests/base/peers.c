// SPDX-License-Identifier: MIT
/* Buffers of the kernel's own drivers: vgem, udmabuf, the system heap */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/memfd.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

#include "helpers.h"
#include "peers.h"

/* The kernel's vgem_drm.h, which neither libdrm nor the kernel's headers bring along */
#define VGEM_FENCE_ATTACH	1
#define VGEM_FENCE_SIGNAL	2
#define VGEM_FENCE_WRITE	1

struct vgem_fence_attach {
	uint32_t handle, flags, out_fence, pad;
};

struct vgem_fence_signal {
	uint32_t fence, flags;
};

int vgem_open(void)
{
	char path[32];
	int i;

	for (i = 0; i < 8; i++) {
		drmVersionPtr version;
		bool found;
		int card;

		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		card = open(path, O_RDWR | O_CLOEXEC);
		if (card < 0)
			continue;
		version = drmGetVersion(card);
		found = version && !strcmp(version->name, "vgem");
		drmFreeVersion(version);
		if (found)
			return card;
		close(card);
	}
	return -1;
}

uint32_t vgem_import(int card, int fd)
{
	uint32_t handle = 0;

	return drmPrimeFDToHandle(card, fd, &handle) ? 0 : handle;
}

int vgem_export(int card, uint32_t handle)
{
	int fd = -1;

	return drmPrimeHandleToFD(card, handle, DRM_CLOEXEC | DRM_RDWR, &fd) ? -1 : fd;
}

void vgem_close(int card, uint32_t handle)
{
	drmCloseBufferHandle(card, handle);
}

uint32_t vgem_dumb(int card, size_t bytes)
{
	uint32_t handle = 0, pitch;
	uint64_t size;

	return drmModeCreateDumbBuffer(card, 4096 / 4, bytes / 4096, 32, 0, &handle,
				       &pitch, &size) ? 0 : handle;
}

void *vgem_map(int card, uint32_t handle, size_t bytes)
{
	uint64_t offset;
	void *at;

	if (drmModeMapDumbBuffer(card, handle, &offset))
		return NULL;
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, card, offset);
	return at == MAP_FAILED ? NULL : at;
}

uint32_t vgem_fence(int card, uint32_t handle, bool write)
{
	struct vgem_fence_attach attach = {
		.handle = handle,
		.flags = write ? VGEM_FENCE_WRITE : 0,
	};

	return drmCommandWriteRead(card, VGEM_FENCE_ATTACH, &attach, sizeof(attach)) ?
	       0 : attach.out_fence;
}

int vgem_signal(int card, uint32_t fence)
{
	struct vgem_fence_signal signal = { .fence = fence };

	return drmCommandWrite(card, VGEM_FENCE_SIGNAL, &signal, sizeof(signal));
}

int heap_buffer(size_t bytes)
{
	struct dma_heap_allocation_data data = {
		.len = bytes,
		.fd_flags = O_RDWR | O_CLOEXEC,
	};
	int heap = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC), ret;

	if (heap < 0)
		return -1;
	ret = ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &data);
	close(heap);
	return ret ? -1 : (int)data.fd;
}

/* udmabuf takes at most 64 MiB by default: raises its limit to @bytes. */
static void udmabuf_allow(size_t bytes)
{
	FILE *limit = fopen("/sys/module/udmabuf/parameters/size_limit_mb", "we");

	if (!limit)
		return;
	fprintf(limit, "%zu", (bytes >> 20) + 1);
	fclose(limit);
}

static bool touch(int memfd, size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);

	if (at == MAP_FAILED)
		return false;
	memset(at, 0, bytes);
	munmap(at, bytes);
	return true;
}

/* Return: memory that cannot become shorter, or -1 */
static int sealed_memory(size_t bytes, unsigned int flags, bool touched)
{
	int memfd = memfd_create("udmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);

	if (memfd < 0 || (!ftruncate(memfd, bytes) && (!touched || touch(memfd, bytes)) &&
			  !fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK)))
		return memfd;
	close(memfd);
	return -1;
}

static int sealed_buffer(size_t bytes, unsigned int flags)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = bytes };
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), memfd, fd = -1;

	if (device < 0)
		return -1;
	/* Touches huge pages first: Linux 6.12's udmabuf would take pages that are not reserved. */
	memfd = sealed_memory(bytes, flags, flags);
	create.memfd = memfd;
	if (bytes > 64UL << 20)
		udmabuf_allow(bytes);
	if (memfd >= 0)
		fd = ioctl(device, UDMABUF_CREATE, &create);
	/* udmabuf maps the buffer at its first bracket, in that direction, for good */
	if (fd >= 0) {
		dma_buf_sync(fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW);
		dma_buf_sync(fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW);
	}
	close(memfd);
	close(device);
	return fd;
}

int udmabuf_buffer(size_t bytes)
{
	return sealed_buffer(bytes, 0);
}

/* A memfd's even pages, then its odd ones, both backwards: none is followed by its neighbour. */
int udmabuf_scattered_buffer(void)
{
	enum { COUNT = UDMABUF_SCATTERED_PAGES };
	struct {
		struct udmabuf_create_list head;
		struct udmabuf_create_item item[COUNT];
	} list = { .head = { .flags = UDMABUF_FLAGS_CLOEXEC, .count = COUNT } };
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), memfd, fd = -1;

	if (device < 0)
		return -1;
	/* the memfd gets its pages in their order before the list takes them in another */
	memfd = sealed_memory(COUNT * PAGE, 0, true);
	for (unsigned int i = 0; i < COUNT; i++)
		list.item[i] = (struct udmabuf_create_item) {
			.memfd = memfd, .size = PAGE,
			.offset = PAGE * ((i < COUNT / 2 ? COUNT - 2 : 2 * COUNT - 1) - 2 * i),
		};
	if (memfd >= 0)
		fd = ioctl(device, UDMABUF_CREATE_LIST, &list);
	close(memfd);
	close(device);
	return fd;
}

int udmabuf_huge_buffer(size_t bytes)
{
	return sealed_buffer(bytes, MFD_HUGETLB | MFD_HUGE_2MB);
}

static bool polls(int fd, short events)
{
	struct pollfd one = { .fd = fd, .events = events };

	return poll(&one, 1, 0) == 1 && one.revents == events;
}

bool readable(int fd)
{
	return polls(fd, POLLIN);
}

bool writable(int fd)
{
	return polls(fd, POLLOUT);
}

int dma_buf_sync(int fd, uint64_t flags)
{
	return ioctl(fd, DMA_BUF_IOCTL_SYNC, &(struct dma_buf_sync){ flags });
}

int sync_file_of(int fd, uint32_t flags)
{
	struct dma_buf_export_sync_file file = { .flags = flags, .fd = -1 };

	return ioctl(fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &file) ? -1 : file.fd;
}

int sync_file_to(int fd, int fence, uint32_t flags)
{
	struct dma_buf_import_sync_file file = { .flags = flags, .fd = fence };

	return ioctl(fd, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &file);
}

/* A buffer's line: size flags mode count exporter inode name; some lines later: Total devices */
static int bufinfo(int fd, char name[static 64])
{
	FILE *file = fopen("/sys/kernel/debug/dma_buf/bufinfo", "re");
	unsigned long inode = 0;
	int count, found = -1;
	char line[256];
	struct stat is;

	if (!file || fstat(fd, &is))
		return -1;
	while (found < 0 && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*x %*x %*x %*x %63s %lu", name, &inode) == 2)
			continue;
		if (inode == is.st_ino && strstr(line, "devices attached") &&
		    sscanf(line, "Total %d", &count) == 1)
			found = count;
	}
	fclose(file);
	return found;
}

int bufinfo_has(int fd, const char *exporter, unsigned int devices)
{
	char name[64];
	int attached = bufinfo(fd, name);

	return attached < 0 ? -1 : !strcmp(name, exporter) && (unsigned int)attached == devices;
}

int bufinfo_attached(int fd)
{
	char name[64];

	return bufinfo(fd, name);
}
