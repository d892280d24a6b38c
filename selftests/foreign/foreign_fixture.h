/* SPDX-License-Identifier: MIT */
/*
 * Runs each test of foreign memory with a dma-buf of every exporter that this kernel has,
 * and compares memcast's mapping with the exporter's own.
 */
#ifndef FOREIGN_FIXTURE_H
#define FOREIGN_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "foreign.h"
#include "peers.h"

/* OURS exports a range of memcast's addresses: the dma-buf stands for no handle. */
enum exporter { UDMABUF, HUGE_UDMABUF, SYSTEM_HEAP, VGEM, OURS };

FIXTURE(foreign)
{
	int fd, card;
	uint8_t *theirs;		/* the exporter's own mapping of the buffer */
};

FIXTURE_VARIANT(foreign)
{
	enum exporter exporter;
	const char *driver;
};

#define EXPORTER(name, which, what)	\
FIXTURE_VARIANT_ADD(foreign, name) { .exporter = which, .driver = what }

EXPORTER(udmabuf, UDMABUF, "/dev/udmabuf");
EXPORTER(huge_udmabuf, HUGE_UDMABUF, "/dev/udmabuf and huge pages");
EXPORTER(system_heap, SYSTEM_HEAP, "/dev/dma_heap/system");
EXPORTER(vgem, VGEM, "vgem");
EXPORTER(ours, OURS, "nothing");

/* of 2 MiB, which processors with pages of 4, 16 and 64 KiB have */
TEST_HELPER void huge_pages(unsigned int count)
{
	FILE *file = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "we");

	if (!file)
		return;
	fprintf(file, "%u\n", count);
	fclose(file);
}

TEST_HELPER int buffer_of(struct __test_metadata *_metadata, enum exporter exporter, int *card,
			  size_t bytes)
{
	CUdeviceptr at;
	uint32_t handle;
	int fd = -1;

	switch (exporter) {
	case UDMABUF:
		return udmabuf_buffer(bytes);
	case HUGE_UDMABUF:
		huge_pages(bytes / CHUNK);
		fd = udmabuf_huge_buffer(bytes);
		/* the huge pages in use are freed with the buffer */
		huge_pages(0);
		return fd;
	case SYSTEM_HEAP:
		return heap_buffer(bytes);
	case VGEM:
		*card = vgem_open();
		handle = *card < 0 ? 0 : vgem_dumb(*card, bytes);
		return handle ? vgem_export(*card, handle) : -1;
	case OURS:
		at = ADDRESS(mapped(new_memory(1, bytes), bytes, 1));
		ASSERT_OK(cuMemGetHandleForAddressRange(&fd, at, bytes,
				CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
		ASSERT_OK(cuMemUnmap(at, bytes));
		ASSERT_OK(cuMemAddressFree(at, chunks_for(bytes)));
	}
	return fd;
}

TEST_HELPER void *show(int fd, size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

FIXTURE_SETUP(foreign)
{
	self->card = -1;
	cuda_start(0);
	self->fd = buffer_of(_metadata, variant->exporter, &self->card, SIZE);
	if (self->fd < 0)
		SKIP(return, "needs %s", variant->driver);
	self->theirs = show(self->fd, SIZE);
	ASSERT_NE(NULL, self->theirs);
}

NOTHING_LEFT(foreign)

/* Fills with bytes that differ from page to page, and within a page. */
TEST_HELPER void pattern(uint8_t *at, size_t bytes, unsigned int seed)
{
	uint32_t *word = (uint32_t *)at;

	for (size_t i = 0; i < bytes / sizeof(*word); i++)
		word[i] = (i + seed) * 2654435761U;
}

TEST_HELPER uint8_t *patterned(struct __test_metadata *_metadata, size_t bytes, unsigned int seed)
{
	uint8_t *at = malloc(bytes);

	ASSERT_NE(NULL, at);
	pattern(at, bytes, seed);
	return at;
}

TEST_HELPER bool all_are(const uint8_t *at, uint8_t value, size_t bytes)
{
	return at[0] == value && !memcmp(at, at + 1, bytes - 1);
}

#endif /* FOREIGN_FIXTURE_H */
