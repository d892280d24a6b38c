// SPDX-License-Identifier: MIT
/*
 * Variables that gdb shows of code for it: threadIdx and the like, a kernel's parameters, and each
 * register of PTX. All have their places in memory.
 */
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

#include "ir.h"
#include "ptx/jit/llvm.h"

/* Of DWARF */
#define OP_DEREF	0x06
#define OP_PLUS		0x23
#define ATE_BOOLEAN	2
#define ATE_FLOAT	4
#define ATE_SIGNED	5
#define ATE_UNSIGNED	7

static LLVMMetadataRef basic(struct translator *t, const char *name, uint32_t bits,
			     uint32_t encoding)
{
	return LLVMDIBuilderCreateBasicType(t->lines, name, strlen(name), bits, encoding,
					    LLVMDIFlagZero);
}

static LLVMMetadataRef type_of(struct translator *t, enum type type)
{
	uint32_t bits = type_bits(type);

	if (type == TYPE_PRED)
		return basic(t, "bool", 8, ATE_BOOLEAN);
	if (type == TYPE_F32 || type == TYPE_F64)
		return basic(t, bits == 32 ? "float" : "double", bits, ATE_FLOAT);
	if (type_is(type, KIND_SIGNED))
		return basic(t, type_facts[type].name, bits, ATE_SIGNED);
	return basic(t, type_facts[type].name, bits ? bits : 8, ATE_UNSIGNED);
}

/* A pointer for what may be one, an array for a struct */
static LLVMMetadataRef parameter_type(struct translator *t, const struct symbol *symbol)
{
	LLVMMetadataRef range;

	if (8 * symbol->bytes == type_bits(symbol->type))
		return symbol->bytes == 8 && symbol->type != TYPE_F64 ?
		       LLVMDIBuilderCreatePointerType(t->lines, NULL, 64, 64, 0, "", 0) :
		       type_of(t, symbol->type);
	range = LLVMDIBuilderGetOrCreateSubrange(t->lines, 0, symbol->bytes);
	return LLVMDIBuilderCreateArrayType(t->lines, 8 * symbol->bytes, 8,
					    type_of(t, TYPE_U8), &range, 1);
}

struct debug_variable {
	const char *name;
	size_t length;
	uint32_t argument;		/* from 1 on; 0: it is none */
	LLVMMetadataRef type;
	LLVMValueRef place;
	bool behind;			/* the place has a pointer, behind which it is at @offset */
	uint64_t offset;
};

static void declare(struct translator *t, const struct debug_variable *variable)
{
	uint64_t behind[] = { OP_DEREF, OP_PLUS, variable->offset };
	LLVMMetadataRef about, where;
	LLVMMetadataRef line = LLVMDIBuilderCreateDebugLocation(t->context, 0, 0, t->lines_scope,
								NULL);

	if (variable->argument)
		about = LLVMDIBuilderCreateParameterVariable(t->lines, t->lines_scope,
							     variable->name, variable->length,
							     variable->argument, t->file, 0,
							     variable->type, true, LLVMDIFlagZero);
	else
		about = LLVMDIBuilderCreateAutoVariable(t->lines, t->lines_scope, variable->name,
							variable->length, t->file, 0,
							variable->type, true, LLVMDIFlagZero, 0);
	where = LLVMDIBuilderCreateExpression(t->lines, behind, variable->behind ? 3 : 0);
	llvm_declare(t->lines, variable->place, about, where, line,
		     LLVMGetInsertBlock(t->entry_builder));
}

static LLVMMetadataRef index_type(struct translator *t)
{
	LLVMMetadataRef part = type_of(t, TYPE_U32), members[3];
	static const char *const names[] = { "x", "y", "z" };

	for (int i = 0; i < 3; i++)
		members[i] = LLVMDIBuilderCreateMemberType(t->lines, t->file, names[i], 1, t->file,
							   0, 32, 32, 32 * i, LLVMDIFlagZero, part);
	return LLVMDIBuilderCreateStructType(t->lines, t->file, "uint3", 5, t->file, 0, 96, 32,
					     LLVMDIFlagZero, NULL, members, 3, 0, NULL, "", 0);
}

static LLVMValueRef keep(struct translator *t, LLVMValueRef pointer)
{
	LLVMValueRef place = alloca_at_entry(t, t->pointer, 1, 0);

	LLVMBuildStore(t->entry_builder, pointer, place);
	return place;
}

/* The name of a parameter without that of its function: "param_0" */
static void name_parameter(struct debug_variable *variable, const struct symbol *parameter,
			   const struct symbol *function)
{
	size_t outer = function->length;

	variable->name = parameter->name;
	variable->length = parameter->length;
	if (parameter->length > outer + 1 && !memcmp(parameter->name, function->name, outer) &&
	    parameter->name[outer] == '_') {
		variable->name += outer + 1;
		variable->length -= outer + 1;
	}
}

/* What a function has where it begins */
void variables_begin(struct translator *t)
{
	static const struct {
		const char *name;
		size_t offset;
	} indices[] = {
		{ "threadIdx", offsetof(struct ptx_thread, tid) },
		{ "blockIdx", offsetof(struct ptx_thread, ctaid) },
		{ "blockDim", offsetof(struct ptx_thread, ntid) },
		{ "gridDim", offsetof(struct ptx_thread, nctaid) },
	};
	const struct parameters *parameters = &t->function->parameters;
	struct debug_variable variable = { .behind = true };

	if (!t->code->debugged)
		return;
	variable.place = keep(t, t->parameters);
	for (uint32_t i = 0; i < parameters->count; i++) {
		name_parameter(&variable, parameters->at[i], t->function->symbol);
		variable.argument = i + 1;
		variable.offset = parameters->at[i]->offset;
		variable.type = parameter_type(t, parameters->at[i]);
		declare(t, &variable);
	}
	variable.place = keep(t, t->thread);
	variable.type = index_type(t);
	variable.argument = 0;
	for (size_t i = 0; i < ARRAY_SIZE(indices); i++) {
		variable.name = indices[i].name;
		variable.length = strlen(indices[i].name);
		variable.offset = indices[i].offset;
		declare(t, &variable);
	}
}

/* %rd4 is rd4, and the second element of a vector v_y, as gdb's names are C's. */
void variables_register(struct translator *t, const struct symbol *symbol, int element,
			LLVMValueRef place)
{
	struct debug_variable variable = { .place = place };
	char name[80];
	int skip = *symbol->name == '%';

	if (!t->code->debugged)
		return;
	variable.length = snprintf(name, sizeof(name), "%.*s", (int)(symbol->length - skip < 70 ?
				   symbol->length - skip : 70), symbol->name + skip);
	if (symbol->vector > 1)
		variable.length += sprintf(name + variable.length, "_%c", "xyzw"[element & 3]);
	variable.name = name;
	variable.type = type_of(t, symbol->type);
	declare(t, &variable);
}
