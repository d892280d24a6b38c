// SPDX-License-Identifier: MIT
/* Pointers: what the kernel says about an address. */
#include <string.h>

#include "heap.h"

#define ATTRIBUTE(name, type)	[CU_POINTER_ATTRIBUTE_##name] = sizeof(type)

/* An output's size: what the interface calls a boolean is an int. */
static const unsigned char sizes[] = {
	ATTRIBUTE(CONTEXT, CUcontext),
	ATTRIBUTE(MEMORY_TYPE, unsigned int),
	ATTRIBUTE(DEVICE_POINTER, CUdeviceptr),
	ATTRIBUTE(HOST_POINTER, void *),
	ATTRIBUTE(SYNC_MEMOPS, int),
	ATTRIBUTE(BUFFER_ID, unsigned long long),
	ATTRIBUTE(IS_MANAGED, int),
	ATTRIBUTE(DEVICE_ORDINAL, int),
	ATTRIBUTE(IS_LEGACY_CUDA_IPC_CAPABLE, int),
	ATTRIBUTE(RANGE_START_ADDR, CUdeviceptr),
	ATTRIBUTE(RANGE_SIZE, size_t),
	ATTRIBUTE(MAPPED, int),
	ATTRIBUTE(ALLOWED_HANDLE_TYPES, unsigned int),
	ATTRIBUTE(IS_GPU_DIRECT_RDMA_CAPABLE, int),
	ATTRIBUTE(ACCESS_FLAGS, unsigned int),
	ATTRIBUTE(MEMPOOL_HANDLE, CUmemoryPool),
	ATTRIBUTE(MAPPING_SIZE, size_t),
	ATTRIBUTE(MAPPING_BASE_ADDR, CUdeviceptr),
	ATTRIBUTE(MEMORY_BLOCK_ID, unsigned long long),
	ATTRIBUTE(IS_HW_DECOMPRESS_CAPABLE, int),
};

static CUresult check_attribute(CUpointer_attribute attribute)
{
	if (attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS)
		return fail(CUDA_ERROR_NOT_SUPPORTED, "P2P tokens are not supported");
	if ((int)attribute < 0 || attribute >= ARRAY_SIZE(sizes) || !sizes[attribute])
		return fail(CUDA_ERROR_INVALID_VALUE, "no attribute %d", (int)attribute);
	return CUDA_SUCCESS;
}

static CUresult address_info(struct memcast_address_info *info)
{
	return device_ioctl(MEMCAST_ADDRESS_INFO, info);
}

static CUresult check_mapped(const struct memcast_address_info *info)
{
	if (info->out_mapping_bytes)
		return CUDA_SUCCESS;
	return fail(CUDA_ERROR_INVALID_VALUE, "nothing is mapped at %#llx",
		    (unsigned long long)info->address);
}

static CUresult mapped_info(struct memcast_address_info *info)
{
	CUresult result = address_info(info);

	return result == CUDA_SUCCESS ? check_mapped(info) : result;
}

/* What the current device may do. */
static CUresult access_of(const struct memcast_address_info *info, CUmemAccess_flags *access)
{
	uint32_t device;
	CUresult result = context_device(&device);

	if (result == CUDA_SUCCESS)
		*access = info->out_writable >> device & 1 ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE :
			  info->out_readable >> device & 1 ? CU_MEM_ACCESS_FLAGS_PROT_READ :
							     CU_MEM_ACCESS_FLAGS_PROT_NONE;
	return result;
}

static CUresult mapped_value(uint64_t *value, CUpointer_attribute attribute,
			     const struct memcast_address_info *info)
{
	bool on_device = info->out_location == MEMCAST_LOCATION_DEVICE;
	CUmemAccess_flags access;
	CUresult result;

	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*value = on_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		result = access_of(info, &access);
		if (result != CUDA_SUCCESS)
			return result;
		if (attribute == CU_POINTER_ATTRIBUTE_ACCESS_FLAGS)
			*value = access;
		else if (access != CU_MEM_ACCESS_FLAGS_PROT_NONE)
			*value = info->address;
		else
			return fail(CUDA_ERROR_INVALID_VALUE,
				    "the current device has no access");
		break;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (!info->out_readable)
			return fail(CUDA_ERROR_INVALID_VALUE,
				    "no device has access, and so not the CPU");
		*value = info->address;
		break;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		*value = 1;
		break;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
	case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
		*value = info->out_object;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*value = on_device ? (int)info->out_location_id : CU_DEVICE_CPU;
		break;
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*value = (uintptr_t)context_of_heap(info->out_heap);
		break;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*value = context_of_heap(info->out_heap) ? 0 : info->out_heap;
		break;
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		*value = memory_types_of_mask(info->out_handle_types);
		break;
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		*value = !!(info->out_flags & MEMCAST_MEMORY_RDMA);
		break;
	case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
		*value = info->out_mapping_bytes;
		break;
	case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		*value = info->out_mapping;
		break;
	default:
		/* not managed, not for IPC */
		*value = 0;
	}
	return CUDA_SUCCESS;
}

