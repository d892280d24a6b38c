// SPDX-License-Identifier: MIT
/* Images of device code: tells the kinds apart, and has the functions for all kinds. */
#include <stdlib.h>
#include <string.h>

#include "image.h"

struct kept {
	struct kept *next;
	max_align_t data[];
};

void *image_keep(struct image *image, const void *data, size_t bytes)
{
	struct kept *kept = NULL;

	if (bytes <= SIZE_MAX / 2)
		kept = calloc(1, sizeof(*kept) + bytes);
	if (!kept)
		return NULL;
	if (data)
		memcpy(kept->data, data, bytes);
	kept->next = image->kept;
	image->kept = kept;
	return kept->data;
}

const char *image_keep_name(struct image *image, const char *name, size_t length)
{
	char *copy = image_keep(image, NULL, length + 1);

	return copy ? memcpy(copy, name, length) : NULL;
}

/* Return: a new entry of an array, all zeros, or NULL; the array moves as it grows. */
static void *one_more(void *array, uint32_t *count, uint32_t *room, size_t size)
{
	char **at = array, *moved;

	if (*count == *room) {
		*room = *room ? 2 * *room : 16;
		moved = realloc(*at, *room * size);
		if (!moved)
			return NULL;
		*at = moved;
	}
	return memset(*at + size * (*count)++, 0, size);
}

struct code *image_add_kernel(struct image *image)
{
	return one_more(&image->kernels, &image->kernels_count, &image->kernels_room,
			sizeof(*image->kernels));
}

struct variable *image_add_variable(struct image *image)
{
	return one_more(&image->variables, &image->variables_count, &image->variables_room,
			sizeof(*image->variables));
}

/* Keeps a copy of PTX text, with a 0 behind it, for the translator. */
CUresult image_add_text(struct image *image, const char *text, size_t bytes)
{
	char *copy = image_keep(image, NULL, bytes + 1);
	struct ptx_text *new = copy ? one_more(&image->texts, &image->texts_count,
					       &image->texts_room, sizeof(*image->texts)) : NULL;

	if (!new)
		return image_no_memory();
	memcpy(copy, text, bytes);
	*new = (struct ptx_text) { copy, bytes };
	return CUDA_SUCCESS;
}

static int compare_kernels(const void *one, const void *other, void *kernels)
{
	uint32_t i = *(const uint32_t *)one, j = *(const uint32_t *)other;
	const struct code *code = kernels;
	int order = strcmp(code[i].name, code[j].name);

	if (!order)
		order = code[i].is_weak - code[j].is_weak;
	return order ? order : i < j ? -1 : 1;
}

static int image_compare_names(const void *one, const void *other)
{
	return strcmp(((const struct variable *)one)->name,
		      ((const struct variable *)other)->name);
}

static int compare_variables(const void *one, const void *other)
{
	const struct variable *a = one, *b = other;
	int order = image_compare_names(one, other);

	if (order)
		return order;
	if (a->of_cubin != b->of_cubin)
		return a->of_cubin ? 1 : -1;
	if (a->is_private != b->is_private)
		return a->is_private ? 1 : -1;
	return a->text < b->text ? -1 : a->text > b->text;
}

/* Of a name, the cubin's variable comes last. It goes if a text has one. */
static void drop_doubles(struct image *image)
{
	struct variable *all = image->variables;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < image->variables_count; i++)
		if (!kept || !all[i].of_cubin || all[kept - 1].of_cubin ||
		    strcmp(all[kept - 1].name, all[i].name))
			all[kept++] = all[i];
	image->variables_count = kept;
}

static void sort_kernels(struct image *image)
{
	for (uint32_t i = 0; i < image->kernels_count; i++)
		image->by_name[i] = i;
	qsort_r(image->by_name, image->kernels_count, sizeof(*image->by_name), compare_kernels,
		image->kernels);
}

