// SPDX-License-Identifier: MIT
/* What an instruction stores, by the tables of loads and stores in Arm's manual (A64). */
#include <string.h>

#include "fault/arm64/registers.h"
#include "trap.h"

#define BITS(word, first, count)	((word) >> (first) & ((1U << (count)) - 1))
#define SIGNED(word, first, count) \
	((int64_t)((uint64_t)(word) << (64 - (first) - (count))) >> (64 - (count)))
#define VECTOR(word)	BITS(word, 26, 1)
#define TAG		(0xffUL << 56)	/* of an address: the processor does not look at it */

/* Return: a register; number 31 is zero */
static uint64_t value_of(const ucontext_t *context, unsigned int number)
{
	return number == 31 ? 0 : context->uc_mcontext.regs[number];
}

static void take_base(struct trap_store *store, const ucontext_t *context, uint32_t word)
{
	store->base = BITS(word, 5, 5);
	store->address = store->base == TRAP_STACK ? context->uc_mcontext.sp :
						     context->uc_mcontext.regs[store->base];
}

static void move_base(struct trap_store *store, uint64_t moved)
{
	store->moves = true;
	store->moved = moved;
}

/* Appends so many bytes of a register to what is stored. Return: is it known? */
static bool append(struct trap_store *store, const ucontext_t *context, bool vector,
		   unsigned int number, size_t offset, size_t bytes)
{
	const struct fpsimd_context *vectors;
	uint64_t value;

	if (vector) {
		vectors = (const void *)fault_record(context, FPSIMD_MAGIC);
		if (!vectors)
			return false;
		memcpy(store->data + store->bytes,
		       (const char *)&vectors->vregs[number % 32] + offset, bytes);
	} else {
		value = value_of(context, number);
		memcpy(store->data + store->bytes, &value, bytes);
	}
	store->bytes += bytes;
	return true;
}

/* An index, extended as the instruction says it. Return: is it one that there is? */
static bool index_of(const ucontext_t *context, uint32_t word, unsigned int scale, int64_t *index)
{
	uint64_t value = value_of(context, BITS(word, 16, 5));

	switch (BITS(word, 13, 3)) {
	case 2:
		*index = (uint32_t)value;
		break;
	case 3:
	case 7:
		*index = value;
		break;
	case 6:
		*index = (int32_t)value;
		break;
	default:
		return false;
	}
	*index <<= BITS(word, 12, 1) ? scale : 0;
	return true;
}

/* str, strb, strh, stur */
static bool one(struct trap_store *store, const ucontext_t *context, uint32_t word)
{
	enum { UNSCALED, AFTER, UNPRIVILEGED, BEFORE };
	unsigned int size = BITS(word, 30, 2), operation = BITS(word, 22, 2);
	bool quad = VECTOR(word) && operation == 2 && !size;
	unsigned int scale = quad ? 4 : size;
	int64_t offset = SIGNED(word, 12, 9);

	if (operation && !quad)
		return false;
	take_base(store, context, word);
	if (BITS(word, 24, 1)) {
		store->address += (uint64_t)BITS(word, 10, 12) << scale;
	} else if (BITS(word, 21, 1)) {
		if (BITS(word, 10, 2) != 2 || !index_of(context, word, scale, &offset))
			return false;
		store->address += offset;
	} else {
		if (BITS(word, 10, 2) & AFTER)
			move_base(store, store->address + offset);
		if (BITS(word, 10, 2) != AFTER)
			store->address += offset;
	}
	store->width = 1U << scale;
	return append(store, context, VECTOR(word), BITS(word, 0, 5), 0, store->width);
}

