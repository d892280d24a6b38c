// SPDX-License-Identifier: MIT
/* The driver's log, and calls that need neither a device nor the driver. */
#include "runtime.h"
#include "unsupported.h"

FORWARD_LOADED(cudaLogsRegisterCallback, (cudaLogsCallback_t callback, void *data,
					  cudaLogsCallbackHandle *handle),
	       cuLogsRegisterCallback((CUlogsCallback)callback, data, handle))
FORWARD_LOADED(cudaLogsUnregisterCallback, (cudaLogsCallbackHandle handle),
	       cuLogsUnregisterCallback(handle))
FORWARD_LOADED(cudaLogsCurrent, (cudaLogIterator *iterator, unsigned int flags),
	       cuLogsCurrent(iterator, flags))
FORWARD_LOADED(cudaLogsDumpToFile, (cudaLogIterator *iterator, const char *path,
				    unsigned int flags), cuLogsDumpToFile(iterator, path, flags))
FORWARD_LOADED(cudaLogsDumpToMemory, (cudaLogIterator *iterator, char *buffer, size_t *size,
				      unsigned int flags),
	       cuLogsDumpToMemory(iterator, buffer, size, flags))

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
