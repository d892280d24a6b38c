/* SPDX-License-Identifier: MIT */
/*
 * Copies to and from variables of device code (__device__, __constant__), for kernels that
 * are compiled as C++ (memcast/cu.h). Such a variable is one object of the process, the same on
 * all devices, so it has no address on a device: cudaGetSymbolAddress() returns
 * cudaErrorNotSupported. memcast-cu makes the runtime's names mean these functions.
 */
#ifndef MEMCAST_CU_SYMBOL_H
#define MEMCAST_CU_SYMBOL_H

#include <memcast/cu.h>

namespace memcast {
namespace cu {

/* A copy that a stream does in its order. @held: a copy of a source that the program may change. */
struct symbol_copy {
	void *to;
	const void *from;
	size_t bytes;
	std::string held;
};

inline void symbol_run(void *data)
{
	symbol_copy *copy = static_cast<symbol_copy *>(data);

	memcpy(copy->to, copy->from ? copy->from : copy->held.data(), copy->bytes);
	delete copy;
}

inline cudaError_t symbol_start(symbol_copy *copy, cudaStream_t stream)
{
	cudaError_t error = cudaLaunchHostFunc(stream, symbol_run, copy);

	if (error != cudaSuccess)
		delete copy;
	return error;
}

template <class T>
cudaError_t to_symbol_async(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
			    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
			    cudaStream_t stream = nullptr)
{
	const char *start = reinterpret_cast<const char *>(&symbol);
	symbol_copy *copy;

	if (offset > sizeof(symbol) || bytes > sizeof(symbol) - offset || (!from && bytes))
		return cudaErrorInvalidValue;
	if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
		return cudaErrorInvalidMemcpyDirection;
	copy = new symbol_copy{ const_cast<char *>(start) + offset, nullptr, bytes, "" };
	if (kind == cudaMemcpyHostToDevice)
		copy->held.assign(static_cast<const char *>(from), bytes);
	else
		copy->from = from;
	return symbol_start(copy, stream);
}

template <class T>
cudaError_t from_symbol_async(void *to, const T &symbol, size_t bytes, size_t offset = 0,
			      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
			      cudaStream_t stream = nullptr)
{
	const char *start = reinterpret_cast<const char *>(&symbol);

	if (offset > sizeof(symbol) || bytes > sizeof(symbol) - offset || (!to && bytes))
		return cudaErrorInvalidValue;
	if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
		return cudaErrorInvalidMemcpyDirection;
	return symbol_start(new symbol_copy{ to, start + offset, bytes, "" }, stream);
}

template <class T>
cudaError_t to_symbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
		      cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
	cudaError_t error = to_symbol_async(symbol, from, bytes, offset, kind);

	return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
}

template <class T>
cudaError_t from_symbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
			cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
	cudaError_t error = from_symbol_async(to, symbol, bytes, offset, kind);

	return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
}

template <class T> cudaError_t symbol_size(size_t *bytes, const T &symbol)
{
	if (!bytes)
		return cudaErrorInvalidValue;
	*bytes = sizeof(symbol);
	return cudaSuccess;
}

template <class T> cudaError_t symbol_address(void **, const T &)
{
	return cudaErrorNotSupported;
}

} /* namespace cu */
} /* namespace memcast */

#endif /* MEMCAST_CU_SYMBOL_H */