/* stp, stnp */
static bool pair(struct trap_store *store, const ucontext_t *context, uint32_t word)
{
	enum { NOT_CACHED, AFTER, OFFSET, BEFORE };
	unsigned int size = BITS(word, 30, 2), mode = BITS(word, 23, 2);
	unsigned int scale = VECTOR(word) ? 2 + size : 2 + size / 2;
	int64_t offset = SIGNED(word, 15, 7) * (1 << scale);

	if (BITS(word, 22, 1) || size == 3 || (!VECTOR(word) && size == 1))
		return false;
	take_base(store, context, word);
	if (mode & AFTER)
		move_base(store, store->address + offset);
	if (mode != AFTER)
		store->address += offset;
	store->width = 1U << scale;
	if (!append(store, context, VECTOR(word), BITS(word, 0, 5), 0, store->width) ||
	    !append(store, context, VECTOR(word), BITS(word, 10, 5), 0, store->width))
		return false;
	/* Where it is aligned, a pair of general registers is one access (FEAT_LSE2). */
	if (!VECTOR(word) && store->address % store->bytes == 0)
		store->width = store->bytes;
	return true;
}

/* stlr, stllr, stlur */
static bool ordered(struct trap_store *store, const ucontext_t *context, uint32_t word)
{
	take_base(store, context, word);
	if (BITS(word, 24, 1))
		store->address += SIGNED(word, 12, 9);
	store->width = 1U << BITS(word, 30, 2);
	store->release = true;
	return append(store, context, false, BITS(word, 0, 5), 0, store->width);
}

/* Behind a structure's address register may come another one, or the bytes that are stored. */
static bool finish(struct trap_store *store, const ucontext_t *context, uint32_t word)
{
	unsigned int number = BITS(word, 16, 5);

	if (BITS(word, 23, 1))
		move_base(store, store->address + (number == 31 ? store->bytes :
						   context->uc_mcontext.regs[number]));
	return true;
}

/* st1 to st4 of whole vectors */
static bool structures(struct trap_store *store, const ucontext_t *context, uint32_t word)
{
	/* by opcode */
	static const struct {
		unsigned char registers, members;	/* in all, and of a structure */
	} kinds[16] = {
		[0] = { 4, 4 }, [2] = { 4, 1 }, [4] = { 3, 3 }, [6] = { 3, 1 }, [7] = { 1, 1 },
		[8] = { 2, 2 }, [10] = { 2, 1 },
	};
	unsigned int opcode = BITS(word, 12, 4), element = 1U << BITS(word, 10, 2);
	unsigned int bytes = BITS(word, 30, 1) ? 16 : 8, members = kinds[opcode].members;

	if (!members)
		return false;
	take_base(store, context, word);
	store->width = element;
	for (unsigned int first = 0; first < kinds[opcode].registers; first += members)
		for (unsigned int offset = 0; offset < bytes; offset += element)
			for (unsigned int i = 0; i < members; i++)
				if (!append(store, context, true, BITS(word, 0, 5) + first + i,
					    offset, element))
					return false;
	return finish(store, context, word);
}

/* st1 to st4 of one lane of each vector */
static bool lanes(struct trap_store *store, const ucontext_t *context, uint32_t word)
{
	unsigned int opcode = BITS(word, 13, 3), size = BITS(word, 10, 2), scale = opcode >> 1;
	unsigned int members = ((opcode & 1) << 1 | BITS(word, 21, 1)) + 1;
	unsigned int lane = BITS(word, 30, 1) << 3 | BITS(word, 12, 1) << 2 | size;

	if (scale == 2 && size & 1)
		scale = 3;
	if (scale > 3 || opcode > 5)
		return false;
	take_base(store, context, word);
	store->width = 1U << scale;
	for (unsigned int i = 0; i < members; i++)
		if (!append(store, context, true, BITS(word, 0, 5) + i,
			    (lane >> scale) << scale, store->width))
			return false;
	return finish(store, context, word);
}

/* Return: the record of scalable vectors, or NULL. A long one lies behind the context. */
static const struct sve_context *scalable_vectors(const ucontext_t *context)
{
	const struct sve_context *found = (const void *)fault_record(context, SVE_MAGIC);
	const struct extra_context *extra = (const void *)fault_record(context, EXTRA_MAGIC);

	if (!found && extra)
		found = (const void *)extra->datap;
	if (!found || found->head.magic != SVE_MAGIC || found->vl > TRAP_LARGEST ||
	    found->head.size < SVE_SIG_CONTEXT_SIZE(sve_vq_from_vl(found->vl)))
		return NULL;
	return found;
}

