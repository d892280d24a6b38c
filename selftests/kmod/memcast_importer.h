/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * /dev/memcast-importer: a device without hardware that imports dma-bufs, for
 * tests.
 *
 * Attach a dma-buf, map an attachment for DMA (or into the kernel's addresses),
 * let the device read and write through that, unmap, detach. Closing a file
 * ends all of its attachments and mappings.
 */
#ifndef MEMCAST_IMPORTER_H
#define MEMCAST_IMPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* An attachment can be mapped for DMA so many times at once: slots 0, 1, … */
#define MEMCAST_IMPORTER_SLOTS	4
/* or this slot: the attachment's dma-buf in the kernel's addresses */
#define MEMCAST_IMPORTER_VMAP	0xffffffffU

/* as the kernel's enum dma_data_direction */
enum memcast_importer_direction {
	MEMCAST_IMPORTER_BOTH = 0,
	MEMCAST_IMPORTER_READS = 1,
	MEMCAST_IMPORTER_WRITES = 2,
};

struct memcast_importer {
	__s32 fd;			/* attachment; ATTACH answers it */
	__u32 id;			/* an attachment; ATTACH answers with it */
	__u32 slot;			/* MAP: the device's access */
	__u32 direction;		/* MAP: whether the device reads or writes */
	__aligned_u64 offset;		/* WRITE, READ: into the buffer */
	__aligned_u64 bytes;		/* address of the program's data */
	__aligned_u64 data;		/* WRITE, READ: address of the program's buffer */
	__aligned_u64 out_bytes;	/* ATTACH: the dma-buf's size */
	__u32 out_segments;		/* MAP: segments that the device sees */
	__u32 single_pages;		/* ATTACH: 1: the second device */
};

#define MEMCAST_IMPORTER_ATTACH	_IOWR(0xE7, 0, struct memcast_importer)
#define MEMCAST_IMPORTER_DETACH	_IOWR(0xE7, 1, struct memcast_importer)
#define MEMCAST_IMPORTER_MAP	_IOWR(0xE7, 2, struct memcast_importer)
#define MEMCAST_IMPORTER_UNMAP	_IOWR(0xE7, 3, struct memcast_importer)
#define MEMCAST_IMPORTER_WRITE	_IOWR(0xE7, 4, struct memcast_importer)
#define MEMCAST_IMPORTER_READ	_IOWR(0xE7, 5, struct memcast_importer)

#endif /* MEMCAST_IMPORTER_H */
