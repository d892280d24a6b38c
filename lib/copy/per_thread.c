// SPDX-License-Identifier: MIT
/* Copies and fills that programs built for the per-thread default stream import */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM

#include "calls.c"
