// SPDX-License-Identifier: MIT
/*
 * Loads, stores and fences. Weak accesses are plain ones; relaxed and volatile ones are atomic to
 * LLVM, or volatile where they have more than 64 bits: processors with AVX do these at once, those of
 * arm64 64 bits at once, which is what NCCL's LL needs; for emulated ones, see may_be_halved().
 */
#include "instructions.h"
#include "ir.h"
#include "processor.h"

/* What caches are to do: results are the same */
static const enum modifier hints[] = {
	MOD_ca, MOD_cg, MOD_cs, MOD_lu, MOD_cv, MOD_wb, MOD_wt, MOD_nc, MOD_weak,
	MOD_L1__evict_first, MOD_L1__evict_last, MOD_L1__evict_normal, MOD_L1__evict_unchanged,
	MOD_L1__no_allocate, MOD_L2__128B, MOD_L2__256B, MOD_L2__64B, MOD_L2__cache_hint,
	MOD_L2__evict_first, MOD_L2__evict_last, MOD_L2__evict_normal,
	/* all scopes are that of the system */
	MOD_cta, MOD_cluster, MOD_gpu, MOD_sys,
};

struct access {
	enum space space;
	enum type type;
	uint32_t count, bytes;		/* elements; bytes of all */
	bool strong, is_volatile, acquire, release;
	bool from_memory;		/* .cg, .cv: programs poll by such loads, too */
};

static bool access_of(struct translator *t, struct access *access)
{
	*access = (struct access) { .type = type_at(t, t->types_count ? t->types_count - 1 : 0),
				    .count = 1 };
	access->space = space_of_modifiers(t);
	access->from_memory = has(t, MOD_cg) | has(t, MOD_cv);
	has_any(t, hints, ARRAY_SIZE(hints));
	if (has(t, MOD_v2))
		access->count = 2;
	if (has(t, MOD_v4))
		access->count = 4;
	if (has(t, MOD_v8))
		access->count = 8;
	access->is_volatile = has(t, MOD_volatile);
	access->acquire = has(t, MOD_acquire);
	access->release = has(t, MOD_release);
	access->strong = has(t, MOD_relaxed) | has(t, MOD_mmio) | access->is_volatile |
			 access->acquire | access->release;
	access->bytes = access->count * (type_bits(access->type) / 8);
	if (!access->bytes || access->bytes > 32 || t->types_count != 1) {
		unsupported(t);
		return false;
	}
	return true;
}

/* Vectors are one access of integers. */
static LLVMTypeRef access_type(struct translator *t, const struct access *access)
{
	uint32_t bits = type_bits(access->type);

	if (bits == 128)
		return LLVMVectorType(t->i64, 2);
	return access->count > 1 ? LLVMVectorType(int_type(t, bits), access->count) :
				   int_type(t, bits);
}

/*
 * In a loop over threads an access comes before its address is found to be misaligned. x86-64 has
 * instructions that fault at such an address of 16 bytes, so LLVM is told less.
 */
uint32_t promised_align(const struct translator *t, uint32_t align)
{
	return t->loops && align > 8 ? 8 : align;
}

/*
 * Volatile loads are acquires, beyond PTX: a thread polls a word by them, meets the others at a
 * barrier, and all load what the word stands for, without a fence (NCCL's waitPeer()). GPUs load
 * nothing before a branch is decided; processors of arm64 do. A block's threads run in one thread of
 * the process, which needs no order for its shared memory.
 */
static void order(struct translator *t, const struct access *access, LLVMValueRef instruction)
{
	bool scalar = access->count == 1 && access->bytes <= 8;
	uint32_t align = access->bytes < 16 ? access->bytes : 16;

	LLVMSetAlignment(instruction, promised_align(t, align));
	if (!access->strong) {
		no_order(t, instruction);
		return;
	}
	if (!scalar || access->is_volatile)
		LLVMSetVolatile(instruction, true);
	if (scalar)
		LLVMSetOrdering(instruction, access->acquire ||
				(access->is_volatile && access->space != SPACE_SHARED &&
				 LLVMIsALoadInst(instruction)) ? LLVMAtomicOrderingAcquire :
				access->release ? LLVMAtomicOrderingRelease :
				LLVMAtomicOrderingMonotonic);
}

