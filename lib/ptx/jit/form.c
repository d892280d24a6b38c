// SPDX-License-Identifier: MIT
/* Checks of one instruction: its modifiers, and the number and kinds of its operands. */
#include <stdio.h>
#include <string.h>

#include "code.h"
#include "ptx/ir/instructions.h"

/* An instruction that is checked, with its types and modifiers by number */
struct form {
	const struct statement *at;
	const struct unit *unit;
	struct complaint *complaint;
	enum type types[PTX_MODIFIERS_MOST];
	enum modifier modifiers[PTX_MODIFIERS_MOST];
	uint32_t types_count;
};

static CUresult wrong(struct form *form, const char *what, const struct word *word)
{
	snprintf(form->complaint->text, sizeof(form->complaint->text), "ptxas: line %u: %s '%.*s'",
		 form->at->line, what, (int)(word->length < 60 ? word->length : 60), word->at);
	return CUDA_ERROR_INVALID_PTX;
}

static CUresult bad(struct form *form, const char *what)
{
	return wrong(form, what, &form->at->text);
}

static bool has_modifier(const struct form *form, enum modifier modifier)
{
	for (uint32_t i = 0; i < form->at->modifiers_count; i++)
		if (form->modifiers[i] == modifier)
			return true;
	return false;
}

static bool named(const struct form *form, const char *const *names, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (word_is(&form->at->name, names[i]))
			return true;
	return false;
}

#define NAMED(form, ...) named(form, (const char *const []) { __VA_ARGS__ },	\
			       sizeof((const char *const []) { __VA_ARGS__ }) / sizeof(char *))

static bool rounds(const struct form *form)
{
	return has_modifier(form, MOD_rn) || has_modifier(form, MOD_rz) ||
	       has_modifier(form, MOD_rm) || has_modifier(form, MOD_rp) ||
	       has_modifier(form, MOD_rna) || has_modifier(form, MOD_rs);
}

static bool rounds_to_integer(const struct form *form)
{
	return has_modifier(form, MOD_rni) || has_modifier(form, MOD_rzi) ||
	       has_modifier(form, MOD_rmi) || has_modifier(form, MOD_rpi);
}

static bool scoped(const struct form *form)
{
	return has_modifier(form, MOD_cta) || has_modifier(form, MOD_cluster) ||
	       has_modifier(form, MOD_gpu) || has_modifier(form, MOD_sys);
}

/* Are numbers of the type compared in this way? Bits are equal, or not; .lo is for unsigned numbers. */
static bool compares(const struct form *form, enum type type)
{
	bool without_sign = has_modifier(form, MOD_lo) || has_modifier(form, MOD_ls) ||
			    has_modifier(form, MOD_hi) || has_modifier(form, MOD_hs);

	if (type_is(type, KIND_BITS))
		return has_modifier(form, MOD_eq) || has_modifier(form, MOD_ne);
	return !without_sign || type_is(type, KIND_UNSIGNED);
}

static CUresult check_shape(struct form *form)
{
	const char *what = shape_wrong(form->at, form->types, form->types_count);

	return what ? bad(form, what) : CUDA_SUCCESS;
}

