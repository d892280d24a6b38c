/* SPDX-License-Identifier: MIT */
/* multimem: a function for each form, by the name that it has in memcast/multimem.h */
#ifndef MEMCAST_PTX_MULTIMEM_H
#define MEMCAST_PTX_MULTIMEM_H

#include <stddef.h>

struct memcast_view;

struct multimem_name {
	const char *name;	/* "multimem_ld_reduce_relaxed_add_v4_f32" */
	/* @in: the value to store or combine; @out: the value that was loaded */
	void (*function)(const struct memcast_view *view, size_t offset, const void *in, void *out);
};

extern const struct multimem_name multimem_names[];

#endif /* MEMCAST_PTX_MULTIMEM_H */