/*
 * A vector is no atomic access to LLVM, so a fence orders it: an acquire after a load, a release
 * before a store. Volatile ones have such fences, too: NCCL's LL128 takes a warp's stores of 128
 * bytes, the flag last, for one access, and so its loads. Lanes run in the order that makes them one
 * (collective.c), and without fences arm64's stores and loads would not keep it. On x86-64 no fence of
 * these is an instruction.
 */
static void order_vector(struct translator *t, const struct access *access, bool store)
{
	bool ordered = access->is_volatile || (store ? access->release : access->acquire);

	if (ordered && (access->count > 1 || access->bytes > 8))
		LLVMBuildFence(t->builder, store ? LLVMAtomicOrderingRelease :
			       LLVMAtomicOrderingAcquire, false, "");
}

/* Return: an element of a list, or of %tid and its like */
struct operand vector_part(struct translator *t, const struct operand *operand, uint32_t index)
{
	struct operand one = *operand;

	if (operand->kind == OPERAND_VECTOR && index < operand->count)
		return operand->items[index];
	if (operand->kind != OPERAND_SPECIAL)
		unsupported(t);
	one.part = (struct word) { .at = &".x.y.z.w"[2 * (index & 3)], .length = 2 };
	return one;
}

/* A thread that polls is taken to wait for the word that it has looked at last. */
void note_looked_at(struct translator *t, LLVMValueRef pointer, uint32_t bytes)
{
	LLVMValueRef value;

	if (!t->polls)
		return;
	value = BUILD(Or, as_int(t, pointer), constant(t, 64, (uint64_t)bytes << PTX_LOOKED_SHIFT));
	LLVMBuildStore(t->builder, value, at_offset(t, t->thread,
						    offsetof(struct ptx_thread, looked_at)));
}

/* It has done what others may wait for. */
void note_deed(struct translator *t)
{
	note_deed_if(t, constant(t, 1, 1));
}

void note_deed_if(struct translator *t, LLVMValueRef done)
{
	LLVMValueRef at;

	if (!t->polls)
		return;
	at = at_offset(t, t->thread, offsetof(struct ptx_thread, deeds));
	LLVMBuildStore(t->builder, BUILD(Add, BUILD(Load2, t->i32, at), resize(t, done, 32, false)),
		       at);
}

/*
 * Programs take a strong access of 128 bits for one: CUB keeps a flag and sums in such words. Where
 * the processor makes two of it, a function is called. A block's threads, which alone see its shared
 * memory, run in one thread of the process.
 */
static bool may_be_halved(const struct access *access)
{
	return access->strong && access->bytes == 16 &&
	       (access->space == SPACE_GLOBAL || access->space == SPACE_NONE);
}

/* Return: the block that goes on after either way; the builder is at the one with two accesses */
static LLVMBasicBlockRef if_halved(struct translator *t, LLVMBasicBlockRef *whole)
{
	LLVMValueRef halves = thread_field(t, offsetof(struct ptx_thread, halves), t->i32);
	LLVMBasicBlockRef two = new_block(t), after = new_block(t);

	*whole = new_block(t);
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntNE, halves,
						  constant(t, 32, 0), ""), two, *whole);
	LLVMPositionBuilderAtEnd(t->builder, two);
	return after;
}

static LLVMValueRef load(struct translator *t, const struct access *access, LLVMValueRef pointer)
{
	LLVMBasicBlockRef blocks[2], after = NULL;
	LLVMValueRef place, values[2], value;

	if (may_be_halved(access)) {
		place = alloca_at_entry(t, t->i128, 1, 16);
		after = if_halved(t, &blocks[1]);
		call_math(t, "load_128", pointer, place);
		values[0] = BUILD(Load2, access_type(t, access), place);
		blocks[0] = LLVMGetInsertBlock(t->builder);
		LLVMBuildBr(t->builder, after);
		LLVMPositionBuilderAtEnd(t->builder, blocks[1]);
	}
	values[1] = BUILD(Load2, access_type(t, access), pointer);
	order(t, access, values[1]);
	if (!after)
		return values[1];
	LLVMBuildBr(t->builder, after);
	LLVMPositionBuilderAtEnd(t->builder, after);
	value = LLVMBuildPhi(t->builder, access_type(t, access), "");
	LLVMAddIncoming(value, values, blocks, 2);
	return value;
}

