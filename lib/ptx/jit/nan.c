// SPDX-License-Identifier: MIT
/*
 * PTX has one NaN of f32, and processors have many: canonical() (lib/ptx/ir/float.c) replaces what
 * each operation gives. Where a result only goes on into other sums, products and comparisons, its
 * bits do not matter as long as it is a NaN; so only the last result of such a chain is replaced.
 */
#include <llvm-c/Core.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "llvm.h"

#define SEEN_MOST	64	/* values that one result is followed through */

/* What has been followed already, so that loops end */
struct seen {
	LLVMValueRef at[SEEN_MOST];
	unsigned int count;
};

/* Return: what is replaced where it is a NaN; NULL: the instruction does no such thing */
static LLVMValueRef replaced(LLVMValueRef select)
{
	LLVMValueRef value, nan, test;
	LLVMBool inexact;

	if (LLVMGetInstructionOpcode(select) != LLVMSelect ||
	    LLVMGetTypeKind(LLVMTypeOf(select)) != LLVMFloatTypeKind)
		return NULL;
	test = LLVMGetOperand(select, 0);
	nan = LLVMGetOperand(select, 1);
	value = LLVMGetOperand(select, 2);
	if (!LLVMIsAFCmpInst(test) || LLVMGetFCmpPredicate(test) != LLVMRealUNO ||
	    LLVMGetOperand(test, 0) != value || LLVMGetOperand(test, 1) != value ||
	    !LLVMIsAConstantFP(nan) || !isnan(LLVMConstRealGetDouble(nan, &inexact)))
		return NULL;
	return value;
}

/* Is it NaN, whichever it is, where an operand is one? */
static bool passes_on(LLVMValueRef instruction)
{
	static const char *const names[] = { "llvm.fma", "llvm.sqrt" };
	LLVMValueRef callee;
	unsigned int id;

	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMFAdd: case LLVMFSub: case LLVMFMul: case LLVMFDiv:
		return true;
	case LLVMCall:
		callee = LLVMGetCalledValue(instruction);
		id = LLVMIsAFunction(callee) ? LLVMGetIntrinsicID(callee) : 0;
		for (int i = 0; id && i < 2; i++)
			if (id == LLVMLookupIntrinsicID(names[i], strlen(names[i])))
				return true;
		return false;
	default:
		return false;
	}
}

/* Do the bits of a value matter where it is a NaN? */
static bool matters(LLVMValueRef value, struct seen *seen)
{
	for (unsigned int i = 0; i < seen->count; i++)
		if (seen->at[i] == value)
			return false;
	if (seen->count == SEEN_MOST)
		return true;
	seen->at[seen->count++] = value;
	for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (!LLVMIsAInstruction(user))
			return true;
		if (LLVMIsAFCmpInst(user) || replaced(user) == value)
			continue;
		if (!passes_on(user) && !LLVMIsAPHINode(user) && !LLVMIsASelectInst(user))
			return true;
		if (matters(user, seen))
			return true;
	}
	return false;
}

static void look_at_block(LLVMBasicBlockRef block)
{
	LLVMValueRef instruction = LLVMGetFirstInstruction(block), next, value;

	for (; instruction; instruction = next) {
		struct seen seen = {};

		next = LLVMGetNextInstruction(instruction);
		value = replaced(instruction);
		if (!value || matters(instruction, &seen))
			continue;
		LLVMReplaceAllUsesWith(instruction, value);
		LLVMInstructionEraseFromParent(instruction);
	}
}

/* Drops replacements of NaNs that do not matter. Registers are values by now. */
void drop_nans(LLVMModuleRef module)
{
	LLVMValueRef function;
	LLVMBasicBlockRef block;

	for (function = LLVMGetFirstFunction(module); function;
	     function = LLVMGetNextFunction(function))
		for (block = LLVMGetFirstBasicBlock(function); block;
		     block = LLVMGetNextBasicBlock(block))
			look_at_block(block);
}