static CUresult check_modifiers(struct form *form)
{
	enum type type = form->types[0];
	bool integer = type_is(type, KIND_SIGNED) || type_is(type, KIND_UNSIGNED);

	if (NAMED(form, "add", "sub", "mul", "fma", "mad", "div", "min", "max", "abs", "neg",
		  "sqrt") &&
	    type == TYPE_F64 && (has_modifier(form, MOD_sat) || has_modifier(form, MOD_ftz)))
		return bad(form, "f64 has neither .sat nor .ftz:");
	if (NAMED(form, "fma") && is_float(type) && !rounds(form))
		return bad(form, "a rounding mode is missing:");
	if (NAMED(form, "sqrt", "div", "rcp") && (type == TYPE_F32 || type == TYPE_F64) &&
	    !rounds(form) && !has_modifier(form, MOD_approx) && !has_modifier(form, MOD_full))
		return bad(form, "a rounding mode, or .approx, is missing:");
	if (NAMED(form, "mul", "mad") && integer && !has_modifier(form, MOD_lo) &&
	    !has_modifier(form, MOD_hi) && !has_modifier(form, MOD_wide))
		return bad(form, ".lo, .hi or .wide is missing:");
	if (NAMED(form, "mul", "mad") && type_bits(type) == 64 && has_modifier(form, MOD_wide))
		return bad(form, "products of 128 bits are not there:");
	if (NAMED(form, "sin", "cos", "lg2", "ex2", "tanh", "rsqrt") && !has_modifier(form, MOD_approx))
		return bad(form, ".approx is missing:");
	if (NAMED(form, "atom", "red") && is_float(type) && is_half(type) &&
	    !has_modifier(form, MOD_noftz))
		return bad(form, ".noftz is missing:");
	if (NAMED(form, "ld", "st", "multimem") && !scoped(form) &&
	    (has_modifier(form, MOD_relaxed) || has_modifier(form, MOD_acquire) ||
	     has_modifier(form, MOD_release)))
		return bad(form, "a scope is missing:");
	if (NAMED(form, "ld") && has_modifier(form, MOD_nc) && !has_modifier(form, MOD_global))
		return bad(form, "only .global has .nc:");
	if (NAMED(form, "set", "setp") && !compares(form, form->types[form->types_count - 1]))
		return bad(form, "its type has no such comparison:");
	if (NAMED(form, "ex2") && (type == TYPE_F16 || type == TYPE_F16X2) &&
	    has_modifier(form, MOD_ftz))
		return bad(form, ".ftz is not for f16:");
	return CUDA_SUCCESS;
}

static CUresult check_conversion(struct form *form)
{
	enum type to = form->types[0], from = form->types[1];
	bool plain = type_facts[to].packed == 1 && type_facts[from].packed == 1;
	bool no_sign = type_is(to, KIND_UNSIGNED), from_no_sign = type_is(from, KIND_UNSIGNED);
	bool wider = to != TYPE_BF16 && from != TYPE_BF16;
	uint32_t bits = type_bits(to), from_bits = type_bits(from);
	const struct operand *operands = form->at->operands;

	if (!NAMED(form, "cvt") || form->types_count != 2 || has_modifier(form, MOD_pack) || !plain)
		return CUDA_SUCCESS;
	if (is_float(to) && (!is_float(from) || bits < from_bits) && !rounds(form) &&
	    !rounds_to_integer(form))
		return bad(form, "a rounding mode is missing:");
	if (!is_float(to) && is_float(from) && !rounds_to_integer(form))
		return bad(form, "a rounding mode to integers is missing:");
	if (!is_float(to) && !is_float(from) && has_modifier(form, MOD_sat) &&
	    (no_sign == from_no_sign ? bits >= from_bits : !no_sign && bits > from_bits))
		return bad(form, ".sat changes nothing:");
	if (operands[0].kind != OPERAND_REGISTER || !operand_fits(&operands[0], to, wider) ||
	    (operands[1].kind != OPERAND_SPECIAL && !operand_fits(&operands[1], from, wider)))
		return bad(form, "wrong is the type of an operand of");
	if (((to == TYPE_BF16 || from == TYPE_BF16) && has_modifier(form, MOD_sat)) ||
	    (to == TYPE_TF32 && has_modifier(form, MOD_satfinite) && !has_modifier(form, MOD_rna) &&
	     form->unit->target < 100))
		return bad(form, "there is no conversion");
	return CUDA_SUCCESS;
}

static uint32_t register_bits(const struct operand *operand)
{
	return operand->kind == OPERAND_REGISTER ? type_bits(operand->symbol->type) : 0;
}

static uint32_t values_of(const struct operand *operand)
{
	return operand->kind == OPERAND_VECTOR ? operand->count : 1;
}

static uint32_t vector_of(const struct form *form)
{
	return has_modifier(form, MOD_v2) ? 2 : has_modifier(form, MOD_v4) ? 4 :
	       has_modifier(form, MOD_v8) ? 8 : 1;
}

static bool is_vector(const struct form *form, uint32_t index)
{
	const struct operand *operand = &form->at->operands[index];

	return values_of(operand) == vector_of(form) ||
	       (index && operand->kind == OPERAND_SPECIAL && !operand->part.length &&
		vector_of(form) == 4);
}

