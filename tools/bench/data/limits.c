// SPDX-License-Identifier: MIT
/* The limits of the memory: the same streams as those of a bulk function, and no other work */
#include <immintrin.h>

#include "jobs.h"

/* Stores past the caches, as the STREAM benchmark has them, with the widest registers there are */
__attribute__((target("avx512f")))
static void write_512(unsigned char *to, size_t bytes)
{
	const __m512i value = _mm512_set1_epi8(1);
	size_t at;

	for (at = 0; at < bytes; at += 64)
		_mm512_stream_si512((void *)(to + at), value);
}

static void write_128(unsigned char *to, size_t bytes)
{
	const __m128i value = _mm_set1_epi8(1);
	size_t at;

	for (at = 0; at < bytes; at += 16)
		_mm_stream_si128((void *)(to + at), value);
}

void limit_write(struct part *part)
{
	bool wide = __builtin_cpu_supports("avx512f");
	unsigned int i;

	for (i = 0; i < part->view.replicas; i++)
		(wide ? write_512 : write_128)(part->view.replica[i], part->bytes);
	_mm_sfence();
}

/* A broadcast without choices: a register has what was read until it is in all replicas. */
__attribute__((target("avx512f")))
static void read_write_all_512(const struct part *part)
{
	size_t at;
	unsigned int i;

	for (at = 0; at < part->bytes; at += 64) {
		__m512i line = _mm512_load_si512(part->buffer + at);

		for (i = 0; i < part->view.replicas; i++)
			_mm512_stream_si512((void *)(part->view.replica[i] + at), line);
	}
}

static void read_write_all_128(const struct part *part)
{
	size_t at;
	unsigned int i, k;

	for (at = 0; at < part->bytes; at += 64) {
		__m128i line[4];

#pragma GCC unroll 4
		for (k = 0; k < 4; k++)
			line[k] = _mm_load_si128((void *)(part->buffer + at + 16 * k));
		for (i = 0; i < part->view.replicas; i++)
#pragma GCC unroll 4
			for (k = 0; k < 4; k++)
				_mm_stream_si128((void *)(part->view.replica[i] + at + 16 * k),
						 line[k]);
	}
}

void limit_read_write_all(struct part *part)
{
	(__builtin_cpu_supports("avx512f") ? read_write_all_512 : read_write_all_128)(part);
	_mm_sfence();
}

typedef long long words __attribute__((vector_size(64)));

/* Reads four lines of each replica at a time. The sum keeps the compiler from leaving reads out. */
__attribute__((target_clones("avx512f", "avx2", "default")))
static long long read_lines(const struct memcast_view *view, size_t from, size_t to)
{
	words seen[4] = {};
	unsigned int i, k;
	size_t at;

	for (at = from; at < to; at += 256)
		for (i = 0; i < view->replicas; i++) {
			const words *line = (const void *)(view->replica[i] + at);

#pragma GCC unroll 4
			for (k = 0; k < 4; k++)
				seen[k] |= line[k];
		}
	seen[0] |= seen[1] | seen[2] | seen[3];
	return seen[0][0] | seen[0][1] | seen[0][2] | seen[0][3] | seen[0][4] | seen[0][5] |
	       seen[0][6] | seen[0][7];
}

static volatile long long used;

void limit_read(struct part *part)
{
	used = read_lines(&part->view, 0, part->bytes);
}

/* Reads a line of each replica, and writes one line made of them past the caches */
__attribute__((target("avx512f")))
static void read_all_write_512(const struct part *part)
{
	size_t at;
	unsigned int i;

	for (at = 0; at < part->bytes; at += 64) {
		__m512i seen = _mm512_load_si512(part->view.replica[0] + at);

		for (i = 1; i < part->view.replicas; i++)
			seen = _mm512_or_si512(seen, _mm512_load_si512(part->view.replica[i] + at));
		_mm512_stream_si512((void *)(part->buffer + at), seen);
	}
}

static void read_all_write_128(const struct part *part)
{
	size_t at;
	unsigned int i;

	for (at = 0; at < part->bytes; at += 16) {
		__m128i seen = _mm_load_si128((void *)(part->view.replica[0] + at));

		for (i = 1; i < part->view.replicas; i++)
			seen = _mm_or_si128(seen,
					    _mm_load_si128((void *)(part->view.replica[i] + at)));
		_mm_stream_si128((void *)(part->buffer + at), seen);
	}
}

void limit_read_all_write(struct part *part)
{
	(__builtin_cpu_supports("avx512f") ? read_all_write_512 : read_all_write_128)(part);
	_mm_sfence();
}
