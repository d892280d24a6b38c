// SPDX-License-Identifier: MIT
/*
 * The functions that programs built for the per-thread default stream import: the same files
 * compiled once more, with the names that both headers give them then (…_ptds, …_ptsz). They
 * call the driver's functions with such names, for which stream NULL is the thread's own.
 */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM

#include "memory/copy.c"
#include "memory/fill.c"
#include "memory/prefetch.c"
#include "stream/ordered.c"
#include "kernel/launch.c"