/* str of a scalable vector */
static bool whole(struct trap_store *store, const ucontext_t *context, uint32_t word)
{
	const struct sve_context *vectors = scalable_vectors(context);
	int64_t index = SIGNED(word, 16, 6) * 8 + BITS(word, 10, 3);

	if (!vectors)
		return false;
	take_base(store, context, word);
	store->address += index * vectors->vl;
	store->width = 16;
	store->bytes = vectors->vl;
	memcpy(store->data, (const char *)vectors +
	       SVE_SIG_ZREG_OFFSET(sve_vq_from_vl(vectors->vl), BITS(word, 0, 5)), store->bytes);
	return true;
}

/* st1b, st1h, st1w, st1d: the low bytes of the lanes that a predicate chooses */
static bool chosen(struct trap_store *store, const ucontext_t *context, uint32_t word)
{
	const struct sve_context *vectors = scalable_vectors(context);
	unsigned int step = 1U << BITS(word, 21, 2), vq, lanes;
	const unsigned char *vector, *predicate;

	store->width = 1U << BITS(word, 23, 2);
	if (!vectors || step < store->width)
		return false;
	vq = sve_vq_from_vl(vectors->vl);
	vector = (const unsigned char *)vectors + SVE_SIG_ZREG_OFFSET(vq, BITS(word, 0, 5));
	predicate = (const unsigned char *)vectors + SVE_SIG_PREG_OFFSET(vq, BITS(word, 10, 3));
	lanes = vectors->vl / step;
	store->bytes = lanes * store->width;
	take_base(store, context, word);
	store->address += BITS(word, 15, 1) ? SIGNED(word, 16, 4) * store->bytes :
					      value_of(context, BITS(word, 16, 5)) * store->width;
	for (unsigned int i = 0; i < lanes; i++) {
		memcpy(store->data + i * store->width, vector + i * step, store->width);
		store->left_out[i] = !(predicate[i * step / 8] >> i * step % 8 & 1);
	}
	return true;
}

/* dc zva */
static bool zero_block(struct trap_store *store, const ucontext_t *context, uint32_t word)
{
	uint64_t block;

	__asm__("mrs %0, dczid_el0" : "=r" (block));
	store->bytes = 4UL << (block & 15);
	store->address = value_of(context, BITS(word, 0, 5)) & -store->bytes;
	store->width = 4;
	store->zeros = true;
	return true;
}

const char *trap_decode(struct trap_store *store, const ucontext_t *context, uint32_t word)
{
	static const struct {
		uint32_t mask, bits;
		bool (*decode)(struct trap_store *store, const ucontext_t *context, uint32_t word);
	} groups[] = {
		{ 0x3a000000, 0x38000000, one },
		{ 0x3a000000, 0x28000000, pair },
		{ 0x3fe00000, 0x08800000, ordered },
		{ 0x3fe00c00, 0x19000000, ordered },
		{ 0xbf600000, 0x0c000000, structures },
		{ 0xbf400000, 0x0d000000, lanes },
		{ 0xffc0e000, 0xe5804000, whole },
		{ 0xfe10e000, 0xe400e000, chosen },
		{ 0xfe00e000, 0xe4004000, chosen },
		{ 0xffffffe0, 0xd50b7420, zero_block },
	};

	memset(store, 0, sizeof(*store));
	for (unsigned int i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		if ((word & groups[i].mask) != groups[i].bits)
			continue;
		if (!groups[i].decode(store, context, word))
			break;
		store->address &= ~TAG;
		return NULL;
	}
	return "it is none of str, stp, stlr, st1 to st4, st1b to st1d and dc zva";
}
