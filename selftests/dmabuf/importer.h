/* SPDX-License-Identifier: MIT */
/*
 * importer.c: a device that imports dma-bufs, of selftests/kmod. All but
 * importer_open() answer 0 or -errno.
 */
#ifndef MEMCAST_IMPORTER_TEST_H
#define MEMCAST_IMPORTER_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kmod/memcast_importer.h"

/* A module of selftests/kmod, which lies beside the program, one per kernel. */
int load_test_module(const char *module);

/*
 * A device of one's own: its attachments go with the fd. The module is loaded if
 * need be. Return: an fd, or -1, and *why is what is missing.
 */
int importer_open(const char **why);

/*
 * The DMA API's debugging warns of more mappings of a page at a time than these; dma_debug=off
 * at boot does without. Return: is it on?
 */
#define IMPORTER_DEBUG_MAPPINGS	7
bool importer_is_debugged(void);

int importer_attach(int importer, int fd, uint32_t *id);
/* ... by a device that takes segments of a page only */
int importer_attach_pages(int importer, int fd, uint32_t *id);
int importer_detach(int importer, uint32_t id);
/* @segments, if not NULL: how many runs the device got */
int importer_map(int importer, uint32_t id, uint32_t slot,
		 enum memcast_importer_direction direction, uint32_t *segments);
int importer_unmap(int importer, uint32_t id, uint32_t slot);
/* The device writes what is at @data, or reads to there. */
int importer_write(int importer, uint32_t id, uint32_t slot, uint64_t offset,
		   const void *data, size_t bytes);
int importer_read(int importer, uint32_t id, uint32_t slot, uint64_t offset,
		  void *data, size_t bytes);

#endif /* MEMCAST_IMPORTER_TEST_H */
