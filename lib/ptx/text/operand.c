// SPDX-License-Identifier: MIT
/* Operands: registers, immediates, [addresses], {vectors}, (lists), a|b, !p, names. */
#include <string.h>

#include "text.h"

static const char *const special[] = {
	"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid",
	"%gridid", "%is_explicit_cluster", "%clusterid", "%nclusterid", "%cluster_ctaid",
	"%cluster_nctaid", "%cluster_ctarank", "%cluster_nctarank", "%lanemask_eq", "%lanemask_le",
	"%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%clock", "%clock_hi", "%clock64",
	"%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%reserved_smem_offset_begin",
	"%reserved_smem_offset_end", "%reserved_smem_offset_cap", "%reserved_smem_offset_0",
	"%reserved_smem_offset_1", "%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size",
	"%current_graph_exec",
};

static bool is_special_register(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(special); i++)
		if (strlen(special[i]) == length && !memcmp(special[i], name, length))
			return true;
	return (length > 7 && !memcmp(name, "%envreg", 7)) ||
	       (length > 3 && length < 6 && !memcmp(name, "%pm", 3)) ||
	       (length == 7 && !memcmp(name, "%pm", 3) && !memcmp(name + 4, "_64", 3));
}

static CUresult one(struct reader *reader, struct scope *scope, struct operand *operand, int depth);

static CUresult items(struct reader *reader, struct scope *scope, struct operand *operand,
		      const char *end, int depth)
{
	struct operand list[PTX_OPERANDS_MOST * 16] = {};
	CUresult result = CUDA_SUCCESS;

	operand->kind = OPERAND_VECTOR;
	ptx_next(reader);
	while (result == CUDA_SUCCESS && !ptx_take(reader, end)) {
		if (operand->count == ARRAY_SIZE(list))
			return ptx_wrong(reader, "a list is too long at");
		result = one(reader, scope, &list[operand->count++], depth + 1);
		if (result == CUDA_SUCCESS && !ptx_is(reader, end))
			result = ptx_need(reader, ",");
	}
	if (result == CUDA_SUCCESS && !operand->count && *end == '}')
		return ptx_wrong(reader, "an empty list is before");
	if (result == CUDA_SUCCESS && operand->count) {
		operand->items = arena_take(source_of(reader)->arena,
					    operand->count * sizeof(*list));
		if (!operand->items)
			return CUDA_ERROR_OUT_OF_MEMORY;
		memcpy(operand->items, list, operand->count * sizeof(*list));
	}
	return result;
}

/* Reads what is added to an address, with its sign: +8, +-4, +8-4; PTX has no -4 there */
static CUresult added(struct reader *reader, struct operand *operand)
{
	CUresult result = ptx_constant(reader, &operand->number);

	if (result == CUDA_SUCCESS && operand->number.kind != CONSTANT_INTEGER)
		return ptx_wrong(reader, "an address is wrong before");
	return result;
}

/* Reads the base of an address and what is added to it: [r+8], [name+-4], [16] */
static CUresult address(struct reader *reader, struct scope *scope, struct operand *operand,
			int depth)
{
	CUresult result = CUDA_SUCCESS;

	ptx_next(reader);
	operand->kind = OPERAND_ADDRESS;
	if (reader->word.kind == WORD_NAME) {
		operand->symbol = scope_find(scope, reader->word.at, reader->word.length);
		if (!operand->symbol || operand->symbol->kind == SYMBOL_LABEL)
			return ptx_wrong(reader, "nothing declares");
		if (operand->symbol->kind == SYMBOL_REGISTER && operand->symbol->vector > 1)
			return ptx_wrong(reader, "no address is in the vector");
		ptx_next(reader);
		if (ptx_is(reader, "+"))
			result = added(reader, operand);
	} else {
		result = added(reader, operand);
	}
	if (result != CUDA_SUCCESS)
		return result;
	if (ptx_is(reader, ",")) {	/* of textures and tensors: [map, {x, y}] */
		struct operand more = {};

		result = items(reader, scope, &more, "]", depth);
		operand->items = more.items;
		operand->count = more.count;
		return result;
	}
	return ptx_need(reader, "]");
}

/* A vector of registers is a list of its elements. */
static CUresult elements(struct reader *reader, struct operand *operand)
{
	struct operand one = *operand;

	operand->kind = OPERAND_VECTOR;
	operand->count = operand->symbol->vector;
	operand->items = arena_take(source_of(reader)->arena,
				    operand->count * sizeof(*operand->items));
	if (!operand->items)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (uint32_t i = 0; i < operand->count; i++) {
		one.part = (struct word) { .at = &".x.y.z.w"[2 * (i & 3)], .length = 2 };
		operand->items[i] = one;
	}
	return CUDA_SUCCESS;
}

