// SPDX-License-Identifier: MIT
/* Operands to values and back. */
#include <string.h>

#include "ir.h"
#include "ptx/math/ptx_math.h"

LLVMTypeRef int_type(struct translator *t, uint32_t bits)
{
	return LLVMIntTypeInContext(t->context, bits);
}

LLVMValueRef constant(struct translator *t, uint32_t bits, uint64_t value)
{
	return LLVMConstInt(int_type(t, bits), value, false);
}

static uint32_t bits_of(LLVMValueRef value)
{
	return LLVMGetIntTypeWidth(LLVMTypeOf(value));
}

/* Return: the value's bits, as an integer */
LLVMValueRef as_int(struct translator *t, LLVMValueRef value)
{
	switch (LLVMGetTypeKind(LLVMTypeOf(value))) {
	case LLVMFloatTypeKind:
		return BUILD(BitCast, value, t->i32);
	case LLVMDoubleTypeKind:
		return BUILD(BitCast, value, t->i64);
	case LLVMPointerTypeKind:
		return BUILD(PtrToInt, value, t->i64);
	default:
		return value;
	}
}

LLVMValueRef resize(struct translator *t, LLVMValueRef value, uint32_t bits, bool is_signed)
{
	uint32_t from = bits_of(value);

	if (from == bits)
		return value;
	if (from > bits)
		return BUILD(Trunc, value, int_type(t, bits));
	return is_signed ? BUILD(SExt, value, int_type(t, bits)) :
			   BUILD(ZExt, value, int_type(t, bits));
}

/* Allocas stand at the function's entry, where LLVM makes values of them. */
LLVMValueRef alloca_at_entry(struct translator *t, LLVMTypeRef type, uint64_t count,
			     uint32_t align)
{
	LLVMValueRef value;

	if (count > 1)
		type = LLVMArrayType(type, count);
	value = LLVMBuildAlloca(t->entry_builder, type, "");
	if (align)
		LLVMSetAlignment(value, align);
	return value;
}

static LLVMTypeRef register_type(struct translator *t, enum type type)
{
	return type == TYPE_F32 ? t->f32 : type == TYPE_F64 ? t->f64 :
	       int_type(t, type_bits(type));
}

/* Is a register written in one place, before all that read it? Then it is that value. */
static bool is_value(const struct symbol *symbol)
{
	return symbol->flow.known && symbol->flow.written == 1 && !symbol->flow.zeroed;
}

/* A register that is read before it is written is 0: LLVM would make anything of it. */
LLVMValueRef register_place(struct translator *t, struct symbol *symbol, int element)
{
	if (!symbol->values[element]) {
		LLVMTypeRef type = register_type(t, symbol->type);
		LLVMValueRef place = alloca_at_entry(t, type, 1, 0);

		if (!symbol->flow.known || symbol->flow.zeroed) {
			LLVMBuildStore(t->entry_builder, LLVMConstNull(type), place);
			t->root->zeroed++;
		}
		symbol->values[element] = place;
		variables_register(t, symbol, element, place);
	}
	return symbol->values[element];
}

LLVMValueRef register_read(struct translator *t, struct symbol *symbol, int element)
{
	LLVMTypeRef type = register_type(t, symbol->type);

	/* without a value, what should have written it is not supported */
	if (is_value(symbol))
		return symbol->values[element] ? symbol->values[element] : LLVMConstNull(type);
	return BUILD(Load2, type, register_place(t, symbol, element));
}

/* Writes bits, or a float, to a register that may be wider. */
void register_write(struct translator *t, struct symbol *symbol, int element, LLVMValueRef value,
		    bool is_signed)
{
	LLVMTypeRef type = register_type(t, symbol->type);

	symbol->factors_epoch = 0;
	align_forget(symbol);
	if (LLVMTypeOf(value) != type) {
		value = resize(t, as_int(t, value), type_bits(symbol->type), is_signed);
		if (symbol->type == TYPE_F32 || symbol->type == TYPE_F64)
			value = BUILD(BitCast, value, type);
	}
	if (is_value(symbol))
		symbol->values[element] = value;
	else
		LLVMBuildStore(t->builder, value, register_place(t, symbol, element));
}

/* .x .y .z .w of a vector; also .r .g .b .a */
int vector_element(const struct word *part)
{
	static const char letters[] = "xyzwrgba";
	const char *at = part->length == 2 ? strchr(letters, part->at[1]) : NULL;

	return at ? (at - letters) % 4 : 0;
}

