/* SPDX-License-Identifier: MIT */
/* peers.c: drivers that nobody here wrote, as far as this kernel has them. */
#ifndef MEMCAST_PEERS_H
#define MEMCAST_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/dma-buf.h>

/* All that give an fd give -1 where the driver or the device is missing. */

int vgem_open(void);
/* A handle in vgem of a dma-buf, or 0 and errno */
uint32_t vgem_import(int card, int fd);
/* The dma-buf of a handle in vgem, to read and write, or -1 */
int vgem_export(int card, uint32_t handle);
void vgem_close(int card, uint32_t handle);
/* @bytes of vgem's own memory: a handle, or 0 */
uint32_t vgem_dumb(int card, size_t bytes);
/* ... and its address by MODE_MAP_DUMB, or NULL and errno */
void *vgem_map(int card, uint32_t handle, size_t bytes);
/* Fences end by themselves after 10 s. Return: a number to signal it by, or 0. */
uint32_t vgem_fence(int card, uint32_t handle, bool write);
int vgem_signal(int card, uint32_t fence);

/* A dma-buf of the heap "system", or of a sealed memfd */
int heap_buffer(size_t bytes);
int udmabuf_buffer(size_t bytes);
/* ... of single pages of which no driver can join two, as far as Linux takes in one call */
#define UDMABUF_SCATTERED_PAGES	1024
int udmabuf_scattered_buffer(void);
/* ... of huge pages, which somebody has provided for */
int udmabuf_huge_buffer(size_t bytes);

/* poll() says that nobody writes (reads or writes) there now */
bool readable(int fd);
bool writable(int fd);
/* CPU access begins or ends: flags of DMA_BUF_IOCTL_SYNC */
int dma_buf_sync(int fd, uint64_t flags);
/* A fence of the dma-buf as a file, and back. Return: an fd; 0; or -1 and errno */
int sync_file_of(int fd, uint32_t flags);
int sync_file_to(int fd, int fence, uint32_t flags);

/*
 * Whether /sys/kernel/debug/dma_buf/bufinfo has the dma-buf, by that exporter, with
 * @devices devices attached. -1: there is no such file.
 */
int bufinfo_has(int fd, const char *exporter, unsigned int devices);
/* How many devices are attached, or -1 */
int bufinfo_attached(int fd);

#endif /* MEMCAST_PEERS_H */
