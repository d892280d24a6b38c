// SPDX-License-Identifier: MIT
/* Links device code of several parts, whose PTX becomes one image. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "translate/translate.h"

struct link {
	struct handle head;
	CUlinkState handle;
	atomic_uint references;
	uint32_t device;
	/* as cuLinkCreate() was given them; the values stay the program's, which reads logs there */
	unsigned int options_count;
	CUjit_option *options;
	void **values;
	unsigned int rooms[2];		/* sizes of the logs, which each call writes anew */
	/* The parts, and their names; link_lock protects them and what follows */
	struct image *image;
	char **names;
	struct linked *linked;		/* the image that was made of them, or NULL */
};

static pthread_mutex_t link_lock = PTHREAD_MUTEX_INITIALIZER;

atomic_uint *link_references(struct link *link)
{
	return &link->references;
}

static void names_free(char **names, uint32_t count)
{
	for (uint32_t i = 0; names && i < count; i++)
		free(names[i]);
	free(names);
}

void link_put(struct link *link)
{
	if (--link->references)
		return;
	if (link->image) {
		names_free(link->names, link->image->texts_count);
		image_put(link->image);
	}
	free(link->linked);
	free(link->options);
	free(link);
}

static CUresult find_translator(const struct ptx_object **object)
{
	const char *why;

	*object = translator_get(&why);
	return *object ? CUDA_SUCCESS : fail(CUDA_ERROR_NOT_SUPPORTED, "linking: %.200s", why);
}

static const CUjit_option log_sizes[] = {
	CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
};

/* Keeps the sizes of the logs, which become those of the texts when logs are written. */
static void keep_rooms(struct link *link)
{
	unsigned int at;

	for (int j = 0; j < 2; j++)
		if (option_has(link->options_count, link->options, log_sizes[j], &at))
			link->rooms[j] = (uintptr_t)link->values[at];
}

static CUresult link_create(unsigned int count, CUjit_option *options, void **values,
			    CUlinkState *state)
{
	const struct ptx_object *object;
	const struct figures *figures;
	struct link *link;
	struct slot *slot;
	CUresult result = context_find(NULL, &slot);

	if (result != CUDA_SUCCESS)
		return result;
	if (!state)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = options_check(count, options, values);
	if (result == CUDA_SUCCESS)
		result = find_translator(&object);
	if (result == CUDA_SUCCESS)
		result = figures_get(slot->device, &figures);
	if (result != CUDA_SUCCESS)
		return result;
	link = calloc(1, sizeof(*link));
	if (!link)
		return image_no_memory();
	link->head.kind = HANDLE_LINK;
	link->references = 1;
	link->device = slot->device;
	link->options_count = count;
	link->options = calloc(count + 1, sizeof(*options));
	link->values = values;
	if (link->options && count)
		memcpy(link->options, options, count * sizeof(*options));
	if (link->options)
		keep_rooms(link);
	if (link->options && image_empty(&link->image) == CUDA_SUCCESS)
		link->handle = (CUlinkState)handle_add(link);
	if (!link->handle) {
		link_put(link);
		return image_no_memory();
	}
	link->image->device = figures->architecture;
	*state = link->handle;
	return CUDA_SUCCESS;
}

FORWARD(cuLinkCreate_v2, (unsigned int count, CUjit_option *options, void **values,
			  CUlinkState *state),
	link_create(count, options, values, state), count, state)

static void write_logs(const struct link *link, const char *error)
{
	unsigned int at;

	for (int j = 0; j < 2; j++)
		if (option_has(link->options_count, link->options, log_sizes[j], &at))
			link->values[at] = (void *)(uintptr_t)link->rooms[j];
	load_log(link->options_count, link->options, link->values, error);
}

/* With link_lock held: names the parts from @named on. Return: how many parts have a name then */
static uint32_t add_names(struct link *link, uint32_t named, const char *name)
{
	char **names = realloc(link->names, link->image->texts_count * sizeof(*names));

	if (!names)
		return named;
	link->names = names;
	while (named < link->image->texts_count &&
	       (names[named] = strdup(name ? name : "<unnamed-ptx>")))
		named++;
	return named;
}

/* With link_lock held: removes the parts from @count on; those before @named have names. */
static void drop_parts(struct link *link, uint32_t count, uint32_t named)
{
	while (named > count)
		free(link->names[--named]);
	link->image->texts_count = count;
}

/* With link_lock held */
static CUresult add_texts(struct link *link, CUjitInputType type, const void *data, size_t bytes,
			  const char *name)
{
	uint32_t before = link->image->texts_count, named = before;
	const struct ptx_object *object;
	struct ptx_log log = {};
	CUresult result = find_translator(&object);

	if (result != CUDA_SUCCESS)
		return result;
	if (type == CU_JIT_INPUT_PTX)
		result = image_add_text(link->image, data, strnlen(data, bytes));
	else
		result = fatbin_text(link->image, data, bytes);
	if (result == CUDA_SUCCESS && link->image->texts_count == before)
		result = fail(CUDA_ERROR_NO_BINARY_FOR_GPU, "the fatbin has no PTX for the device");
	if (result == CUDA_SUCCESS) {
		named = add_names(link, before, name);
		if (named < link->image->texts_count)
			result = image_no_memory();
	}
	if (result == CUDA_SUCCESS) {
		result = object->link(link->image->texts, named,
				      (const char *const *)link->names, false, &log);
		write_logs(link, log.text);
		if (result != CUDA_SUCCESS)
			fail(result, "%.200s", log.text);
	}
	if (result != CUDA_SUCCESS)
		drop_parts(link, before, named);
	return result;
}