static CUresult value_of(uint64_t *value, CUpointer_attribute attribute,
			 const struct memcast_address_info *info)
{
	CUresult result;

	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*value = info->out_reservation;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*value = info->out_reservation_bytes;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*value = !!info->out_mapping_bytes;
		return CUDA_SUCCESS;
	default:
		result = check_mapped(info);
		return result == CUDA_SUCCESS ? mapped_value(value, attribute, info) : result;
	}
}

static void give(void *data, CUpointer_attribute attribute, uint64_t value)
{
	uint32_t half = value;

	if (sizes[attribute] == sizeof(half))
		memcpy(data, &half, sizeof(half));
	else
		memcpy(data, &value, sizeof(value));
}

static CUresult get_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer)
{
	struct memcast_address_info info = { .address = pointer };
	uint64_t value;
	CUresult result;

	if (!data)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = check_attribute(attribute);
	if (result == CUDA_SUCCESS)
		result = address_info(&info);
	if (result == CUDA_SUCCESS)
		result = value_of(&value, attribute, &info);
	if (result == CUDA_SUCCESS)
		give(data, attribute, value);
	return result;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr pointer)
{
	return CALL(get_attribute(data, attribute, pointer),
		    "data=%p, attribute=%d, pointer=%#llx", data, (int)attribute, pointer);
}

/* Like value_of(), but what there is not reads as nothing. */
static CUresult value_or_none(uint64_t *value, CUpointer_attribute attribute,
			      const struct memcast_address_info *info)
{
	CUresult result = value_of(value, attribute, info);

	if (result != CUDA_ERROR_INVALID_VALUE)
		return result;
	*value = attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? CU_DEVICE_INVALID : 0;
	return CUDA_SUCCESS;
}

static CUresult get_attributes(unsigned int count, const CUpointer_attribute *attributes,
			       void **data, CUdeviceptr pointer)
{
	struct memcast_address_info info = { .address = pointer };
	uint64_t value = 0;
	CUresult result;

	if (!count || !attributes || !data)
		return fail(CUDA_ERROR_INVALID_VALUE, "no attributes, or a NULL pointer");
	for (unsigned int i = 0; i < count; i++) {
		result = check_attribute(attributes[i]);
		if (result == CUDA_SUCCESS && !data[i])
			result = fail(CUDA_ERROR_INVALID_VALUE, "NULL output %u", i);
		if (result != CUDA_SUCCESS)
			return result;
	}
	result = address_info(&info);
	if (result == CUDA_ERROR_INVALID_VALUE)
		info = (struct memcast_address_info) { .address = pointer };
	else if (result != CUDA_SUCCESS)
		return result;

	/* All, or none. */
	for (unsigned int i = 0; i < count; i++) {
		result = value_or_none(&value, attributes[i], &info);
		if (result != CUDA_SUCCESS)
			return result;
	}
	for (unsigned int i = 0; i < count; i++) {
		value_or_none(&value, attributes[i], &info);
		give(data[i], attributes[i], value);
	}
	return CUDA_SUCCESS;
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes,
				void **data, CUdeviceptr pointer)
{
	return CALL(get_attributes(count, attributes, data, pointer),
		    "count=%u, attributes=%p, data=%p, pointer=%#llx",
		    count, (void *)attributes, (void *)data, pointer);
}

static CUresult set_attribute(const void *value, CUpointer_attribute attribute,
			      CUdeviceptr pointer)
{
	struct memcast_address_info info = { .address = pointer };
	unsigned int wanted;

	if (!value)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
		return fail(CUDA_ERROR_INVALID_VALUE, "attribute %d cannot be set",
			    (int)attribute);
	memcpy(&wanted, value, sizeof(wanted));
	if (wanted > 1)
		return fail(CUDA_ERROR_INVALID_VALUE, "%u is neither 0 nor 1", wanted);
	return mapped_info(&info);
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
			       CUdeviceptr pointer)
{
	return CALL(set_attribute(value, attribute, pointer),
		    "value=%p, attribute=%d, pointer=%#llx", value, (int)attribute, pointer);
}

static CUresult address_range(CUdeviceptr *base, size_t *size, CUdeviceptr pointer)
{
	struct memcast_address_info info = { .address = pointer };
	CUresult result = mapped_info(&info);

	if (result != CUDA_SUCCESS)
		return result;
	if (base)
		*base = info.out_mapping;
	if (size)
		*size = info.out_mapping_bytes;
	return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr pointer)
{
	return CALL(address_range(base, size, pointer), "base=%p, size=%p, pointer=%#llx",
		    (void *)base, (void *)size, pointer);
}
