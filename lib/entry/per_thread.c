// SPDX-License-Identifier: MIT
/*
 * The symbols that programs built for the per-thread default stream import: the same calls, in
 * which that stream takes the place of the legacy one. lib/copy/per_thread.c has copies and fills.
 */
#include "copy/copy.h"

#pragma GCC visibility push(default)

LAST(cuMemcpyBatchAsync, (CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
			  CUmemcpyAttributes *attributes, size_t *starts,
			  size_t attributes_count, size_t *failed, CUstream stream),
     to, from, bytes, count, attributes, starts, attributes_count, failed)
LAST(cuMemcpyBatchAsync_v2, (CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
			     CUmemcpyAttributes *attributes, size_t *starts,
			     size_t attributes_count, CUstream stream),
     to, from, bytes, count, attributes, starts, attributes_count)
LAST(cuMemcpy3DBatchAsync, (size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed,
			    unsigned long long flags, CUstream stream),
     count, copies, failed, flags)
LAST(cuMemcpy3DBatchAsync_v2, (size_t count, CUDA_MEMCPY3D_BATCH_OP *copies,
			       unsigned long long flags, CUstream stream),
     count, copies, flags)

LAST(cuMemAllocAsync, (CUdeviceptr *address, size_t bytes, CUstream stream), address, bytes)
LAST(cuMemAllocFromPoolAsync, (CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
			       CUstream stream),
     address, bytes, pool)
LAST(cuMemFreeAsync, (CUdeviceptr address, CUstream stream), address)

LAST(cuEventRecord, (CUevent event, CUstream stream), event)
CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags)
{
	return cuEventRecordWithFlags(event, OR_OWN(stream), flags);
}

CUresult cuStreamQuery_ptsz(CUstream stream) { return cuStreamQuery(OR_OWN(stream)); }
CUresult cuStreamSynchronize_ptsz(CUstream stream) { return cuStreamSynchronize(OR_OWN(stream)); }
CUresult cuStreamCopyAttributes_ptsz(CUstream to, CUstream from)
{
	return cuStreamCopyAttributes(OR_OWN(to), OR_OWN(from));
}

FIRST(cuStreamGetPriority, (CUstream stream, int *priority), priority)
FIRST(cuStreamSetAttribute, (CUstream stream, CUstreamAttrID attribute,
			     const CUstreamAttrValue *value),
      attribute, value)
FIRST(cuStreamGetAttribute, (CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue *value),
      attribute, value)
FIRST(cuStreamGetFlags, (CUstream stream, unsigned int *flags), flags)
FIRST(cuStreamGetId, (CUstream stream, unsigned long long *id), id)
FIRST(cuStreamGetDevice, (CUstream stream, CUdevice *device), device)
FIRST(cuStreamGetCtx, (CUstream stream, CUcontext *context), context)
FIRST(cuStreamGetCtx_v2, (CUstream stream, CUcontext *context, CUgreenCtx *green),
      context, green)
FIRST(cuStreamAttachMemAsync, (CUstream stream, CUdeviceptr address, size_t bytes,
				unsigned int flags),
      address, bytes, flags)
FIRST(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags), event, flags)
FIRST(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *data), function, data)
FIRST(cuStreamAddCallback, (CUstream stream, CUstreamCallback callback, void *data,
			    unsigned int flags),
      callback, data, flags)
FIRST(cuStreamWaitValue32_v2, (CUstream stream, CUdeviceptr address, cuuint32_t value,
			       unsigned int flags),
      address, value, flags)
FIRST(cuStreamWaitValue64_v2, (CUstream stream, CUdeviceptr address, cuuint64_t value,
			       unsigned int flags),
      address, value, flags)
FIRST(cuStreamWriteValue32_v2, (CUstream stream, CUdeviceptr address, cuuint32_t value,
				unsigned int flags),
      address, value, flags)
FIRST(cuStreamWriteValue64_v2, (CUstream stream, CUdeviceptr address, cuuint64_t value,
				unsigned int flags),
      address, value, flags)
FIRST(cuStreamBatchMemOp_v2, (CUstream stream, unsigned int count,
			      CUstreamBatchMemOpParams *params, unsigned int flags),
      count, params, flags)

#pragma GCC visibility pop