static LLVMValueRef immediate(struct translator *t, const struct operand *operand, enum type type)
{
	uint32_t bits = type_bits(type);
	uint64_t value = 0;

	if (bits == 128)
		return constant(t, 128, operand->number.integer);
	ptx_constant_store(&operand->number, type_is(type, KIND_FLOAT) &&
			   type_facts[type].packed == 1, &value, (bits + 7) / 8);
	return constant(t, bits, value);
}

/* Return: bits of each of a list's elements, which have one size */
static uint32_t part_bits(struct translator *t, const struct operand *operand, uint32_t bits)
{
	if (bits % operand->count == 0)
		return bits / operand->count;
	unsupported(t);
	return 1;
}

/* {a, b}: the first element has the lowest bits. */
static LLVMValueRef pack(struct translator *t, const struct operand *operand, uint32_t bits)
{
	LLVMValueRef all = constant(t, bits, 0);
	uint32_t each = part_bits(t, operand, bits);

	for (uint32_t i = 0; i < operand->count; i++) {
		enum type type = each == 8 ? TYPE_B8 : each == 16 ? TYPE_B16 :
				 each == 32 ? TYPE_B32 : TYPE_B64;
		LLVMValueRef part = resize(t, get(t, &operand->items[i], type), bits, false);

		part = BUILD(Shl, part, constant(t, bits, i * each));
		all = BUILD(Or, all, part);
	}
	return all;
}

/* Return: an operand's bits, as an integer of the type's size; negated predicates are negated */
LLVMValueRef get(struct translator *t, const struct operand *operand, enum type type)
{
	uint32_t bits = type_bits(type);
	LLVMValueRef value;

	switch (operand->kind) {
	case OPERAND_REGISTER:
		value = register_read(t, operand->symbol, vector_element(&operand->part));
		value = resize(t, as_int(t, value), bits, false);
		return operand->negated && bits == 1 ? BUILD(Not, value) : value;
	case OPERAND_NUMBER:
		if (bits == 1)
			return constant(t, 1, operand->number.integer != 0);
		return immediate(t, operand, type);
	case OPERAND_SYMBOL:
		return resize(t, address_value(t, operand), bits, false);
	case OPERAND_SPECIAL:
		return special_read(t, operand, bits);
	case OPERAND_VECTOR:
		return pack(t, operand, bits);
	default:
		unsupported(t);
		return constant(t, bits ? bits : 32, 0);
	}
}

LLVMValueRef get_float(struct translator *t, const struct operand *operand, enum type type)
{
	LLVMTypeRef to = type == TYPE_F64 ? t->f64 : t->f32;

	if (operand->kind == OPERAND_REGISTER && operand->symbol->type == type)
		return register_read(t, operand->symbol, vector_element(&operand->part));
	return BUILD(BitCast, get(t, operand, type), to);
}

LLVMValueRef get_predicate(struct translator *t, const struct operand *operand)
{
	return get(t, operand, TYPE_PRED);
}

/* Writes a value of a type to an operand: a register, which may be wider, a vector, or _ */
void put(struct translator *t, const struct operand *operand, LLVMValueRef value, enum type type)
{
	uint32_t bits, each;

	switch (operand->kind) {
	case OPERAND_SINK:
		return;
	case OPERAND_REGISTER:
		register_write(t, operand->symbol, vector_element(&operand->part), value,
			       type_is(type, KIND_SIGNED));
		return;
	case OPERAND_VECTOR:
		value = as_int(t, value);
		bits = bits_of(value);
		each = part_bits(t, operand, bits);
		for (uint32_t i = 0; i < operand->count; i++) {
			LLVMValueRef part = BUILD(LShr, value, constant(t, bits, i * each));

			put(t, &operand->items[i], resize(t, part, each, false), TYPE_NONE);
		}
		return;
	default:
		unsupported(t);
	}
}

void put_predicate(struct translator *t, const struct operand *operand, LLVMValueRef value)
{
	put(t, operand, value, TYPE_PRED);
}

LLVMValueRef choose(struct translator *t, LLVMValueRef condition, LLVMValueRef yes,
		    LLVMValueRef no)
{
	return BUILD(Select, condition, yes, no);
}

LLVMBasicBlockRef new_block(struct translator *t)
{
	return LLVMAppendBasicBlockInContext(t->context, t->value, "");
}

/* Ends the current block with a branch, if it has no end, and goes on in another. */
void go_on_at(struct translator *t, LLVMBasicBlockRef block)
{
	if (!t->ended)
		LLVMBuildBr(t->builder, block);
	LLVMPositionBuilderAtEnd(t->builder, block);
	t->ended = false;
}

