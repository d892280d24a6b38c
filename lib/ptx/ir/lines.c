// SPDX-License-Identifier: MIT
/*
 * Lines: which line of the text an instruction comes from, in the line tables that LLVM makes. Code
 * for gdb (MEMCAST_PTX_GDB) has the source's lines, and the text's as discriminators.
 */
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "ir.h"

void lines_begin(struct translator *t)
{
	LLVMValueRef version = LLVMConstInt(t->i32, LLVMDebugMetadataVersion(), false);
	LLVMValueRef dwarf = LLVMConstInt(t->i32, 4, false);
	bool full = t->code->debugged;

	/* 1: modules that are linked agree on the flag */
	LLVMAddModuleFlag(t->module, 1, "Debug Info Version", 18, LLVMValueAsMetadata(version));
	LLVMAddModuleFlag(t->module, 1, "Dwarf Version", 13, LLVMValueAsMetadata(dwarf));
	t->lines = LLVMCreateDIBuilder(t->module);
	t->file = LLVMDIBuilderCreateFile(t->lines, "ptx", 3, ".", 1);
	LLVMDIBuilderCreateCompileUnit(t->lines, full ? LLVMDWARFSourceLanguageC_plus_plus :
				       LLVMDWARFSourceLanguageC, t->file, "memcast", 7, !full,
				       "", 0, 0, "", 0, full ? LLVMDWARFEmissionFull :
				       LLVMDWARFEmissionLineTablesOnly, 0, false,
				       false, "", 0, "", 0);
}

/* Return: the .file of a number; "ptx" if there is none */
static LLVMMetadataRef file_of(struct translator *t, uint32_t number)
{
	struct source_file *known = &t->files[number % ARRAY_SIZE(t->files)];
	char path[512], *last;

	if (known->file && known->unit == t->unit && known->number == number)
		return known->file;
	source_file(t->unit->text, t->unit->end, number, path, sizeof(path));
	*known = (struct source_file) { .unit = t->unit, .number = number, .file = t->file };
	if (!*path)
		return t->file;
	last = strrchr(path, '/');
	if (last)
		*last++ = '\0';
	known->file = LLVMDIBuilderCreateFile(t->lines, last ? last : path,
					      strlen(last ? last : path), last ? path : ".",
					      last ? strlen(path) : 1);
	return known->file;
}

/* The function's first line of the source, for gdb; else the text's */
static LLVMMetadataRef begin_of(struct translator *t, uint32_t *line)
{
	for (struct statement *at = t->body.first; at && t->code->debugged; at = at->next)
		if (at->source_line) {
			*line = at->source_line;
			return file_of(t, at->source_file);
		}
	return t->file;
}

/*
 * Return: the last name in a mangled one, "kernel" in _ZN5space6kernelEPf; the name itself if it is
 * none. gdb finds the rest in the mangled name.
 */
static struct word plain_name(const struct symbol *symbol)
{
	struct word plain = { .at = symbol->name, .length = symbol->length };
	const char *at = symbol->name, *end = at + symbol->length;
	size_t length;

	if (symbol->length < 3 || memcmp(at, "_Z", 2))
		return plain;
	for (at += 2; at < end && strchr("NLrVK", *at); at++)
		;
	while (at < end && *at >= '0' && *at <= '9') {
		for (length = 0; at < end && *at >= '0' && *at <= '9' && length < 10000; at++)
			length = 10 * length + *at - '0';
		if (length > (size_t)(end - at))
			break;
		plain = (struct word) { .at = at, .length = length };
		at += length;
	}
	return plain;
}

/* From here on, instructions are of this function; @name: NULL: its own */
void lines_function(struct translator *t, uint32_t line, const char *name)
{
	LLVMMetadataRef type, file = name ? t->file : begin_of(t, &line);
	struct word plain = { .at = name ? name : "f", .length = name ? strlen(name) : 1 };
	struct word full = plain;
	bool debugged = t->code->debugged;

	/* names of functions are for gdb alone */
	if (!name && debugged) {
		plain = plain_name(t->function->symbol);
		full.at = t->function->symbol->name;
		full.length = t->function->symbol->length;
	}
	type = LLVMDIBuilderCreateSubroutineType(t->lines, file, NULL, 0, LLVMDIFlagZero);
	t->lines_scope = LLVMDIBuilderCreateFunction(t->lines, file, plain.at, plain.length,
						     full.at, full.length, file, line, type, true,
						     true, line, LLVMDIFlagZero, !debugged);
	LLVMSetSubprogram(t->value, t->lines_scope);
	lines_at(t, line);
}

static LLVMMetadataRef location_of(struct translator *t, uint32_t line, LLVMMetadataRef scope)
{
	/* the column is the text's number: parts that are linked have lines of their own */
	uint32_t column = t->unit->number < 65535 ? t->unit->number + 1 : 0;

	return LLVMDIBuilderCreateDebugLocation(t->context, line, column, scope, NULL);
}

void lines_at(struct translator *t, uint32_t line)
{
	LLVMMetadataRef location = location_of(t, line, t->lines_scope);

	LLVMSetCurrentDebugLocation2(t->builder, location);
	LLVMSetCurrentDebugLocation2(t->entry_builder, location);
}

void lines_statement(struct translator *t, const struct statement *at)
{
	LLVMMetadataRef file, scope;

	if (!t->code->debugged) {
		lines_at(t, at->line);
		return;
	}
	/* gdb stops at a line once: what is done for it at the function's beginning is not of it */
	file = at->source_line ? file_of(t, at->source_file) : t->file;
	scope = LLVMDIBuilderCreateLexicalBlockFile(t->lines, t->lines_scope, file, at->line);
	LLVMSetCurrentDebugLocation2(t->builder,
				     location_of(t, at->source_line ? at->source_line : at->line,
						 scope));
}

void lines_end(struct translator *t)
{
	LLVMDIBuilderFinalize(t->lines);
	LLVMDisposeDIBuilder(t->lines);
}
