// SPDX-License-Identifier: MIT
/*
 * The first call that needs a device initialises the driver and makes a primary context
 * current, as recorded on hardware: to ask for devices makes no context, to choose one does.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "../context/current.h"
#include "runtime.h"

/* The primary contexts to which this library holds a reference of the driver's; NULL: none */
static _Atomic CUcontext primaries[DEVICES_MAX];

static __thread int thread_device;	/* the one that is used while no context is current */

/*
 * Initialises the driver. In a child of fork() the driver's functions themselves report the
 * fork.
 */
cudaError_t runtime_loaded(void)
{
	static atomic_bool loaded;
	CUresult result;

	if (loaded)
		return cudaSuccess;
	result = cuInit(0);
	loaded = result == CUDA_SUCCESS;
	return error_of(result);
}

/* Is a context current? @device: output, its device */
static bool is_current(CUdevice *device)
{
	memcastContextAsk(device);
	return *device >= 0;
}

static bool is_active(int device)
{
	unsigned int flags;
	int active;

	return cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && active;
}

/*
 * Holds one reference to a device's primary context. To retain a context also revives it after a
 * reset, the runtime's or the driver's, which leaves the driver's count of references as it is. If
 * the program has released the runtime's reference instead, the new one is kept.
 */
static CUresult retain_primary(CUcontext *context, int device)
{
	CUresult result;

	*context = primaries[device];
	if (*context && is_active(device))
		return CUDA_SUCCESS;
	result = cuDevicePrimaryCtxRetain(context, device);
	if (result != CUDA_SUCCESS || !atomic_exchange(&primaries[device], *context))
		return result;
	cuDevicePrimaryCtxRelease(device);
	return is_active(device) ? CUDA_SUCCESS : cuDevicePrimaryCtxRetain(context, device);
}

static cudaError_t hold_primary(CUcontext *context, int device)
{
	CUresult result;
	int before;

	if (device < 0 || device >= DEVICES_MAX)	/* the driver's error: no such device */
		return error_of(cuDevicePrimaryCtxRetain(context, device));
	/* a cancelled thread would leave the context retained */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	result = retain_primary(context, device);
	pthread_setcancelstate(before, NULL);
	return error_of(result);
}

/* For a host function's call, which the driver is to refuse, this makes no context. */
cudaError_t primary_context(CUcontext *context, int device)
{
	CUdevice current;

	*context = NULL;
	return memcastContextAsk(&current) == CUDA_ERROR_NOT_PERMITTED ? cudaSuccess :
		hold_primary(context, device);
}

static cudaError_t make_current(int device)
{
	CUcontext context;
	cudaError_t error = hold_primary(&context, device);

	return error == cudaSuccess ? error_of(cuCtxSetCurrent(context)) : error;
}

/* Of the contexts that have ended, a primary one is made anew. */
cudaError_t runtime_ready(void)
{
	cudaError_t error = runtime_loaded();
	CUcontext current;
	CUdevice device;

	if (error != cudaSuccess)
		return error;
	switch (memcastContextAsk(&device)) {
	case CUDA_SUCCESS:
	case CUDA_ERROR_NOT_PERMITTED:	/* the driver refuses what a host function may not call */
		return cudaSuccess;
	case CUDA_ERROR_INVALID_CONTEXT:
		return make_current(thread_device);
	case CUDA_ERROR_CONTEXT_IS_DESTROYED:
		return device < 0 ? cudaSuccess : make_current(device);
	default:	/* the driver's words */
		return error_of(cuCtxGetCurrent(&current));
	}
}

static cudaError_t choose(int device)
{
	CUdevice found;
	cudaError_t error = error_of(cuDeviceGet(&found, device));

	if (error == cudaSuccess)
		error = make_current(device);
	if (error == cudaSuccess)
		thread_device = device;
	return error;
}

cudaError_t cudaSetDevice(int device)
{
	return CALL_LOADED(choose(device));
}

DEFINE_CALL_LOADED(cudaGetDevice, (int *device), device)
{
	CUdevice found;

	if (!device)
		return refuse("cudaGetDevice", cudaErrorInvalidValue, "NULL output");
	*device = is_current(&found) ? found : thread_device;
	return cudaSuccess;
}

static cudaError_t set_flags(int device, unsigned int flags)
{
	return error_of(cuDevicePrimaryCtxSetFlags(device, flags & ~cudaDeviceMapHost));
}

DEFINE_CALL_LOADED(cudaInitDevice, (int device, unsigned int device_flags, unsigned int flags),
		   device, device_flags, flags)
{
	CUcontext context;
	CUdevice found;
	cudaError_t error = error_of(cuDeviceGet(&found, device));

	if (error == cudaSuccess && flags & ~(unsigned int)cudaInitDeviceFlagsAreValid)
		error = refuse("cudaInitDevice", cudaErrorInvalidValue, "flags %#x", flags);
	if (error == cudaSuccess && flags & cudaInitDeviceFlagsAreValid)
		error = set_flags(device, device_flags);
	return error == cudaSuccess ? hold_primary(&context, device) : error;
}

DEFINE_CALL_LOADED(cudaSetValidDevices, (int *devices, int count), devices, count)
{
	cudaError_t error = cudaSuccess;
	CUdevice found;

	if (count < 0 || (count && !devices))
		return refuse("cudaSetValidDevices", cudaErrorInvalidValue, "%d devices", count);
	for (int i = 0; i < count && error == cudaSuccess; i++)
		error = error_of(cuDeviceGet(&found, devices[i]));
	if (error == cudaSuccess)
		thread_device = count ? devices[0] : 0;
	return error;
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
	CUdevice device = 0;

	return CALL_LOADED(set_flags(is_current(&device) ? device : thread_device, flags));
}

DEFINE_CALL_LOADED(cudaGetDeviceFlags, (unsigned int *flags), flags)
{
	unsigned int found;
	cudaError_t error;
	CUdevice device;
	int active;

	if (!flags)
		return refuse("cudaGetDeviceFlags", cudaErrorInvalidValue, "NULL output");
	if (memcastContextAsk(&device) == CUDA_SUCCESS)
		error = error_of(cuCtxGetFlags(&found));
	else	/* of a primary context that was not made yet, or has ended */
		error = error_of(cuDevicePrimaryCtxGetState(device < 0 ? thread_device : device,
							    &found, &active));
	if (error == cudaSuccess)
		*flags = found | cudaDeviceMapHost;
	return error;
}

/* A reset leaves the driver's count of references as it is. */
static cudaError_t reset(void)
{
	CUdevice device;
	CUresult result;
	int before;

	if (!is_current(&device))
		device = thread_device;
	/* a cancelled thread would leave the context retained */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	result = cuDevicePrimaryCtxReset(device);
	if (result == CUDA_SUCCESS && device < DEVICES_MAX &&
	    atomic_exchange(&primaries[device], NULL))
		cuDevicePrimaryCtxRelease(device);
	pthread_setcancelstate(before, NULL);
	return error_of(result);
}

cudaError_t cudaDeviceReset(void)
{
	return CALL_LOADED(reset());
}
