// SPDX-License-Identifier: MIT
/* Attributes of pointers; memory of other processes (handles of 64 bytes) and of other drivers. */
#include "runtime.h"

SAME_LAYOUT(cudaIpcMemHandle_t, CUipcMemHandle);
SAME_LAYOUT(cudaIpcEventHandle_t, CUipcEventHandle);
SAME_LAYOUT(struct cudaExternalMemoryHandleDesc, CUDA_EXTERNAL_MEMORY_HANDLE_DESC);
SAME_LAYOUT(struct cudaExternalMemoryBufferDesc, CUDA_EXTERNAL_MEMORY_BUFFER_DESC);

/* Memory that the driver does not know has no device; its host pointer is the address itself. */
DEFINE_CALL(cudaPointerGetAttributes, (struct cudaPointerAttributes *attributes,
				       const void *pointer),
	    attributes, pointer)
{
	struct cudaPointerAttributes found = {};
	CUmemorytype type = 0;
	int device = cudaInvalidDeviceId, managed = 0;
	void *on_device = NULL, *on_host = NULL;
	CUpointer_attribute wanted[] = {
		CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
		CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
		CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
		CU_POINTER_ATTRIBUTE_HOST_POINTER,
		CU_POINTER_ATTRIBUTE_IS_MANAGED,
	};
	void *outputs[] = { &type, &device, &on_device, &on_host, &managed };
	cudaError_t error;

	if (!attributes)
		return refuse("cudaPointerGetAttributes", cudaErrorInvalidValue, "NULL output");
	error = error_of(cuPointerGetAttributes(ARRAY_SIZE(wanted), wanted, outputs,
						address(pointer)));
	if (error != cudaSuccess)
		return error;
	if (type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE) {
		found.type = managed ? cudaMemoryTypeManaged :
			     type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost :
							  cudaMemoryTypeDevice;
		found.device = device;
		found.devicePointer = on_device;
		found.hostPointer = on_host;
	} else {
		found.type = cudaMemoryTypeUnregistered;
		found.device = cudaInvalidDeviceId;
		found.hostPointer = (void *)pointer;
	}
	*attributes = found;
	return cudaSuccess;
}

FORWARD(cudaIpcGetMemHandle, (cudaIpcMemHandle_t *handle, void *pointer),
	cuIpcGetMemHandle((CUipcMemHandle *)handle, address(pointer)))
FORWARD(cudaIpcOpenMemHandle, (void **pointer, cudaIpcMemHandle_t handle, unsigned int flags),
	cuIpcOpenMemHandle((CUdeviceptr *)pointer, *(CUipcMemHandle *)&handle, flags))
FORWARD(cudaIpcCloseMemHandle, (void *pointer), cuIpcCloseMemHandle(address(pointer)))
FORWARD(cudaIpcGetEventHandle, (cudaIpcEventHandle_t *handle, cudaEvent_t event),
	cuIpcGetEventHandle((CUipcEventHandle *)handle, event))
FORWARD(cudaIpcOpenEventHandle, (cudaEvent_t *event, cudaIpcEventHandle_t handle),
	cuIpcOpenEventHandle(event, *(CUipcEventHandle *)&handle))
FORWARD(cudaImportExternalMemory, (cudaExternalMemory_t *memory,
				   const struct cudaExternalMemoryHandleDesc *described),
	cuImportExternalMemory((CUexternalMemory *)memory, (const void *)described))
FORWARD(cudaExternalMemoryGetMappedBuffer, (void **pointer, cudaExternalMemory_t memory,
					    const struct cudaExternalMemoryBufferDesc *described),
	cuExternalMemoryGetMappedBuffer((CUdeviceptr *)pointer, (CUexternalMemory)memory,
					(const void *)described))
FORWARD(cudaDestroyExternalMemory, (cudaExternalMemory_t memory),
	cuDestroyExternalMemory((CUexternalMemory)memory))
