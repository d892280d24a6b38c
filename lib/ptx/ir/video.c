// SPDX-License-Identifier: MIT
/* Video instructions: what they do becomes a number for a function of lib/ptx/math. */
#include <string.h>

#include "instructions.h"
#include "ir.h"
#include "ptx/math/ptx_math.h"

static enum video_operation operation_of(const struct word *name)
{
	static const struct {
		const char *name;
		enum video_operation operation;
	} operations[] = {
		{ "vadd", VIDEO_ADD }, { "vsub", VIDEO_SUB }, { "vabsdiff", VIDEO_ABSDIFF },
		{ "vmin", VIDEO_MIN }, { "vmax", VIDEO_MAX }, { "vshl", VIDEO_SHL },
		{ "vshr", VIDEO_SHR }, { "vmad", VIDEO_MAD }, { "vset", VIDEO_SET },
		{ "vavrg", VIDEO_AVRG },
	};
	size_t length = name->length;

	if (name->at[length - 1] == '2' || name->at[length - 1] == '4')
		length--;
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (strlen(operations[i].name) == length &&
		    !memcmp(operations[i].name, name->at, length))
			return operations[i].operation;
	return VIDEO_ADD;
}

/* .b0 to .b3: 1 to 4; .h0, .h1: 5, 6 */
static uint32_t part_of(struct translator *t, const struct operand *operand)
{
	const struct word *part = &operand->part;

	if (!part->length)
		return 0;
	if (part->length == 3 && part->at[1] == 'b' && part->at[2] >= '0' && part->at[2] <= '3')
		return 1 + part->at[2] - '0';
	if (part->length == 3 && part->at[1] == 'h' && (part->at[2] == '0' || part->at[2] == '1'))
		return 5 + part->at[2] - '0';
	unsupported(t);
	return 0;
}

static LLVMValueRef plain(struct translator *t, const struct operand *operand)
{
	struct operand copy = *operand;

	copy.part.length = 0;
	copy.negated = false;
	return get(t, &copy, TYPE_B32);
}

static LLVMValueRef packed(struct translator *t, const struct video *video)
{
	uint64_t word = 0;

	memcpy(&word, video, sizeof(word));
	return constant(t, 64, word);
}

static uint32_t comparing(struct translator *t)
{
	static const enum modifier list[] = { MOD_eq, MOD_ne, MOD_lt, MOD_le, MOD_gt, MOD_ge };

	for (uint32_t i = 0; i < ARRAY_SIZE(list); i++)
		if (has(t, list[i]))
			return i;
	unsupported(t);
	return 0;
}

static void take(struct translator *t, struct video *video)
{
	bool set;

	*video = (struct video) { .operation = operation_of(&t->at->name) };
	set = video->operation == VIDEO_SET;
	video->d_signed = !set && type_is(type_at(t, 0), KIND_SIGNED);
	video->a_signed = type_is(type_at(t, set ? 0 : 1), KIND_SIGNED);
	video->b_signed = type_is(type_at(t, set ? 1 : 2), KIND_SIGNED);
	video->saturate = has(t, MOD_sat);
	video->second = has(t, MOD_add) ? VIDEO_THEN_ADD : has(t, MOD_min) ? VIDEO_THEN_MIN :
			has(t, MOD_max) ? VIDEO_THEN_MAX : VIDEO_ONLY;
	if (set)
		video->compare = comparing(t);
}

void translate_video(struct translator *t)
{
	struct operand *a = operand(t, 1), *b = operand(t, 2), *c = operand(t, 3);
	struct operand to = *operand(t, 0);
	bool three = t->at->operands_count > 3;
	struct video video;

	take(t, &video);
	video.a_part = part_of(t, a);
	video.b_part = part_of(t, b);
	video.d_part = part_of(t, &to);
	video.wrap = has(t, MOD_wrap);
	has(t, MOD_clamp);
	video.right = has(t, MOD_shr7) ? 7 : has(t, MOD_shr15) ? 15 : 0;
	video.plus_one = has(t, MOD_po);
	video.negate_product = a->negated ^ b->negated;
	video.negate_c = three && c->negated;
	to.part.length = 0;
	put(t, &to, call_math(t, "video", plain(t, a), plain(t, b),
			      three ? plain(t, c) : constant(t, 32, 0), packed(t,
									       &video)), TYPE_B32);
}

/* .h10 or .b3210, the highest lane first: the number of each result's operand lane */
static uint64_t selected(struct translator *t, const struct operand *operand, uint32_t lanes,
			 uint32_t first)
{
	const struct word *part = &operand->part;
	uint64_t select = 0;

	for (uint32_t i = 0; i < lanes; i++) {
		uint32_t number = first + i;

		if (part->length) {
			if (part->length != 2 + lanes)
				unsupported(t);
			else
				number = part->at[part->length - 1 - i] - '0';
		}
		select |= (uint64_t)(number & 7) << 3 * i;
	}
	return select;
}

static uint32_t mask_of(const struct operand *operand, uint32_t lanes)
{
	uint32_t mask = 0;

	for (size_t i = 2; i < operand->part.length; i++)
		mask |= 1U << ((operand->part.at[i] - '0') & 3);
	return mask ? mask : (1U << lanes) - 1;
}

void translate_video_simd(struct translator *t)
{
	struct operand *a = operand(t, 1), *b = operand(t, 2), to = *operand(t, 0);
	struct video video;

	take(t, &video);
	video.lanes = t->at->name.at[t->at->name.length - 1] - '0';
	video.mask = mask_of(&to, video.lanes);
	video.a_select = selected(t, a, video.lanes, 0);
	video.b_select = selected(t, b, video.lanes, video.lanes == 2 ? 2 : 4);
	to.part.length = 0;
	put(t, &to, call_math(t, "video_simd", plain(t, a), plain(t, b), plain(t, operand(t, 3)),
			      packed(t, &video)), TYPE_B32);
}
