// SPDX-License-Identifier: MIT
/* The driver's log, and calls that need neither a device nor the driver. */
#include "runtime.h"
#include "unsupported.h"

cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callback, void *data,
				     cudaLogsCallbackHandle *handle)
{
	return DRIVER_LOADED(cuLogsRegisterCallback((CUlogsCallback)callback, data, handle));
}

cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle handle)
{
	return DRIVER_LOADED(cuLogsUnregisterCallback(handle));
}

cudaError_t cudaLogsCurrent(cudaLogIterator *iterator, unsigned int flags)
{
	return DRIVER_LOADED(cuLogsCurrent(iterator, flags));
}

cudaError_t cudaLogsDumpToFile(cudaLogIterator *iterator, const char *path, unsigned int flags)
{
	return DRIVER_LOADED(cuLogsDumpToFile(iterator, path, flags));
}

cudaError_t cudaLogsDumpToMemory(cudaLogIterator *iterator, char *buffer, size_t *size,
				 unsigned int flags)
{
	return DRIVER_LOADED(cuLogsDumpToMemory(iterator, buffer, size, flags));
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
						   enum cudaChannelFormatKind kind)
{
	return (struct cudaChannelFormatDesc) { x, y, z, w, kind };
}

int function_unsupported(const char *symbol, const char *lacking)
{
	return CALL_LOADED(refuse(symbol, cudaErrorNotSupported,
				  "%s is not supported: memcast has no %s", symbol, lacking));
}
