/* SPDX-License-Identifier: MIT */
#ifndef MEMCAST_POOL_H
#define MEMCAST_POOL_H

#include "library.h"

CUresult pool_info(CUmemoryPool pool, struct memcast_heap_info *info);
uint32_t pool_current(uint32_t device);

#endif /* MEMCAST_POOL_H */
