// SPDX-License-Identifier: MIT
/*
 * cuFlushGPUDirectRDMAWrites(): writes of other drivers' devices into memory that they have as
 * a dma-buf.
 */
#include <stdatomic.h>

#include "context/context.h"

DEFINE_CALL(cuFlushGPUDirectRDMAWrites, (CUflushGPUDirectRDMAWritesTarget target,
					 CUflushGPUDirectRDMAWritesScope scope),
	    target, scope)
{
	uint32_t device;
	CUresult result = context_device(&device);

	if (result != CUDA_SUCCESS)
		return result;
	if (target != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX)
		return fail(CUDA_ERROR_INVALID_VALUE, "no target %d", (int)target);
	if (scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER &&
	    scope != CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES)
		return fail(CUDA_ERROR_INVALID_VALUE, "no scope %d", (int)scope);
	/* the writes are in memory already: this keeps later loads behind the call */
	atomic_thread_fence(memory_order_seq_cst);
	return CUDA_SUCCESS;
}
