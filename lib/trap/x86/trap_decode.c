// SPDX-License-Identifier: MIT
/*
 * Finds the operand that an instruction writes, and makes an instruction with that operand at an
 * address in a register: prefixes of segment and address size are dropped, ModRM is rewritten, SIB
 * and displacement are dropped. All other bytes stay.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <asm/prctl.h>

#include "trap.h"

#define MAX_LENGTH	15

static ZydisDecoder decoder;

static const unsigned char order[REGISTERS] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

void trap_registers_get(const ucontext_t *context, uint64_t *reg)
{
	for (unsigned int i = 0; i < REGISTERS; i++)
		reg[i] = context->uc_mcontext.gregs[order[i]];
}

void trap_registers_set(ucontext_t *context, const uint64_t *reg)
{
	for (unsigned int i = 0; i < REGISTERS; i++)
		context->uc_mcontext.gregs[order[i]] = reg[i];
}

void trap_init_decoder(void)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

/* Reads an instruction, which may end where readable memory ends. Return: is it one? */
bool trap_read(struct trap_op *op, uintptr_t rip)
{
	unsigned char bytes[MAX_LENGTH];
	struct trap_fault fault;
	size_t length = trap_copy(bytes, (const void *)rip, sizeof(bytes), 1, &fault);

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, length, &op->instruction,
					       op->operand)))
		return false;
	memcpy(op->code, bytes, op->instruction.length);
	return true;
}

/* Return: the number of a general register, whatever its width; -1: another register. */
static int number_of(ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8:
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		reg = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
		return ZydisRegisterGetId(reg);
	default:
		return -1;
	}
}

static uint64_t value_of(ZydisRegister reg, const uint64_t *regs, uintptr_t next)
{
	int number = number_of(reg);

	if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
		return next;
	return number < 0 ? 0 : regs[number];
}

static uint64_t segment_base(ZydisRegister segment)
{
	unsigned long base = 0;

	if (segment == ZYDIS_REGISTER_FS)
		syscall(SYS_arch_prctl, ARCH_GET_FS, &base);
	else if (segment == ZYDIS_REGISTER_GS)
		syscall(SYS_arch_prctl, ARCH_GET_GS, &base);
	return base;
}

static uint64_t address_of(const struct trap_op *op, const ZydisDecodedOperandMem *memory,
			   const uint64_t *regs, uintptr_t next)
{
	uint64_t address = memory->disp.value + value_of(memory->base, regs, next) +
			   value_of(memory->index, regs, next) * memory->scale;

	return (address & op->count_mask) + segment_base(memory->segment);
}

/* Return: is a prefix dropped? A REX before another prefix has no effect, and is dropped too. */
static bool drops(const ZydisDecodedInstruction *instruction, unsigned int at,
		  unsigned char prefix)
{
	if ((prefix & 0xf0) == 0x40)
		return !(instruction->attributes & ZYDIS_ATTRIB_HAS_REX) ||
		       at != instruction->raw.rex.offset;
	switch (prefix) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0x67:
		return true;
	default:
		return false;
	}
}

/*
 * Return: a prefix byte without the bits that extend base and index (set in VEX: it inverts
 * them).
 */
static unsigned char without_extension(const ZydisDecodedInstruction *instruction,
				       unsigned int at, unsigned char byte)
{
	const ZydisDecodedInstructionRaw *raw = &instruction->raw;

	switch (instruction->encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_XOP:
		return at == raw->xop.offset + 1U ? byte | 0x60 : byte;
	case ZYDIS_INSTRUCTION_ENCODING_VEX:
		return raw->vex.size == 3 && at == raw->vex.offset + 1U ? byte | 0x60 : byte;
	case ZYDIS_INSTRUCTION_ENCODING_EVEX:
		return at == raw->evex.offset + 1U ? byte | 0x60 : byte;
	default:
		return instruction->attributes & ZYDIS_ATTRIB_HAS_REX &&
		       at == raw->rex.offset ? byte & ~0x03 : byte;
	}
}

