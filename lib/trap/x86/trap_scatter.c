// SPDX-License-Identifier: MIT
/*
 * Scatters: a store per element, the lowest first; the element's mask bit is cleared when its store
 * is done. The processor does the same, so after a fault the mask says which elements are left.
 * Elements outside windows are ordinary stores.
 *
 * A signal handler finds the vectors in the state that xsave has left.
 */
#include <cpuid.h>
#include <string.h>

#include "trap.h"

/* Numbers of the components of xsave's state */
enum { XMM = 1, YMM_HIGH, MASKS = 5, ZMM_HIGH, ZMM_MORE, STATES };

static unsigned int offset_of[STATES] = { [XMM] = 160 };

void trap_scatter_init(void)
{
	unsigned int a, b, c, d;

	for (unsigned int i = YMM_HIGH; i < STATES; i++)
		if (__get_cpuid_count(0xd, i, &a, &b, &c, &d))
			offset_of[i] = b;
}

/* Reads a component of the registers. In its initial state it is not in the frame: it reads 0. */
static void state_get(const struct trap *trap, unsigned int state, unsigned int number,
		      void *to, size_t bytes)
{
	const unsigned char *all = (const void *)trap->context->uc_mcontext.fpregs;
	uint64_t present;

	memcpy(&present, all + 512, sizeof(present));
	memset(to, 0, bytes);
	if (present >> state & 1)
		memcpy(to, all + offset_of[state] + number * bytes, bytes);
}

static void vector_get(const struct trap *trap, ZydisRegister reg, unsigned char *vector)
{
	unsigned int number = ZydisRegisterGetId(reg);

	if (number >= 16) {
		state_get(trap, ZMM_MORE, number - 16, vector, 64);
		return;
	}
	state_get(trap, XMM, number, vector, 16);
	state_get(trap, YMM_HIGH, number, vector + 16, 16);
	state_get(trap, ZMM_HIGH, number, vector + 32, 32);
}

/*
 * Writes a mask register. It had a bit set, so it was not in its initial state: the frame has
 * it.
 */
static void mask_set(struct trap *trap, unsigned int number, uint64_t mask)
{
	unsigned char *all = (void *)trap->context->uc_mcontext.fpregs;

	memcpy(all + offset_of[MASKS] + number * sizeof(mask), &mask, sizeof(mask));
}

/* Return: an index, which is signed and has 4 or 8 bytes. */
static int64_t index_at(const unsigned char *vector, unsigned int i, unsigned int width)
{
	int64_t wide;
	int32_t narrow;

	memcpy(&narrow, vector + i * width, sizeof(narrow));
	if (width == sizeof(narrow))
		return narrow;
	memcpy(&wide, vector + i * width, sizeof(wide));
	return wide;
}

/* Return: the result of the first element that failed; its mask bit is still set. */
enum trap_result trap_scatter(struct trap *trap)
{
	const struct trap_op *op = &trap->op;
	const ZydisDecodedOperandMem *memory = &op->operand[0].mem;
	unsigned int data_width = op->bytes, index_width = op->instruction.opcode & 1 ? 8 : 4;
	unsigned int number = ZydisRegisterGetId(op->instruction.avx.mask.reg);
	unsigned int elements = op->instruction.avx.vector_length / 8 /
				(data_width > index_width ? data_width : index_width);
	/* the base and the displacement; each element has its own index */
	uint64_t base = op->address - op->target_base, mask;
	unsigned char data[64], index[64];
	enum trap_result result = TRAP_DONE;

	state_get(trap, MASKS, number, &mask, sizeof(mask));
	vector_get(trap, op->operand[2].reg.value, data);
	vector_get(trap, memory->index, index);
	for (unsigned int i = 0; i < elements && result == TRAP_DONE; i++) {
		uint64_t address = base + index_at(index, i, index_width) * memory->scale;
		uint64_t value = 0;

		if (!(mask >> i & 1))
			continue;
		memcpy(&value, data + i * data_width, data_width);
		result = trap_store_value(trap, (address & op->count_mask) + op->target_base,
					  value);
		if (result == TRAP_DONE)
			mask &= ~(1ULL << i);
	}
	mask_set(trap, number, result == TRAP_DONE ? 0 : mask);
	if (result == TRAP_DONE)
		trap->context->uc_mcontext.gregs[REG_RIP] += op->instruction.length;
	return result;
}
