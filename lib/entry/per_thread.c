// SPDX-License-Identifier: MIT
/*
 * The symbols that programs built for the per-thread default stream import: the same calls, in
 * which that stream takes the place of the legacy one.
 */
#include "copy/copy.h"

#define OWN	CU_STREAM_PER_THREAD
#define OR_OWN(stream)	((stream) ? (stream) : OWN)

#define TO_DEVICE	MEMCAST_COPY_TO_DEVICE
#define FROM_DEVICE	MEMCAST_COPY_FROM_DEVICE

#pragma GCC visibility push(default)

/* Functions without a stream parameter */

CUresult cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return WHOLE_CALL(copy_linear(OWN, false, to, from, bytes, 0), to, from, bytes);
}

CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from, size_t bytes)
{
	return WHOLE_CALL(copy_linear(OWN, false, to, (uintptr_t)from, bytes, TO_DEVICE),
			  to, from, bytes);
}

CUresult cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t bytes)
{
	return WHOLE_CALL(copy_linear(OWN, false, (uintptr_t)to, from, bytes, FROM_DEVICE),
			  to, from, bytes);
}

CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return WHOLE_CALL(copy_linear(OWN, false, to, from, bytes, TO_DEVICE | FROM_DEVICE),
			  to, from, bytes);
}

CUresult cuMemcpyPeer_ptds(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
			   CUcontext from_context, size_t bytes)
{
	return WHOLE_CALL(copy_peer(OWN, false, to, to_context, from, from_context, bytes),
			  to, to_context, from, from_context, bytes);
}

CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *copy)
{
	return WHOLE_CALL(copy_rows(OWN, false, copy, false), copy);
}

CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *copy)
{
	return WHOLE_CALL(copy_rows(OWN, false, copy, true), copy);
}

CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *copy)
{
	return WHOLE_CALL(copy_layers(OWN, false, copy), copy);
}

CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER *copy)
{
	return WHOLE_CALL(copy_peer_layers(OWN, false, copy), copy);
}

#define FILLS(bits, type)							\
CUresult cuMemsetD##bits##_v2_ptds(CUdeviceptr to, type value, size_t count)	\
{										\
	return WHOLE_CALL(fill_rows(OWN, false, to, 0, value, sizeof(value), count, 1), \
			  to, value, count);						\
}										\
										\
CUresult cuMemsetD2D##bits##_v2_ptds(CUdeviceptr to, size_t pitch, type value,	\
				     size_t count, size_t rows)			\
{										\
	return WHOLE_CALL(fill_rows(OWN, false, to, pitch, value, sizeof(value),	\
				    count, rows),					\
			  to, pitch, value, count, rows);				\
}

FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned int)

/*
 * Functions with a stream parameter, the last or the first; the macros' other arguments are the
 * other parameters
 */

#define LAST(name, parameters, ...)						\
CUresult name##_ptsz parameters { return name(__VA_ARGS__, OR_OWN(stream)); }

#define FIRST(name, parameters, ...)						\
CUresult name##_ptsz parameters { return name(OR_OWN(stream), __VA_ARGS__); }

#define ONLY(name)								\
CUresult name##_ptsz(CUstream stream) { return name(OR_OWN(stream)); }

LAST(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
     to, from, bytes)
LAST(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream),
     to, from, bytes)
LAST(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream),
     to, from, bytes)
LAST(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
     to, from, bytes)
LAST(cuMemcpyPeerAsync, (CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
			 CUcontext from_context, size_t bytes, CUstream stream),
     to, to_context, from, from_context, bytes)
LAST(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream stream), copy)
LAST(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy, CUstream stream), copy)
LAST(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *copy, CUstream stream), copy)
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

LAST(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t count, CUstream stream),
     to, value, count)
LAST(cuMemsetD16Async, (CUdeviceptr to, unsigned short value, size_t count, CUstream stream),
     to, value, count)
LAST(cuMemsetD32Async, (CUdeviceptr to, unsigned int value, size_t count, CUstream stream),
     to, value, count)
LAST(cuMemsetD2D8Async, (CUdeviceptr to, size_t pitch, unsigned char value, size_t count,
			 size_t rows, CUstream stream),
     to, pitch, value, count, rows)
LAST(cuMemsetD2D16Async, (CUdeviceptr to, size_t pitch, unsigned short value, size_t count,
			  size_t rows, CUstream stream),
     to, pitch, value, count, rows)
LAST(cuMemsetD2D32Async, (CUdeviceptr to, size_t pitch, unsigned int value, size_t count,
			  size_t rows, CUstream stream),
     to, pitch, value, count, rows)

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

ONLY(cuStreamQuery)
ONLY(cuStreamSynchronize)
FIRST(cuStreamGetPriority, (CUstream stream, int *priority), priority)
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
