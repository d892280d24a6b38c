// SPDX-License-Identifier: MIT
/*
 * The readers of PTX text against random changes of texts: each text, however it is, ends in a
 * result, reads nothing behind its end (gcc's sanitizers see that) and leaves no memory behind.
 *
 *	host-fuzz-text [MEMCAST-PTX.SO]
 *
 * MEMCAST_TEST_SEED=N MEMCAST_TEST_SEQUENCES=1 repeats the text that a fault names;
 * MEMCAST_TEST_SEQUENCES is the number of texts; MEMCAST_TEST_SECONDS limits the time instead.
 */
#include <dlfcn.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz_texts.h"
#include "image/image.h"
#include "ptx/text/text.h"

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))
#define MOST		(64 << 10)
#define BEHIND		16		/* zeros that image_read() may see */

static unsigned int sequence;
static uint64_t state;

/* What lib/base has, for lib/image: reasons are dropped. */
CUresult fail(CUresult result, const char *format, ...)
{
	(void)format;
	return result;
}

static uint32_t random_below(uint32_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 16) % limit;
}

static size_t insert(char *text, size_t length, size_t at, const char *what, size_t bytes)
{
	if (length + bytes > MOST)
		return length;
	memmove(text + at + bytes, text + at, length - at);
	memcpy(text + at, what, bytes);
	return length + bytes;
}

static size_t cut(char *text, size_t length, size_t at, size_t bytes)
{
	if (bytes > length - at)
		bytes = length - at;
	memmove(text + at, text + at + bytes, length - at - bytes);
	return length - bytes;
}

static size_t change(char *text, size_t length)
{
	size_t at = random_below(length + 1), bytes;
	const char *other;
	char copy[256];

	switch (random_below(8)) {
	case 0:	/* a bit */
		if (at < length)
			text[at] ^= 1 << random_below(8);
		return length;
	case 1:
		return cut(text, length, at, 1 + random_below(8));
	case 2:
		return cut(text, length, at, 1 + random_below(300));
	case 3:	/* a part comes twice */
		bytes = 1 + random_below(sizeof(copy) - 1);
		if (bytes > length - at)
			bytes = length - at;
		memcpy(copy, text + at, bytes);
		return insert(text, length, random_below(length + 1), copy, bytes);
	case 4:	/* a part of another text */
		other = texts[random_below(COUNT(texts))];
		bytes = random_below(strlen(other));
		return insert(text, length, at, other + bytes,
			      1 + random_below(strlen(other) - bytes));
	case 5:
		return random_below(30) ? length : at;
	default:
		other = words[random_below(COUNT(words))];
		return insert(text, length, at, other, strlen(other));
	}
}

static void read_bodies(const char *text, size_t length)
{
	struct complaint complaint = {};
	struct unit unit;

	if (unit_read(&unit, text, length, &complaint) == CUDA_SUCCESS)
		for (struct function *function = unit.functions; function;
		     function = function->next) {
			struct body body;

			if (!function->defined)
				continue;
			body_read(function, &body, &complaint);
			body_free(&body);
		}
	unit_free(&unit);
}

static void one(const struct ptx_object *object, char *work)
{
	struct complaint complaint;
	struct ptx_log log = {};
	struct image *image;
	size_t length;
	char *text;

	state = 0x9e3779b97f4a7c15ULL * (sequence + 1);
	length = strlen(texts[sequence % COUNT(texts)]);
	memcpy(work, texts[sequence % COUNT(texts)], length);
	for (uint32_t i = 1 + random_below(6); i--; )
		length = change(work, length);
	text = malloc(length ? length : 1);
	memcpy(text, work, length);
	read_bodies(text, length);
	if (object) {
		struct ptx_text part = { text, length };

		object->check(&part, &log);
	}
	free(text);
	text = calloc(1, length + BEHIND);
	memcpy(text, work, length);
	if (length && image_read(text, length, 90, &image, &complaint) == CUDA_SUCCESS)
		image_put(image);
	free(text);
}

/* Unchanged, each text is one that all readers take: else changes would not get far. */
static bool all_good(const struct ptx_object *object)
{
	struct complaint complaint = {};
	struct ptx_log log = {};
	struct image *image;
	bool good = true;

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct ptx_text part = { texts[i], strlen(texts[i]) };
		CUresult result = image_read(texts[i], 0, 90, &image, &complaint);

		if (result == CUDA_SUCCESS)
			image_put(image);
		if (result == CUDA_SUCCESS && object)
			result = object->check(&part, &log);
		if (result != CUDA_SUCCESS)
			printf("# text %zu: %s%s\n", i, complaint.text, log.text);
		good &= result == CUDA_SUCCESS;
	}
	return good;
}

/* A variable of 64 GiB is one for which there is no memory, and no fault. */
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void say_sequence(void)
{
	printf("# MEMCAST_TEST_SEED=%u MEMCAST_TEST_SEQUENCES=1 repeats it\nnot ok 1 ptx.fuzz_text\n",
	       sequence);
	fflush(stdout);
}

static unsigned int number_of(const char *name, unsigned int otherwise)
{
	const char *given = getenv(name);

	return given && *given ? strtoul(given, NULL, 0) : otherwise;
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	const struct ptx_object *object = library ? dlsym(library, PTX_OBJECT_SYMBOL) : NULL;
	unsigned int first = number_of("MEMCAST_TEST_SEED", 1);
	unsigned int seconds = number_of("MEMCAST_TEST_SECONDS", 0);
	unsigned int count = number_of("MEMCAST_TEST_SEQUENCES", seconds ? UINT32_MAX : 20000);
	time_t end = time(NULL) + seconds;
	char *work = malloc(MOST);

	__asan_set_death_callback(say_sequence);
	printf("TAP version 13\n1..1\n");
	for (sequence = first; sequence - first < count; sequence++) {
		if (seconds && !(sequence % 64) && time(NULL) >= end)
			break;
		one(object, work);
	}
	free(work);
	printf("# %u texts from %u on\n", sequence - first, first);
	if (!all_good(object) || __lsan_do_recoverable_leak_check()) {
		printf("not ok 1 ptx.fuzz_text\n");
		return 1;
	}
	printf("ok 1 ptx.fuzz_text\n");
	return 0;
}
