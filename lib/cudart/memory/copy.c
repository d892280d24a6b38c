// SPDX-License-Identifier: MIT
/* Copies. Compiled twice: per_thread.c. */
#include "copy.h"
#include "symbol.h"

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

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			 size_t width, size_t height, enum cudaMemcpyKind kind)
{
	cudaError_t error;
	CUDA_MEMCPY2D copied;

	error = copy_2d("cudaMemcpy2D", &copied, to, to_pitch, from, from_pitch, width, height,
			kind);
	return CALL(error == cudaSuccess ? error_of(cuMemcpy2DUnaligned(&copied)) : error);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			      size_t width, size_t height, enum cudaMemcpyKind kind,
			      cudaStream_t stream)
{
	cudaError_t error;
	CUDA_MEMCPY2D copied;

	error = copy_2d("cudaMemcpy2DAsync", &copied, to, to_pitch, from, from_pitch, width,
			height, kind);
	return CALL(error == cudaSuccess ? error_of(cuMemcpy2DAsync(&copied, stream)) : error);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *params)
{
	CUDA_MEMCPY3D copied;
	cudaError_t error = copy_3d("cudaMemcpy3D", &copied, params);

	return CALL(error == cudaSuccess ? error_of(cuMemcpy3D(&copied)) : error);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *params, cudaStream_t stream)
{
	CUDA_MEMCPY3D copied;
	cudaError_t error = copy_3d("cudaMemcpy3DAsync", &copied, params);

	return CALL(error == cudaSuccess ? error_of(cuMemcpy3DAsync(&copied, stream)) : error);
}

/* Copies between devices. Making their contexts needs the driver. */
DEFINE_CALL(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *params), params)
{
	CUDA_MEMCPY3D_PEER copied;
	cudaError_t error = copy_3d_peer("cudaMemcpy3DPeer", &copied, params);

	return error == cudaSuccess ? error_of(cuMemcpy3DPeer(&copied)) : error;
}

DEFINE_CALL(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *params,
				    cudaStream_t stream),
	    params, stream)
{
	CUDA_MEMCPY3D_PEER copied;
	cudaError_t error = copy_3d_peer("cudaMemcpy3DPeerAsync", &copied, params);

	return error == cudaSuccess ? error_of(cuMemcpy3DPeerAsync(&copied, stream)) : error;
}

FORWARD(cudaMemcpyBatchAsync, (void *const *to, const void *const *from, const size_t *bytes,
			       size_t count, struct cudaMemcpyAttributes *attributes,
			       size_t *starts, size_t attributes_count, cudaStream_t stream),
	cuMemcpyBatchAsync((CUdeviceptr *)to, (CUdeviceptr *)from, (size_t *)bytes, count,
			   (CUmemcpyAttributes *)attributes, starts, attributes_count, stream))
FORWARD(cudaMemcpy3DBatchAsync, (size_t count, struct cudaMemcpy3DBatchOp *copies,
				 unsigned long long flags, cudaStream_t stream),
	cuMemcpy3DBatchAsync(count, (CUDA_MEMCPY3D_BATCH_OP *)copies, flags, stream))

/* Variables of device code */

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
			       enum cudaMemcpyKind kind)
{
	void *to;

	return CALL(symbol_part("cudaMemcpyToSymbol", symbol, bytes, offset, kind,
				cudaMemcpyHostToDevice, &to) ?:
		    copy("cudaMemcpyToSymbol", to, from, bytes, kind));
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
				 enum cudaMemcpyKind kind)
{
	void *from;

	return CALL(symbol_part("cudaMemcpyFromSymbol", symbol, bytes, offset, kind,
				cudaMemcpyDeviceToHost, &from) ?:
		    copy("cudaMemcpyFromSymbol", to, from, bytes, kind));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
				    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	void *to;

	return CALL(symbol_part("cudaMemcpyToSymbolAsync", symbol, bytes, offset, kind,
				cudaMemcpyHostToDevice, &to) ?:
		    copy_async("cudaMemcpyToSymbolAsync", to, from, bytes, kind, stream));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
				      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	void *from;

	return CALL(symbol_part("cudaMemcpyFromSymbolAsync", symbol, bytes, offset, kind,
				cudaMemcpyDeviceToHost, &from) ?:
		    copy_async("cudaMemcpyFromSymbolAsync", to, from, bytes, kind, stream));
}
