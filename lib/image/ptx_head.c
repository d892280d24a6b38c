// SPDX-License-Identifier: MIT
/* PTX text: reads its version and its target, then all statements. */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

#define NEWEST	901	/* 9.1 */

/* The first version with each target; both numbers have two digits after the point. */
static const struct {
	int target, version;
} targets[] = {
	{ 10, 100 }, { 11, 100 }, { 12, 102 }, { 13, 102 }, { 20, 200 }, { 30, 300 }, { 32, 400 },
	{ 35, 301 }, { 37, 401 }, { 50, 400 }, { 52, 401 }, { 53, 402 }, { 60, 500 }, { 61, 500 },
	{ 62, 500 }, { 70, 600 }, { 72, 601 }, { 75, 603 }, { 80, 700 }, { 86, 701 }, { 87, 704 },
	{ 88, 900 }, { 89, 708 }, { 90, 708 }, { 100, 806 }, { 101, 806 }, { 103, 808 },
	{ 110, 900 }, { 120, 807 }, { 121, 808 },
};

static void head_begin(struct reader *reader, const char *text, size_t bytes)
{
	*reader = (struct reader) { .begin = text, .at = text, .end = text + bytes, .line = 1 };
	ptx_next(reader);
}

bool image_is_ptx(const char *text, size_t bytes)
{
	struct reader reader;

	head_begin(&reader, text, bytes);
	return ptx_is(&reader, ".version");
}

/* Return: the number up to @end, of three digits at most, so that no sum overflows. */
static int head_digits(const char *at, const char *end)
{
	int value = 0;

	for (int i = 0; i < 3 && at < end && *at >= '0' && *at <= '9'; i++)
		value = 10 * value + *at++ - '0';
	return value;
}

/* Reads .version 8.0, which ptx_next() takes for a floating-point number. */
static CUresult version(struct reader *reader, int *version)
{
	const char *point;

	ptx_next(reader);
	point = memchr(reader->word.at, '.', reader->word.length);
	if (reader->word.kind != WORD_NUMBER || !point)
		return ptx_wrong(reader, "no version is");
	*version = head_digits(reader->word.at, point) * 100 +
		   head_digits(point + 1, reader->word.at + reader->word.length);
	if (*version > NEWEST)
		return fail(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
			    "PTX of version %d.%d, not up to %d.%d",
			    *version / 100, *version % 100, NEWEST / 100, NEWEST % 100);
	ptx_next(reader);
	return CUDA_SUCCESS;
}

/*
 * Reads .target sm_90, and other words. A target that ends in a letter is for this device only
 * (a), or for this family only (f).
 */
static CUresult target(struct reader *reader, int version, int device)
{
	const struct word *word = &reader->word;
	int number, known = 0;
	char last;

	if (!ptx_take(reader, ".target"))
		return ptx_wrong(reader, ".target is missing before");
	if (word->kind != WORD_NAME || word->length < 5 || memcmp(word->at, "sm_", 3))
		return ptx_wrong(reader, "no target is");
	number = head_digits(word->at + 3, word->at + word->length);
	last = word->at[word->length - 1];
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		if (targets[i].target == number && targets[i].version <= version)
			known = number;
	if (!known)
		return ptx_wrong(reader, "this version of PTX has no target");
	if (known > device || (last == 'a' && known != device) ||
	    (last == 'f' && known / 10 != device / 10))
		return ptx_wrong(reader, "the device is older than, or other than");
	reader->image->architecture = known;
	for (ptx_next(reader); ptx_take(reader, ","); ptx_next(reader))
		if (ptx_is(reader, "debug") &&
		    !memmem(reader->at, reader->end - reader->at, ".debug_info", 11))
			return ptx_wrong(reader, "no .debug_info follows");
	return CUDA_SUCCESS;
}

CUresult ptx_read(struct image *image, const char *text, size_t bytes,
		  struct complaint *complaint)
{
	struct reader reader;
	int number = 0;
	CUresult result;
	fenv_t floats;

	/* the thread's own rounding is not for initial values */
	fegetenv(&floats);
	fesetenv(FE_DFL_ENV);
	head_begin(&reader, text, bytes);
	reader.image = image;
	reader.complaint = complaint;
	result = version(&reader, &number);
	if (result == CUDA_SUCCESS)
		result = target(&reader, number, image->device);
	if (result == CUDA_SUCCESS && ptx_take(&reader, ".address_size")) {
		if (reader.word.value != 64)
			result = ptx_wrong(&reader, "addresses have 64 bits, not");
		ptx_next(&reader);
	}
	while (result == CUDA_SUCCESS && reader.word.kind != WORD_END)
		result = ptx_outermost(&reader);
	fesetenv(&floats);
	if (result == CUDA_SUCCESS)
		result = image_add_text(image, text, bytes);
	/* memcast-ptx.so shares ptx_wrong(), and has no log of calls: so the reason is given here */
	if (result == CUDA_ERROR_INVALID_PTX)
		return fail(result, "%s", complaint->text);
	return result;
}