static CUresult named(struct reader *reader, struct scope *scope, struct operand *operand)
{
	struct word name = reader->word;

	operand->symbol = scope_find(scope, name.at, name.length);
	operand->name = name;
	ptx_next(reader);
	if (name.length == 1 && *name.at == '_') {
		operand->kind = OPERAND_SINK;
		return CUDA_SUCCESS;
	}
	if (operand->symbol && operand->symbol->kind == SYMBOL_REGISTER) {
		operand->kind = OPERAND_REGISTER;
	} else if (is_special_register(name.at, name.length)) {
		operand->kind = OPERAND_SPECIAL;
	} else if (operand->symbol && operand->symbol->kind != SYMBOL_LABEL) {
		operand->kind = OPERAND_SYMBOL;
		if (ptx_is(reader, "+"))
			return added(reader, operand);
	} else {
		operand->kind = OPERAND_NAME;	/* a label, which may follow */
	}
	if (reader->word.kind == WORD_DIRECTIVE) {
		operand->part = reader->word;
		ptx_next(reader);
	} else if (operand->kind == OPERAND_REGISTER && operand->symbol->vector > 1) {
		return elements(reader, operand);
	}
	return CUDA_SUCCESS;
}

static CUresult one(struct reader *reader, struct scope *scope, struct operand *operand, int depth)
{
	struct reader ahead = *reader;
	bool minus = ptx_is(reader, "-");
	CUresult result;

	if (depth > 3)
		return ptx_wrong(reader, "operands are too deep at");
	if (ptx_is(reader, "["))
		return address(reader, scope, operand, depth);
	if (ptx_is(reader, "{"))
		return items(reader, scope, operand, "}", depth);
	if (ptx_is(reader, "!") || minus) {
		ptx_next(&ahead);
		if (ahead.word.kind == WORD_NAME && !ptx_is(&ahead, "WARP_SZ")) {
			*reader = ahead;
			operand->negated = true;
		}
	}
	if (reader->word.kind != WORD_NAME || ptx_is(reader, "WARP_SZ")) {
		operand->kind = OPERAND_NUMBER;
		result = ptx_constant(reader, &operand->number);
		if (result == CUDA_SUCCESS && operand->number.kind == CONSTANT_ADDRESS)
			return ptx_wrong(reader, "an address is no immediate, before");
		return result;
	}
	result = named(reader, scope, operand);
	/* !predicate, or of vmad -register */
	if (result == CUDA_SUCCESS && operand->negated &&
	    (operand->kind != OPERAND_REGISTER || (minus && depth) ||
	     minus == (operand->symbol->type == TYPE_PRED)))
		return ptx_wrong(reader, "a sign is wrong in front of what stands before");
	if (result == CUDA_SUCCESS && ptx_is(reader, "|")) {
		ptx_next(reader);
		operand->second = arena_take(source_of(reader)->arena, sizeof(*operand->second));
		if (!operand->second)
			return CUDA_ERROR_OUT_OF_MEMORY;
		return one(reader, scope, operand->second, depth + 1);
	}
	return result;
}

/* Reads all operands of an instruction, and the semicolon. */
CUresult operands_read(struct reader *reader, struct scope *scope, struct statement *statement)
{
	struct operand list[PTX_OPERANDS_MOST] = {};
	CUresult result = CUDA_SUCCESS;

	while (result == CUDA_SUCCESS && !ptx_is(reader, ";")) {
		struct operand *operand = &list[statement->operands_count++];

		if (statement->operands_count > ARRAY_SIZE(list))
			return ptx_wrong(reader, "too many operands at");
		if (ptx_is(reader, "("))	/* of a call; (1 + 2) is an immediate elsewhere */
			result = word_is(&statement->name, "call") ?
				 items(reader, scope, operand, ")", 0) :
				 one(reader, scope, operand, 0);
		else
			result = one(reader, scope, operand, 0);
		if (operand->kind == OPERAND_ADDRESS && word_is(&statement->name, "ld"))
			ptx_take(reader, ".unified");
		/* [barrier] 16 of st.async has no comma */
		if (result == CUDA_SUCCESS && !ptx_is(reader, ";") &&
		    !(operand->kind == OPERAND_ADDRESS && reader->word.kind == WORD_NUMBER)) {
			result = ptx_need(reader, ",");
			if (result == CUDA_SUCCESS && ptx_is(reader, ";"))
				return ptx_wrong(reader, "an operand is missing before");
		}
	}
	if (result != CUDA_SUCCESS)
		return result;
	/* a label that follows may have the name of what is declared outside */
	if (word_is(&statement->name, "bra") && list[0].symbol)
		list[0] = (struct operand) { .kind = OPERAND_NAME, .name = list[0].name };
	ptx_next(reader);
	statement->operands = arena_take(source_of(reader)->arena,
					 (statement->operands_count + 1) * sizeof(*list));
	if (!statement->operands)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(statement->operands, list, statement->operands_count * sizeof(*list));
	return CUDA_SUCCESS;
}