/* Is a special register as large as a mov? Only %gridid is so large as it is wanted. */
static bool special_fits(const struct operand *operand, uint32_t bits)
{
	static const char *const vectors[] = { "%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid",
					       "%nclusterid", "%cluster_ctaid", "%cluster_nctaid" };
	const struct word *name = &operand->name;
	bool large = !memcmp(name->at + name->length - 2, "64", 2) ||
		     word_is(name, "%globaltimer") || word_is(name, "%current_graph_exec");
	bool vector = false;

	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++)
		vector |= word_is(name, vectors[i]);
	return (word_is(name, "%gridid") || (bits == 64) == large) && vector == !!operand->part.length;
}

static CUresult check_mov(struct form *form)
{
	uint32_t bits = type_bits(form->types[0]);

	if (!NAMED(form, "mov"))
		return CUDA_SUCCESS;
	if (vector_of(form) > 1)
		return is_vector(form, 0) && is_vector(form, 1) ? CUDA_SUCCESS :
		       bad(form, "no vector of that length is an operand of");
	for (uint32_t i = 0; i < 2; i++) {
		const struct operand *operand = &form->at->operands[i];
		uint32_t all = register_bits(operand), known = 1;

		if (operand->kind == OPERAND_SPECIAL ? !special_fits(operand, bits) :
		    operand->kind == OPERAND_NUMBER || operand->kind == OPERAND_REGISTER ?
		    !operand_fits(operand, form->types[0], false) : false)
			return bad(form, "wrong is the type of an operand of");
		for (uint32_t j = 0; operand->kind == OPERAND_VECTOR && j < operand->count; j++) {
			all += register_bits(&operand->items[j]);
			known &= register_bits(&operand->items[j]) != 0;
		}
		if (all && known && all != bits)
			return bad(form, "wrong is the size of an operand of");
	}
	return CUDA_SUCCESS;
}

/* Has the instruction no space, so that its address is generic? */
static bool space_free(const enum modifier *modifiers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		switch (modifiers[i]) {
		case MOD_global: case MOD_shared: case MOD_shared__cta: case MOD_shared__cluster:
		case MOD_local: case MOD_const: case MOD_param: case MOD_param__entry:
		case MOD_param__func:
			return false;
		default:
			break;
		}
	return true;
}

static CUresult check_addresses(struct form *form)
{
	const struct statement *at = form->at;

	if (!NAMED(form, "ld", "ldu", "st", "atom", "red", "multimem", "mbarrier") ||
	    has_modifier(form, MOD_async) ||
	    !(has_modifier(form, MOD_global) || space_free(form->modifiers, at->modifiers_count)))
		return CUDA_SUCCESS;
	for (uint32_t i = 0; i < at->operands_count; i++) {
		const struct operand *operand = &at->operands[i];

		if (operand->kind == OPERAND_ADDRESS && operand->symbol &&
		    operand->symbol->kind == SYMBOL_REGISTER && type_bits(operand->symbol->type) == 32)
			return bad(form, "an address needs a register of 64 bits:");
	}
	return CUDA_SUCCESS;
}

/*
 * Are all registers of a list floats? Only then does ptxas hold their types against that of a load;
 * of other lists it looks at sizes.
 */
static bool all_floats(const struct operand *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->items[i].kind == OPERAND_REGISTER && !is_float(list->items[i].symbol->type))
			return false;
	return true;
}

static CUresult check_memory(struct form *form)
{
	const struct statement *at = form->at;
	bool load = NAMED(form, "ld", "ldu"), store = NAMED(form, "st");
	uint32_t bits = type_bits(form->types[0]), count;
	const struct operand *value;

	if ((!load && !store) || form->types_count != 1 || has_modifier(form, MOD_async))
		return CUDA_SUCCESS;
	value = &at->operands[load ? 0 : 1];
	count = vector_of(form);
	if (store && has_modifier(form, MOD_const))
		return bad(form, "constant memory is not written by");
	if (has_modifier(form, MOD_volatile) && has_modifier(form, MOD_local))
		return bad(form, "local memory is not volatile:");
	if (count * bits > 128 && (form->unit->version < 88 || form->unit->target < 100))
		return bad(form, "an access has 128 bits at most:");
	if (values_of(value) != count)
		return bad(form, "no vector of that length is an operand of");
	for (uint32_t i = 0; i < (value->count ? value->count : 1); i++) {
		const struct operand *one = value->count ? &value->items[i] : value;

		if (one->kind == OPERAND_SINK ? !load : one->kind == OPERAND_NUMBER && load)
			return bad(form, "a register is missing in");
		if (load && !all_floats(value) && register_bits(one) >= bits)
			continue;
		if (one->kind != OPERAND_SINK && one->kind != OPERAND_SYMBOL &&
		    !operand_fits(one, form->types[0], true))
			return bad(form, "wrong is the type of an operand of");
	}
	return CUDA_SUCCESS;
}

