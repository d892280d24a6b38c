/* SPDX-License-Identifier: MIT */
/*
 * What differs between versions of LLVM is in llvm.c alone: 15 and newer, which have pointers
 * without types.
 */
#ifndef MEMCAST_PTX_LLVM_H
#define MEMCAST_PTX_LLVM_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/TargetMachine.h>

#include "digest.h"

/* Marks a function that neither reads nor writes memory. */
void llvm_pure(LLVMContextRef context, LLVMValueRef function);

/* Says where a variable lies: at @place, an alloca. @block: the end of the entry block */
void llvm_declare(LLVMDIBuilderRef builder, LLVMValueRef place, LLVMMetadataRef variable,
		  LLVMMetadataRef expression, LLVMMetadataRef location, LLVMBasicBlockRef block);

/* Return: NULL, or what went wrong, to be freed by LLVMDisposeMessage() */
char *llvm_optimise(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes,
		    int large);

/* nan.c: drops what makes PTX's NaN of others where only arithmetic sees it. */
void drop_nans(LLVMModuleRef module);

/* Adds the version of LLVM that runs. */
void llvm_version(struct digest *digest);

/* A linker of objects whose memory is never writable and executable at once */
LLVMErrorRef llvm_new_linker(LLVMOrcLLJITRef *linker);
LLVMErrorRef llvm_define(LLVMOrcLLJITRef linker, LLVMOrcJITDylibRef library,
			 LLVMOrcCSymbolMapPairs pairs, size_t count);

#endif /* MEMCAST_PTX_LLVM_H */
