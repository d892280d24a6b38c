/* SPDX-License-Identifier: MIT */
/* Variables of device code, found by the address that the program has registered */
#ifndef MEMCAST_RUNTIME_SYMBOL_H
#define MEMCAST_RUNTIME_SYMBOL_H

#include "runtime.h"

cudaError_t symbol_find(const char *call, const void *symbol, void **pointer, size_t *bytes);
cudaError_t symbol_part(const char *call, const void *symbol, size_t bytes, size_t offset,
			void **pointer);

#endif /* MEMCAST_RUNTIME_SYMBOL_H */
