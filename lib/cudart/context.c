// SPDX-License-Identifier: MIT
/*
 * The first call that needs a device initialises the driver and makes a primary context
 * current, as recorded on hardware: to ask for devices makes no context, to choose one does.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "runtime.h"

/*
 * The primary contexts that this library has retained; one that a reset has ended does not
 * count. No driver function that may wait or call the program back is called with the lock
 * held.
 */
static struct primary {
	CUcontext context;
	bool retained;
} primaries[DEVICES_MAX];
static pthread_mutex_t primaries_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint resets;	/* number of resets; changes with the lock held */

static void take_lock(void)
{
	pthread_mutex_lock(&primaries_lock);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&primaries_lock);
}

/* A child finds the lock free: it may ask for a device, too, and gets the error of a child. */
static void __attribute__((constructor)) when_forked(void)
{
	pthread_atfork(take_lock, give_lock, give_lock);
}

static __thread struct {
	int device;
	bool chosen;
	CUcontext seen;		/* was current and alive when seen_resets was set */
	unsigned int seen_resets;
} thread;

static atomic_int first_device;

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
	CUcontext current;

	return cuCtxGetCurrent(&current) == CUDA_SUCCESS && current &&
		cuCtxGetDevice(device) == CUDA_SUCCESS;
}

/* Return: the device that the next call uses if no context is current. */
static int runtime_device(void)
{
	return thread.chosen ? thread.device : first_device;
}

/*
 * Finds a device's primary context. Return: is it retained? If not, *@before is the number of
 * resets.
 */
static bool find_primary(CUcontext *context, int device, unsigned int *before)
{
	bool retained;

	pthread_mutex_lock(&primaries_lock);
	*before = resets;
	retained = primaries[device].retained;
	if (retained)
		*context = primaries[device].context;
	pthread_mutex_unlock(&primaries_lock);
	return retained;
}

/*
 * Keeps a context that was just retained, unless another thread has kept it first, or a reset
 * since @before may have ended it.
 */
static bool keep_primary(CUcontext context, int device, unsigned int before)
{
	struct primary *primary = &primaries[device];
	bool kept;

	pthread_mutex_lock(&primaries_lock);
	kept = !primary->retained && resets == before;
	if (kept)
		*primary = (struct primary) { .context = context, .retained = true };
	pthread_mutex_unlock(&primaries_lock);
	return kept;
}

/*
 * Retains a device's primary context once, and keeps it: its value stays the same as long as it
 * lives.
 */
static CUresult retain_primary(CUcontext *context, int device)
{
	unsigned int before;
	CUresult result;

	while (!find_primary(context, device, &before)) {
		result = cuDevicePrimaryCtxRetain(context, device);
		if (result != CUDA_SUCCESS || keep_primary(*context, device, before))
			return result;
		cuDevicePrimaryCtxRelease(device);
	}
	return CUDA_SUCCESS;
}

cudaError_t primary_context(CUcontext *context, int device)
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

static cudaError_t make_current(int device)
{
	CUcontext context;
	cudaError_t error = primary_context(&context, device);

	return error == cudaSuccess ? error_of(cuCtxSetCurrent(context)) : error;
}

/* Return: the device whose primary context this was before its last reset, or -1. */
static int reset_since(CUcontext context)
{
	int found = -1;

	pthread_mutex_lock(&primaries_lock);
	for (int i = 0; i < DEVICES_MAX; i++)
		if (primaries[i].context == context && !primaries[i].retained)
			found = i;
	pthread_mutex_unlock(&primaries_lock);
	return found;
}

cudaError_t runtime_ready(void)
{
	cudaError_t error = runtime_loaded();
	CUcontext current = NULL;
	int device;

	if (error == cudaSuccess)
		error = error_of(cuCtxGetCurrent(&current));
	if (error != cudaSuccess)
		return error;
	if (!current)
		return make_current(runtime_device());
	if (current == thread.seen && thread.seen_resets == resets)
		return cudaSuccess;
	thread.seen_resets = resets;
	device = reset_since(current);
	if (device >= 0)
		error = make_current(device);
	if (error == cudaSuccess)
		thread.seen = current;
	return error;
}

