// SPDX-License-Identifier: MIT
/* Linear copies. Those without a stream run in the legacy one. */
#include "copy.h"

#define BOTH_DEVICES	(MEMCAST_COPY_TO_DEVICE | MEMCAST_COPY_FROM_DEVICE)

CUresult copy_linear(CUstream stream, bool async, uintptr_t to, uintptr_t from,
		     size_t bytes, uint32_t flags)
{
	struct memcast_copy arg = {
		.to = to,
		.from = from,
		.bytes = bytes,
		.flags = flags,
		.rows = 1,
	};

	return transfer_copy(stream, &arg, async);
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return WHOLE_CALL(copy_linear(CU_STREAM_LEGACY, false, to, from, bytes, 0),
			  to, from, bytes);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
	return WHOLE_CALL(copy_linear(CU_STREAM_LEGACY, false, to, (uintptr_t)from, bytes,
				      MEMCAST_COPY_TO_DEVICE), to, from, bytes);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
	return WHOLE_CALL(copy_linear(CU_STREAM_LEGACY, false, (uintptr_t)to, from, bytes,
				      MEMCAST_COPY_FROM_DEVICE), to, from, bytes);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return WHOLE_CALL(copy_linear(CU_STREAM_LEGACY, false, to, from, bytes, BOTH_DEVICES),
			  to, from, bytes);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return WHOLE_CALL(copy_linear(stream, true, to, from, bytes, 0), to, from, bytes, stream);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	return WHOLE_CALL(copy_linear(stream, true, to, (uintptr_t)from, bytes,
				      MEMCAST_COPY_TO_DEVICE), to, from, bytes, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return WHOLE_CALL(copy_linear(stream, true, (uintptr_t)to, from, bytes,
				      MEMCAST_COPY_FROM_DEVICE), to, from, bytes, stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return WHOLE_CALL(copy_linear(stream, true, to, from, bytes, BOTH_DEVICES),
			  to, from, bytes, stream);
}

/*
 * Finds the devices of both contexts; each device has to reach its own side only. A call
 * without a stream (@async is false) waits here for the work of both contexts.
 */
CUresult peer_devices(struct memcast_copy *arg, CUcontext to, CUcontext from, bool async)
{
	struct slot *to_slot, *from_slot;
	CUresult result = context_find(to, &to_slot);

	if (result == CUDA_SUCCESS)
		result = context_find(from, &from_slot);
	if (result != CUDA_SUCCESS)
		return result;
	arg->flags |= MEMCAST_COPY_PEER;
	arg->device = to_slot->device;
	arg->from_device = from_slot->device;
	if (!async)
		result = legacy_wait(context_value(to_slot));
	if (!async && result == CUDA_SUCCESS)
		result = legacy_wait(context_value(from_slot));
	return result;
}

CUresult copy_peer(CUstream stream, bool async, CUdeviceptr to, CUcontext to_context,
		   CUdeviceptr from, CUcontext from_context, size_t bytes)
{
	struct memcast_copy arg = {
		.to = to,
		.from = from,
		.bytes = bytes,
		.flags = BOTH_DEVICES,
		.rows = 1,
	};
	CUresult result = peer_devices(&arg, to_context, from_context, async);

	return result == CUDA_SUCCESS ? transfer_copy(stream, &arg, async) : result;
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
		      CUcontext from_context, size_t bytes)
{
	return WHOLE_CALL(copy_peer(CU_STREAM_LEGACY, false, to, to_context, from, from_context,
				    bytes), to, to_context, from, from_context, bytes);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
			   CUcontext from_context, size_t bytes, CUstream stream)
{
	return WHOLE_CALL(copy_peer(stream, true, to, to_context, from, from_context, bytes),
			  to, to_context, from, from_context, bytes, stream);
}