static bool is_list(const struct operand *operand, uint32_t count)
{
	return operand->kind == OPERAND_VECTOR && operand->count == count;
}

/* The values of a vector operation are lists; what atom returns may be thrown away. */
static CUresult check_lists(struct form *form)
{
	const struct operand *operands = form->at->operands;
	bool atom = NAMED(form, "atom"), load = has_modifier(form, MOD_ld_reduce);
	uint32_t count = vector_of(form);

	if (count == 1 || !NAMED(form, "atom", "red", "multimem"))
		return CUDA_SUCCESS;
	if (!is_list(&operands[atom ? 2 : load ? 0 : 1], count) ||
	    (atom && !is_list(&operands[0], count) && operands[0].kind != OPERAND_SINK))
		return bad(form, "a list of the vector's length is missing:");
	return CUDA_SUCCESS;
}

/* What is a number in the text, as it decides what code is made */
static CUresult check_immediate(struct form *form)
{
	uint32_t index = NAMED(form, "lop3") ? 4 : 2;

	if (!NAMED(form, "lop3", "alloca") || index >= form->at->operands_count ||
	    form->at->operands[index].kind == OPERAND_NUMBER)
		return CUDA_SUCCESS;
	return bad(form, "a number is missing:");
}

static bool immediate(const struct statement *at, uint32_t index, uint64_t *value)
{
	if (index >= at->operands_count || at->operands[index].kind != OPERAND_NUMBER)
		return false;
	*value = at->operands[index].number.integer;
	return true;
}

static CUresult check_barrier(struct form *form)
{
	bool red = has_modifier(form, MOD_red);
	uint64_t value;

	if (!NAMED(form, "bar", "barrier") || has_modifier(form, MOD_warp) ||
	    has_modifier(form, MOD_cluster))
		return CUDA_SUCCESS;
	if (immediate(form->at, red, &value) && value > 15)
		return bad(form, "barriers have the numbers 0 to 15, not as in");
	if ((!red || form->at->operands_count > 3) && immediate(form->at, 1 + red, &value) &&
	    value % 32)
		return bad(form, "a barrier's threads are whole warps, not as in");
	return CUDA_SUCCESS;
}

/* What the number of operands depends on */
static CUresult check_count(struct form *form)
{
	const struct operand *first = form->at->operands;
	uint32_t count = form->at->operands_count;
	bool sync = has_modifier(form, MOD_sync);
	bool barrier = NAMED(form, "bar", "barrier") && !has_modifier(form, MOD_cluster);

	if ((NAMED(form, "shfl") && count != 4U + sync) || (NAMED(form, "vote") && count != 2U + sync) ||
	    (barrier && sync && !count) || (barrier && has_modifier(form, MOD_arrive) && count != 2) ||
	    (NAMED(form, "discard", "applypriority") && count < 2) ||
	    (NAMED(form, "mbarrier") && has_modifier(form, MOD_test_wait) && count > 3))
		return bad(form, "wrong is the number of operands of");
	if (NAMED(form, "mbarrier") && first->kind == OPERAND_ADDRESS &&
	    (has_modifier(form, MOD_arrive) || has_modifier(form, MOD_arrive_drop)))
		return bad(form, "a state, or _, is missing:");
	if (NAMED(form, "elect") && !first->second)
		return bad(form, "a predicate is missing:");
	return CUDA_SUCCESS;
}

