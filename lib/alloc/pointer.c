// SPDX-License-Identifier: MIT
/* Pointer attributes: properties of the memory at an address, as the kernel tells them. */
#include <string.h>
#include <unistd.h>

#include "memory/handle.h"
#include "alloc.h"
#include "base/ioctl.h"
#include "alloc/pool/pool.h"

#define ATTRIBUTE(name, type)	[CU_POINTER_ATTRIBUTE_##name] = sizeof(type)

/* CUDA_POINTER_ATTRIBUTE_P2P_TOKENS: tokens for another driver, of no use here */
struct tokens {
	uint64_t p2p;
	uint32_t address_space;
};

/* Sizes of the outputs: a boolean of the interface is an int. */
static const unsigned char sizes[] = {
	ATTRIBUTE(CONTEXT, CUcontext),
	ATTRIBUTE(MEMORY_TYPE, unsigned int),
	ATTRIBUTE(DEVICE_POINTER, CUdeviceptr),
	ATTRIBUTE(HOST_POINTER, void *),
	ATTRIBUTE(P2P_TOKENS, struct tokens),
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
	if ((int)attribute < 0 || attribute >= ARRAY_SIZE(sizes) || !sizes[attribute])
		return fail(CUDA_ERROR_INVALID_VALUE, "no attribute %d", (int)attribute);
	return CUDA_SUCCESS;
}

static CUresult address_info(struct memcast_address_info *info)
{
	CUresult result = device_ioctl(MEMCAST_ADDRESS_INFO, info);

	return result == CUDA_ERROR_INVALID_VALUE ? asked(result) : result;
}

static CUresult check_mapped(const struct memcast_address_info *info)
{
	if (info->out_mapping_bytes)
		return CUDA_SUCCESS;
	return asked(fail(CUDA_ERROR_INVALID_VALUE, "nothing is mapped at %#llx",
			  (unsigned long long)info->address));
}

enum memory_of memory_ask(struct memcast_address_info *info)
{
	if (!device_ask(MEMCAST_ADDRESS_INFO, info))
		return MEMORY_UNKNOWN;
	if (!info->out_mapping_bytes)
		return MEMORY_MISSING;
	if (block_managed(info))
		return MEMORY_MANAGED;
	return info->out_location == MEMCAST_LOCATION_DEVICE ? MEMORY_OF_DEVICE :
	       info->out_location == MEMCAST_LOCATION_ELSEWHERE ? MEMORY_ELSEWHERE : MEMORY_OF_HOST;
}

static bool pointer_on_device(const struct memcast_address_info *info)
{
	return info->out_location == MEMCAST_LOCATION_DEVICE ||
	       info->out_location == MEMCAST_LOCATION_ELSEWHERE;
}

/*
 * Return: the device that has the memory. Memory of the host counts as that of the device whose
 * context allocated or registered it; memory that another process exported, as that of the
 * context that opened it; memory that no context made, as the current device's.
 */
static uint32_t pointer_device(const struct memcast_address_info *info)
{
	struct slot *slot = slot_of_block(info);
	uint32_t device = 0;

	if (slot && (!pointer_on_device(info) || info->out_block_flags & BLOCK_IPC))
		return slot->device;
	/* imported memory of another host, or of a device that CUDA_VISIBLE_DEVICES hides */
	if (info->out_location == MEMCAST_LOCATION_ELSEWHERE)
		return CU_DEVICE_INVALID;
	if (pointer_on_device(info))
		return info->out_location_id;
	context_device(&device);
	return device;
}

