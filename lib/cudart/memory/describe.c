// SPDX-License-Identifier: MIT
/* Converts the runtime's descriptions of copies to the driver's, and back. */
#include "copy.h"

cudaError_t copy_kind_check(const char *call, enum cudaMemcpyKind kind)
{
	if ((int)kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
		return refuse(call, cudaErrorInvalidMemcpyDirection, "kind %d", kind);
	return cudaSuccess;
}

static CUmemorytype from_type(enum cudaMemcpyKind kind)
{
	return kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED :
	       kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ?
		       CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

static CUmemorytype to_type(enum cudaMemcpyKind kind)
{
	return kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED :
	       kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ?
		       CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

/* Sets both pointers of a side; the type says which one the driver uses. */
#define FROM(copy, kind, pointer)						\
do {										\
	(copy)->srcMemoryType = from_type(kind);				\
	(copy)->srcHost = (pointer);						\
	(copy)->srcDevice = address(pointer);					\
} while (0)

#define TO(copy, kind, pointer)							\
do {										\
	(copy)->dstMemoryType = to_type(kind);					\
	(copy)->dstHost = (pointer);						\
	(copy)->dstDevice = address(pointer);					\
} while (0)

cudaError_t copy_2d(const char *call, CUDA_MEMCPY2D *copy, void *to, size_t to_pitch,
		    const void *from, size_t from_pitch, size_t width, size_t height,
		    enum cudaMemcpyKind kind)
{
	cudaError_t error = copy_kind_check(call, kind);

	if (error != cudaSuccess)
		return error;
	if (width > to_pitch || width > from_pitch)
		return refuse(call, cudaErrorInvalidPitchValue,
			      "rows of %zu bytes, %zu and %zu bytes apart", width, to_pitch,
			      from_pitch);
	*copy = (CUDA_MEMCPY2D) {
		.srcPitch = from_pitch,
		.dstPitch = to_pitch,
		.WidthInBytes = width,
		.Height = height,
	};
	FROM(copy, kind, from);
	TO(copy, kind, to);
	return cudaSuccess;
}

cudaError_t copy_1d_as_3d(const char *call, CUDA_MEMCPY3D *copy, void *to, const void *from,
			  size_t bytes, enum cudaMemcpyKind kind)
{
	cudaError_t error = copy_kind_check(call, kind);

	*copy = (CUDA_MEMCPY3D) { .WidthInBytes = bytes, .Height = 1, .Depth = 1 };
	FROM(copy, kind, from);
	TO(copy, kind, to);
	return error;
}

static cudaError_t no_arrays(const char *call, cudaArray_t from, cudaArray_t to)
{
	return !from && !to ? cudaSuccess :
		refuse(call, cudaErrorNotSupported, "memcast has no arrays");
}

/* Copies the fields with the same names in both descriptions of a copy of layers. */
#define LAYERS(copy, params)							\
do {										\
	(copy)->srcXInBytes = (params)->srcPos.x;				\
	(copy)->srcY = (params)->srcPos.y;					\
	(copy)->srcZ = (params)->srcPos.z;					\
	(copy)->srcPitch = (params)->srcPtr.pitch;				\
	(copy)->srcHeight = (params)->srcPtr.ysize;				\
	(copy)->dstXInBytes = (params)->dstPos.x;				\
	(copy)->dstY = (params)->dstPos.y;					\
	(copy)->dstZ = (params)->dstPos.z;					\
	(copy)->dstPitch = (params)->dstPtr.pitch;				\
	(copy)->dstHeight = (params)->dstPtr.ysize;				\
	(copy)->WidthInBytes = (params)->extent.width;				\
	(copy)->Height = (params)->extent.height;				\
	(copy)->Depth = (params)->extent.depth;					\
} while (0)

cudaError_t copy_3d(const char *call, CUDA_MEMCPY3D *copy, const struct cudaMemcpy3DParms *params)
{
	cudaError_t error;

	if (!params)
		return refuse(call, cudaErrorInvalidValue, "NULL description");
	error = no_arrays(call, params->srcArray, params->dstArray);
	if (error == cudaSuccess)
		error = copy_kind_check(call, params->kind);
	if (error != cudaSuccess)
		return error;
	*copy = (CUDA_MEMCPY3D) {};
	LAYERS(copy, params);
	FROM(copy, params->kind, params->srcPtr.ptr);
	TO(copy, params->kind, params->dstPtr.ptr);
	return cudaSuccess;
}

cudaError_t copy_3d_peer(const char *call, CUDA_MEMCPY3D_PEER *copy,
			 const struct cudaMemcpy3DPeerParms *params)
{
	cudaError_t error;

	if (!params)
		return refuse(call, cudaErrorInvalidValue, "NULL description");
	error = no_arrays(call, params->srcArray, params->dstArray);
	if (error != cudaSuccess)
		return error;
	*copy = (CUDA_MEMCPY3D_PEER) {};
	LAYERS(copy, params);
	FROM(copy, cudaMemcpyDefault, params->srcPtr.ptr);
	TO(copy, cudaMemcpyDefault, params->dstPtr.ptr);
	error = primary_context(&copy->srcContext, params->srcDevice);
	if (error == cudaSuccess)
		error = primary_context(&copy->dstContext, params->dstDevice);
	return error;
}

static enum cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to)
{
	if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED)
		return cudaMemcpyDefault;
	if (from == CU_MEMORYTYPE_HOST)
		return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
	return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

void params_of_copy_3d(struct cudaMemcpy3DParms *params, const CUDA_MEMCPY3D *copy)
{
	void *from = copy->srcMemoryType == CU_MEMORYTYPE_HOST ?
		(void *)copy->srcHost : (void *)(uintptr_t)copy->srcDevice;
	void *to = copy->dstMemoryType == CU_MEMORYTYPE_HOST ?
		copy->dstHost : (void *)(uintptr_t)copy->dstDevice;

	*params = (struct cudaMemcpy3DParms) {
		.srcPos = { copy->srcXInBytes, copy->srcY, copy->srcZ },
		.srcPtr = { from, copy->srcPitch, copy->WidthInBytes, copy->srcHeight },
		.dstPos = { copy->dstXInBytes, copy->dstY, copy->dstZ },
		.dstPtr = { to, copy->dstPitch, copy->WidthInBytes, copy->dstHeight },
		.extent = { copy->WidthInBytes, copy->Height, copy->Depth },
		.kind = kind_of(copy->srcMemoryType, copy->dstMemoryType),
	};
}
