/* SPDX-License-Identifier: MIT */
/*
 * Images of device code: their kernels with parameters, and their variables. An image is read
 * once, keeps nothing of the program's memory and does not change; modules and libraries share it
 * by references.
 *
 *   image.c	tells the kinds of images apart; functions for all kinds
 *   fatbin.c	finds the image in a fatbin that is for the device, and unpacks it
 *   cubin.c	device code, an ELF file
 *   ptx_head.c	text: version and device
 *   ptx.c	text: statements at the outermost level
 *   ptx_body.c	text: bodies of functions
 *   ptx_word.c	text: words, errors
 *   ptx_number.c	text: numbers
 *   ptx_value.c	text: constant expressions
 */
#ifndef MEMCAST_IMAGE_H
#define MEMCAST_IMAGE_H

#include <stdatomic.h>

#include "base/base.h"
#include "translate/ptx_object.h"

struct parameter {
	uint32_t offset, size;
};

/* A kernel, as its image describes it */
struct code {
	const char *name;
	struct parameter *parameters;
	uint32_t parameters_count;
	uint32_t parameters_bytes;	/* to the end of the last parameter */
	uint32_t shared, local;		/* bytes of a block, of a thread */
	uint32_t registers;		/* of a thread */
	uint32_t max_threads;		/* of a block */
	uint32_t block[3];		/* threads that a block must have; 0: any */
	uint32_t cluster[3];		/* blocks that a cluster must have; 0: any */
	bool is_weak;			/* one of another text comes first */
	bool is_dropped;		/* one of another text has come first */
};

struct variable {
	const char *name;
	size_t bytes;
	const void *value;		/* NULL: all zeros */
	uint32_t text;			/* number of the text that declares it */
	bool of_cubin;			/* counts only if no text declares it */
	bool is_private;		/* of that text */
	bool is_managed;		/* the program reads and writes it, too */
};

struct image {
	atomic_uint references;
	struct kept *kept;		/* memory that is freed with the image */
	struct code *kernels;		/* in the image's order */
	/* sorted by name; of one name, those that all texts see come first */
	struct variable *variables;
	uint32_t kernels_count, variables_count;
	uint32_t *by_name;		/* numbers of kernels, sorted by name */
	uint32_t constant_bytes;
	int device;			/* the architecture that it is read for: 90 is 9.0 */
	int architecture, binary;	/* of the source, of the code */
	bool of_parts;			/* made of parts, which call each other's functions */
	/* PTX of the kernels, also where there is code for the device, which nobody can run */
	struct ptx_text *texts;
	uint32_t texts_count, texts_room;
	bool has_addresses;		/* variables begin with addresses of others */
	uint32_t kernels_room, variables_room;
};

/* The text for the error log that a program may have asked for, as a compiler's */
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
const struct variable *image_variable_of(const struct image *image, const char *name,
					 uint32_t text);

/* Called while an image is read. Their results are freed with the image; NULL: no memory */
void *image_keep(struct image *image, const void *data, size_t bytes);
const char *image_keep_name(struct image *image, const char *name, size_t length);
struct code *image_add_kernel(struct image *image);
struct variable *image_add_variable(struct image *image);
CUresult image_add_text(struct image *image, const char *text, size_t bytes);
CUresult image_sort(struct image *image, const char **twice);

/* The wrapper that nvcc puts around a fatbin, for the runtime */
#define WRAPPER_MAGIC	0x466243b1U
struct wrapper {
	uint32_t magic, version;
	const void *data;
	const void *const *parts;	/* version 2: the fatbins that were linked, then NULL */
};
#define WRAPPER_LINKED	2

#define KERNEL_PARAMETERS_MOST	32764	/* bytes of a launch */

/* What cuLinkComplete() makes: texts, each behind its size, padded to 8 bytes */
#define LINKED_MAGIC	"memcast linked\n"
struct linked {
	char magic[16];
	uint64_t bytes;			/* of the whole image */
	uint64_t count;
};

bool image_is_fatbin(const void *data);
CUresult fatbin_text(struct image *image, const void *data, size_t bytes);
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