/* Return: the access of the current device; without a context, of the device with the memory. */
static CUmemAccess_flags pointer_access(const struct memcast_address_info *info)
{
	struct memcast_address_info asked = { .address = info->address };

	if (context_device(&asked.device) != CUDA_SUCCESS)
		asked.device = pointer_device(info);
	/* memory that has gone meanwhile: no access */
	return device_ioctl(MEMCAST_ADDRESS_INFO, &asked) == CUDA_SUCCESS ?
		(CUmemAccess_flags)asked.out_access : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

/* Is it a block or a registered range, which has flags? */
static bool is_block(const struct memcast_address_info *info)
{
	return info->out_heap || block_registered(info);
}

/* Is it plain device memory, which has every property that hardware has? */
static bool is_plain(const struct memcast_address_info *info)
{
	return pointer_on_device(info) && slot_of_block(info);
}

/*
 * Finds the mapping that has a block. Blocks lie in chunks that their heap has mapped; a pool
 * reports as many chunks as hardware maps at once. A registered range is a mapping of its own.
 */
static void mapping_of(const struct memcast_address_info *info, uint64_t *base, uint64_t *bytes)
{
	uint64_t unit = slot_of_block(info) ? MEMCAST_GRANULARITY : POOL_GROWTH;
	uint64_t end = info->out_mapping + info->out_mapping_bytes;

	*base = info->out_mapping;
	*bytes = info->out_mapping_bytes;
	if (!info->out_heap)
		return;
	*base &= ~(MEMCAST_GRANULARITY - 1);
	*bytes = (end - *base + unit - 1) & ~(unit - 1);
}

static CUresult mapped_value(uint64_t *value, CUpointer_attribute attribute,
			     const struct memcast_address_info *info)
{
	struct slot *slot;
	uint64_t other;

	*value = 0;
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		/* managed memory counts as device memory, wherever it is */
		*value = pointer_on_device(info) || block_managed(info) ? CU_MEMORYTYPE_DEVICE :
								  CU_MEMORYTYPE_HOST;
		break;
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		*value = pointer_access(info);
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		if (pointer_access(info) == CU_MEM_ACCESS_FLAGS_PROT_NONE)
			return fail(CUDA_ERROR_INVALID_VALUE,
				    "the current device has no access");
		*value = info->address;
		break;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (pointer_on_device(info))
			return fail(CUDA_ERROR_INVALID_VALUE,
				    "memory of devices has no address on the host");
		*value = info->address;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*value = info->out_reservation;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*value = info->out_reservation_bytes;
		break;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*value = 1;
		break;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*value = info->out_number;
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
		*value = info->out_object;
		break;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		*value = !!(info->out_block_flags & BLOCK_SYNC);
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		/* CU_DEVICE_CPU: only memory that the host shares with other PCIe devices */
		*value = pointer_on_device(info) || !(info->out_flags & MEMCAST_MEMORY_RDMA) ?
			(int)pointer_device(info) : CU_DEVICE_CPU;
		break;
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		slot = slot_of_block(info);
		*value = slot ? (uintptr_t)context_value(slot) : 0;
		break;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*value = slot_of_block(info) || info->out_block_flags & BLOCK_GRAPH ?
			0 : info->out_heap;
		break;
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		*value = memory_types_of_mask(info->out_handle_types);
		break;
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		*value = is_plain(info) || info->out_flags & MEMCAST_MEMORY_RDMA;
		break;
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		*value = is_plain(info) && !(info->out_block_flags & (BLOCK_IPC | BLOCK_EXTERNAL));
		break;
	case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
		*value = is_plain(info);
		break;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*value = block_managed(info);
		break;
	case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
		if (!pointer_on_device(info))
			return fail(CUDA_ERROR_INVALID_VALUE, "not memory of a device");
		*value = info->out_object;
		break;
	case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
		mapping_of(info, &other, value);
		break;
	case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		mapping_of(info, value, &other);
		break;
	default:
		break;
	}
	return CUDA_SUCCESS;
}

/*
 * set_sync() - set whether synchronous calls wait for their work with the memory
 *
 * Copies and fills without a stream ask for it (copy/transfer.c). Hardware sets it when a program
 * asks for tokens, as another driver is about to use the memory.
 */
static CUresult set_sync(CUdeviceptr pointer, bool sync)
{
	struct memcast_block_set set = {
		.address = pointer,
		.flags = sync ? BLOCK_SYNC : 0,
		.mask = BLOCK_SYNC,
	};

	return device_ioctl(MEMCAST_BLOCK_SET, &set);
}

static void pointer_give(void *data, CUpointer_attribute attribute, uint64_t value)
{
	uint32_t half = value;
	struct tokens tokens = {
		.p2p = value,
		.address_space = value ? (unsigned int)getpid() : 0,
	};

	if (attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS)
		memcpy(data, &tokens, sizeof(tokens));
	else if (sizes[attribute] == sizeof(half))
		memcpy(data, &half, sizeof(half));
	else
		memcpy(data, &value, sizeof(value));
}

