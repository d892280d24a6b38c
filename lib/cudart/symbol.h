/* SPDX-License-Identifier: MIT */
/* Variables of device code, found by the address that the program has registered */
#ifndef MEMCAST_RUNTIME_SYMBOL_H
#define MEMCAST_RUNTIME_SYMBOL_H

#include "runtime.h"

cudaError_t symbol_find(const char *call, const void *symbol, void **pointer, size_t *bytes);

/*
 * Finds a part of a variable for a copy. @across: the one kind that may name the host: to a variable,
 * or from it
 */
cudaError_t symbol_part(const char *call, const void *symbol, size_t bytes, size_t offset,
			enum cudaMemcpyKind kind, enum cudaMemcpyKind across, void **pointer);

#endif /* MEMCAST_RUNTIME_SYMBOL_H */