/* Metadata of a sparse matrix are a register, and which lanes have them is a number. */
static CUresult check_sparse(struct form *form)
{
	const struct operand *operands = form->at->operands;

	if (!NAMED(form, "mma") ||
	    !(has_modifier(form, MOD_sp) || has_modifier(form, MOD_sp__ordered_metadata)) ||
	    form->at->operands_count < 6)
		return CUDA_SUCCESS;
	if (operands[4].kind == OPERAND_NUMBER || operands[5].kind != OPERAND_NUMBER)
		return bad(form, "metadata are a register, and their selector a number, not as in");
	return CUDA_SUCCESS;
}

/*
 * The least target that an instruction needs, or an instruction with a modifier or a type, as ptxas
 * has it. Where only targets with features of their own have it, it is the first of them.
 */
static const struct need {
	const char *name, *word;	/* NULL: any */
	int target;
} needs[] = {
	{ NULL, ".cluster", 90 }, { NULL, ".shared::cluster", 90 }, { NULL, ".f32x2", 100 },
	{ NULL, ".u16x2", 90 }, { NULL, ".s16x2", 90 }, { NULL, ".bf16", 80 }, { NULL, ".bf16x2", 80 },
	{ "fma", ".oob", 90 }, { "redux", NULL, 80 }, { "redux", ".f32", 100 },
	{ "cvt", ".e4m3x2", 89 }, { "cvt", ".e5m2x2", 89 }, { "cvt", ".e2m1x2", 100 },
	{ "cvt", ".e2m3x2", 100 }, { "cvt", ".e3m2x2", 100 }, { "cvt", ".ue8m0x2", 100 },
	{ "cvt", ".rs", 100 },
	{ "fence", ".async", 90 }, { "fence", ".tensormap::generic", 90 }, { "mbarrier", NULL, 80 },
	{ "mbarrier", ".try_wait", 90 }, { "mbarrier", ".expect_tx", 90 },
	{ "mbarrier", ".complete_tx", 90 }, { "createpolicy", NULL, 80 },
	{ "cp", ".async", 80 }, { "cp", ".bulk", 90 }, { "st", ".async", 90 }, { "st", ".bulk", 100 },
	{ "red", ".async", 90 }, { "red", ".v2", 90 }, { "red", ".v4", 90 }, { "atom", ".v2", 90 },
	{ "atom", ".v4", 90 }, { "multimem", NULL, 90 }, { "elect", NULL, 90 }, { "mapa", NULL, 90 },
	{ "getctarank", NULL, 90 }, { "griddepcontrol", NULL, 90 }, { "tensormap", NULL, 90 },
	{ "clusterlaunchcontrol", NULL, 100 }, { "tcgen05", NULL, 100 },
	{ "ldmatrix", ".m16n16", 100 }, { "ldmatrix", ".m8n16", 100 }, { "stmatrix", NULL, 90 },
	{ "stmatrix", ".m16n8", 100 }, { "mma", ".e4m3", 89 }, { "mma", ".e5m2", 89 },
	{ "mma", ".block_scale", 100 }, { "mma", ".kind::f8f6f4", 100 },
};

/* What is for newer devices than the text is for, or was for older ones */
static CUresult check_target(struct form *form)
{
	/* clang 14 and 15 know none above sm_86, and take later instructions in asm */
	int target = form->unit->target == 86 ? 90 : form->unit->target;

	for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
		if (target < needs[i].target &&
		    (!needs[i].name || word_is(&form->at->name, needs[i].name)) &&
		    (!needs[i].word || statement_has(form->at, needs[i].word)))
			return bad(form, "this target has no");
	if (!form->unit->own_features &&
	    (NAMED(form, "wgmma", "setmaxnreg") ||
	     (NAMED(form, "tensormap") && statement_has(form->at, ".replace"))))
		return bad(form, "a target without its own features has no");
	if (target >= 70 && form->unit->version >= 64 && NAMED(form, "shfl", "vote") &&
	    !has_modifier(form, MOD_sync))
		return bad(form, ".sync is missing:");
	if (target < 100 && NAMED(form, "min", "max") && form->at->operands_count == 4)
		return bad(form, "this target has no");
	if (NAMED(form, "elect") && form->unit->version < 80)
		return bad(form, "this version of PTX has no");
	if (form->types_count > 1 && NAMED(form, "add", "sub", "fma", "mul", "mad", "div") &&
	    (target < 100 || !NAMED(form, "add", "sub", "fma") || form->types_count > 2 ||
	     form->types[0] != TYPE_F32 || has_modifier(form, MOD_ftz) ||
	     (form->types[1] != TYPE_F16 && form->types[1] != TYPE_BF16)))
		return bad(form, "this target has no");
	for (uint32_t i = 0; i < form->types_count; i++) {
		enum type type = form->types[i];

		if (type == TYPE_F32X2 && !NAMED(form, "add", "sub", "mul", "fma"))
			return bad(form, "f32x2 has no");
		if (target < 90 && is_bf16(type) &&
		    NAMED(form, "add", "sub", "mul", "set", "setp", "ex2", "tanh", "atom", "red"))
			return bad(form, "this target has no");
		if (type == TYPE_S64 && NAMED(form, "atom", "red") && has_modifier(form, MOD_add) &&
		    !has_modifier(form, MOD_async))
			return bad(form, "sums of s64 are those of u64:");
	}
	return CUDA_SUCCESS;
}

