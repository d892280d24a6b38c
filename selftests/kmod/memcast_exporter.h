/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * /dev/memcast-exporter: dma-bufs with a fault, for tests, and counts of the
 * calls that their exporter got.
 */
#ifndef MEMCAST_EXPORTER_H
#define MEMCAST_EXPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

enum memcast_exporter_vice {
	MEMCAST_EXPORTER_GOOD = 0,
	MEMCAST_EXPORTER_NO_CPU,	/* neither mmap nor vmap */
	MEMCAST_EXPORTER_READ_ONLY,	/* the fd is O_RDONLY */
	MEMCAST_EXPORTER_ODD_SIZE,	/* the size is not whole pages */
	MEMCAST_EXPORTER_NO_ATTACH,	/* attaching fails */
	MEMCAST_EXPORTER_NO_MAP,	/* mapping fails */
	MEMCAST_EXPORTER_NO_ACCESS,	/* beginning CPU access fails */
	MEMCAST_EXPORTER_SHORT,		/* one page is not mapped */
	MEMCAST_EXPORTER_UNALIGNED,	/* DMA addresses within pages */
	MEMCAST_EXPORTER_NO_PAGES,	/* DMA addresses without memory */
	MEMCAST_EXPORTER_RESERVED,	/* DMA addresses of firmware */
	MEMCAST_EXPORTER_REFUSES,	/* it has an mmap, which refuses */
	MEMCAST_EXPORTER_OWN_ADDRESS,	/* addresses of its own device, not the importer's */
	MEMCAST_EXPORTER_VICES,
	/* not one that any test may try: mmap() lasts, with mmap_lock, until the caller is killed */
	MEMCAST_EXPORTER_HANGS = MEMCAST_EXPORTER_VICES
};

struct memcast_exporter {
	__u32 vice;
	__u32 pages;
	__s32 out_fd;
	__u32 reserved;
};

/* Counts of all buffers since the module was loaded */
struct memcast_exporter_counts {
	__u32 buffers, attached, mapped;	/* at present */
	__u32 begun_reads, begun_writes, ended_reads, ended_writes;
	__u32 locked;		/* calls under mmap_lock of the caller */
};

#define MEMCAST_EXPORTER_CREATE	_IOWR(0xE8, 0, struct memcast_exporter)
#define MEMCAST_EXPORTER_COUNTS	_IOR(0xE8, 1, struct memcast_exporter_counts)

#endif /* MEMCAST_EXPORTER_H */
