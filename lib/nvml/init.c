// SPDX-License-Identifier: MIT
/*
 * Initialisation is a count: each nvmlInit() needs an nvmlShutdown(). All state is ordinary
 * memory, so the child of a fork() is initialised as its parent was.
 */
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <cuda.h>

#include "library.h"
#include "unsupported.h"

/* The versions of the recorded libraries */
#define DRIVER	"580.159.04"
#define NVML	"13." DRIVER

static atomic_uint users, devices;

/* As nvmlInit() found them: the number changes only when the module is loaded anew. */
unsigned int library_devices(void)
{
	return devices;
}

nvmlReturn_t library_ready(void)
{
	if (users)
		return NVML_SUCCESS;
	return fail(NVML_ERROR_UNINITIALIZED, "nvmlInit() comes first");
}

DEFINE_BY(LOGGED, nvmlInitWithFlags, (unsigned int flags), flags)
{
	unsigned int found;
	nvmlReturn_t result;

	if (flags & ~(NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH))
		return fail(NVML_ERROR_INVALID_ARGUMENT, "flags %#x", flags);
	result = state_find(&found);
	if (result != NVML_SUCCESS)
		return result;
	devices = found;
	if (!found && !(flags & NVML_INIT_FLAG_NO_GPUS))
		return fail(NVML_ERROR_DRIVER_NOT_LOADED,
			    "no devices in /sys/class/memcast: insmod memcast.ko");
	users++;
	return NVML_SUCCESS;
}

OLDER_NAME(nvmlInit_v2, (void), nvmlInitWithFlags(0))
OLDER_NAME(nvmlInit, (void), nvmlInitWithFlags(0))

DEFINE_CALL(nvmlShutdown, (void))
{
	unsigned int before = users;

	while (before)
		if (atomic_compare_exchange_weak(&users, &before, before - 1))
			return NVML_SUCCESS;
	return library_ready();
}

int nvml_unsupported(const char *symbol, const char *lacking)
{
	return LOGGED_AS(symbol, library_ready() ?:
			 fail(NVML_ERROR_NOT_SUPPORTED, "memcast has no %s", lacking));
}

nvmlReturn_t copy_text(char *buffer, unsigned int length, const char *text)
{
	if (!buffer)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	if (length <= strlen(text))
		return fail(NVML_ERROR_INSUFFICIENT_SIZE, "%u bytes are too few for '%s'", length,
			    text);
	strcpy(buffer, text);
	return NVML_SUCCESS;
}

FORWARD(nvmlSystemGetDriverVersion, (char *version, unsigned int length),
	copy_text(version, length, DRIVER))

/* This function and the next two need no nvmlInit(), as in NVIDIA's library. */
nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
	return LOGGED(copy_text(version, length, NVML));
}

DEFINE_BY(LOGGED, nvmlSystemGetCudaDriverVersion, (int *version), version)
{
	if (!version)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	if (cuDriverGetVersion(version) != CUDA_SUCCESS)
		return fail(NVML_ERROR_UNKNOWN, "cuDriverGetVersion() fails");
	return NVML_SUCCESS;
}

OLDER_NAME(nvmlSystemGetCudaDriverVersion_v2, (int *version),
	   nvmlSystemGetCudaDriverVersion(version))

DEFINE_CALL(nvmlSystemGetProcessName, (unsigned int pid, char *name, unsigned int length),
	    pid, name, length)
{
	char path[32], text[PATH_MAX];
	size_t got;
	FILE *file;

	if (!name || !length)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "no room for the name");
	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	file = fopen(path, "re");
	if (!file)
		return fail(NVML_ERROR_NOT_FOUND, "%s: %m", path);
	got = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[got] = '\0';
	/* the first argument only, cut off at @length */
	snprintf(name, length, "%s", text);
	return NVML_SUCCESS;
}

/* Checks the first member of a structure, by which the program says which structure it has. */
nvmlReturn_t check_version(const void *structure, unsigned int known)
{
	const unsigned int *version = structure;

	if (!version)
		return fail(NVML_ERROR_INVALID_ARGUMENT, "NULL output");
	return *version == known ? NVML_SUCCESS :
	       fail(NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "version %#x", *version);
}
