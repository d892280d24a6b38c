// SPDX-License-Identifier: MIT
/* Copies between devices, which are the same for all default streams; addresses of variables */
#include "runtime.h"

static cudaError_t contexts_of(CUcontext *to, int to_device, CUcontext *from, int from_device)
{
	cudaError_t error = primary_context(to, to_device);

	return error == cudaSuccess ? primary_context(from, from_device) : error;
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
			   size_t bytes)
{
	CUcontext there, here;

	return CALL(contexts_of(&there, to_device, &here, from_device) ?:
		    error_of(cuMemcpyPeer(address(to), there, address(from), here, bytes)));
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
				size_t bytes, cudaStream_t stream)
{
	CUcontext there, here;

	return CALL(contexts_of(&there, to_device, &here, from_device) ?:
		    error_of(cuMemcpyPeerAsync(address(to), there, address(from), here, bytes,
					       stream)));
}

cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
	size_t bytes;

	if (!pointer)
		return error_keep(refuse("cudaGetSymbolAddress", cudaErrorInvalidValue,
					 "NULL output"));
	return CALL(symbol_find("cudaGetSymbolAddress", symbol, pointer, &bytes));
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
	void *pointer;

	if (!bytes)
		return error_keep(refuse("cudaGetSymbolSize", cudaErrorInvalidValue,
					 "NULL output"));
	return CALL(symbol_find("cudaGetSymbolSize", symbol, &pointer, bytes));
}
