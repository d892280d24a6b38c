// SPDX-License-Identifier: MIT
/*
 * PTX text: the body of a function. Instructions are compiled by lib/ptx; here only their names
 * are checked, so that other text is not taken for PTX, and memory that the function declares is
 * counted.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

/* The first parts of all instructions, sorted */
static const char *const instructions[] = {
	"abs", "activemask", "add", "addc", "alloca", "and", "applypriority", "atom", "bar",
	"barrier", "bfe", "bfi", "bfind", "bmsk", "bra", "brev", "brkpt", "brx", "call",
	"clusterlaunchcontrol", "clz", "cnot", "copysign", "cos", "cp", "createpolicy", "cvt",
	"cvta", "discard", "div", "dp2a", "dp4a", "elect", "ex2", "exit", "fence", "fma", "fns",
	"getctarank", "griddepcontrol", "isspacep", "istypep", "ld", "ldmatrix", "ldu", "lg2",
	"lop3", "mad", "mad24", "madc", "mapa", "match", "max", "mbarrier", "membar", "min",
	"mma", "mov", "movmatrix", "mul", "mul24", "multimem", "nanosleep", "neg", "not", "or",
	"pmevent", "popc", "prefetch", "prefetchu", "prmt", "rcp", "red", "redux", "rem", "ret",
	"rsqrt", "sad", "selp", "set", "setmaxnreg", "setp", "shf", "shfl", "shl", "shr", "sin",
	"slct", "sqrt", "st", "stackrestore", "stacksave", "stmatrix", "sub", "subc", "suld",
	"suq", "sured", "sust", "szext", "tanh", "tcgen05", "tensormap", "testp", "tex", "tld4",
	"trap", "txq", "vabsdiff", "vabsdiff2", "vabsdiff4", "vadd", "vadd2", "vadd4", "vavrg2",
	"vavrg4", "vmad", "vmax", "vmax2", "vmax4", "vmin", "vmin2", "vmin4", "vote", "vset",
	"vset2", "vset4", "vshl", "vshr", "vsub", "vsub2", "vsub4", "wgmma", "wmma", "xor",
};

static int compare_instruction(const void *key, const void *element)
{
	const struct word *word = key;
	const char *name = *(const char *const *)element;
	int order = strncmp(word->at, name, word->length);

	return order ? order : name[word->length] ? -1 : 0;
}

/* Skips to the end of a statement. A closing brace before that is an error. */
static CUresult skip_statement(struct reader *reader)
{
	unsigned int braces = 0;

	while (!ptx_is(reader, ";") || braces) {
		if (reader->word.kind == WORD_END)
			return ptx_wrong(reader, "a statement does not end before");
		if (ptx_is(reader, "{"))
			braces++;
		if (ptx_is(reader, "}") && !braces--)
			return ptx_wrong(reader, "a statement does not end before");
		ptx_next(reader);
	}
	ptx_next(reader);
	return CUDA_SUCCESS;
}

/* Attributes of functions are ints: more than they can say is the most that they can. */
static uint32_t add_aligned(uint32_t bytes, const struct declared *declared)
{
	uint64_t sum = ((uint64_t)bytes + declared->align - 1) / declared->align * declared->align +
		       declared->bytes;

	return sum < INT_MAX ? sum : INT_MAX;
}

/* Reads a declaration in a body: memory counts, registers and parameters of calls do not. */
static CUresult directive(struct reader *reader, struct body_memory *body)
{
	struct declared declared;
	CUresult result = CUDA_SUCCESS;
	bool shared = ptx_is(reader, ".shared"), local = ptx_is(reader, ".local");

	if (ptx_is(reader, ".loc") || ptx_is(reader, ".file")) {
		ptx_skip_line(reader);
		return CUDA_SUCCESS;
	}
	if (shared || local) {
		ptx_next(reader);
		result = ptx_declaration(reader, &declared);
		while (result == CUDA_SUCCESS) {
			uint32_t *bytes = shared ? &body->shared : &body->local;

			*bytes = add_aligned(*bytes, &declared);
			if (!ptx_take(reader, ","))
				break;
			result = ptx_declared_name(reader, &declared);
		}
	}
	return result == CUDA_SUCCESS ? skip_statement(reader) : result;
}

static CUresult statement(struct reader *reader, struct body_memory *body)
{
	struct reader label;

	if (reader->word.kind == WORD_DIRECTIVE)
		return directive(reader, body);
	if (ptx_take(reader, "@")) {
		ptx_take(reader, "!");
		ptx_next(reader);
	} else {
		label = *reader;
		ptx_next(&label);
		if (reader->word.kind == WORD_NAME && ptx_is(&label, ":")) {
			*reader = label;
			ptx_next(reader);
			return CUDA_SUCCESS;
		}
	}
	if (reader->word.kind != WORD_NAME ||
	    !bsearch(&reader->word, instructions, ARRAY_SIZE(instructions),
		     sizeof(*instructions), compare_instruction))
		return ptx_wrong(reader, "no instruction is called");
	return skip_statement(reader);
}

/*
 * Reads a body. The current word is the opening brace; afterwards, the word behind the closing
 * one.
 */
CUresult ptx_body(struct reader *reader, struct body_memory *body)
{
	CUresult result = CUDA_SUCCESS;
	unsigned int braces = 0;

	do {
		if (reader->word.kind == WORD_END) {
			return ptx_wrong(reader, "} is missing before");
		} else if (ptx_take(reader, "{")) {
			braces++;
		} else if (ptx_is(reader, "}")) {
			braces--;
			ptx_next(reader);
		} else if (!ptx_take(reader, ";")) {
			result = statement(reader, body);
		}
	} while (braces && result == CUDA_SUCCESS);
	return result;
}