/*
 * Each of several parts may have a copy of a kernel that a header defines: the first in by_name
 * counts.
 */
static void drop_weak(struct image *image)
{
	struct code *all = image->kernels;
	uint32_t kept = 0, first = 0;

	for (uint32_t i = 1; i < image->kernels_count; i++) {
		if (strcmp(all[image->by_name[first]].name, all[image->by_name[i]].name))
			first = i;
		else
			all[image->by_name[i]].is_dropped = true;
	}
	for (uint32_t i = 0; i < image->kernels_count; i++)
		if (!all[i].is_dropped)
			all[kept++] = all[i];
	image->kernels_count = kept;
}

/*
 * Sorts kernels and variables by name, after all are added. @twice: output, a name that two
 * kernels have, or NULL
 */
CUresult image_sort(struct image *image, const char **twice)
{
	*twice = NULL;
	free(image->by_name);
	image->by_name = calloc(image->kernels_count + 1, sizeof(*image->by_name));
	if (!image->by_name)
		return image_no_memory();
	sort_kernels(image);
	if (image->of_parts) {
		drop_weak(image);
		sort_kernels(image);
	}
	if (image->variables_count)
		qsort(image->variables, image->variables_count, sizeof(*image->variables),
		      compare_variables);
	drop_doubles(image);
	for (uint32_t i = 1; i < image->kernels_count; i++)
		if (!strcmp(image->kernels[image->by_name[i - 1]].name,
			    image->kernels[image->by_name[i]].name))
			*twice = image->kernels[image->by_name[i]].name;
	return CUDA_SUCCESS;
}

