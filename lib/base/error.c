// SPDX-License-Identifier: MIT
/* The names of result codes, and the descriptions that cuGetErrorString() gives. */
#include "library.h"

#define RESULT(name, text)	{ name, #name, text }

static const struct description {
	CUresult result;
	const char *name;
	const char *text;
} descriptions[] = {
	RESULT(CUDA_SUCCESS, "no error"),
	RESULT(CUDA_ERROR_INVALID_VALUE, "an argument is wrong"),
	RESULT(CUDA_ERROR_OUT_OF_MEMORY, "not enough memory"),
	RESULT(CUDA_ERROR_NOT_INITIALIZED, "the library is not initialised in this process"),
	RESULT(CUDA_ERROR_DEINITIALIZED, "the process or the driver is ending"),
	RESULT(CUDA_ERROR_PROFILER_DISABLED, "profiling is switched off"),
	RESULT(CUDA_ERROR_PROFILER_NOT_INITIALIZED, "the profiler is not initialised"),
	RESULT(CUDA_ERROR_PROFILER_ALREADY_STARTED, "the profiler runs already"),
	RESULT(CUDA_ERROR_PROFILER_ALREADY_STOPPED, "the profiler does not run"),
	RESULT(CUDA_ERROR_STUB_LIBRARY, "the loaded library is only a stub"),
	RESULT(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "the call needs a newer driver"),
	RESULT(CUDA_ERROR_DEVICE_UNAVAILABLE, "the device is in use or broken"),
	RESULT(CUDA_ERROR_NO_DEVICE, "there is no device"),
	RESULT(CUDA_ERROR_INVALID_DEVICE, "no such device, or not one for this call"),
	RESULT(CUDA_ERROR_DEVICE_NOT_LICENSED, "the device lacks a licence"),
	RESULT(CUDA_ERROR_INVALID_IMAGE, "the device code is not valid"),
	RESULT(CUDA_ERROR_INVALID_CONTEXT, "no context is current, or it is not valid"),
	RESULT(CUDA_ERROR_CONTEXT_ALREADY_CURRENT, "the context is current already"),
	RESULT(CUDA_ERROR_MAP_FAILED, "mapping failed"),
	RESULT(CUDA_ERROR_UNMAP_FAILED, "unmapping failed"),
	RESULT(CUDA_ERROR_ARRAY_IS_MAPPED, "the array is mapped"),
	RESULT(CUDA_ERROR_ALREADY_MAPPED, "the resource is mapped already"),
	RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU, "no device code for this device"),
	RESULT(CUDA_ERROR_ALREADY_ACQUIRED, "the resource is taken already"),
	RESULT(CUDA_ERROR_NOT_MAPPED, "the resource is not mapped"),
	RESULT(CUDA_ERROR_NOT_MAPPED_AS_ARRAY, "the resource is not mapped as an array"),
	RESULT(CUDA_ERROR_NOT_MAPPED_AS_POINTER, "the resource is not mapped as memory"),
	RESULT(CUDA_ERROR_ECC_UNCORRECTABLE, "device memory has an error beyond repair"),
	RESULT(CUDA_ERROR_UNSUPPORTED_LIMIT, "the device has no such limit"),
	RESULT(CUDA_ERROR_CONTEXT_ALREADY_IN_USE, "another thread uses the context"),
	RESULT(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "the devices cannot reach each other"),
	RESULT(CUDA_ERROR_INVALID_PTX, "the PTX code does not compile"),
	RESULT(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, "the graphics context is not valid"),
	RESULT(CUDA_ERROR_NVLINK_UNCORRECTABLE, "NVLink has an error beyond repair"),
	RESULT(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "the PTX compiler is missing"),
	RESULT(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the PTX code is too new"),
	RESULT(CUDA_ERROR_JIT_COMPILATION_DISABLED, "compiling PTX is switched off"),
	RESULT(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "the device has no such affinity"),
	RESULT(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, "device code cannot wait for its own"),
	RESULT(CUDA_ERROR_CONTAINED, "a fault was contained; restart the process"),
	RESULT(CUDA_ERROR_INVALID_SOURCE, "the source of device code is not valid"),
	RESULT(CUDA_ERROR_FILE_NOT_FOUND, "no such file"),
	RESULT(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "a shared object lacks a symbol"),
	RESULT(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "a shared object did not initialise"),
	RESULT(CUDA_ERROR_OPERATING_SYSTEM, "a system call failed"),
	RESULT(CUDA_ERROR_INVALID_HANDLE, "no such object"),
	RESULT(CUDA_ERROR_ILLEGAL_STATE, "not possible in the present state"),
	RESULT(CUDA_ERROR_LOSSY_QUERY, "the answer would leave something out"),
	RESULT(CUDA_ERROR_NOT_FOUND, "no such name"),
	RESULT(CUDA_ERROR_NOT_READY, "the work is not done yet"),
	RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, "device code used an address that is not mapped"),
	RESULT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "the launch asks for too much"),
	RESULT(CUDA_ERROR_LAUNCH_TIMEOUT, "device code ran for too long"),
	RESULT(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, "the launch's textures do not fit"),
	RESULT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "peer access is on already"),
	RESULT(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "peer access is not on"),
	RESULT(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "the primary context is in use"),
	RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the current context was destroyed"),
	RESULT(CUDA_ERROR_ASSERT, "an assertion failed in device code"),
	RESULT(CUDA_ERROR_TOO_MANY_PEERS, "no room for another peer"),
	RESULT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "the host memory is registered"),
	RESULT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "the host memory is not registered"),
	RESULT(CUDA_ERROR_HARDWARE_STACK_ERROR, "the device's stack is broken"),
	RESULT(CUDA_ERROR_ILLEGAL_INSTRUCTION, "device code has an illegal instruction"),
	RESULT(CUDA_ERROR_MISALIGNED_ADDRESS, "device code used a misaligned address"),
	RESULT(CUDA_ERROR_INVALID_ADDRESS_SPACE, "device code used the wrong address space"),
	RESULT(CUDA_ERROR_INVALID_PC, "device code jumped out of itself"),
	RESULT(CUDA_ERROR_LAUNCH_FAILED, "device code failed"),
	RESULT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks for one launch"),
	RESULT(CUDA_ERROR_TENSOR_MEMORY_LEAK, "device code left tensor memory allocated"),
	RESULT(CUDA_ERROR_NOT_PERMITTED, "not permitted"),
	RESULT(CUDA_ERROR_NOT_SUPPORTED, "not supported"),
	RESULT(CUDA_ERROR_SYSTEM_NOT_READY, "the system's software is not ready"),
	RESULT(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "library and module do not fit together"),
	RESULT(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "no compatibility on this device"),
	RESULT(CUDA_ERROR_MPS_CONNECTION_FAILED, "no connection to the MPS server"),
	RESULT(CUDA_ERROR_MPS_RPC_FAILURE, "a call to the MPS server failed"),
	RESULT(CUDA_ERROR_MPS_SERVER_NOT_READY, "the MPS server is not ready"),
	RESULT(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, "the MPS server has no room for a client"),
	RESULT(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, "the MPS server has no connection left"),
	RESULT(CUDA_ERROR_MPS_CLIENT_TERMINATED, "the MPS server ended this client"),
	RESULT(CUDA_ERROR_CDP_NOT_SUPPORTED, "device code cannot launch here"),
	RESULT(CUDA_ERROR_CDP_VERSION_MISMATCH, "device code launches by another version"),
	RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream cannot record this"),
	RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the recording failed before"),
	RESULT(CUDA_ERROR_STREAM_CAPTURE_MERGE, "would join two recordings"),
	RESULT(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the recording was not begun here"),
	RESULT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "a recorded fork was never joined"),
	RESULT(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "would depend on what is not recorded"),
	RESULT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "would wait for the legacy stream"),
	RESULT(CUDA_ERROR_CAPTURED_EVENT, "the event belongs to a recording"),
	RESULT(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "another thread began the recording"),
	RESULT(CUDA_ERROR_TIMEOUT, "the wait took too long"),
	RESULT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graph differs too much to update"),
	RESULT(CUDA_ERROR_EXTERNAL_DEVICE, "a device outside reported an error"),
	RESULT(CUDA_ERROR_INVALID_CLUSTER_SIZE, "no cluster can have this size"),
	RESULT(CUDA_ERROR_FUNCTION_NOT_LOADED, "the function is not loaded"),
	RESULT(CUDA_ERROR_INVALID_RESOURCE_TYPE, "not the kind of resource that is asked for"),
	RESULT(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "the resources do not go together"),
	RESULT(CUDA_ERROR_KEY_ROTATION, "a key is being replaced"),
	RESULT(CUDA_ERROR_UNKNOWN, "unknown error"),
};

static const struct description *describe(CUresult result)
{
	for (size_t i = 0; i < ARRAY_SIZE(descriptions); i++)
		if (descriptions[i].result == result)
			return &descriptions[i];
	return NULL;
}

bool error_known(CUresult result)
{
	return describe(result);
}

const char *error_name(CUresult result)
{
	const struct description *found = describe(result);

	return found ? found->name : "no such result";
}

static CUresult name_of(CUresult result, const char **name)
{
	const struct description *found = describe(result);

	if (!name)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	*name = found ? found->name : NULL;
	return found ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "no such result");
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
	return LOGGED(name_of(result, name), "error=%d, name=%p", (int)result,
		      (void *)name);
}

static CUresult text_of(CUresult result, const char **text)
{
	const struct description *found = describe(result);

	if (!text)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	*text = found ? found->text : NULL;
	return found ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "no such result");
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
	return LOGGED(text_of(result, text), "error=%d, text=%p", (int)result,
		      (void *)text);
}
