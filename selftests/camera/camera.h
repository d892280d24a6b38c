/* SPDX-License-Identifier: MIT */
/* camera.c: V4L2 capture from vivid, a camera with no hardware, into dma-bufs. */
#ifndef MEMCAST_CAMERA_H
#define MEMCAST_CAMERA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAMERA_WIDTH	640
#define CAMERA_HEIGHT	360

/* Frames of CAMERA_HEIGHT lines of RGB24, with nothing in between */
#define CAMERA_LINE	(CAMERA_WIDTH * 3)
#define CAMERA_BYTES	(CAMERA_LINE * CAMERA_HEIGHT)

/* The way that a driver has to its buffers: by vmap(), or by an sg_table for DMA */
enum camera_way { CAMERA_VMALLOC, CAMERA_DMA };

/*
 * All return -1 and set errno where V4L2 fails.
 *
 * camera_open: @why says what is missing. vivid maps a buffer for DMA with addresses of 32 bits,
 * but writes by vmap() all the same: the DMA API bounces memory beyond 4 GiB, and the frame would
 * be lost. CAMERA_DMA keeps this thread, and the memory that it gets, to node 0, which must have
 * no memory beyond 4 GiB.
 * camera_menu, camera_set: set a control, by the name that the driver gives to it.
 * camera_start: queues all @count buffers and starts streaming.
 * camera_take: waits for a frame. Return: the index of its buffer; @sequence gets the frame's
 * number since streaming began.
 */
int camera_open(enum camera_way way, const char **why);
int camera_menu(int camera, const char *name, const char *item);
int camera_set(int camera, const char *name, int value);
int camera_start(int camera, const int *fds, unsigned int count);
int camera_queue(int camera, unsigned int index, int fd);
int camera_take(int camera, uint32_t *sequence);
int camera_stop(int camera);

/* Does every line show eight bars, white to black, to the edge of the frame? */
bool camera_is_bars(const uint8_t *frame);
/* Are all lines the same? With bars that move, lines of two frames would differ. */
bool camera_is_whole(const uint8_t *frame);

/* Writes a PNG file. Return: 0, or -1 */
int camera_write(const uint8_t *frame, const char *path);

#endif /* MEMCAST_CAMERA_H */
