// SPDX-License-Identifier: MIT
/* Linear copies, and fills. */
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

CUresult fill_rows(CUstream stream, bool async, CUdeviceptr to, size_t pitch,
		   uint32_t value, uint32_t width, size_t count, size_t rows)
{
	struct memcast_fill arg = {
		.width = width,
		.value = value,
		.rows = 1,
	};

	/* an empty fill ignores its address, and one of a single row its pitch */
	if (count && rows) {
		arg.to = to;
		arg.count = count;
		arg.rows = rows;
		arg.pitch = rows > 1 ? pitch : 0;
	}
	return transfer_fill(stream, &arg, async);
}