static void store(struct translator *t, const struct access *access, LLVMValueRef value,
		  LLVMValueRef pointer)
{
	LLVMBasicBlockRef whole, after = NULL;
	LLVMValueRef place;

	if (may_be_halved(access)) {
		place = alloca_at_entry(t, t->i128, 1, 16);
		after = if_halved(t, &whole);
		LLVMBuildStore(t->builder, value, place);
		call_math(t, "store_128", pointer, place);
		LLVMBuildBr(t->builder, after);
		LLVMPositionBuilderAtEnd(t->builder, whole);
	}
	order(t, access, LLVMBuildStore(t->builder, value, pointer));
	if (after) {
		LLVMBuildBr(t->builder, after);
		LLVMPositionBuilderAtEnd(t->builder, after);
	}
}

struct stored {
	const struct access *access;
	LLVMValueRef value;
};

static void store_one(struct translator *t, const void *data, LLVMValueRef pointer)
{
	const struct stored *stored = data;

	store(t, stored->access, stored->value, pointer);
}

/* Stores, in a kernel for windows to all replicas of one. Variables of programs are in none. */
static void store_anywhere(struct translator *t, const struct access *access, LLVMValueRef value,
			   LLVMValueRef pointer)
{
	const struct stored stored = { access, value };
	const struct symbol *symbol = operand(t, 0)->symbol;

	if (t->root->kernel.windows && !(symbol && symbol->kind != SYMBOL_REGISTER) &&
	    (access->space == SPACE_GLOBAL || access->space == SPACE_NONE))
		store_to_window(t, pointer, store_one, &stored);
	else
		store(t, access, value, pointer);
}

void translate_ld(struct translator *t)
{
	struct access access;
	LLVMValueRef pointer, value;

	if (!access_of(t, &access))
		return;
	pointer = pointer_to(t, operand(t, 1), access.space, access.bytes);
	checked_access(t, pointer, operand(t, 1), access.space, constant(t, 32, access.bytes),
		       PTX_ACCESS_LOAD | (access.strong ? PTX_ACCESS_STRONG : 0), NULL);
	if (access.strong || access.from_memory)
		note_looked_at(t, pointer, access.bytes);
	value = load(t, &access, pointer);
	order_vector(t, &access, false);
	if (access.acquire)
		checked_order(t, constant(t, 32, PTX_ORDER_ACQUIRE));
	if (!access.strong && (access.space == SPACE_CONST ||
			       (access.space == SPACE_PARAM && t->function->kernel &&
				operand(t, 1)->symbol && operand(t, 1)->symbol->parameter)))
		invariant(t, value);
	if (access.count == 1) {
		if (type_bits(access.type) == 128)
			value = BUILD(BitCast, value, t->i128);
		put(t, operand(t, 0), value, access.type);
		return;
	}
	for (uint32_t i = 0; i < access.count; i++) {
		struct operand to = vector_part(t, operand(t, 0), i);

		put(t, &to, LLVMBuildExtractElement(t->builder, value, constant(t, 32, i), ""),
		    access.type);
	}
}

void translate_st(struct translator *t)
{
	struct access access;
	LLVMValueRef pointer, value;

	if (!access_of(t, &access)) {
		unsupported(t);
		return;
	}
	pointer = pointer_to(t, operand(t, 0), access.space, access.bytes);
	if (access.count == 1) {
		value = get(t, operand(t, 1), access.type);
		if (type_bits(access.type) == 128)
			value = BUILD(BitCast, value, access_type(t, &access));
	} else {
		value = LLVMGetUndef(access_type(t, &access));
		for (uint32_t i = 0; i < access.count; i++) {
			struct operand from = vector_part(t, operand(t, 1), i);

			value = LLVMBuildInsertElement(t->builder, value,
						       get(t, &from, access.type),
						       constant(t, 32, i), "");
		}
	}
	if (access.strong)
		note_deed(t);
	if (access.release)
		checked_order(t, constant(t, 32, PTX_ORDER_RELEASE));
	checked_access(t, pointer, operand(t, 0), access.space, constant(t, 32, access.bytes),
		       PTX_ACCESS_STORE |
		       (access.strong || has(t, MOD_async) ? PTX_ACCESS_STRONG : 0), value);
	order_vector(t, &access, true);
	store_anywhere(t, &access, value, pointer);
	if (has(t, MOD_async))
		complete_bytes(t, 2, access.bytes);
}

