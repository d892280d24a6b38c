// SPDX-License-Identifier: MIT
/* Lines: which line of the text an instruction comes from, in the line tables that LLVM makes */
#include <llvm-c/DebugInfo.h>

#include "ir.h"

void lines_begin(struct translator *t)
{
	LLVMValueRef version = LLVMConstInt(t->i32, LLVMDebugMetadataVersion(), false);
	LLVMValueRef dwarf = LLVMConstInt(t->i32, 4, false);

	/* 1: modules that are linked agree on the flag */
	LLVMAddModuleFlag(t->module, 1, "Debug Info Version", 18, LLVMValueAsMetadata(version));
	LLVMAddModuleFlag(t->module, 1, "Dwarf Version", 13, LLVMValueAsMetadata(dwarf));
	t->lines = LLVMCreateDIBuilder(t->module);
	t->file = LLVMDIBuilderCreateFile(t->lines, "ptx", 3, ".", 1);
	LLVMDIBuilderCreateCompileUnit(t->lines, LLVMDWARFSourceLanguageC, t->file, "memcast", 7,
				       true,
				       "", 0, 0, "", 0, LLVMDWARFEmissionLineTablesOnly, 0, false,
				       false, "", 0, "", 0);
}

/* From here on, instructions are of this function. */
void lines_function(struct translator *t, uint32_t line)
{
	LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(t->lines, t->file, NULL, 0,
								 LLVMDIFlagZero);

	t->lines_scope = LLVMDIBuilderCreateFunction(t->lines, t->file, "f", 1, "f", 1, t->file,
						     line,
						     type, true, true, line, LLVMDIFlagZero, true);
	LLVMSetSubprogram(t->value, t->lines_scope);
	lines_at(t, line);
}

/* The column is the text's number, from 1 on: parts that are linked have lines of their own. */
void lines_at(struct translator *t, uint32_t line)
{
	uint32_t column = t->unit->number < 65535 ? t->unit->number + 1 : 0;
	LLVMMetadataRef location = LLVMDIBuilderCreateDebugLocation(t->context, line, column,
								    t->lines_scope, NULL);

	LLVMSetCurrentDebugLocation2(t->builder, location);
	LLVMSetCurrentDebugLocation2(t->entry_builder, location);
}

void lines_end(struct translator *t)
{
	LLVMDIBuilderFinalize(t->lines);
	LLVMDisposeDIBuilder(t->lines);
}