static CUresult check_call(struct form *form)
{
	const struct operand *list = NULL, *callee = NULL;
	const struct function *function;

	if (!NAMED(form, "call"))
		return CUDA_SUCCESS;
	for (uint32_t i = 0; i < form->at->operands_count; i++) {
		const struct operand *operand = &form->at->operands[i];

		if (!callee && operand->kind == OPERAND_SYMBOL)
			callee = operand;
		else if (callee && operand->kind == OPERAND_VECTOR)
			list = operand;
	}
	if (!callee || callee->symbol->kind != SYMBOL_FUNCTION)
		return CUDA_SUCCESS;
	function = callee->symbol->function;
	if (function->kernel)
		return bad(form, "a kernel is called by");
	if (callee->symbol->line > form->at->line)	/* an alias's function may be further down */
		return wrong(form, "declared further down is", &callee->name);
	if (function->parameters.count != (list ? list->count : 0))
		return wrong(form, "wrong is the number of parameters for", &callee->name);
	return CUDA_SUCCESS;
}

/* A register that is no predicate has a sign only in vmad. */
static CUresult check_signs(struct form *form)
{
	for (uint32_t i = 0; i < form->at->operands_count && !NAMED(form, "vmad"); i++) {
		const struct operand *operand = &form->at->operands[i];

		if (operand->negated && operand->symbol->type != TYPE_PRED)
			return wrong(form, "no sign is before", &operand->name);
	}
	return CUDA_SUCCESS;
}

CUresult form_check(const struct statement *statement, const struct unit *unit,
		    struct complaint *complaint)
{
	static CUresult (*const checks[])(struct form *form) = {
		check_modifiers, check_conversion, check_count, check_shape, check_mov,
		check_addresses, check_memory, check_lists, check_immediate, check_barrier,
		check_sparse, check_call, check_signs,
	};
	const struct opcode *opcode = statement->opcode;
	struct form form = { .at = statement, .unit = unit, .complaint = complaint };
	CUresult result;

	for (uint32_t i = 0; i < statement->modifiers_count; i++) {
		const struct word *word = &statement->modifiers[i];
		enum type type = type_of_word(word);

		form.modifiers[i] = type ? MOD_NONE : modifier_of_word(word);
		if (type)
			form.types[form.types_count++] = type;
		else if (!form.modifiers[i] && opcode->translate)
			return wrong(&form, "unknown is the modifier", word);
	}
	result = check_target(&form);
	if (result != CUDA_SUCCESS || !opcode->translate)
		return result;
	if (statement->operands_count < opcode->least || statement->operands_count > opcode->most)
		return bad(&form, "wrong is the number of operands of");
	if ((opcode->flags & OPCODE_TYPED && !form.types_count &&
	     !(NAMED(&form, "st") && has_modifier(&form, MOD_bulk))) ||
	    (opcode->flags & OPCODE_TYPED_TWICE && form.types_count < 2))
		return bad(&form, "a type is missing:");
	for (size_t i = 0; i < ARRAY_SIZE(checks) && result == CUDA_SUCCESS; i++)
		result = checks[i](&form);
	return result;
}
