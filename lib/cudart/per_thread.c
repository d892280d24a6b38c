// SPDX-License-Identifier: MIT
/*
 * The functions that programs built for the per-thread default stream import: the same files
 * again, with the names that both headers have for them there (…_ptds, …_ptsz). They call the
 * driver's functions of such names, for which no stream is the thread's own.
 */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM

#include "memory/copy.c"
#include "memory/fill.c"
#include "memory/prefetch.c"
#include "stream/ordered.c"
#include "kernel/launch.c"
