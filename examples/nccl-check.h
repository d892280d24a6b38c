/* SPDX-License-Identifier: MIT */
/* Ends a rank with words where a call of the runtime or of NCCL fails. The rank is in `rank`. */
#ifndef NCCL_CHECK_H
#define NCCL_CHECK_H

#include <cuda_runtime.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)								\
do {										\
	cudaError_t error_ = (call);						\
										\
	if (error_)								\
		fprintf(stderr, "rank %d: %s: %s\n", rank, #call,		\
			cudaGetErrorString(error_)), exit(1);			\
} while (0)

#define CHECK_NCCL(call)							\
do {										\
	ncclResult_t result_ = (call);						\
										\
	if (result_)								\
		fprintf(stderr, "rank %d: %s: %s; %s\n", rank, #call,		\
			ncclGetErrorString(result_), ncclGetLastError(NULL)), exit(1); \
} while (0)

#endif /* NCCL_CHECK_H */