static cudaError_t choose(int device)
{
	CUdevice found;
	cudaError_t error = error_of(cuDeviceGet(&found, device));

	if (error == cudaSuccess)
		error = make_current(device);
	if (error == cudaSuccess) {
		thread.device = device;
		thread.chosen = true;
	}
	return error;
}

cudaError_t cudaSetDevice(int device)
{
	return CALL_LOADED(choose(device));
}

static cudaError_t current_device(int *device)
{
	CUdevice found;

	if (!device)
		return refuse("cudaGetDevice", cudaErrorInvalidValue, "NULL output");
	*device = is_current(&found) ? found : runtime_device();
	return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
	return CALL_LOADED(current_device(device));
}

static cudaError_t set_flags(int device, unsigned int flags)
{
	return error_of(cuDevicePrimaryCtxSetFlags(device, flags & ~cudaDeviceMapHost));
}

static cudaError_t init_device(int device, unsigned int device_flags, unsigned int flags)
{
	CUcontext context;
	CUdevice found;
	cudaError_t error = error_of(cuDeviceGet(&found, device));

	if (error == cudaSuccess && flags & ~(unsigned int)cudaInitDeviceFlagsAreValid)
		error = refuse("cudaInitDevice", cudaErrorInvalidValue, "flags %#x", flags);
	if (error == cudaSuccess && flags & cudaInitDeviceFlagsAreValid)
		error = set_flags(device, device_flags);
	return error == cudaSuccess ? primary_context(&context, device) : error;
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags)
{
	return CALL_LOADED(init_device(device, device_flags, flags));
}

static cudaError_t set_valid(const int *devices, int count)
{
	cudaError_t error = cudaSuccess;
	CUdevice found;

	if (count < 0 || (count && !devices))
		return refuse("cudaSetValidDevices", cudaErrorInvalidValue, "%d devices", count);
	for (int i = 0; i < count && error == cudaSuccess; i++)
		error = error_of(cuDeviceGet(&found, devices[i]));
	if (error == cudaSuccess)
		first_device = count ? devices[0] : 0;
	return error;
}

cudaError_t cudaSetValidDevices(int *devices, int count)
{
	return CALL_LOADED(set_valid(devices, count));
}

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
	CUdevice device = 0;

	return CALL_LOADED(set_flags(is_current(&device) ? device : runtime_device(), flags));
}

static cudaError_t get_flags(unsigned int *flags)
{
	unsigned int found;
	cudaError_t error;
	CUdevice device;
	int active;

	if (!flags)
		return refuse("cudaGetDeviceFlags", cudaErrorInvalidValue, "NULL output");
	if (is_current(&device))
		error = error_of(cuCtxGetFlags(&found));
	else
		error = error_of(cuDevicePrimaryCtxGetState(runtime_device(), &found, &active));
	if (error == cudaSuccess)
		*flags = found | cudaDeviceMapHost;
	return error;
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
	return CALL_LOADED(get_flags(flags));
}

/*
 * Forgets a device's primary context. Return: was it retained here? A reset leaves the driver's
 * count as it is.
 */
static bool forget_primary(CUdevice device)
{
	bool retained;

	pthread_mutex_lock(&primaries_lock);
	retained = device < DEVICES_MAX && primaries[device].retained;
	if (retained)
		primaries[device].retained = false;
	resets++;
	pthread_mutex_unlock(&primaries_lock);
	return retained;
}

static cudaError_t reset(void)
{
	CUdevice device;
	CUresult result;
	int before;

	if (!is_current(&device))
		device = runtime_device();
	/* a cancelled thread would leave the context retained */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	result = cuDevicePrimaryCtxReset(device);
	if (result == CUDA_SUCCESS && forget_primary(device))
		cuDevicePrimaryCtxRelease(device);
	pthread_setcancelstate(before, NULL);
	return error_of(result);
}

cudaError_t cudaDeviceReset(void)
{
	return CALL_LOADED(reset());
}