/* Rewrites the instruction in place; it only gets shorter. */
static bool rewrite(struct trap_op *op)
{
	const ZydisDecodedInstruction *instruction = &op->instruction;
	const ZydisDecodedInstructionRaw *raw = &instruction->raw;
	bool implicit = !(instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM) ||
			raw->modrm.mod == 3;
	unsigned int head = implicit ? instruction->length : raw->modrm.offset;
	bool at_constant = implicit && (instruction->opcode & 0xfe) == 0xa2 &&
			   instruction->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
	unsigned int from, to = 0, reg;

	if (at_constant)
		head -= 8 - (instruction->address_width == 32 ? 4 : 0);
	for (from = 0; from < head; from++) {
		unsigned char byte = op->code[from];

		if (from < raw->prefix_count && drops(instruction, from, byte))
			continue;
		op->code[to++] = implicit ? byte : without_extension(instruction, from, byte);
	}
	op->length = to;
	if (at_constant) {
		/* mov %rax to an absolute address becomes an ordinary mov: a2 becomes 88 */
		op->code[to - 1] -= 0xa2 - 0x88;
		op->code[op->length++] = op->base;
		return true;
	}
	if (implicit)
		return op->base == RDI;
	reg = op->stack < 0 ? raw->modrm.reg & 7U : (unsigned int)op->stack;
	op->code[op->length++] = reg << 3 | op->base;
	from = raw->modrm.offset + 1 + (raw->modrm.rm == 4) + raw->disp.size / 8;
	for (; from < instruction->length; from++)
		op->code[op->length++] = op->code[from];
	return true;
}

/* Takes note of an operand's register. Return: why it prevents a run, or NULL. */
static const char *look_at_register(struct trap_op *op, const ZydisDecodedOperand *operand,
				    unsigned int *used)
{
	int number = number_of(operand->reg.value);

	switch (ZydisRegisterGetClass(operand->reg.value)) {
	case ZYDIS_REGCLASS_FLAGS:
	case ZYDIS_REGCLASS_IP:
	case ZYDIS_REGCLASS_SEGMENT:
	case ZYDIS_REGCLASS_TABLE:
		return NULL;
	case ZYDIS_REGCLASS_TMM:
	case ZYDIS_REGCLASS_BOUND:
		return "such registers are not saved for a signal handler";
	case ZYDIS_REGCLASS_X87:
	case ZYDIS_REGCLASS_MMX:
		op->changes_vector = true;
		break;
	default:
		break;
	}
	if (number < 0) {
		op->vector = true;
		return NULL;
	}
	*used |= 1U << number;
	if (number == RSP && op->kind == TRAP_REPLAY) {
		if (operand->encoding != ZYDIS_OPERAND_ENCODING_MODRM_REG)
			return "it uses the stack";
		op->stack = 0;
	}
	return NULL;
}

static bool is_string(const ZydisDecodedInstruction *instruction, unsigned char opcode)
{
	return instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	       instruction->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	       (instruction->opcode & 0xfe) == opcode;
}

static enum trap_kind kind_of(const ZydisDecodedInstruction *instruction)
{
	if (is_string(instruction, 0xa4))
		return TRAP_MOVS;
	if (is_string(instruction, 0xaa))
		return TRAP_STOS;
	if (instruction->meta.category == ZYDIS_CATEGORY_SCATTER)
		return TRAP_SCATTER;
	return instruction->mnemonic == ZYDIS_MNEMONIC_POP ? TRAP_POP : TRAP_REPLAY;
}

/*
 * Return: the offset of the word that a bit instruction writes: a bit's number may reach beyond
 * the operand.
 */
