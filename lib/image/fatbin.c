// SPDX-License-Identifier: MIT
/* Fatbins: several images of the same code. Finds the one for the device. */
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "image.h"

#define FATBIN_MAGIC	0xba55ed50U

struct fatbin {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes;			/* of the entries, which follow */
};

enum { KIND_PTX = 1, KIND_CUBIN = 2 };

#define PACKED_LZ4	0x2000U
#define PACKED_ZSTD	0x8000U

#define UNPACKED_MAX	(1UL << 30)	/* limit for damaged ones; no larger one is known */

struct entry {
	uint16_t kind, version;
	uint32_t header_bytes;
	uint64_t bytes;			/* with padding */
	uint32_t packed_bytes, unknown;
	uint16_t minor, major;
	uint32_t architecture;
	uint64_t unknown2;
	uint64_t flags, unknown3;
	uint64_t unpacked_bytes;	/* only if it is packed */
};

bool image_is_fatbin(const void *data)
{
	const struct fatbin *fatbin = data;

	return fatbin->magic == FATBIN_MAGIC;
}

/*
 * Is an entry better for a device? Code of its generation is best, then PTX of an older one;
 * the newest counts.
 */
static bool fits_better(const struct entry *entry, const struct entry *best, uint32_t device)
{
	if (entry->kind == KIND_CUBIN) {
		if (entry->architecture / 10 != device / 10 || entry->architecture > device)
			return false;
		return !best || best->kind != KIND_CUBIN ||
		       best->architecture < entry->architecture;
	}
	if (entry->kind != KIND_PTX || entry->architecture > device)
		return false;
	return !best || (best->kind == KIND_PTX && best->architecture < entry->architecture);
}

static CUresult unpack(const struct entry *entry, char *to)
{
	const char *from = (const char *)entry + entry->header_bytes;
	size_t unpacked;
	int length;

	if (entry->flags & PACKED_ZSTD) {
		unpacked = ZSTD_decompress(to, entry->unpacked_bytes, from, entry->packed_bytes);
		if (!ZSTD_isError(unpacked) && unpacked == entry->unpacked_bytes)
			return CUDA_SUCCESS;
	} else if (entry->unpacked_bytes <= INT_MAX && entry->packed_bytes <= INT_MAX) {
		length = LZ4_decompress_safe(from, to, entry->packed_bytes,
					     entry->unpacked_bytes);
		if (length >= 0 && (uint64_t)length == entry->unpacked_bytes)
			return CUDA_SUCCESS;
	}
	return fail(CUDA_ERROR_INVALID_IMAGE, "an image in a fatbin cannot be unpacked");
}

/*
 * Reads PTX beside code for the device, which tells what kernels need. The text runs, so its
 * variables count: it says which are managed, which are private, and which begin with addresses. A
 * text that cannot be read is kept, so that a launch says why.
 */
static CUresult read_text(struct image *image, const char *text, size_t bytes)
{
	struct complaint complaint;
	struct image read = *image;
	CUresult result;

	read.kernels = NULL;
	read.kernels_count = read.kernels_room = 0;
	result = ptx_read(&read, text, bytes, &complaint);
	free(read.kernels);
	image->kept = read.kept;
	image->texts = read.texts;
	image->texts_count = read.texts_count;
	image->texts_room = read.texts_room;
	image->variables = read.variables;
	image->variables_room = read.variables_room;
	if (result == CUDA_SUCCESS) {
		image->variables_count = read.variables_count;
		image->has_addresses = read.has_addresses;
		return result;
	}
	return result == CUDA_ERROR_OUT_OF_MEMORY ? result : image_add_text(image, text, bytes);
}

/* @complaint: NULL: the entry is PTX beside code for the device */
static CUresult read_entry(struct image *image, const struct entry *entry,
			   struct complaint *complaint)
{
	bool packed = entry->flags & (PACKED_LZ4 | PACKED_ZSTD);
	const char *data = (const char *)entry + entry->header_bytes;
	size_t bytes = entry->bytes;
	char *unpacked = NULL;
	CUresult result;

