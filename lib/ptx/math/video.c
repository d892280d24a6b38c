// SPDX-License-Identifier: MIT
/* Video instructions, on one value or on lanes of 16 or 8 bits. */
#include "ptx_math.h"

static struct video unpack(uint64_t word)
{
	struct video video;

	memcpy(&video, &word, sizeof(video));
	return video;
}

/* Return: a part of a value: 0: all of it, 1 to 4: a byte, 5 and 6: a half */
static int64_t part_of(uint32_t value, uint32_t part, bool is_signed)
{
	if (!part)
		return is_signed ? (int64_t)(int32_t)value : value;
	if (part < 5) {
		uint8_t byte = value >> 8 * (part - 1);

		return is_signed ? (int8_t)byte : byte;
	}
	uint16_t half = value >> 16 * (part - 5);

	return is_signed ? (int16_t)half : half;
}

static bool compares(int64_t a, int64_t b, uint32_t how)
{
	switch (how) {
	case 0: return a == b;
	case 1: return a != b;
	case 2: return a < b;
	case 3: return a <= b;
	case 4: return a > b;
	default: return a >= b;
	}
}

static int64_t operate(const struct video *video, int64_t a, int64_t b)
{
	uint64_t count = b;

	switch (video->operation) {
	case VIDEO_ADD: return a + b;
	case VIDEO_SUB: return a - b;
	case VIDEO_ABSDIFF: return a < b ? b - a : a - b;
	case VIDEO_MIN: return a < b ? a : b;
	case VIDEO_MAX: return a > b ? a : b;
	case VIDEO_SHL:
		count = video->wrap ? count & 31 : count > 32 ? 32 : count;
		return (int64_t)((uint64_t)a << count << 30) >> 30;	/* 34 bits are kept */
	case VIDEO_SHR:
		count = video->wrap ? count & 31 : count > 32 ? 32 : count;
		return a >> count;
	case VIDEO_SET: return compares(a, b, video->compare);
	case VIDEO_AVRG: return (a + b + (a + b >= 0)) >> 1;
	default: return 0;
	}
}

static int64_t clamp(int64_t value, uint32_t bits, bool is_signed)
{
	int64_t most = is_signed ? (1LL << (bits - 1)) - 1 : (1LL << bits) - 1;
	int64_t least = is_signed ? -(1LL << (bits - 1)) : 0;

	return value < least ? least : value > most ? most : value;
}

/* Whole operands are signed here, whatever the types say, and c always is. */
static uint32_t multiply(const struct video *video, int64_t a, int64_t b, uint32_t c)
{
	__int128 wide = (__int128)(video->a_part ? a : (int32_t)a) *
			(video->b_part ? b : (int32_t)b);
	int64_t addend = (int32_t)c, result;
	bool no_sign = !video->a_signed && !video->b_signed;

	if (video->negate_product)
		wide = -wide;
	if (video->negate_c)
		addend = -addend;
	result = wide + addend + video->plus_one;
	if (video->saturate && no_sign) {	/* whatever d is */
		result = video->right ? (int64_t)((uint64_t)result >> video->right) : result;
		return clamp(result, 32, false);
	}
	result >>= video->right;
	return video->saturate ? clamp(result, 32, video->d_signed) : result;
}

/*
 * The second operation of an unsigned sum sees it as the greater one if its top bit is set; that
 * of a signed distance sees all of its 33 bits.
 */
static uint32_t second(const struct video *video, int64_t value, uint32_t c)
{
	uint32_t first = value;
	bool less = first < c;

	if (video->d_signed)
		less = (video->operation == VIDEO_ABSDIFF ? value : (int32_t)first) < (int32_t)c;
	else if (video->operation == VIDEO_ADD || video->operation == VIDEO_SUB)
		less = first >> 31 ? false : less;
	switch (video->second) {
	case VIDEO_THEN_ADD: return first + c;
	case VIDEO_THEN_MIN: return less ? first : c;
	case VIDEO_THEN_MAX: return less ? c : first;
	default: return first;
	}
}

/* A result of 32 bits; of mixed signs, an unsigned one only saturates at 0. */
static int64_t saturated(const struct video *video, int64_t value)
{
	if (!video->saturate)
		return value;
	if (!video->d_signed && video->a_signed != video->b_signed && value > 0 &&
	    video->operation < VIDEO_MIN)
		return value;
	return clamp(value, 32, video->d_signed);
}

uint32_t ptx_math_video(uint32_t a, uint32_t b, uint32_t c, uint64_t what)
{
	struct video video = unpack(what);
	int64_t x = part_of(a, video.a_part, video.a_signed);
	int64_t y = part_of(b, video.b_part, video.b_signed), result;
	uint32_t bits = video.d_part < 5 ? 8 : 16, mask, most;
	uint32_t at = video.d_part < 5 ? 8 * (video.d_part - 1) : 16 * (video.d_part - 5);
	bool shifts = video.operation == VIDEO_SHL || video.operation == VIDEO_SHR;

	if (video.operation == VIDEO_MAD)
		return multiply(&video, x, y, c);
	result = operate(&video, x, y);
	if (!video.d_part)
		return second(&video, saturated(&video, result), c);
	/* a part of d takes the same part of the result; or, saturated as unsigned, all of it */
	mask = ((1U << bits) - 1) << at;
	if (video.saturate && !shifts) {
		most = (1U << (bits - video.d_signed)) - 1;
		result = ((uint64_t)result < most ? (uint64_t)result : most) << at;
	} else if (shifts) {
		result = saturated(&video, result);
	} else if (video.operation == VIDEO_SET) {
		result <<= at;
	}
	return ((uint32_t)result & mask) | (c & ~mask);
}

/* Lanes: a number of three bits picks each operand's lane from those of a and b. */
static int64_t lane_of(uint32_t a, uint32_t b, uint32_t lanes, uint32_t number, bool is_signed)
{
	uint64_t both = (uint64_t)b << 32 | a;
	uint32_t width = 32 / lanes;
	uint32_t bits = both >> width * number & ((1U << width) - 1);

	return is_signed ? (int32_t)(bits << (32 - width)) >> (32 - width) : (int32_t)bits;
}

uint32_t ptx_math_video_simd(uint32_t a, uint32_t b, uint32_t c, uint64_t what)
{
	struct video video = unpack(what);
	uint32_t width = 32 / video.lanes, sum = 0, result = 0;

	for (uint32_t i = 0; i < video.lanes; i++) {
		uint32_t lane_mask = ((1U << width) - 1) << width * i;
		int64_t x = lane_of(a, b, video.lanes, video.a_select >> 3 * i & 7, video.a_signed);
		int64_t y = lane_of(a, b, video.lanes, video.b_select >> 3 * i & 7, video.b_signed);
		int64_t value = operate(&video, x, y);

		if (!(video.mask >> i & 1)) {
			result |= c & lane_mask;
			continue;
		}
		if (video.saturate)
			value = clamp(value, width, video.d_signed);
		sum += (uint32_t)value;
		result |= (uint32_t)value << width * i & lane_mask;
	}
	return video.second == VIDEO_THEN_ADD ? sum + c : result;
}
