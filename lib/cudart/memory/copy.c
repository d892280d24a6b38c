// SPDX-License-Identifier: MIT
/* Copies. Compiled twice: per_thread.c. */
#include "copy.h"

SAME_LAYOUT(struct cudaMemcpyAttributes, CUmemcpyAttributes);
SAME_LAYOUT(struct cudaMemcpy3DBatchOp, CUDA_MEMCPY3D_BATCH_OP);

/* The driver finds out whether the pointers are of the given kind. */
static cudaError_t copy(const char *call, void *to, const void *from, size_t bytes,
			enum cudaMemcpyKind kind)
{
	cudaError_t error = copy_kind_check(call, kind);

	if (error != cudaSuccess)
		return error;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return error_of(cuMemcpyHtoD(address(to), from, bytes));
	case cudaMemcpyDeviceToHost:
		return error_of(cuMemcpyDtoH(to, address(from), bytes));
	case cudaMemcpyDeviceToDevice:
		return error_of(cuMemcpyDtoD(address(to), address(from), bytes));
	default:
		return error_of(cuMemcpy(address(to), address(from), bytes));
	}
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	return CALL(copy("cudaMemcpy", to, from, bytes, kind));
}

static cudaError_t copy_async(const char *call, void *to, const void *from, size_t bytes,
			      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	cudaError_t error = copy_kind_check(call, kind);

	if (error != cudaSuccess)
		return error;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return error_of(cuMemcpyHtoDAsync(address(to), from, bytes, stream));
	case cudaMemcpyDeviceToHost:
		return error_of(cuMemcpyDtoHAsync(to, address(from), bytes, stream));
	case cudaMemcpyDeviceToDevice:
		return error_of(cuMemcpyDtoDAsync(address(to), address(from), bytes, stream));
	default:
		return error_of(cuMemcpyAsync(address(to), address(from), bytes, stream));
	}
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	return CALL(copy_async("cudaMemcpyAsync", to, from, bytes, kind, stream));
}

FORWARD_WITH(cudaMemcpy2D, (void *to, size_t to_pitch, const void *from, size_t from_pitch,
			    size_t width, size_t height, enum cudaMemcpyKind kind),
	     CUDA_MEMCPY2D copied,
	     copy_2d("cudaMemcpy2D", &copied, to, to_pitch, from, from_pitch, width, height,
		     kind) ?:
	     error_of(cuMemcpy2DUnaligned(&copied)))
FORWARD_WITH(cudaMemcpy2DAsync, (void *to, size_t to_pitch, const void *from, size_t from_pitch,
				 size_t width, size_t height, enum cudaMemcpyKind kind,
				 cudaStream_t stream),
	     CUDA_MEMCPY2D copied,
	     copy_2d("cudaMemcpy2DAsync", &copied, to, to_pitch, from, from_pitch, width, height,
		     kind) ?:
	     error_of(cuMemcpy2DAsync(&copied, stream)))
FORWARD_WITH(cudaMemcpy3D, (const struct cudaMemcpy3DParms *params),
	     CUDA_MEMCPY3D copied,
	     copy_3d("cudaMemcpy3D", &copied, params) ?:
	     error_of(cuMemcpy3D(&copied)))
FORWARD_WITH(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *params, cudaStream_t stream),
	     CUDA_MEMCPY3D copied,
	     copy_3d("cudaMemcpy3DAsync", &copied, params) ?:
	     error_of(cuMemcpy3DAsync(&copied, stream)))

/* Copies between devices. Making their contexts needs the driver. */
FORWARD_WITH(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *params),
	     CUDA_MEMCPY3D_PEER copied,
	     copy_3d_peer("cudaMemcpy3DPeer", &copied, params) ?:
	     error_of(cuMemcpy3DPeer(&copied)))
FORWARD_WITH(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *params,
				     cudaStream_t stream),
	     CUDA_MEMCPY3D_PEER copied,
	     copy_3d_peer("cudaMemcpy3DPeerAsync", &copied, params) ?:
	     error_of(cuMemcpy3DPeerAsync(&copied, stream)))
FORWARD(cudaMemcpyBatchAsync, (void *const *to, const void *const *from, const size_t *bytes,
			       size_t count, struct cudaMemcpyAttributes *attributes,
			       size_t *starts, size_t attributes_count, cudaStream_t stream),
	cuMemcpyBatchAsync((CUdeviceptr *)to, (CUdeviceptr *)from, (size_t *)bytes, count,
			   (CUmemcpyAttributes *)attributes, starts, attributes_count, stream))
FORWARD(cudaMemcpy3DBatchAsync, (size_t count, struct cudaMemcpy3DBatchOp *copies,
				 unsigned long long flags, cudaStream_t stream),
	cuMemcpy3DBatchAsync(count, (CUDA_MEMCPY3D_BATCH_OP *)copies, flags, stream))

/* Variables of device code */

FORWARD_WITH(cudaMemcpyToSymbol, (const void *symbol, const void *from, size_t bytes, size_t offset,
				  enum cudaMemcpyKind kind),
	     void *to,
	     symbol_part("cudaMemcpyToSymbol", symbol, bytes, offset, kind, cudaMemcpyHostToDevice,
			 &to) ?:
	     copy("cudaMemcpyToSymbol", to, from, bytes, kind))
FORWARD_WITH(cudaMemcpyFromSymbol, (void *to, const void *symbol, size_t bytes, size_t offset,
				    enum cudaMemcpyKind kind),
	     void *from,
	     symbol_part("cudaMemcpyFromSymbol", symbol, bytes, offset, kind,
			 cudaMemcpyDeviceToHost, &from) ?:
	     copy("cudaMemcpyFromSymbol", to, from, bytes, kind))
FORWARD_WITH(cudaMemcpyToSymbolAsync, (const void *symbol, const void *from, size_t bytes,
				       size_t offset, enum cudaMemcpyKind kind,
				       cudaStream_t stream),
	     void *to,
	     symbol_part("cudaMemcpyToSymbolAsync", symbol, bytes, offset, kind,
			 cudaMemcpyHostToDevice, &to) ?:
	     copy_async("cudaMemcpyToSymbolAsync", to, from, bytes, kind, stream))
FORWARD_WITH(cudaMemcpyFromSymbolAsync, (void *to, const void *symbol, size_t bytes, size_t offset,
					 enum cudaMemcpyKind kind, cudaStream_t stream),
	     void *from,
	     symbol_part("cudaMemcpyFromSymbolAsync", symbol, bytes, offset, kind,
			 cudaMemcpyDeviceToHost, &from) ?:
	     copy_async("cudaMemcpyFromSymbolAsync", to, from, bytes, kind, stream))