	if (packed) {
		bytes = entry->unpacked_bytes;
		if (entry->header_bytes < sizeof(*entry) || entry->packed_bytes > entry->bytes ||
		    bytes > UNPACKED_MAX)
			return fail(CUDA_ERROR_INVALID_IMAGE, "a fatbin whose sizes are wrong");
		unpacked = malloc(bytes + 1);
		if (!unpacked)
			return image_no_memory();
		result = unpack(entry, unpacked);
		if (result != CUDA_SUCCESS) {
			free(unpacked);
			return result;
		}
		unpacked[bytes] = '\0';
		data = unpacked;
	}
	if (complaint)
		image->architecture = entry->architecture;
	if (!complaint)
		result = read_text(image, data, strnlen(data, bytes));
	else if (entry->kind == KIND_CUBIN)
		result = bytes ? cubin_read(image, data, bytes) :
				 fail(CUDA_ERROR_INVALID_IMAGE, "an empty cubin in a fatbin");
	else
		result = ptx_read(image, data, strnlen(data, bytes), complaint);
	free(unpacked);
	return result;
}

/*
 * Finds the best entry, and the best PTX. @bytes: 0: unknown. The outputs are NULL if there is
 * none.
 */
static CUresult find_entries(const struct fatbin *fatbin, size_t bytes, uint32_t device,
			     const struct entry **best, const struct entry **best_text)
{
	const char *at = (const char *)fatbin + sizeof(*fatbin), *end;
	const struct entry *entry;

	*best = NULL;
	*best_text = NULL;
	if (bytes && bytes < sizeof(*fatbin))
		return fail(CUDA_ERROR_INVALID_IMAGE, "a fatbin that ends in its header");
	if (fatbin->version != 1 || fatbin->header_bytes != sizeof(*fatbin))
		return fail(CUDA_ERROR_INVALID_IMAGE, "a fatbin of an unknown version");
	if (bytes && fatbin->bytes > bytes - sizeof(*fatbin))
		return fail(CUDA_ERROR_INVALID_IMAGE, "a fatbin that ends before its end");
	for (end = at + fatbin->bytes; (size_t)(end - at) >= sizeof(uint64_t[2]);
	     at += entry->header_bytes + entry->bytes) {
		entry = (const struct entry *)at;
		if (entry->header_bytes < offsetof(struct entry, unknown3) ||
		    entry->header_bytes > (size_t)(end - at) ||
		    entry->bytes > (size_t)(end - at) - entry->header_bytes)
			return fail(CUDA_ERROR_INVALID_IMAGE, "a fatbin whose sizes are wrong");
		if (fits_better(entry, *best, device))
			*best = entry;
		if (entry->kind == KIND_PTX && fits_better(entry, *best_text, device))
			*best_text = entry;
	}
	return CUDA_SUCCESS;
}

/* @bytes: 0: unknown */
CUresult fatbin_read(struct image *image, const void *data, size_t bytes,
		     struct complaint *complaint)
{
	const struct entry *best, *best_text;
	CUresult result = find_entries(data, bytes, image->device, &best, &best_text);

	if (result != CUDA_SUCCESS)
		return result;
	if (!best)
		return fail(CUDA_ERROR_NO_BINARY_FOR_GPU, "the fatbin has no code for %d.%d",
			    image->device / 10, image->device % 10);
	result = read_entry(image, best, complaint);
	if (result == CUDA_SUCCESS && best_text && best_text != best)
		result = read_entry(image, best_text, NULL);
	return result;
}

/* Reads the PTX of a fatbin, if it has any, beside code for the device. @bytes: 0: unknown */
CUresult fatbin_text(struct image *image, const void *data, size_t bytes)
{
	const struct entry *best, *best_text;
	CUresult result = find_entries(data, bytes, image->device, &best, &best_text);

	return result == CUDA_SUCCESS && best_text ? read_entry(image, best_text, NULL) : result;
}
