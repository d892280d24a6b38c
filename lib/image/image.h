/* SPDX-License-Identifier: MIT */
/*
 * What an image of device code says of itself: its kernels, their parameters, and its
 * variables. An image is read once, keeps nothing of the program's memory and does not
 * change; modules and libraries share it by references.
 *
 *   image.c	what kind of image it is; what all kinds have in common
 *   fatbin.c	which image of a fatbin is for the device, unpacked
 *   cubin.c	device code, an ELF file
 *   ptx_head.c	text: for which version and device
 *   ptx.c	text: statements at the outermost level
 *   ptx_body.c	text: what stands between the braces of a function
 *   ptx_calls.c	text: functions that are nowhere defined
 *   ptx_word.c	text: words and numbers
 */
#ifndef MEMCAST_IMAGE_H
#define MEMCAST_IMAGE_H

#include <stdatomic.h>

#include "library.h"

struct parameter {
	uint32_t offset, size;
};

/* A kernel, as its image has it */
struct code {
	const char *name;
	struct parameter *parameters;
	uint32_t parameters_count;
	uint32_t parameters_bytes;	/* to the end of the last one */
	uint32_t shared, local;		/* bytes of a block, of a thread */
	uint32_t registers;		/* of a thread */
	uint32_t max_threads;		/* of a block */
	uint32_t block[3];		/* threads that a block must have; 0: any */
	uint32_t cluster[3];		/* blocks that a cluster must have; 0: any */
};

struct variable {
	const char *name;
	size_t bytes;
	const void *value;		/* NULL: all 0 */
};

struct image {
	atomic_uint references;
	struct kept *kept;		/* memory that ends with the image */
	struct code *kernels;		/* in the image's order */
	struct variable *variables;	/* by name */
	uint32_t kernels_count, variables_count;
	uint32_t *by_name;		/* numbers of kernels */
	uint32_t constant_bytes;
	int architecture, binary;	/* 90 is 9.0: of its source, of what runs */
	bool of_parts;			/* which define what others of them call */
	uint32_t kernels_room, variables_room;
};

/* The error log that a caller may have asked for: what a compiler would say */
struct complaint {
	char text[256];
};

CUresult image_read(const void *data, size_t bytes, int device_architecture,
		    struct image **image, struct complaint *complaint);
CUresult image_empty(struct image **image);
struct image *image_get(struct image *image);
void image_put(struct image *image);
const struct code *image_kernel(const struct image *image, const char *name);
const struct variable *image_variable(const struct image *image, const char *name);

/* While it is read: what these return ends with the image; NULL: no memory */
void *image_keep(struct image *image, const void *data, size_t bytes);
const char *image_keep_name(struct image *image, const char *name, size_t length);
struct code *image_add_kernel(struct image *image);
struct variable *image_add_variable(struct image *image);
CUresult image_sort(struct image *image, const char **twice);

/* What nvcc puts around a fatbin, for the runtime */
#define WRAPPER_MAGIC	0x466243b1U
struct wrapper {
	uint32_t magic, version;
	const void *data;
	const void *const *parts;	/* version 2: the fatbins that were linked, then NULL */
};
#define WRAPPER_LINKED	2

bool image_is_fatbin(const void *data);
CUresult fatbin_read(struct image *image, const void *data, size_t bytes,
		     struct complaint *complaint);
CUresult cubin_read(struct image *image, const void *data, size_t bytes);
bool image_is_ptx(const char *text, size_t bytes);
CUresult ptx_read(struct image *image, const char *text, size_t bytes,
		  struct complaint *complaint);

static inline CUresult image_no_memory(void)
{
	return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for device code");
}

#endif /* MEMCAST_IMAGE_H */
