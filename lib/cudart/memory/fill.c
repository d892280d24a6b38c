// SPDX-License-Identifier: MIT
/* Fills, of bytes. Compiled twice: per_thread.c. */
#include "runtime.h"

FORWARD(cudaMemset, (void *to, int value, size_t bytes), cuMemsetD8(address(to), value, bytes))
FORWARD(cudaMemsetAsync, (void *to, int value, size_t bytes, cudaStream_t stream),
	cuMemsetD8Async(address(to), value, bytes, stream))
FORWARD(cudaMemset2D, (void *to, size_t pitch, int value, size_t width, size_t height),
	cuMemsetD2D8(address(to), pitch, value, width, height))
FORWARD(cudaMemset2DAsync, (void *to, size_t pitch, int value, size_t width, size_t height,
			    cudaStream_t stream),
	cuMemsetD2D8Async(address(to), pitch, value, width, height, stream))

/*
 * Layers whose rows are all filled are adjacent: one call fills all rows. Otherwise each layer
 * is a call, and the layers before one that fails are filled.
 */
static cudaError_t fill_layers(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
			       cudaStream_t stream)
{
	cudaError_t error = cudaSuccess;
	size_t layers = extent.depth;
	size_t rows = extent.height;

	if (rows == to.ysize && layers && !__builtin_mul_overflow(rows, layers, &rows))
		layers = 1;
	else
		rows = extent.height;
	/* for an empty fill, one call finds errors in the arguments */
	if (layers && (!extent.width || !extent.height))
		layers = 1;
	for (size_t z = 0; z < layers && error == cudaSuccess; z++)
		error = error_of(cuMemsetD2D8Async(address(to.ptr) + z * to.pitch * to.ysize,
						   to.pitch, value, extent.width, rows, stream));
	return error;
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent)
{
	return CALL(fill_layers(to, value, extent, NULL) ?:
		    error_of(cuStreamSynchronize(NULL)));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
			      cudaStream_t stream)
{
	return CALL(fill_layers(to, value, extent, stream));
}
