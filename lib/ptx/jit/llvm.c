// SPDX-License-Identifier: MIT
/* Where versions of LLVM differ. */
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>
#include <stdlib.h>
#include <string.h>

#include "llvm.h"

#if LLVM_VERSION_MAJOR < 15
#error "LLVM 15 or newer is needed: older ones have no pointers without types in their C API"
#endif

/* From 16 on, one attribute says all about memory; 0 is none at all. */
void llvm_pure(LLVMContextRef context, LLVMValueRef function)
{
#if LLVM_VERSION_MAJOR >= 16
	const char *name = "memory";
#else
	const char *name = "readnone";
#endif
	unsigned int kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

	LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
				LLVMCreateEnumAttribute(context, kind, 0));
}

/* From 19 on, these are records beside the instructions. */
void llvm_declare(LLVMDIBuilderRef builder, LLVMValueRef place, LLVMMetadataRef variable,
		  LLVMMetadataRef expression, LLVMMetadataRef location, LLVMBasicBlockRef block)
{
#if LLVM_VERSION_MAJOR >= 19
	LLVMDIBuilderInsertDeclareRecordAtEnd(builder, place, variable, expression, location, block);
#else
	LLVMDIBuilderInsertDeclareAtEnd(builder, place, variable, expression, location, block);
#endif
}

char *llvm_optimise(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes,
		    int large)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef error;
	char *message, *copy;

	LLVMPassBuilderOptionsSetLoopVectorization(options, !large);
	LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
	LLVMPassBuilderOptionsSetLoopUnrolling(options, !large);
	error = LLVMRunPasses(module, passes, machine, options);
	LLVMDisposePassBuilderOptions(options);
	if (!error)
		return NULL;
	message = LLVMGetErrorMessage(error);
	copy = LLVMCreateMessage(message);
	LLVMDisposeErrorMessage(message);
	return copy;
}

void llvm_version(struct digest *digest)
{
	unsigned int version[3] = { LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR, LLVM_VERSION_PATCH };

#if LLVM_VERSION_MAJOR >= 16
	LLVMGetVersion(&version[0], &version[1], &version[2]);
#endif
	digest_add(digest, version, sizeof(version));
}

LLVMErrorRef llvm_new_linker(LLVMOrcLLJITRef *linker)
{
	return LLVMOrcCreateLLJIT(linker, NULL);
}

LLVMErrorRef llvm_define(LLVMOrcLLJITRef linker, LLVMOrcJITDylibRef library,
			 LLVMOrcCSymbolMapPairs pairs, size_t count)
{
	(void)linker;
	return LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(pairs, count));
}
