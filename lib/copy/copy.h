/* SPDX-License-Identifier: MIT */
/* Copies and fills of any shape, at once or in a stream; nodes of graphs use them, too. */
#ifndef MEMCAST_COPY_H
#define MEMCAST_COPY_H

#include "stream/capture.h"

/* Layers of rows: the shape of every copy. The kernel copies one layer at a time. */
struct layers {
	struct memcast_copy copy;		/* the first layer */
	uint64_t count;				/* 0: nothing to copy */
	uint64_t to_pitch, from_pitch;		/* bytes from one layer to the next */
};

/* When a copy reads its source, and whether the call may return before */
enum transfer_when {
	TRANSFER_SYNC,		/* a call without a stream: may_return() says what waits */
	TRANSFER_ASYNC,		/* as cuMemcpyAsync(): see transfer.c */
	TRANSFER_IN_ORDER,	/* in the order of the stream, and the call does not wait */
	TRANSFER_READ_NOW,	/* the source is read before the call returns */
};

/* transfer.c: copies and fills, at once or in a stream */
CUresult transfer_copy(CUstream handle, const struct memcast_copy *arg, bool async);
CUresult transfer_fill(CUstream handle, const struct memcast_fill *arg, bool async);
CUresult transfer_layers(CUstream handle, const struct layers *layers,
			 enum transfer_when when);
CUresult layers_check(const struct layers *layers);
CUresult layers_copy(const struct layers *layers);
CUresult fill_check(const struct memcast_fill *fill);
CUresult fill_check_access(CUcontext context, const struct memcast_fill *fill);

/* captured.c */
CUresult capture_copy(struct stream *stream, const struct layers *layers);
CUresult capture_fill(struct stream *stream, const struct memcast_fill *fill);

/* fault.c: the result of queued work, instead of @result, which a call without a stream returns */
CUresult layers_result(const struct layers *layers, CUresult result);
CUresult fill_result(const struct memcast_fill *fill, CUresult result);

/* copy3d.c */
CUresult layers_of(struct layers *layers, const CUDA_MEMCPY3D *copy);
CUresult copy_layers(CUstream stream, bool async, const CUDA_MEMCPY3D *copy);
CUresult copy_peer_layers(CUstream stream, bool async, const CUDA_MEMCPY3D_PEER *copy);

/* batch.c: older names, which per_thread.c calls */
#undef cuMemcpy3DBatchAsync
#undef cuMemcpyBatchAsync
EXPORTED CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *copies,
				       size_t *failed, unsigned long long flags, CUstream stream);
EXPORTED CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes,
				     size_t count, CUmemcpyAttributes *attributes,
				     size_t *starts, size_t attributes_count, size_t *failed,
				     CUstream stream);

/* copy.c, copy2d.c: called by calls.c */
CUresult peer_devices(struct memcast_copy *arg, CUcontext to, CUcontext from, bool async);
CUresult copy_linear(CUstream stream, bool async, uintptr_t to, uintptr_t from,
		     size_t bytes, uint32_t flags);
CUresult copy_peer(CUstream stream, bool async, CUdeviceptr to, CUcontext to_context,
		   CUdeviceptr from, CUcontext from_context, size_t bytes);
CUresult copy_rows(CUstream stream, bool async, const CUDA_MEMCPY2D *copy, bool any_pitch);
CUresult fill_rows(CUstream stream, bool async, CUdeviceptr to, size_t pitch,
		   uint32_t value, uint32_t width, size_t count, size_t rows);

#endif /* MEMCAST_COPY_H */
