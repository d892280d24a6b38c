/* SPDX-License-Identifier: MIT */
/*
 * importer.c: a device that imports dma-bufs, of selftests/kmod. All functions but
 * importer_open() return 0 or -errno.
 */
#ifndef MEMCAST_IMPORTER_TEST_H
#define MEMCAST_IMPORTER_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kmod/memcast_importer.h"

/* Loads a module of selftests/kmod, whose .ko for this kernel lies beside the program. */
int load_test_module(const char *module);

/*
 * Opens a device of the caller's own, whose attachments go with the fd. Loads the module
 * if need be. Return: an fd; or -1, and *why says what is missing.
 */
int importer_open(const char **why);

/*
 * With DMA_API_DEBUG, the kernel warns of a page with more mappings at a time than these;
 * dma_debug=off at boot turns that off. Return: is it on?
 */
#define IMPORTER_DEBUG_MAPPINGS	7
bool importer_is_debugged(void);

int importer_attach(int importer, int fd, uint32_t *id);
/* ... for a device that takes segments of one page only */
int importer_attach_pages(int importer, int fd, uint32_t *id);
int importer_detach(int importer, uint32_t id);
/* @segments, if not NULL: the number of segments that the device got */
int importer_map(int importer, uint32_t id, uint32_t slot,
		 enum memcast_importer_direction direction, uint32_t *segments);
int importer_unmap(int importer, uint32_t id, uint32_t slot);
/* The device writes @data to the dma-buf, or reads from the dma-buf into @data. */
int importer_write(int importer, uint32_t id, uint32_t slot, uint64_t offset,
		   const void *data, size_t bytes);
int importer_read(int importer, uint32_t id, uint32_t slot, uint64_t offset,
		  void *data, size_t bytes);

#endif /* MEMCAST_IMPORTER_TEST_H */
