// SPDX-License-Identifier: MIT
/*
 * Logs failed calls, a line each, in CUDA_LOG_FILE as libcuda.so.1 does; has the texts of
 * errors, which are those recorded on hardware.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library.h"

static __thread char reason[200];

nvmlReturn_t fail(nvmlReturn_t result, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	return result;
}

static void write_line(const char *path, const char *line, size_t length)
{
	int fd = STDERR_FILENO;

	if (!strcmp(path, "stdout"))
		fd = STDOUT_FILENO;
	else if (strcmp(path, "stderr"))
		fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	while (fd >= 0 && write(fd, line, length) < 0 && errno == EINTR)
		;
	if (fd > STDERR_FILENO)
		close(fd);
}

void log_failure(const char *call, nvmlReturn_t result)
{
	const char *path = secure_getenv("CUDA_LOG_FILE");
	int saved = errno, length;
	char line[400];

	if (!path || !*path)
		return;
	length = snprintf(line, sizeof(line), "memcast[%d]: %s: %s: %s\n", getpid(), call,
			  nvmlErrorString(result), reason[0] ? reason : "no reason given");
	write_line(path, line, length);
	errno = saved;
}

static const char *const texts[] = {
	[NVML_SUCCESS] = "Success",
	[NVML_ERROR_UNINITIALIZED] = "Uninitialized",
	[NVML_ERROR_INVALID_ARGUMENT] = "Invalid Argument",
	[NVML_ERROR_NOT_SUPPORTED] = "Not Supported",
	[NVML_ERROR_NO_PERMISSION] = "Insufficient Permissions",
	[NVML_ERROR_ALREADY_INITIALIZED] = "Already Initialized",
	[NVML_ERROR_NOT_FOUND] = "Not Found",
	[NVML_ERROR_INSUFFICIENT_SIZE] = "Insufficient Size",
	[NVML_ERROR_INSUFFICIENT_POWER] = "Insufficient External Power",
	[NVML_ERROR_DRIVER_NOT_LOADED] = "Driver Not Loaded",
	[NVML_ERROR_TIMEOUT] = "Timeout",
	[NVML_ERROR_IRQ_ISSUE] = "Interrupt Request Issue",
	[NVML_ERROR_LIBRARY_NOT_FOUND] = "NVML Shared Library Not Found",
	[NVML_ERROR_FUNCTION_NOT_FOUND] = "Function Not Found",
	[NVML_ERROR_CORRUPTED_INFOROM] = "Corrupted infoROM",
	[NVML_ERROR_GPU_IS_LOST] = "GPU is lost",
	[NVML_ERROR_RESET_REQUIRED] = "GPU requires reset",
	[NVML_ERROR_OPERATING_SYSTEM] = "GPU access blocked by the operating system",
	[NVML_ERROR_LIB_RM_VERSION_MISMATCH] = "Driver/library version mismatch",
	[NVML_ERROR_IN_USE] = "In use by another client",
	[NVML_ERROR_MEMORY] = "Insufficient Memory",
	[NVML_ERROR_NO_DATA] = "No data",
	[NVML_ERROR_VGPU_ECC_NOT_SUPPORTED] = "vGPU ECC not supported",
	[NVML_ERROR_INSUFFICIENT_RESOURCES] = "Insufficient Resources",
	[NVML_ERROR_FREQ_NOT_SUPPORTED] = "Invalid Frequency",
	[NVML_ERROR_ARGUMENT_VERSION_MISMATCH] = "Argument version mismatch",
	[NVML_ERROR_DEPRECATED] = "Requested functionality has been deprecated",
	[NVML_ERROR_NOT_READY] = "System is not in ready state",
	[NVML_ERROR_GPU_NOT_FOUND] = "No supported GPUs were found",
	[NVML_ERROR_INVALID_STATE] =
		"Resource not in correct state to perform requested operation",
	[NVML_ERROR_RESET_TYPE_NOT_SUPPORTED] = "Reset type is not supported for given device",
};

const char *nvmlErrorString(nvmlReturn_t result)
{
	return (size_t)result < ARRAY_SIZE(texts) ? texts[result] : "Unknown Error";
}