static CUresult link_add(CUlinkState state, CUjitInputType type, const void *data, size_t bytes,
			 const char *name)
{
	struct link *link;
	CUresult result;

	if (!data || !bytes)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL part, or no size of it");
	if ((unsigned int)type >= CU_JIT_NUM_INPUT_TYPES)
		return fail(CUDA_ERROR_INVALID_VALUE, "no such kind of part");
	result = handle_get(state, HANDLE_LINK, CUDA_ERROR_INVALID_HANDLE, &link);
	if (result != CUDA_SUCCESS)
		return result;
	if (type == CU_JIT_INPUT_FATBINARY &&
	    (bytes < sizeof(uint32_t) || !image_is_fatbin(data)))
		result = fail(CUDA_ERROR_INVALID_IMAGE, "no fatbin");
	else if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY)
		result = fail(CUDA_ERROR_NOT_SUPPORTED, "a part that is neither PTX nor a fatbin");
	pthread_mutex_lock(&link_lock);
	if (result == CUDA_SUCCESS && link->linked)
		result = fail(CUDA_ERROR_INVALID_VALUE, "the parts are linked already");
	if (result == CUDA_SUCCESS)
		result = add_texts(link, type, data, bytes, name);
	pthread_mutex_unlock(&link_lock);
	handle_put(link);
	return result;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
			  const char *name, unsigned int count, CUjit_option *options,
			  void **values)
{
	(void)options;
	(void)values;
	return WHOLE_CALL(link_add(state, type, data, bytes, name),
			  state, type, data, bytes, name, count);
}

static CUresult add_file(CUlinkState state, CUjitInputType type, const char *path)
{
	size_t bytes;
	char *text;
	CUresult result;

	if (!path || !*path)
		return fail(CUDA_ERROR_INVALID_VALUE, "no path");
	result = load_file(path, &text, &bytes);
	if (result != CUDA_SUCCESS)
		return result;
	result = link_add(state, type, text, bytes, path);
	free(text);
	return result;
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path,
			  unsigned int count, CUjit_option *options, void **values)
{
	(void)options;
	(void)values;
	return WHOLE_CALL(add_file(state, type, path), state, type, path, count);
}

/* Return: an image of the texts; NULL: no memory */
static struct linked *pack(const struct image *image)
{
	struct linked *linked;
	size_t bytes = sizeof(*linked);
	char *at;

	for (uint32_t i = 0; i < image->texts_count; i++)
		bytes += sizeof(uint64_t) + (image->texts[i].bytes + 7) / 8 * 8;
	linked = calloc(1, bytes);
	if (!linked)
		return NULL;
	memcpy(linked->magic, LINKED_MAGIC, sizeof(LINKED_MAGIC));
	linked->bytes = bytes;
	linked->count = image->texts_count;
	at = (char *)(linked + 1);
	for (uint32_t i = 0; i < image->texts_count; i++) {
		uint64_t size = image->texts[i].bytes;

		memcpy(at, &size, sizeof(size));
		memcpy(at + sizeof(size), image->texts[i].text, size);
		at += sizeof(size) + (size + 7) / 8 * 8;
	}
	return linked;
}

/* With link_lock held */
static CUresult make_image(struct link *link)
{
	const struct ptx_object *object;
	struct ptx_log log = {};
	CUresult result = find_translator(&object);

	if (result != CUDA_SUCCESS || link->linked)
		return result;
	result = object->link(link->image->texts, link->image->texts_count,
			      (const char *const *)link->names, true, &log);
	write_logs(link, log.text);
	if (result != CUDA_SUCCESS)
		return fail(result, "%.200s", log.text);
	link->linked = pack(link->image);
	return link->linked ? CUDA_SUCCESS : image_no_memory();
}

DEFINE_WHOLE_CALL(cuLinkComplete, (CUlinkState state, void **image, size_t *bytes),
		  state, image, bytes)
{
	struct link *link;
	CUresult result;

	if (!image)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL output");
	result = handle_get(state, HANDLE_LINK, CUDA_ERROR_INVALID_HANDLE, &link);
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&link_lock);
	result = make_image(link);
	if (result == CUDA_SUCCESS) {
		*image = link->linked;
		if (bytes)
			*bytes = link->linked->bytes;
	}
	pthread_mutex_unlock(&link_lock);
	handle_put(link);
	return result;
}

DEFINE_WHOLE_CALL(cuLinkDestroy, (CUlinkState state), state)
{
	struct link *link;
	CUresult result = handle_get(state, HANDLE_LINK, CUDA_ERROR_INVALID_HANDLE, &link);
	bool first;

	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&link_lock);
	first = link->handle;
	if (first)
		handle_remove(link->handle);
	link->handle = NULL;
	pthread_mutex_unlock(&link_lock);
	if (first)
		link_put(link);
	handle_put(link);
	return CUDA_SUCCESS;
}
