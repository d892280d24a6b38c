// SPDX-License-Identifier: MIT
/* Loads device code from memory or a file, with options for a compiler. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stream/capture.h"
#include "kernel.h"
#include "translate/translate.h"

/* Return: is an option given? *at: where, the first time */
bool option_has(unsigned int count, const CUjit_option *options, CUjit_option wanted,
		unsigned int *at)
{
	for (unsigned int i = 0; i < count; i++)
		if (options[i] == wanted) {
			*at = i;
			return true;
		}
	return false;
}

/* Checks that a log has both a buffer and a size, or neither. */
static CUresult buffer_check(unsigned int count, const CUjit_option *options,
			     void *const *values, CUjit_option buffer, CUjit_option size)
{
	unsigned int buffer_at, size_at;
	bool has_buffer = option_has(count, options, buffer, &buffer_at);

	if (has_buffer != option_has(count, options, size, &size_at))
		return fail(CUDA_ERROR_INVALID_VALUE, "a log's buffer, or its size, is missing");
	if (has_buffer && !values[buffer_at])
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL log");
	return CUDA_SUCCESS;
}

CUresult options_check(unsigned int count, const CUjit_option *options, void *const *values)
{
	CUresult result;

	if (!count)
		return CUDA_SUCCESS;
	if (!options || !values)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL options");
	for (unsigned int i = 0; i < count; i++) {
		if ((unsigned int)options[i] >= CU_JIT_NUM_OPTIONS)
			return fail(CUDA_ERROR_INVALID_VALUE, "no option %d", (int)options[i]);
		if (options[i] == CU_JIT_MAX_REGISTERS && !(unsigned int)(uintptr_t)values[i])
			return fail(CUDA_ERROR_INVALID_VALUE, "no registers");
	}
	result = buffer_check(count, options, values, CU_JIT_INFO_LOG_BUFFER,
			      CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
	return result != CUDA_SUCCESS ? result :
		buffer_check(count, options, values, CU_JIT_ERROR_LOG_BUFFER,
			     CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
}

/* Writes a log as far as it fits; the size becomes that of the text written. */
static void write_log(unsigned int count, const CUjit_option *options, void **values,
		      CUjit_option buffer, CUjit_option size, const char *text)
{
	unsigned int buffer_at, size_at, room;

	if (!option_has(count, options, buffer, &buffer_at) || !option_has(count, options, size, &size_at))
		return;
	room = (uintptr_t)values[size_at];
	if (room)
		snprintf(values[buffer_at], room, "%s", text);
	values[size_at] = (void *)(uintptr_t)(strlen(text) < room ? strlen(text) : room);
}

/* Writes both logs, with what went wrong, or "". */
void load_log(unsigned int count, const CUjit_option *options, void **values, const char *error)
{
	write_log(count, options, values, CU_JIT_INFO_LOG_BUFFER,
		  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
	write_log(count, options, values, CU_JIT_ERROR_LOG_BUFFER,
		  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, error);
}

/*
 * Checks PTX text as a compiler does, if memcast-ptx.so is there. Text in a fatbin comes from a
 * compiler, so that a program of such does without the check.
 */
static CUresult check_text(const struct image *image, struct ptx_log *log)
{
	const struct ptx_object *object;
	const char *why;
	CUresult result;

	object = translator_get(&why);
	if (!object)
		return CUDA_SUCCESS;
	result = object->check(image->texts, log);
	return result == CUDA_SUCCESS ? result : fail(result, "%.200s", log->text);
}

/*
 * Checks CU_JIT_TARGET: an H100's driver makes code for another device than the context's, and then
 * refuses it.
 */
static CUresult check_target(const struct image *image, unsigned int count,
			     const CUjit_option *options, void *const *values)
{
	unsigned int at, target;

	if (!option_has(count, options, CU_JIT_TARGET, &at))
		return CUDA_SUCCESS;
	target = (uintptr_t)values[at] & 0xffff;	/* 90a has a bit above */
	if ((int)target < image->architecture)
		return fail(CUDA_ERROR_INVALID_PTX, "CU_JIT_TARGET is %u, the text's .target sm_%d",
			    target, image->architecture);
	if ((int)target != image->binary)
		return fail(CUDA_ERROR_INVALID_SOURCE, "CU_JIT_TARGET is %u, the device %d",
			    target, image->binary);
	return CUDA_SUCCESS;
}

/* @count: of options, which options_check() has checked */
CUresult load_image(const void *data, size_t bytes, uint32_t device, unsigned int count,
		    const CUjit_option *options, void **values, struct image **image)
{
	const struct figures *figures;
	struct complaint complaint;
	struct ptx_log log = {};
	unsigned int at;
	CUresult result = figures_get(device, &figures);

	if (result != CUDA_SUCCESS)
		return result;
	result = image_read(data, bytes, figures->architecture, image, &complaint);
	if (result == CUDA_SUCCESS) {
		if (image_is_ptx(data, bytes ? strnlen(data, bytes) : strlen(data))) {
			result = check_target(*image, count, options, values);
			if (result == CUDA_SUCCESS)
				result = check_text(*image, &log);
		}
		if (result != CUDA_SUCCESS)
			image_put(*image);
	}
	if (!count)
		return result;
	load_log(count, options, values, *log.text ? log.text : complaint.text);
	if (option_has(count, options, CU_JIT_WALL_TIME, &at))
		values[at] = NULL;	/* 0.0 ms: memcast does not time what it compiles */
	return result;
}

static CUresult load_module(CUmodule *handle, const void *data, size_t bytes, unsigned int count,
			    const CUjit_option *options, void **values)
{
	struct module *module;
	struct image *image;
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	prints_flush();
	if (result != CUDA_SUCCESS)
		return result;
	if (!handle || !data)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output or image");
	result = options_check(count, options, values);
	if (result == CUDA_SUCCESS)
		result = load_image(data, bytes, slot->device, count, options, values, &image);
	if (result == CUDA_SUCCESS)
		result = module_new(image, slot, NULL, &module);
	if (result != CUDA_SUCCESS)
		return result;
	*handle = module->handle;
	module_put(module);
	return CUDA_SUCCESS;
}

FORWARD(cuModuleLoadData, (CUmodule *module, const void *image),
	load_module(module, image, 0, 0, NULL, NULL), module, image)
FORWARD(cuModuleLoadFatBinary, (CUmodule *module, const void *image),
	load_module(module, image, 0, 0, NULL, NULL), module, image)
FORWARD(cuModuleLoadDataEx, (CUmodule *module, const void *image, unsigned int count,
			     CUjit_option *options, void **values),
	load_module(module, image, 0, count, options, values),
	module, image, count, options, values)

#define ZEROS	16	/* behind a file's content, so that reading a header stays inside */

static CUresult read_all(int fd, size_t room, char **text, size_t *bytes)
{
	char *at = calloc(1, room + ZEROS);
	ssize_t part = 1;

	if (!at)
		return image_no_memory();
	for (*bytes = 0; *bytes < room && part; *bytes += part) {
		do {
			part = read(fd, at + *bytes, room - *bytes);
		} while (part < 0 && errno == EINTR);
		if (part < 0) {
			free(at);
			return fail(CUDA_ERROR_OUT_OF_MEMORY, "the file cannot be read: %s",
				    strerror(errno));
		}
	}
	*text = at;
	return CUDA_SUCCESS;
}

/*
 * Reads a whole file, with zeros behind it; the caller frees it. @bytes is never 0. A device or
 * pipe without data counts as an empty file, as on hardware.
 */
CUresult load_file(const char *path, char **text, size_t *bytes)
{
	/* O_NONBLOCK: does not wait for the writer of a pipe */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat info = {};
	CUresult result;
	char byte;

	if (fd < 0)
		return fail(CUDA_ERROR_FILE_NOT_FOUND, "%.100s: %s", path, strerror(errno));
	if (!fstat(fd, &info) && S_ISDIR(info.st_mode))
		result = fail(CUDA_ERROR_OUT_OF_MEMORY, "%.100s is a folder", path);
	else if (!S_ISREG(info.st_mode) && read(fd, &byte, 1))
		result = fail(CUDA_ERROR_FILE_NOT_FOUND, "%.100s is not a file", path);
	else
		result = read_all(fd, info.st_size, text, bytes);
	close(fd);
	if (result == CUDA_SUCCESS && !*bytes)
		*bytes = 1;
	return result;
}

DEFINE_WHOLE_CALL(cuModuleLoad, (CUmodule *module, const char *path), module, path)
{
	struct slot *slot;
	size_t bytes;
	char *text;
	CUresult result = context_find(NULL, &slot);

	if (result != CUDA_SUCCESS)
		return result;
	if (!module || !path || !*path)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output, or no path");
	result = load_file(path, &text, &bytes);
	if (result != CUDA_SUCCESS)
		return result;
	result = load_module(module, text, bytes, 0, NULL, NULL);
	free(text);
	return result;
}

DEFINE_CALL(cuModuleGetLoadingMode, (CUmoduleLoadingMode *mode), mode)
{
	const char *value = secure_getenv("CUDA_MODULE_LOADING");

	if (!mode)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	*mode = value && !strcmp(value, "EAGER") ? CU_MODULE_EAGER_LOADING :
						   CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}
