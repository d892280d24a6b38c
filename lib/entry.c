// SPDX-License-Identifier: MIT
/*
 * Every exported function, and since which CUDA version its name means this
 * interface. libcuda.map exports the same, and beside these the per-thread
 * names: asked for here, they are the same functions.
 */
#include <string.h>

#include "library.h"

#define FLAGS_ALL	(CU_GET_PROC_ADDRESS_LEGACY_STREAM | \
			 CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)

static const struct entry {
	const char *name;
	int version;
	void *function;
} entries[] = {
	{ "cuInit", 2000, (void *)cuInit },
	{ "cuDriverGetVersion", 2020, (void *)cuDriverGetVersion },
	{ "cuGetErrorName", 6000, (void *)cuGetErrorName },
	{ "cuGetErrorString", 6000, (void *)cuGetErrorString },
	{ "cuGetProcAddress", 11030, (void *)cuGetProcAddress },
	{ "cuGetProcAddress", 12000, (void *)cuGetProcAddress_v2 },

	{ "cuDeviceGet", 2000, (void *)cuDeviceGet },
	{ "cuDeviceGetAttribute", 2000, (void *)cuDeviceGetAttribute },
	{ "cuDeviceGetCount", 2000, (void *)cuDeviceGetCount },
	{ "cuDeviceGetName", 2000, (void *)cuDeviceGetName },
	{ "cuDeviceGetUuid", 9020, (void *)cuDeviceGetUuid },
	{ "cuDeviceGetUuid", 11040, (void *)cuDeviceGetUuid_v2 },
	{ "cuDeviceTotalMem", 3020, (void *)cuDeviceTotalMem_v2 },

	{ "cuDevicePrimaryCtxGetState", 7000, (void *)cuDevicePrimaryCtxGetState },
	{ "cuDevicePrimaryCtxRelease", 7000, (void *)cuDevicePrimaryCtxRelease },
	{ "cuDevicePrimaryCtxRelease", 11000, (void *)cuDevicePrimaryCtxRelease_v2 },
	{ "cuDevicePrimaryCtxReset", 7000, (void *)cuDevicePrimaryCtxReset },
	{ "cuDevicePrimaryCtxReset", 11000, (void *)cuDevicePrimaryCtxReset_v2 },
	{ "cuDevicePrimaryCtxRetain", 7000, (void *)cuDevicePrimaryCtxRetain },
	{ "cuDevicePrimaryCtxSetFlags", 7000, (void *)cuDevicePrimaryCtxSetFlags },
	{ "cuDevicePrimaryCtxSetFlags", 11000, (void *)cuDevicePrimaryCtxSetFlags_v2 },
	{ "cuCtxCreate", 3020, (void *)cuCtxCreate_v2 },
	{ "cuCtxCreate", 11040, (void *)cuCtxCreate_v3 },
	{ "cuCtxCreate", 12050, (void *)cuCtxCreate_v4 },
	{ "cuCtxDestroy", 4000, (void *)cuCtxDestroy_v2 },
	{ "cuCtxGetApiVersion", 3020, (void *)cuCtxGetApiVersion },
	{ "cuCtxGetCurrent", 4000, (void *)cuCtxGetCurrent },
	{ "cuCtxGetDevice", 2000, (void *)cuCtxGetDevice },
	{ "cuCtxGetDevice", 13000, (void *)cuCtxGetDevice_v2 },
	{ "cuCtxGetFlags", 7000, (void *)cuCtxGetFlags },
	{ "cuCtxPopCurrent", 4000, (void *)cuCtxPopCurrent_v2 },
	{ "cuCtxPushCurrent", 4000, (void *)cuCtxPushCurrent_v2 },
	{ "cuCtxSetCurrent", 4000, (void *)cuCtxSetCurrent },
	{ "cuCtxSynchronize", 2000, (void *)cuCtxSynchronize },
	{ "cuCtxSynchronize", 13000, (void *)cuCtxSynchronize_v2 },

	{ "cuMemCreate", 10020, (void *)cuMemCreate },
	{ "cuMemExportToShareableHandle", 10020, (void *)cuMemExportToShareableHandle },
	{ "cuMemGetAllocationGranularity", 10020, (void *)cuMemGetAllocationGranularity },
	{ "cuMemGetAllocationPropertiesFromHandle", 10020,
	  (void *)cuMemGetAllocationPropertiesFromHandle },
	{ "cuMemGetInfo", 3020, (void *)cuMemGetInfo_v2 },
	{ "cuMemImportFromShareableHandle", 10020, (void *)cuMemImportFromShareableHandle },
	{ "cuMemRelease", 10020, (void *)cuMemRelease },
	{ "cuMemRetainAllocationHandle", 11000, (void *)cuMemRetainAllocationHandle },

	{ "cuMemAddressFree", 10020, (void *)cuMemAddressFree },
	{ "cuMemAddressReserve", 10020, (void *)cuMemAddressReserve },
	{ "cuMemGetAccess", 10020, (void *)cuMemGetAccess },
	{ "cuMemMap", 10020, (void *)cuMemMap },
	{ "cuMemSetAccess", 10020, (void *)cuMemSetAccess },
	{ "cuMemUnmap", 10020, (void *)cuMemUnmap },

	{ "cuMulticastAddDevice", 12010, (void *)cuMulticastAddDevice },
	{ "cuMulticastBindAddr", 12010, (void *)cuMulticastBindAddr },
	{ "cuMulticastBindAddr", 13010, (void *)cuMulticastBindAddr_v2 },
	{ "cuMulticastBindMem", 12010, (void *)cuMulticastBindMem },
	{ "cuMulticastBindMem", 13010, (void *)cuMulticastBindMem_v2 },
	{ "cuMulticastCreate", 12010, (void *)cuMulticastCreate },
	{ "cuMulticastGetGranularity", 12010, (void *)cuMulticastGetGranularity },
	{ "cuMulticastUnbind", 12010, (void *)cuMulticastUnbind },

	{ "cuMemcpy", 4000, (void *)cuMemcpy },
	{ "cuMemcpyDtoD", 3020, (void *)cuMemcpyDtoD_v2 },
	{ "cuMemcpyDtoH", 3020, (void *)cuMemcpyDtoH_v2 },
	{ "cuMemcpyHtoD", 3020, (void *)cuMemcpyHtoD_v2 },
	{ "cuMemsetD16", 3020, (void *)cuMemsetD16_v2 },
	{ "cuMemsetD32", 3020, (void *)cuMemsetD32_v2 },
	{ "cuMemsetD8", 3020, (void *)cuMemsetD8_v2 },
};