static ptrdiff_t lead_of(const struct trap_op *op, const uint64_t *regs)
{
	const ZydisDecodedOperand *bit = &op->operand[1];
	int64_t number;

	switch (op->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
		break;
	default:
		return 0;
	}
	if (bit->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return 0;
	number = regs[number_of(bit->reg.value)];
	if (op->bytes == 2)
		number = (int16_t)number;
	else if (op->bytes == 4)
		number = (int32_t)number;
	return (number >> (3 + __builtin_ctzl(op->bytes))) * (long)op->bytes;
}

static int choose(unsigned int *used)
{
	/* other registers need another byte, or have another meaning in ModRM */
	static const unsigned char usable[] = { RDI, RSI, RDX, RCX, RBX, RAX };

	for (unsigned int i = 0; i < sizeof(usable); i++)
		if (!(*used >> usable[i] & 1)) {
			*used |= 1U << usable[i];
			return usable[i];
		}
	return -1;
}

/* Return: the operand that is written; or NULL, and in *@why why the store cannot be done. */
static const ZydisDecodedOperand *find_written(struct trap_op *op, unsigned int *used,
					       const char **why)
{
	const ZydisDecodedOperand *found = NULL;
	unsigned int memories = 0;

	*why = NULL;
	for (unsigned int i = 0; i < op->instruction.operand_count && !*why; i++) {
		const ZydisDecodedOperand *operand = &op->operand[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
			*why = look_at_register(op, operand, used);
		if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		memories++;
		if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		found = operand;
		if (operand->mem.type != (op->kind == TRAP_SCATTER ? ZYDIS_MEMOP_TYPE_VSIB :
							      ZYDIS_MEMOP_TYPE_MEM))
			*why = "it has several addresses";
	}
	if (!*why && !found)
		*why = "it writes no memory";
	if (!*why && memories > 1 && op->kind == TRAP_REPLAY)
		*why = "it uses memory in two places";
	return *why ? NULL : found;
}

static const char *refused(const ZydisDecodedInstruction *instruction)
{
	if (instruction->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE)
		return "it jumps";
	switch (instruction->meta.isa_ext) {
	case ZYDIS_ISA_EXT_XSAVE:
	case ZYDIS_ISA_EXT_XSAVEC:
	case ZYDIS_ISA_EXT_XSAVEOPT:
	case ZYDIS_ISA_EXT_XSAVES:
		return "it saves more than a signal handler can have";
	default:
		return NULL;
	}
}

static const char *decode_replay(struct trap_op *op, unsigned int used)
{
	int base = choose(&used), stack = op->stack < 0 ? -1 : choose(&used);

	op->base = base;
	op->stack = stack;
	if (op->instruction.meta.isa_ext == ZYDIS_ISA_EXT_X87)
		op->vector = op->changes_vector = true;
	if (op->instruction.mnemonic == ZYDIS_MNEMONIC_VCVTPS2PH)
		op->changes_vector = true;
	if (op->instruction.mnemonic == ZYDIS_MNEMONIC_FXSAVE ||
	    op->instruction.mnemonic == ZYDIS_MNEMONIC_FXSAVE64)
		op->vector = true;
	return base >= 0 && rewrite(op) ? NULL : "it needs every register";
}

static void mov_of_accumulator(struct trap_op *op)
{
	op->vector = false;
	op->length = 0;
	op->base = RDI;
	if (op->bytes == 2)
		op->code[op->length++] = 0x66;
	if (op->bytes == 8)
		op->code[op->length++] = 0x48;
	op->code[op->length++] = op->bytes == 1 ? 0x88 : 0x89;
	op->code[op->length++] = RAX << 3 | RDI;
}

/**
 * trap_decode() - find out what an instruction writes
 * @op: as trap_read() left it; output
 * @regs: the program's registers
 * @rip: the instruction's address
 *
 * Return: NULL, or why the instruction cannot be run at another address.
 */
const char *trap_decode(struct trap_op *op, const uint64_t *regs, uintptr_t rip)
{
	const ZydisDecodedInstruction *instruction = &op->instruction;
	const ZydisDecodedOperand *written;
	const char *why = refused(instruction);
	unsigned int used = 0;

	op->kind = kind_of(instruction);
	op->stack = -1;
	op->lead = 0;
	op->vector = op->changes_vector = op->rep = false;
	op->count_mask = instruction->address_width == 64 ? ~0ULL : ~0U;
	if (why)
		return why;
	written = find_written(op, &used, &why);
	if (why)
		return why;
	op->bytes = op->kind == TRAP_SCATTER ? written->element_size / 8 : written->size / 8;
	op->reads = written->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	op->locked = instruction->attributes & ZYDIS_ATTRIB_HAS_LOCK ||
		     instruction->mnemonic == ZYDIS_MNEMONIC_XCHG;
	op->target_base = segment_base(written->mem.segment);
	op->address = address_of(op, &written->mem, regs, rip + instruction->length);
	if (op->kind == TRAP_REPLAY) {
		op->lead = lead_of(op, regs);
		op->address += op->lead;
		return decode_replay(op, used);
	}
	for (unsigned int i = 0; i < instruction->raw.prefix_count; i++)
		op->rep |= op->code[i] == 0xf3 || op->code[i] == 0xf2;
	op->source_base = op->kind == TRAP_MOVS ? segment_base(op->operand[1].mem.segment) : 0;
	/* The processor computes the address after the pop has moved the stack pointer. */
	if (op->kind == TRAP_POP && number_of(written->mem.base) == RSP)
		op->address += op->bytes;
	mov_of_accumulator(op);
	return NULL;
}
