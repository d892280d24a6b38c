/* SPDX-License-Identifier: MIT */
#ifndef MEMCAST_POOL_H
#define MEMCAST_POOL_H

#include <pthread.h>

#include "base/base.h"

/* Pools report growth in such steps, as hardware's do; they take single chunks. */
#define POOL_GROWTH	(32ULL << 20)
/*
 * The largest maxSize: what a reservation can have. Hardware takes more than the device has, and
 * refuses 2^50 bytes; what lies between was not recorded.
 */
#define POOL_LARGEST	(1ULL << 46)

/* Held while a process's current pools or a pool's settings change in several steps */
extern pthread_mutex_t pools_lock;

CUresult pool_check_device(CUdevice device);
CUresult own_pool_info(CUmemoryPool pool, struct memcast_heap_info *info);
CUresult pool_info(CUmemoryPool pool, struct memcast_heap_info *info);
uint32_t pool_current(uint32_t device);
bool pool_has(CUdeviceptr address);

#endif /* MEMCAST_POOL_H */