static CUresult find(const char *name, void **function, int version, cuuint64_t flags,
		     CUdriverProcAddressQueryResult *status)
{
	const struct entry *best = NULL;
	bool known = false;

	if (!name || !function)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (flags & ~(cuuint64_t)FLAGS_ALL)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
	if (version > DRIVER_VERSION)
		return fail(CUDA_ERROR_INVALID_VALUE, "version %d is newer than the driver's %d",
			    version, DRIVER_VERSION);

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		if (strcmp(entries[i].name, name))
			continue;
		known = true;
		if (entries[i].version <= version &&
		    (!best || best->version < entries[i].version))
			best = &entries[i];
	}

	*function = best ? best->function : NULL;
	if (status)
		*status = best ? CU_GET_PROC_ADDRESS_SUCCESS :
			  known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT :
				  CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	if (best)
		return CUDA_SUCCESS;
	return fail(CUDA_ERROR_NOT_FOUND, known ? "%s is not in version %d" :
		    "%s is not a function of any version up to %d", name,
		    known ? version : DRIVER_VERSION);
}

CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
			     cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
	return LOGGED(find(name, function, version, flags, status),
		      "name=%s, function=%p, version=%d, flags=%#llx, status=%p",
		      name ? name : "NULL", (void *)function, version,
		      (unsigned long long)flags, (void *)status);
}

CUresult cuGetProcAddress(const char *name, void **function, int version,
			  cuuint64_t flags)
{
	return LOGGED(find(name, function, version, flags, NULL),
		      "name=%s, function=%p, version=%d, flags=%#llx",
		      name ? name : "NULL", (void *)function, version,
		      (unsigned long long)flags);
}