LLVMValueRef thread_field(struct translator *t, size_t offset, LLVMTypeRef type)
{
	LLVMValueRef at = constant(t, 64, offset);

	at = LLVMBuildInBoundsGEP2(t->builder, t->i8, t->thread, &at, 1, "");
	return invariant(t, BUILD(Load2, type, at));
}

/* What the load reads does not change as long as the function runs. */
LLVMValueRef invariant(struct translator *t, LLVMValueRef load)
{
	LLVMValueRef node = LLVMMetadataAsValue(t->context,
						LLVMMDNodeInContext2(t->context, NULL, 0));

	LLVMSetMetadata(load, LLVMGetMDKindIDInContext(t->context, "invariant.load", 14), node);
	return load;
}

/* Calls an intrinsic of LLVM that is overloaded by one type. */
LLVMValueRef intrinsic(struct translator *t, const char *name, LLVMTypeRef type,
		       uint32_t count, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
	unsigned int id = LLVMLookupIntrinsicID(name, strlen(name));
	LLVMValueRef values[] = { a, b, c };
	LLVMValueRef function = LLVMGetIntrinsicDeclaration(t->module, id, &type, 1);

	return LLVMBuildCall2(t->builder, LLVMIntrinsicGetType(t->context, id, &type, 1),
			      function, values, count, "");
}

/* f float, d double, h 16 bits, i 32, l 64, p pointer, v nothing */
static LLVMTypeRef type_of_letter(struct translator *t, char letter)
{
	switch (letter) {
	case 'f': return t->f32;
	case 'd': return t->f64;
	case 'h': return t->i16;
	case 'i': return t->i32;
	case 'l': return t->i64;
	case 'p': return t->pointer;
	default: return t->nothing;
	}
}

static LLVMValueRef call_external(struct translator *t, const char *name, void *address,
				  const char *signature, bool with_thread, va_list list)
{
	LLVMTypeRef types[16];
	LLVMValueRef values[16], function;
	uint32_t count = 0;

	if (with_thread) {
		types[count] = t->pointer;
		values[count++] = t->thread;
	}
	for (const char *letter = signature + 2; *letter; letter++) {
		types[count] = type_of_letter(t, *letter);
		values[count++] = va_arg(list, LLVMValueRef);
	}
	LLVMTypeRef type = LLVMFunctionType(type_of_letter(t, *signature), types, count, false);

	function = LLVMGetNamedFunction(t->module, name);
	if (!function) {
		function = LLVMAddFunction(t->module, name, type);
		root_external(t->root, name, address);
		/* LLVM would make one call of two, which then has no line to say where a thread waits */
		if (with_thread)
			attribute(t, function, LLVMAttributeFunctionIndex, "nomerge");
		if (!with_thread && !strchr(signature, 'p'))
			function_is_pure(t, function);
		else if (with_thread && (strstr(name, "_exit") || strstr(name, "_trap") ||
					 strstr(name, "_fault") || strstr(name, "assertfail") ||
					 strstr(name, "misaligned") || strstr(name, "overflow")))
			function_ends(t, function);
	}
	return LLVMBuildCall2(t->builder, type, function, values, count, "");
}

/* Calls a function of the runtime; its first argument is the thread. "v:ii" */
LLVMValueRef call_run(struct translator *t, const char *name, const char *signature, ...)
{
	const struct ptx_run_name *entry = ptx_run_names;
	char full[64] = "ptx_run_";
	LLVMValueRef result;
	va_list list;

	strcat(full, name);
	while (entry->name && strcmp(entry->name, full))
		entry++;
	va_start(list, signature);
	result = call_external(t, full, entry->address, signature, true, list);
	va_end(list);
	return result;
}

/* Calls a function of lib/ptx/math, which has a table of their signatures. */
LLVMValueRef call_math(struct translator *t, const char *name, ...)
{
	const struct math_name *entry = math_find(name, strlen(name));
	char full[64] = "ptx_math_";
	LLVMValueRef result;
	va_list list;

	if (!entry) {
		unsupported(t);
		return constant(t, 32, 0);
	}
	strcat(full, name);
	va_start(list, name);
	result = call_external(t, full, entry->address, entry->signature, false, list);
	va_end(list);
	return result;
}

/* Return: a function of lib/ptx/math, for the runtime to call */
LLVMValueRef math_function(struct translator *t, const char *name)
{
	const struct math_name *entry = math_find(name, strlen(name));
	char full[64] = "ptx_math_";
	LLVMValueRef global;

	strcat(full, name);
	global = LLVMGetNamedGlobal(t->module, full);
	if (!global) {
		global = LLVMAddGlobal(t->module, t->i8, full);
		root_external(t->root, full, entry->address);
	}
	return global;
}
