/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * /dev/memcast-importer: a device of nobody's that imports dma-bufs, for tests.
 *
 * Attach a dma-buf, map an attachment for DMA (or into the kernel's addresses),
 * let the device read and write through that, unmap, detach. What a file has
 * attached and mapped goes when it is closed.
 */
#ifndef MEMCAST_IMPORTER_H
#define MEMCAST_IMPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* An attachment can be mapped for DMA so many times at once: slots 0, 1, … */
#define MEMCAST_IMPORTER_SLOTS	4
/* or this: the attachment's dma-buf in the kernel's addresses */
#define MEMCAST_IMPORTER_VMAP	0xffffffffU

/* as the kernel's enum dma_data_direction */
enum memcast_importer_direction {
	MEMCAST_IMPORTER_BOTH = 0,
	MEMCAST_IMPORTER_READS = 1,
	MEMCAST_IMPORTER_WRITES = 2,
};

struct memcast_importer {
	__s32 fd;			/* ATTACH: of a dma-buf */
	__u32 id;			/* of an attachment; ATTACH answers with it */
	__u32 slot;			/* MAP, UNMAP, WRITE, READ: which mapping */
	__u32 direction;		/* MAP: what the device may */
	__aligned_u64 offset;		/* WRITE, READ: into the buffer */
	__aligned_u64 bytes;		/* and how much */
	__aligned_u64 data;		/* and where the program has it: an address */
	__aligned_u64 out_bytes;	/* ATTACH: the dma-buf's size */
	__u32 out_segments;		/* MAP: contiguous for the device */
	__u32 single_pages;		/* ATTACH: 1: a device that takes segments of a page only */
};

#define MEMCAST_IMPORTER_ATTACH	_IOWR(0xE7, 0, struct memcast_importer)
#define MEMCAST_IMPORTER_DETACH	_IOWR(0xE7, 1, struct memcast_importer)
#define MEMCAST_IMPORTER_MAP	_IOWR(0xE7, 2, struct memcast_importer)
#define MEMCAST_IMPORTER_UNMAP	_IOWR(0xE7, 3, struct memcast_importer)
#define MEMCAST_IMPORTER_WRITE	_IOWR(0xE7, 4, struct memcast_importer)
#define MEMCAST_IMPORTER_READ	_IOWR(0xE7, 5, struct memcast_importer)

#endif /* MEMCAST_IMPORTER_H */