/* On x86-64 only a fence of sequential consistency is an instruction, on arm64 each of them. */
void translate_fence(struct translator *t)
{
	bool membar = word_is(&t->at->name, "membar");
	bool full = membar ? !has(t, MOD_cta) : has(t, MOD_sc);

	t->used = (1U << t->at->modifiers_count) - 1;
	LLVMBuildFence(t->builder, full ? LLVMAtomicOrderingSequentiallyConsistent :
		       LLVMAtomicOrderingAcquireRelease, false, "");
	checked_order(t, constant(t, 32, PTX_ORDER_ACQUIRE | PTX_ORDER_RELEASE));
}

/* cvta.space d, a: shared addresses get the window's address; cvta.to.space takes it away. */
void translate_cvta(struct translator *t)
{
	bool to = has(t, MOD_to);
	enum space space = space_of_modifiers(t);
	enum type type = type_at(t, 0);
	LLVMValueRef value, window;

	value = resize(t, get(t, operand(t, 1), operand(t, 1)->kind == OPERAND_SYMBOL ?
			      TYPE_B64 : type), 64, false);
	if (space == SPACE_SHARED) {
		window = BUILD(PtrToInt, shared_window(t), t->i64);
		value = to ? BUILD(Sub, value, window) :
			     BUILD(Add, BUILD(And, value, constant(t, 64, UINT32_MAX)), window);
	}
	put(t, operand(t, 0), value, TYPE_B64);
}

/* Where an address points to, as far as that can be told */
void translate_isspacep(struct translator *t)
{
	bool cluster = has(t, MOD_shared__cluster);
	enum space space = space_of_modifiers(t);
	LLVMValueRef address = get(t, operand(t, 1), TYPE_B64);

	put_predicate(t, operand(t, 0), is_in_space(t, address, space, cluster));
}

/* The policies of an H100, for programs that print them */
void translate_createpolicy(struct translator *t)
{
	put(t, operand(t, 0), constant(t, 64, cache_policy(t)), TYPE_B64);
	translate_nothing(t);
}

/*
 * Below a thread's stack is another one's: the thread ends where it has no room for so many bytes,
 * aligned.
 */
void check_room(struct translator *t, LLVMValueRef bytes, uint32_t align)
{
	LLVMValueRef lowest = as_int(t, intrinsic_plain(t, "llvm.stacksave", NULL)), end;
	LLVMBasicBlockRef over = new_block(t), on = new_block(t);

	lowest = intrinsic(t, "llvm.usub.sat", t->i64, 2, lowest, resize(t, bytes, 64, false), NULL);
	lowest = intrinsic(t, "llvm.usub.sat", t->i64, 2, lowest, constant(t, 64, align), NULL);
	end = BUILD(Add, thread_field(t, offsetof(struct ptx_thread, stack_end), t->i64),
		    constant(t, 64, FRAME_SLACK));
	LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntULT, lowest, end, ""), over,
			on);
	LLVMPositionBuilderAtEnd(t->builder, over);
	name_thread(t);
	call_is_rare(t, call_run(t, "stack_overflow", "v:"));
	LLVMBuildBr(t->builder, on);
	LLVMPositionBuilderAtEnd(t->builder, on);
}

void translate_stack(struct translator *t)
{
	enum type type = type_at(t, 0);

	if (word_is(&t->at->name, "stacksave")) {
		put(t, operand(t, 0), as_int(t, intrinsic_plain(t, "llvm.stacksave", NULL)), type);
	} else if (word_is(&t->at->name, "stackrestore")) {
		intrinsic_plain(t, "llvm.stackrestore",
				BUILD(IntToPtr, get(t, operand(t, 0), TYPE_B64), t->pointer));
	} else {
		uint32_t align = t->at->operands_count > 2 ? operand(t, 2)->number.integer : 16;
		LLVMValueRef bytes = get(t, operand(t, 1), type), place;

		if (!align || align & (align - 1))
			align = 16;
		check_room(t, bytes, align);
		place = BUILD(ArrayAlloca, t->i8, bytes);
		LLVMSetAlignment(place, align);
		if (t->root->kernel.checked)
			call_run(t, "stack_taken", "v:pi", place, resize(t, bytes, 32, false));
		put(t, operand(t, 0), as_int(t, place), type);
	}
}
