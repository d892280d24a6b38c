// SPDX-License-Identifier: MIT
/*
 * The calls that copy and fill, but for batches. Those without a stream run in the default stream.
 * per_thread.c compiles this file once more, as a program built for the per-thread default stream
 * includes cuda.h: with other names of the functions, and another default stream.
 */
#include "copy.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define DEFAULT		CU_STREAM_PER_THREAD
#define OR_DEFAULT(stream)	((stream) ? (stream) : DEFAULT)
#else
#define DEFAULT		CU_STREAM_LEGACY
#define OR_DEFAULT(stream)	(stream)
#endif

#define BOTH_DEVICES	(MEMCAST_COPY_TO_DEVICE | MEMCAST_COPY_FROM_DEVICE)

FORWARD(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
	copy_linear(DEFAULT, false, to, from, bytes, 0), to, from, bytes)
FORWARD(cuMemcpyHtoD, (CUdeviceptr to, const void *from, size_t bytes),
	copy_linear(DEFAULT, false, to, (uintptr_t)from, bytes, MEMCAST_COPY_TO_DEVICE),
	to, from, bytes)
FORWARD(cuMemcpyDtoH, (void *to, CUdeviceptr from, size_t bytes),
	copy_linear(DEFAULT, false, (uintptr_t)to, from, bytes, MEMCAST_COPY_FROM_DEVICE),
	to, from, bytes)
FORWARD(cuMemcpyDtoD, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
	copy_linear(DEFAULT, false, to, from, bytes, BOTH_DEVICES), to, from, bytes)
FORWARD(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
	copy_linear(OR_DEFAULT(stream), true, to, from, bytes, 0), to, from, bytes, stream)
FORWARD(cuMemcpyHtoDAsync, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream),
	copy_linear(OR_DEFAULT(stream), true, to, (uintptr_t)from, bytes, MEMCAST_COPY_TO_DEVICE),
	to, from, bytes, stream)
FORWARD(cuMemcpyDtoHAsync, (void *to, CUdeviceptr from, size_t bytes, CUstream stream),
	copy_linear(OR_DEFAULT(stream), true, (uintptr_t)to, from, bytes, MEMCAST_COPY_FROM_DEVICE),
	to, from, bytes, stream)
FORWARD(cuMemcpyDtoDAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
	copy_linear(OR_DEFAULT(stream), true, to, from, bytes, BOTH_DEVICES),
	to, from, bytes, stream)
FORWARD(cuMemcpyPeer, (CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
		       CUcontext from_context, size_t bytes),
	copy_peer(DEFAULT, false, to, to_context, from, from_context, bytes),
	to, to_context, from, from_context, bytes)
FORWARD(cuMemcpyPeerAsync, (CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
			    CUcontext from_context, size_t bytes, CUstream stream),
	copy_peer(OR_DEFAULT(stream), true, to, to_context, from, from_context, bytes),
	to, to_context, from, from_context, bytes, stream)
FORWARD(cuMemcpy2D, (const CUDA_MEMCPY2D *copy), copy_rows(DEFAULT, false, copy, false), copy)
FORWARD(cuMemcpy2DUnaligned, (const CUDA_MEMCPY2D *copy),
	copy_rows(DEFAULT, false, copy, true), copy)
FORWARD(cuMemcpy2DAsync, (const CUDA_MEMCPY2D *copy, CUstream stream),
	copy_rows(OR_DEFAULT(stream), true, copy, false), copy, stream)
FORWARD(cuMemcpy3D, (const CUDA_MEMCPY3D *copy), copy_layers(DEFAULT, false, copy), copy)
FORWARD(cuMemcpy3DAsync, (const CUDA_MEMCPY3D *copy, CUstream stream),
	copy_layers(OR_DEFAULT(stream), true, copy), copy, stream)
FORWARD(cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER *copy),
	copy_peer_layers(DEFAULT, false, copy), copy)
FORWARD(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *copy, CUstream stream),
	copy_peer_layers(OR_DEFAULT(stream), true, copy), copy, stream)

#define FILLS(bits, type)							\
CUresult cuMemsetD##bits(CUdeviceptr to, type value, size_t count)		\
{										\
	return WHOLE_CALL(fill_rows(DEFAULT, false, to, 0, value, sizeof(value), count, 1), \
			  to, value, count);					\
}										\
										\
CUresult cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t count, CUstream stream) \
{										\
	return WHOLE_CALL(fill_rows(OR_DEFAULT(stream), true, to, 0, value, sizeof(value), \
				    count, 1), to, value, count, stream);	\
}										\
										\
CUresult cuMemsetD2D##bits(CUdeviceptr to, size_t pitch, type value, size_t count, size_t rows) \
{										\
	return WHOLE_CALL(fill_rows(DEFAULT, false, to, pitch, value, sizeof(value), count, rows), \
			  to, pitch, value, count, rows);			\
}										\
										\
CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t count, \
				  size_t rows, CUstream stream)			\
{										\
	return WHOLE_CALL(fill_rows(OR_DEFAULT(stream), true, to, pitch, value,	\
				    sizeof(value), count, rows),		\
			  to, pitch, value, count, rows, stream);		\
}

FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned int)
