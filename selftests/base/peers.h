/* SPDX-License-Identifier: MIT */
/* peers.c: buffers of the kernel's own drivers, as far as this kernel has them */
#ifndef MEMCAST_PEERS_H
#define MEMCAST_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/dma-buf.h>

/* Functions that return an fd return -1 where the driver or the device is missing. */

int vgem_open(void);
/* Imports a dma-buf into vgem. Return: vgem's handle, or 0 and errno */
uint32_t vgem_import(int card, int fd);
/* Exports a buffer of vgem. Return: an fd to read and write, or -1 */
int vgem_export(int card, uint32_t handle);
void vgem_close(int card, uint32_t handle);
/* Allocates @bytes of vgem's own memory. Return: vgem's handle, or 0 */
uint32_t vgem_dumb(int card, size_t bytes);
/* Maps it by MODE_MAP_DUMB. Return: the address, or NULL and errno */
void *vgem_map(int card, uint32_t handle, size_t bytes);
/* Adds a fence that ends by itself after 10 s. Return: a number for vgem_signal(), or 0 */
uint32_t vgem_fence(int card, uint32_t handle, bool write);
int vgem_signal(int card, uint32_t fence);

/* Allocates a dma-buf from the heap "system"; makes one of a sealed memfd. */
int heap_buffer(size_t bytes);
int udmabuf_buffer(size_t bytes);
/* ... of as many pages as one call takes, of which no two in a row are physical neighbours */
#define UDMABUF_SCATTERED_PAGES	1024
int udmabuf_scattered_buffer(void);
/* ... of huge pages, which the machine must have set aside */
int udmabuf_huge_buffer(size_t bytes);

/* Does poll() say that no write is pending? That neither a read nor a write is pending? */
bool readable(int fd);
bool writable(int fd);
/* Begins or ends a bracket of CPU access: @flags are those of DMA_BUF_IOCTL_SYNC. */
int dma_buf_sync(int fd, uint64_t flags);
/* Export and import a fence of the dma-buf as a sync file. Return: an fd; 0; or -1 and errno */
int sync_file_of(int fd, uint32_t flags);
int sync_file_to(int fd, int fence, uint32_t flags);

/*
 * Does /sys/kernel/debug/dma_buf/bufinfo show the dma-buf as @exporter's, with @devices devices
 * attached? Return: 0, 1, or -1 if the file or the dma-buf's line is missing
 */
int bufinfo_has(int fd, const char *exporter, unsigned int devices);
/* Return: how many devices are attached, or -1 */
int bufinfo_attached(int fd);

#endif /* MEMCAST_PEERS_H */