const struct code *image_kernel(const struct image *image, const char *name)
{
	uint32_t low = 0, high = image->kernels_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (strcmp(image->kernels[image->by_name[middle]].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == image->kernels_count ||
	    strcmp(image->kernels[image->by_name[low]].name, name))
		return NULL;
	return &image->kernels[image->by_name[low]];
}

const struct variable *image_variable(const struct image *image, const char *name)
{
	struct variable wanted = { .name = name };
	const struct variable *found = !image->variables_count ? NULL :
		bsearch(&wanted, image->variables, image->variables_count, sizeof(wanted),
			image_compare_names);

	while (found && found > image->variables && !strcmp(found[-1].name, name))
		found--;
	return found;
}

/* Return: what a text means by a name: a variable of its own, else that of all texts, or NULL */
const struct variable *image_variable_of(const struct image *image, const char *name,
					 uint32_t text)
{
	const struct variable *first = image_variable(image, name), *end, *at;

	end = image->variables + image->variables_count;
	for (at = first; at && at < end && !strcmp(at->name, name); at++)
		if (at->is_private && at->text == text)
			return at;
	return first && !first->is_private ? first : NULL;
}

struct image *image_get(struct image *image)
{
	image->references++;
	return image;
}

void image_put(struct image *image)
{
	struct kept *kept;

	if (--image->references)
		return;
	while ((kept = image->kept)) {
		image->kept = kept->next;
		free(kept);
	}
	free(image->kernels);
	free(image->variables);
	free(image->by_name);
	free(image->texts);
	free(image);
}

/*
 * Reads the image of a program whose device code was linked: the linker's result if it is for
 * this device, else its parts, which the driver would link.
 */
static CUresult read_linked(struct image *image, const struct wrapper *wrapper,
			    struct complaint *complaint)
{
	const void *const *part = wrapper->parts;
	CUresult result = fatbin_read(image, wrapper->data, 0, complaint);

	if (!part || !*part)
		return result;
	/* code for the device is in the linker's result, PTX in the parts only */
	for (; result == CUDA_SUCCESS && *part; part++)
		result = fatbin_text(image, *part, 0);
	if (result != CUDA_ERROR_NO_BINARY_FOR_GPU)
		return result;
	image->of_parts = true;
	for (result = CUDA_SUCCESS; *part && result == CUDA_SUCCESS; part++)
		result = fatbin_read(image, *part, 0, complaint);
	return result;
}

/* Reads what cuLinkComplete() made. @bytes: 0: unknown */
static CUresult read_parts(struct image *image, const struct linked *linked, size_t bytes,
			   struct complaint *complaint)
{
	const char *at = (const char *)(linked + 1), *end = (const char *)linked + linked->bytes;
	CUresult result = CUDA_SUCCESS;
	uint64_t size;

	if ((bytes && linked->bytes > bytes) || linked->bytes < sizeof(*linked))
		return fail(CUDA_ERROR_INVALID_IMAGE, "a linked image that ends before its end");
	image->of_parts = true;
	for (uint64_t i = 0; i < linked->count && result == CUDA_SUCCESS; i++) {
		if ((size_t)(end - at) < sizeof(size))
			return fail(CUDA_ERROR_INVALID_IMAGE, "a linked image whose sizes are wrong");
		memcpy(&size, at, sizeof(size));
		at += sizeof(size);
		if (size > (size_t)(end - at) || (size + 7) / 8 * 8 > (size_t)(end - at))
			return fail(CUDA_ERROR_INVALID_IMAGE, "a linked image whose sizes are wrong");
		result = ptx_read(image, at, size, complaint);
		at += (size + 7) / 8 * 8;
	}
	return result;
}

static CUresult read_any(struct image *image, const void *data, size_t bytes,
			 struct complaint *complaint)
{
	const struct wrapper *wrapper = data;
	size_t length;

	/* a wrapper in a file would have addresses of another process */
	if (!bytes && wrapper->magic == WRAPPER_MAGIC) {
		if (!wrapper->data)
			return fail(CUDA_ERROR_INVALID_IMAGE, "a fatbin's wrapper without fatbin");
		data = wrapper->data;
		if (wrapper->version == WRAPPER_LINKED && image_is_fatbin(data))
			return read_linked(image, wrapper, complaint);
	}
	if (image_is_fatbin(data))
		return fatbin_read(image, data, bytes, complaint);
	if (!strncmp(data, LINKED_MAGIC, sizeof(LINKED_MAGIC)))
		return read_parts(image, data, bytes, complaint);
	if (!memcmp(data, "\177ELF", 4))
		return cubin_read(image, data, bytes);
	length = bytes ? strnlen(data, bytes) : strlen(data);
	if (image_is_ptx(data, length))
		return ptx_read(image, data, length, complaint);
	return fail(CUDA_ERROR_INVALID_IMAGE, "neither PTX text, nor a cubin, nor a fatbin");
}

CUresult image_empty(struct image **image)
{
	const char *twice;

	*image = calloc(1, sizeof(**image));
	if (!*image)
		return image_no_memory();
	(*image)->references = 1;
	return image_sort(*image, &twice);
}

/**
 * image_read() - read the kernels and variables of an image
 * @data: the image; not NULL
 * @bytes: its size, with 16 zeros behind it; 0: the image's own headers say its size
 * @architecture: the device's: 90 is 9.0
 * @image: output
 * @complaint: output, what is wrong with PTX text
 */
CUresult image_read(const void *data, size_t bytes, int architecture, struct image **image,
		    struct complaint *complaint)
{
	const char *twice = NULL;
	struct image *new;
	CUresult result = image_empty(&new);

	complaint->text[0] = '\0';
	if (result != CUDA_SUCCESS)
		return result;
	new->device = new->binary = architecture;
	result = read_any(new, data, bytes, complaint);
	if (result == CUDA_SUCCESS)
		result = image_sort(new, &twice);
	if (result == CUDA_SUCCESS && twice)
		result = fail(CUDA_ERROR_INVALID_PTX, "two kernels are called %.100s", twice);
	if (result != CUDA_SUCCESS)
		image_put(new);
	else
		*image = new;
	return result;
}