DEFINE_CALL(cuPointerGetAttribute, (void *data, CUpointer_attribute attribute,
				    CUdeviceptr pointer),
	    data, attribute, pointer)
{
	struct memcast_address_info info = { .address = pointer };
	uint64_t value = 0;
	CUresult result;

	if (!data)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = check_attribute(attribute);
	if (result == CUDA_SUCCESS)
		result = address_info(&info);
	if (result == CUDA_SUCCESS)
		result = check_mapped(&info);
	if (result != CUDA_SUCCESS)
		return result;
	result = mapped_value(&value, attribute, &info);
	if (attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS && result == CUDA_SUCCESS)
		result = set_sync(pointer, true);
	/* a pointer that does not exist is NULL in the output */
	if (result == CUDA_SUCCESS || attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER ||
	    attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER)
		pointer_give(data, attribute, value);
	return result;
}

/*
 * Return: an attribute's value, 0 if the address has none. Memory that the module does not know
 * is the program's own: its host pointer is the address itself.
 */
static uint64_t value_or_none(CUpointer_attribute attribute,
			      const struct memcast_address_info *info)
{
	uint64_t value = 0;

	if (info->out_mapping_bytes) {
		mapped_value(&value, attribute, info);
		return value;
	}
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		return info->out_reservation;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		return info->out_reservation_bytes;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		return info->address;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		return CU_DEVICE_INVALID;
	default:
		return 0;
	}
}

DEFINE_CALL(cuPointerGetAttributes, (unsigned int count, CUpointer_attribute *attributes,
				     void **data, CUdeviceptr pointer),
	    count, attributes, data, pointer)
{
	struct memcast_address_info info = { .address = pointer };
	CUresult result;

	if (!count || !attributes || !data)
		return fail(CUDA_ERROR_INVALID_VALUE, "no attributes, or a NULL pointer");
	result = address_info(&info);
	if (result == CUDA_ERROR_INVALID_VALUE)
		info = (struct memcast_address_info) { .address = pointer };
	else if (result != CUDA_SUCCESS)
		return result;
	/* attributes before a wrong one are output */
	for (unsigned int i = 0; i < count; i++) {
		result = check_attribute(attributes[i]);
		if (result == CUDA_SUCCESS && !data[i])
			result = fail(CUDA_ERROR_INVALID_VALUE, "NULL output %u", i);
		if (result != CUDA_SUCCESS)
			return result;
		pointer_give(data[i], attributes[i], value_or_none(attributes[i], &info));
	}
	return CUDA_SUCCESS;
}

DEFINE_CALL(cuPointerSetAttribute, (const void *value, CUpointer_attribute attribute,
				    CUdeviceptr pointer),
	    value, attribute, pointer)
{
	struct memcast_address_info info = { .address = pointer };
	unsigned int wanted;
	CUresult result;

	if (!value)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
		return fail(CUDA_ERROR_INVALID_VALUE, "attribute %d cannot be set",
			    (int)attribute);
	result = address_info(&info);
	if (result == CUDA_SUCCESS)
		result = check_mapped(&info);
	if (result == CUDA_SUCCESS && !is_block(&info))
		result = fail(CUDA_ERROR_NOT_SUPPORTED, "not memory that was allocated as a whole");
	memcpy(&wanted, value, sizeof(wanted));
	return result == CUDA_SUCCESS ? set_sync(pointer, wanted) : result;
}

DEFINE_CALL(cuMemGetAddressRange_v2, (CUdeviceptr *base, size_t *size, CUdeviceptr pointer),
	    base, size, pointer)
{
	struct memcast_address_info info = { .address = pointer };
	uint32_t device;
	CUresult result;

	if (!base && !size)
		return CUDA_SUCCESS;
	result = context_device(&device);
	if (result != CUDA_SUCCESS)
		return result;
	result = address_info(&info);
	if (result == CUDA_SUCCESS)
		result = check_mapped(&info);
	if (base)
		*base = result == CUDA_SUCCESS ? info.out_mapping : 0;
	if (size)
		*size = result == CUDA_SUCCESS ? info.out_mapping_bytes : 0;
	return result == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_NOT_FOUND : result;
}
