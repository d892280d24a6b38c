// SPDX-License-Identifier: MIT
/*
 * The translator of PTX, without a device: results of instructions against facts.txt, numbers of
 * the text, and text that is cut off, too large or mad, which must give an error with a line.
 *
 *	host-translate MEMCAST-PTX.SO FACTS.TXT
 */
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ptx/run/run.h"
#include "sequences.h"
#define GROUP	"translate"
#include "translate.h"

#define OUT_OF_MEMORY	2
#define ROWS		16

/* An instruction of facts.txt, and its rows */
struct fact {
	char name[64], operands[16];
	int bits, widths[5], count, rows;
	uint64_t in[5][ROWS], out[ROWS];
};

/* Appends a kernel, called k and a number, whose thread i computes row i. */
static int write_kernel(char *text, size_t size, const struct fact *fact, int index)
{
	int used = snprintf(text, size,
		".visible .entry k%d(.param .u64 pi, .param .u64 po) {\n"
		".reg .b32 %%t; .reg .b64 %%a, %%b; .reg .b%d %%o;\nmov.u32 %%t, %%tid.x; "
		"ld.param.u64 %%a, [pi]; ld.param.u64 %%b, [po]; mad.wide.u32 %%a, %%t, 8, %%a; "
		"mad.wide.u32 %%b, %%t, 8, %%b;\n", index, fact->bits);

	for (int i = 0; i < fact->count; i++)
		used += snprintf(text + used, size - used,
				 ".reg .b%d %%i%d; ld.global.b%d %%i%d, [%%a+%d];\n",
				 fact->widths[i], i, fact->widths[i], i, i * ROWS * 8);
	used += snprintf(text + used, size - used, "%s %%o", fact->name);
	for (int i = 0; i < fact->count; i++)
		used += snprintf(text + used, size - used, ", %%i%d", i);
	return used + snprintf(text + used, size - used,
			       ";\nst.global.b%d [%%b], %%o;\nret;\n}\n", fact->bits);
}

static struct fact *read_facts(const char *path, int *count)
{
	struct fact *facts = calloc(400, sizeof(*facts)), *fact = facts - 1;
	FILE *file = fopen(path, "r");
	char line[400], *at;

	while (file && fgets(line, sizeof(line), file)) {
		if (*line == '#')
			continue;
		if (*line != '\t') {
			fact++;
			sscanf(line, "%63s %d", fact->name, &fact->bits);
			for (at = strrchr(line, ' '); at && fact->count < 5;
			     at = strchr(at + 1, ','))
				fact->widths[fact->count++] = atoi(at + 1);
			continue;
		}
		at = line;
		for (int i = 0; i < fact->count; i++)
			fact->in[i][fact->rows] = strtoull(at, &at, 16);
		fact->out[fact->rows++] = strtoull(strchr(at, '=') + 1, NULL, 16);
	}
	*count = fact - facts + 1;
	if (file)
		fclose(file);
	return facts;
}

static void instructions(const char *path)
{
	int count, used = sizeof(HEAD) - 1, wrong = 0;
	struct fact *facts = read_facts(path, &count);
	size_t size = 4096UL * (count + 1);
	char *text = malloc(size), reason[256], name[16];
	struct ptx_code *code;
	struct ptx_log log;

	memcpy(text, HEAD, sizeof(HEAD));
	for (int i = 0; i < count; i++)
		used += write_kernel(text + used, size - used, &facts[i], i);
	if (count < 100 || load(text, used, &code, &log)) {
		told("instructions", false, count < 100 ? "no facts" : log.text);
		return;
	}
	for (int i = 0; i < count; i++) {
		uint64_t out[ROWS] = {}, parameters[] = { (uintptr_t)facts[i].in, (uintptr_t)out };
		uint64_t mask = facts[i].bits == 64 ? UINT64_MAX : (1ULL << facts[i].bits) - 1;

		snprintf(name, sizeof(name), "k%d", i);
		if (run(code, name, facts[i].rows, parameters, reason, sizeof(reason))) {
			printf("# %s: %s\n", facts[i].name, reason);
			wrong++;
			continue;
		}
		for (int row = 0; row < facts[i].rows; row++) {
			if ((out[row] & mask) == facts[i].out[row])
				continue;
			printf("# %s row %d: %llx, not %llx\n", facts[i].name, row,
			       (unsigned long long)(out[row] & mask),
			       (unsigned long long)facts[i].out[row]);
			wrong++;
		}
	}
	snprintf(reason, sizeof(reason), "%d of %d instructions and rows are wrong", wrong, count);
	told("instructions", !wrong, reason);
	object->code_free(code);
	free(text);
	free(facts);
}

/* Runs each sequence as a kernel, by a loop over threads and, as it waits, by fibers. */
static void run_sequences(void)
{
	size_t count = sizeof(sequences) / sizeof(*sequences);
	char text[2000], reason[256];
	struct ptx_code *code;
	struct ptx_log log;
	bool good = true;

	for (size_t i = 0; i < 2 * count; i++) {
		const struct sequence *sequence = &sequences[i / 2];
		uint32_t out = 0;
		uint64_t parameters[] = { (uintptr_t)sequence->in, (uintptr_t)&out };
		int result;

		*reason = '\0';
		snprintf(text, sizeof(text), HEAD ".visible .entry k(.param .u64 pi, .param .u64 po) {\n"
			 ".reg .pred %%p<4>; .reg .b16 %%h<4>; .reg .b32 %%r<8>; .reg .b64 %%d<8>; "
			 ".reg .f32 %%f<4>; .reg .f64 %%g<4>; .reg .b64 %%i, %%o; ld.param.u64 %%i, [pi]; "
			 "ld.param.u64 %%o, [po]; ld.global.u32 %%r1, [%%i]; ld.global.u32 %%r2, [%%i+4]; "
			 "ld.global.u32 %%r3, [%%i+8]; mov.u32 %%r0, %%tid.x; setp.ne.u32 %%p0, %%r0, 0; "
			 "not.pred %%p1, %%p0; %s\n%s\nst.global.u32 [%%o], %%r0; ret; }\n",
			 i & 1 ? "bar.sync 0;" : "", sequence->text);
		result = load(text, strlen(text), &code, &log);
		if (!result) {
			result = run(code, "k", 1, parameters, reason, sizeof(reason));
			object->code_free(code);
		}
		if (!result && out == sequence->out)
			continue;
		printf("# %s: %08x, not %08x %.200s %.200s\n", sequence->text, out, sequence->out,
		       reason, log.text);
		good = false;
	}
	told("sequences", good, "differs from an H100");
}

static void numbers(void)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
		{ "1.5", 1.5 }, { "-7.5", -7.5 }, { "1.5e3", 1500 }, { "1.5e-3", 1.5e-3 },
		{ "1.5E+2", 150 }, { "2e3", 2000 }, { "0f40400000", 3 }, { "-0f40400000", -3 },
		{ "0d4008000000000000", 3 }, { "-0d4008000000000000", -3 }, { ".5", .5 },
		{ "5.", 5 }, { "0.1", 0.1 }, { "3", 3 }, { "-3", -3 }, { "0x10", 16 }, { "017",
											 15 },
		{ "0b101", 5 }, { "(1 + 2) * 3", 9 }, { "5 > 3 ? 7 : 8", 7 },
		/* .u64 by their size, U, (.u64) or an operation on bits; others are .s64 */
		{ "0xF000000000000000 >> 60", 15 }, { "(.u64) -16 >> 60", 15 },
		{ "-16 >> 2", -4 }, { "-1 < 0U ? 1 : 2", 2 }, { "-1 < 0 ? 1 : 2", 1 },
		{ "-8 / 2U", 0x1p63 }, { "-8 / 2", -4 }, { "~0 >> 63", 1 },
		{ "(-1 | 0) >> 63", 1 }, { "-7 % 3", 0 }, { "18446744073709551615", 0x1p64 },
		{ "1.0000000000000000000000000000000000000000000000000000000000000000001e10",
		  1e10 },
		{ "0xFF(1000+546)", 10 }, { "0xff00(1000 + 546) + 1", 7 }, { "0xf0(0x0f)", 0 },
		{ "0xffffffffffffffff(-1)", 0x1p64 }, { "2 * WARP_SZ - 1", 63 }, { "-WARP_SZ", -32 },
	};
	static const char *const bad[] = { "12abc", "0f12", "0x", "1e", "99999999999999999999",
					   ".", ".u64 3", "0(3)", "0xff(1.5)", "0xff(3" };
	char text[600], why[256] = "";
	struct ptx_code *code;
	struct ptx_log log;
	double value;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), HEAD ".global .f64 x = %s;\n", cases[i].text);
		if (load(text, strlen(text), &code, &log)) {
			snprintf(why, sizeof(why), "%s: %.200s", cases[i].text, log.text);
			continue;
		}
		memcpy(&value, variables[0].memory, sizeof(value));
		if (value != cases[i].value)
			snprintf(why, sizeof(why), "%s became %.17g", cases[i].text, value);
		object->code_free(code);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), HEAD ".global .f64 x = %s;\n", bad[i]);
		if (load(text, strlen(text), &code, &log) != INVALID_PTX || !strstr(log.text,
										    "line 4"))
			snprintf(why, sizeof(why), "%s: %.200s", bad[i], log.text);
	}
	told("numbers", !*why, why);
}

/* Bytes of addresses, as clang gives them to packed structs */
static void masked(void)
{
	static const struct { const char *text; int shift, added; } cases[] = {
		{ "0xFF(p)", 0, 0 }, { "0xFF0000(p)", 16, 0 }, { "0xFF00(generic(p))", 8, 0 },
		{ "0xFF(p+4)", 0, 4 }, { "0xFF00(generic(p)+8)", 8, 8 }, { "0xFF(4 + p)", 0, 4 },
	};
	static const char *const bad[] = { "0(p)", "0xff(p)+1", "0xff(0xff00(p))", "0xff(p" };
	char text[600], why[256] = "";
	struct ptx_code *code;
	struct ptx_log log;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), HEAD ".global .u64 p;\n.global .b8 x = %s;\n",
			 cases[i].text);
		if (load(text, strlen(text), &code, &log)) {
			snprintf(why, sizeof(why), "%s: %.200s", cases[i].text, log.text);
			continue;
		}
		if (*(unsigned char *)variables[1].memory !=
		    (((uintptr_t)variables[0].memory + cases[i].added) >> cases[i].shift & 0xff))
			snprintf(why, sizeof(why), "%s is another byte", cases[i].text);
		object->code_free(code);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), HEAD ".global .u64 p;\n.global .b8 x = %s;\n", bad[i]);
		if (load(text, strlen(text), &code, &log) != INVALID_PTX || !strstr(log.text, "line 5"))
			snprintf(why, sizeof(why), "%s: %.200s", bad[i], log.text);
	}
	told("masked", !*why, why);
}

static const char sample[] = HEAD
	".global .align 8 .u64 g[4] = { 1, generic(g)+8, 0xff, (2 + 3) * 4 };\n"
	".func (.param .b32 r) f(.param .b32 a) { .reg .u32 x; ld.param.u32 x, [a]; "
	"st.param.b32 [r], x; ret; }\n"
	".visible .entry k(.param .u64 o) { .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<4>; "
	"ld.param.u64 %d1, [o]; mov.u32 %r1, %tid.x; L: setp.lt.u32 %p1, %r1, 40; "
	"@%p1 add.u32 %r1, %r1, 17; @%p1 bra L; { .param .b32 a; .param .b32 v; "
	"st.param.b32 [a], %r1; call (v), f, (a); ld.param.b32 %r2, [v]; } "
	"st.global.v2.u32 [%d1], {%r1, %r2}; ret; }\n";

/* Loads a text that may be anything, and compiles its kernel if it has one. */
static int any(const char *text, size_t bytes, struct ptx_log *log)
{
	const struct ptx_kernel *kernel;
	struct ptx_code *code;
	int result = load(text, bytes, &code, log);

	if (!result) {
		object->kernel(code, "k", &kernel, log);
		object->code_free(code);
	}
	return result;
}

static void cut_off(void)
{
	size_t bytes = sizeof(sample) - 1;
	char why[256] = "", *copy;
	struct ptx_log log;

	for (size_t i = sizeof(HEAD); i + 2 < bytes; i++) {
		int result;

		/* memory of exactly this size, so that reading on is seen */
		copy = malloc(i);
		memcpy(copy, sample, i);
		result = any(copy, i, &log);
		if (result && !strstr(log.text, "line "))
			snprintf(why, sizeof(why), "at %zu: %d %.200s", i, result, log.text);
		free(copy);
	}
	if (any(sample, bytes, &log))
		snprintf(why, sizeof(why), "whole: %.200s", log.text);
	told("cut_off", !*why, why);
}

/* Bytes that are others: whatever it is, it ends in a result. */
static void changed(void)
{
	static const char bytes[] = "{}()[];,.:@%$!\"/*-+<>|0x9aZ_ \n\x80";
	char copy[sizeof(sample)];
	unsigned int random = 1;
	struct ptx_log log;

	for (int round = 0; round < 3000; round++) {
		memcpy(copy, sample, sizeof(sample));
		for (int i = 0; i < 1 + round % 3; i++) {
			random = random * 1103515245 + 12345;
			copy[sizeof(HEAD) + random / 65536 % (sizeof(sample) - sizeof(HEAD) - 1)] =
				bytes[random / 7 % (sizeof(bytes) - 1)];
		}
		any(copy, sizeof(sample) - 1, &log);
	}
	told("changed", true, "");
}

/* A text of @head, @count times @part, and @tail */
static char *repeated(const char *head, const char *part, size_t count, const char *tail,
		      size_t *bytes)
{
	size_t each = strlen(part), before = strlen(head), after = strlen(tail);
	char *text = malloc(before + each * count + after + 1);

	memcpy(text, head, before);
	for (size_t i = 0; i < count; i++)
		memcpy(text + before + i * each, part, each);
	memcpy(text + before + each * count, tail, after + 1);
	*bytes = before + each * count + after;
	return text;
}

static void large(const char *name, const char *head, const char *part, size_t count,
		  const char *tail, int want)
{
	struct ptx_log log;
	char why[1300];
	size_t bytes;
	char *text = repeated(head, part, count, tail, &bytes);
	int result = any(text, bytes, &log);

	snprintf(why, sizeof(why), "result %d: %s", result, log.text);
	told(name, result == want && (!want || strstr(log.text, "line ")), why);
	free(text);
}

/* A kernel for which LLVM would take gigabytes is refused, with its line. */
static void many_instructions(void)
{
	const struct ptx_kernel *kernel;
	struct ptx_code *code;
	struct ptx_log log;
	size_t bytes;
	char *text = repeated(HEAD ".visible .entry k() { .reg .b32 a;", "mov.b32 a,1;", 1 << 20,
			      "ret; }\n", &bytes);
	int result = load(text, bytes, &code, &log);

	if (!result) {
		result = object->kernel(code, "k", &kernel, &log);
		object->code_free(code);
	}
	told("many_instructions", result == NOT_SUPPORTED && strstr(log.text, "k: line 4: "), log.text);
	free(text);
}

/* Each of 40 functions calls all before it: there are 2^39 ways to the first one. */
static void many_ways(void)
{
	static char text[40000] = HEAD;
	char *end = text + strlen(text);
	struct ptx_log log = {};

	for (int i = 0; i < 40; i++) {
		end += sprintf(end, i < 39 ? ".func f%d() { " : ".visible .entry k() { ", i);
		for (int j = 0; j < i; j++)
			end += sprintf(end, "call f%d; ", j);
		end += sprintf(end, "ret; }\n");
	}
	told("many_ways", !any(text, end - text, &log), log.text);
}

/* Metadata of mma.sp are a register, and which lanes have them is a number: else no load. */
static void sparse(void)
{
	static const struct { const char *last; int want; } cases[] = {
		{ "e, 0", 0 }, { "0x4e4e4e4e, 0", INVALID_PTX }, { "e, e", INVALID_PTX },
	};
	char text[600], why[1300] = "";
	struct ptx_code *code;
	struct ptx_log log;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), HEAD ".visible .entry k() { .reg .b32 e, a<4>, b<4>; "
			 ".reg .f32 d<4>;\n"
			 "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
			 "{d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1, b2, b3}, {d0, d1, d2, d3}, %s;\n"
			 "ret; }\n", cases[i].last);
		if (load(text, strlen(text), &code, &log) != cases[i].want)
			snprintf(why, sizeof(why), "%s: %.200s", cases[i].last, log.text);
		else if (!cases[i].want)
			object->code_free(code);
	}
	told("sparse", !*why, why);
}

/*
 * Shapes that PTX has for other types or devices only, and two predicates of one: the kernel is not
 * translated, and cannot run.
 */
static void shapes(void)
{
	static const char *const lines[] = {
		"wmma.mma.sync.aligned.row.col.m16n16k8.s32.s8.s8.s32 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, "
		"%c7}, %a0, %b0, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};",
		"wmma.load.a.sync.aligned.row.m16n16k16.s4 %a0, [%p];",
		"wmma.load.b.sync.aligned.col.m16n16k8.s8 %b0, [%p];",
		"mma.sp.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%c0, %c1, %c2, %c3}, %a0, %b0, "
		"{%c0, %c1, %c2, %c3}, %a1, 0;",
		"mma.sync.aligned.m16n8k64.row.col.f64.f64.f64.f64 {%p, %p, %p, %p}, {%p, %p, %p, %p, %p, "
		"%p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, "
		"%p, %p, %p, %p, %p}, {%p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p, %p}, "
		"{%p, %p, %p, %p};",
		"mma.sync.aligned.m16n8k16.row.col.s32.s8.e4m3.s32 {%c0, %c1, %c2, %c3}, {%a0, %a1}, %b0, "
		"{%c0, %c1, %c2, %c3};",
	};
	char text[800], why[1300] = "";
	const struct ptx_kernel *kernel;
	struct ptx_code *code;
	struct ptx_log log;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		snprintf(text, sizeof(text), HEAD ".visible .entry k() { .reg .b32 %%a<4>, %%b<4>, %%c<8>; "
			 ".reg .b64 %%p; .reg .pred %%q<2>;\n%s\nret; }\n", lines[i]);
		if (load(text, strlen(text), &code, &log)) {
			snprintf(why, sizeof(why), "%s: %.200s", lines[i], log.text);
			continue;
		}
		if (!object->kernel(code, "k", &kernel, &log) || !strstr(log.text, " is not"))
			snprintf(why, sizeof(why), "%s: %.200s", lines[i], log.text);
		object->code_free(code);
	}
	told("shapes", !*why, why);
}

/* A loop with a call waits only if what is called has something to wait by. */
static void calls_in_loops(void)
{
	static const struct { const char *callee; bool waits; } cases[] = {
		{ "mad.lo.u32 r, r, r, 3;", false },
		{ "ld.const.u32 r, [c];", false },
		{ "ld.global.nc.u32 r, [g];", false },
		{ "st.local.u32 [w], r; ld.local.u32 r, [w];", false },
		{ "ld.global.u32 r, [g];", true },
		{ "atom.global.add.u32 r, [g], 1;", true },
		{ "call below;", true },
		{ "st.global.u32 [g], r;", true },
		{ "{ .param .b64 at; st.param.b64 [at], 0; call free, (at); }", true },
	};
	char text[800], why[1300] = "";
	const struct ptx_kernel *kernel;
	struct ptx_code *code;
	struct ptx_log log;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), HEAD ".global .u32 g; .const .u32 c = 1;\n"
			 ".extern .func free(.param .b64 at);\n"
			 ".func below() { .reg .b32 r; ld.volatile.global.u32 r, [g]; ret; }\n"
			 ".func f() { .reg .b32 r; .local .u32 w; %s ret; }\n"
			 ".visible .entry k() { .reg .pred p; .reg .b32 i; mov.u32 i, %%tid.x; "
			 "L: call f; add.u32 i, i, 1; setp.lt.u32 p, i, 9; @p bra L; ret; }\n",
			 cases[i].callee);
		if (load(text, strlen(text), &code, &log)) {
			snprintf(why, sizeof(why), "%s: %.200s", cases[i].callee, log.text);
			continue;
		}
		if (object->kernel(code, "k", &kernel, &log) || kernel->waits != cases[i].waits)
			snprintf(why, sizeof(why), "%s: %.200s", cases[i].callee, log.text);
		object->code_free(code);
	}
	told("calls_in_loops", !*why, why);
}

/* Words before and in declarations, and operands with signs */
static void declared(void)
{
	static const struct { const char *text; int want; } cases[] = {
		{ ".weak .global .u32 x = 3;\n", 0 },
		{ ".common .global .u32 x;\n", 0 },
		{ ".extern .global .u32 x;\n.global .u32 x = 3;\n", 0 },
		{ ".global .u32 x;\n.global .u32 x = 3;\n", INVALID_PTX },
		{ ".global .u32 x[2] = { 1, 2, 3 };\n", INVALID_PTX },
		{ ".extern .global .u32 x;\n.const .u32 x = 3;\n", INVALID_PTX },
		{ ".global .u64 x = (-0x7fffffffffffffff - 1) / -1;\n", 0 },
		{ ".func f() { ret; }\n.func f() { ret; }\n", INVALID_PTX },
		{ ".global .attribute(.managed) .u32 x;\n", 0 },
		{ ".global .attribute(.managed", INVALID_PTX },
		{ ".visible .entry k() { .reg .f32 a<3>; sub.f32 a0, a1, -a2; ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .b32 a<3>; and.b32 a0, a1, !a2; ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .b32 a; mov.u32 a, -%tid.x; ret; }\n", INVALID_PTX },
		{ ".shared .b32 s; .visible .entry k() { .reg .b32 a; mov.u32 a, -s; ret; }\n",
		  INVALID_PTX },
		{ ".shared .b32 s; .visible .entry k() { .reg .b32 a; mov.u32 a, s+1.5; ret; }\n",
		  INVALID_PTX },
		{ ".visible .entry k() { .reg .b32 a<2>; .reg .b64 d; mov.b64 d, {a0, -a1}; ret; }\n",
		  INVALID_PTX },
		{ ".visible .entry k() { .reg .pred p<2>; .reg .b32 a; setp.eq.and.u32 p0, a, 0, -p1; "
		  "ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .pred p<2>; .reg .b32 a<4>; setp.eq.and.u32 p0, a0, 0, !p1; "
		  "vmad.s32.s32.s32 a0, -a1, a2, a3; ret; }\n", 0 },
		{ ".global .u64 s; .global .u64 g = s+8-4;\n", 0 },
		{ ".global .u64 s; .global .u64 g = generic(s)-4;\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .b32 a; .reg .b64 d; ld.global.u32 a, [d-4]; ret; }\n",
		  INVALID_PTX },
		{ ".shared .b32 s; .visible .entry k() { .reg .b32 a; mov.u32 a, s-4; ret; }\n",
		  INVALID_PTX },
		{ ".visible .entry k() { .reg .b32 a; .reg .b64 d; ld.global.nc.u32 a, [d].unified; "
		  "ret; }\n", 0 },
		{ ".visible .entry k() { .reg .b32 a; .reg .b64 d; st.global.u32 [d].unified, a; ret; }\n",
		  INVALID_PTX },
		{ ".visible .entry k() { .reg .b32 a; .reg .b64 d; ld.global.cop.u32 a, [d]; ret; }\n",
		  INVALID_PTX },
		{ ".visible .func foo();\n.visible .entry k() { call foo; ret; }\n"
		  ".visible .func bar() { ret; }\n.alias foo, bar;\n", 0 },
		{ ".visible .entry k() { call foo; ret; }\n.visible .func bar() { ret; }\n"
		  ".visible .func foo();\n.alias foo, bar;\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .b32 r<4>; add r0, r1, r2; ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .b32 r<4>; cvt.u64 r0, r1; ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .b32 r<4>; add.bulk _, r0, r1; ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .b32 r; .reg .b64 d; getctarank.bulk r, d; ret; }\n",
		  INVALID_PTX },
		{ ".visible .entry k() { .reg .b32 r<4>; mov.v2.u32 {r0, r1}, %tid; ret; }\n",
		  INVALID_PTX },
		{ ".visible .entry k() { .reg .b32 r<4>; lop3.b32 r0, r1, r2, r3, r0; ret; }\n",
		  INVALID_PTX },
		{ ".visible .entry k() { .reg .b64 d; .reg .f32 f; red.global.add.v2.f32 [d], f; "
		  "ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .b64 d; .reg .f32 f; red.global.add.v4.f32 [d], "
		  "{f, f}; ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .b64 d; .reg .f32 f; red.global.add.v2.f32 [d], "
		  "0f3F800000; ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .b64 d; .reg .f32 f; red.global.add.L2::cache_hint"
		  ".v2.f32 [d], {f, f}, d; atom.global.v2.f32.add _, [d], {f, f}; ret; }\n", 0 },
		{ ".visible .entry k() { .reg .v2 .b32 v; .reg .b32 r; mov.v2.u32 v, r; ret; }\n",
		  INVALID_PTX },
		{ ".visible .entry k() { .reg .v2 .b64 v; .reg .b32 r; ld.global.u32 r, [v.y+4]; "
		  "ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .b16 h; .reg .b32 r; cvt.rn.sat.bf16.s32 h, r; "
		  "ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .v2 .b32 v; .reg .b64 d; ld.global.v4.u32 v, [d]; "
		  "ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .v2 .b32 v; .reg .b64 d; st.global.v2.b64 [d], v; "
		  "ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .b32 i; brx.idx i, t; A: B: C: ret; "
		  "t: .branchtargets A, B, C; }\n", 0 },
		{ ".visible .entry k() { .reg .b32 a<4>; mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
		  "{a0, a1, a2, a3}, {a0, a1}, {}, {a0, a1, a2, a3}; ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .b64 d; mapa d, d, 0; ret; }\n", INVALID_PTX },
		{ ".visible .entry k() { .reg .b32 r; .reg .b64 d; getctarank r, d; ret; }\n",
		  INVALID_PTX },
		{ ".visible .entry k() { }\n", 0 },
		{ ".visible .entry k() { .shared .b32 s; f(); }\n.func f() { }\n", INVALID_PTX },
		{ ".func f() { }\n.visible .entry k() { call f; }\n", 0 },
	};
	char text[600], why[1300] = "";
	struct ptx_log log;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		log.text[0] = '\0';
		snprintf(text, sizeof(text), HEAD "%s", cases[i].text);
		if (any(text, strlen(text), &log) != cases[i].want)
			snprintf(why, sizeof(why), "%s: %.200s", cases[i].text, log.text);
	}
	told("declared", !*why, why);
}

/* Devices of capability 10 compute two f32 at once: with the results of one at a time. */
static void pairs(void)
{
	static const char *const names[] = {
		"add", "add.rz", "sub.rm.ftz", "mul", "mul.rp", "mul.rn.ftz", "fma.rn", "fma.rz.ftz",
	};
	static const char *const bad[] = {
		"abs.f32x2 d3, d0", "add.sat.f32x2 d3, d0, d1", "min.f32x2 d3, d0, d1",
	};
	/* among them subnormals, products that are, a NaN and an overflow */
	static const uint32_t in[2][8] __attribute__((aligned(16))) = {
		{ 0x3f800001, 0x00400000, 0x33800001, 0x7fc12345, 0x4b000001, 1 },
		{ 0x00800001, 0x3f000000, 0x3f7ffffd, 0x7f7fffff, 0x7f7fffff, 0xff800000 },
	};
	char text[1000], reason[256] = "", why[600] = "";
	const struct ptx_kernel *kernel;
	struct ptx_code *code;
	struct ptx_log log;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *name = names[i];
		const bool fma = *name == 'f';
		uint32_t out[8] __attribute__((aligned(16))) = {};
		uint64_t parameters[] = { (uintptr_t)in, (uintptr_t)out };

		snprintf(text, sizeof(text), ".version 8.6\n.target sm_100\n.address_size 64\n"
			 ".visible .entry k(.param .u64 pi, .param .u64 po) { .reg .b32 r<9>, t; "
			 ".reg .b64 d<9>, i, o; ld.param.u64 i, [pi]; ld.param.u64 o, [po]; "
			 "mov.u32 t, %%tid.x; mad.wide.u32 i, t, 32, i; mad.wide.u32 o, t, 16, o; "
			 "ld.global.v2.b64 {d0, d1}, [i]; ld.global.b64 d2, [i+16]; mov.b64 {r0, r1}, d0; "
			 "mov.b64 {r2, r3}, d1; mov.b64 {r4, r5}, d2; %s.f32x2 d3, d0, d1%s; "
			 "%s.f32 r6, r0, r2%s; %s.f32 r7, r1, r3%s; mov.b64 d4, {r6, r7}; "
			 "st.global.v2.b64 [o], {d3, d4}; ret; }\n", name, fma ? ", d2" : "",
			 name, fma ? ", r4" : "", name, fma ? ", r5" : "");
		if (load(text, strlen(text), &code, &log)) {
			snprintf(why, sizeof(why), "%s: %.200s", name, log.text);
			continue;
		}
		if (run(code, "k", 2, parameters, reason, sizeof(reason)) ||
		    memcmp(&out[0], &out[2], 8) || memcmp(&out[4], &out[6], 8) || !out[0])
			snprintf(why, sizeof(why), "%s: %08x %08x %08x %08x, not %08x %08x %08x %08x %s",
				 name, out[0], out[1], out[4], out[5], out[2], out[3], out[6], out[7],
				 reason);
		object->code_free(code);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), ".version 8.6\n.target sm_100\n.address_size 64\n"
			 ".visible .entry k() { .reg .b64 d<9>; %s; ret; }\n", bad[i]);
		if (load(text, strlen(text), &code, &log))
			continue;
		if (!object->kernel(code, "k", &kernel, &log))
			snprintf(why, sizeof(why), "%s runs", bad[i]);
		object->code_free(code);
	}
	told("pairs", !*why, why);
}

/* Devices of capability 10 add f16 and bf16 to f32, with the result of what cvt makes f32 of. */
static void mixed(void)
{
	static const struct { const char *name, *type; } forms[] = {
		{ "add", "f16" }, { "sub.rz", "bf16" }, { "add.sat", "bf16" }, { "fma.rm", "f16" },
		{ "fma.rn.sat", "bf16" },
	};
	static const char *const bad[] = {
		"add.f32.f32 f, f, f", "add.f64.f16 f, h, f", "add.ftz.f32.f16 f, h, f",
		"add.f32.f16 f, f, f", "fma.rn.f32.f16 f, h, f, f", "mul.f32.f16 f, h, f",
		"add.f32.f16.b32 f, f, f",
	};
	const size_t count = sizeof(bad) / sizeof(*bad);
	const uint32_t in[] = { 0xc2483c55, 0x3e99999a };
	char text[800], reason[256] = "", why[600] = "";
	struct ptx_code *code;
	struct ptx_log log;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		const char *type = forms[i].type;
		const bool fma = *forms[i].name == 'f';
		uint32_t out[2] = {};
		uint64_t parameters[] = { (uintptr_t)in, (uintptr_t)out };

		snprintf(text, sizeof(text), ".version 8.6\n.target sm_100\n.address_size 64\n"
			 ".visible .entry k(.param .u64 pi, .param .u64 po) { .reg .b16 h<2>; .reg .f32 f<6>; "
			 ".reg .b64 i, o; ld.param.u64 i, [pi]; ld.param.u64 o, [po]; "
			 "ld.global.v2.b16 {h0, h1}, [i]; ld.global.f32 f0, [i+4]; cvt.f32.%s f1, h0; "
			 "cvt.f32.%s f2, h1; %s.f32.%s f3, h0, %sf0; %s.f32 f4, f1, %sf0; "
			 "st.global.f32 [o], f3; st.global.f32 [o+4], f4; ret; }\n", type, type,
			 forms[i].name, type, fma ? "h1, " : "", forms[i].name, fma ? "f2, " : "");
		if (load(text, strlen(text), &code, &log)) {
			snprintf(why, sizeof(why), "%s: %.200s", forms[i].name, log.text);
			continue;
		}
		if (run(code, "k", 1, parameters, reason, sizeof(reason)) || out[0] != out[1])
			snprintf(why, sizeof(why), "%s: %08x, not %08x %s", forms[i].name, out[0], out[1],
				 reason);
		object->code_free(code);
	}
	for (size_t i = 0; i <= count; i++) {
		snprintf(text, sizeof(text), ".version 8.6\n.target sm_%d\n.address_size 64\n"
			 ".visible .entry k() { .reg .b16 h; .reg .f32 f; %s; ret; }\n",
			 i < count ? 100 : 90, i < count ? bad[i] : "add.f32.f16 f, h, f");
		if (load(text, strlen(text), &code, &log) == INVALID_PTX)
			continue;
		snprintf(why, sizeof(why), "%s is no error", i < count ? bad[i] : "sm_90");
		object->code_free(code);
	}
	told("mixed", !*why, why);
}

/* What a target lacks is refused, and what it has is not. */
static void targets(void)
{
	static const struct { const char *line, *below, *from; } cases[] = {
		{ "fma.rn.bf16 h, h, h, h", "75", "80" }, { "add.bf16 h, h, h", "89", "90" },
		{ "mul.rn.bf16x2 r, r, r", "80", "90" }, { "setp.eq.bf16 p, h, h", "89", "90" },
		{ "redux.sync.add.u32 r, r, -1", "75", "80" }, { "elect.sync r|p, -1", "89", "90" },
		{ "cp.async.ca.shared.global [r], [d], 4", "75", "80" },
		{ "cp.async.bulk.commit_group", "89", "90" }, { "mapa.u64 d, d, 0", "89", "90" },
		{ "ld.acquire.cluster.global.u32 r, [d]", "89", "90" },
		{ "ld.shared::cluster.u32 r, [r]", "80", "90" }, { "griddepcontrol.wait", "89", "90" },
		{ "fence.proxy.async", "89", "90" }, { "fence.acquire.gpu", "", "75" },
		{ "fence.proxy.tensormap::generic.release.gpu", "89", "90" }, { "min.bf16 h, h, h", "75", "80" },
		{ "atom.global.add.noftz.bf16 h, [d], h", "89", "90" }, { "min.s16x2 r, r, r", "89", "90" },
		{ "mbarrier.try_wait.shared.b64 p, [r], d", "89", "90" },
		{ "mbarrier.test_wait.shared.b64 p, [r], d", "75", "80" },
		{ "multimem.red.relaxed.sys.global.add.u32 [d], r", "89", "90" },
		{ "multimem.red.relaxed.sys.global.add.u32 [d], r", "80", "86" },
		{ "cvt.rn.satfinite.e4m3x2.f32 h, f, f", "80", "89" },
		{ "cvt.rn.bf16.f32 h, f", "75", "80" }, { "cvt.rs.f16x2.f32 r, f, f, r", "90a", "100a" },
		{ "cvt.rz.satfinite.ue8m0x2.f32 h, f, f", "90a", "100a" },
		{ "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {r, r}, [d]", "90", "100a" },
		{ "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [d], {r}", "90", "100a" },
		{ "stmatrix.sync.aligned.m8n8.x1.shared.b16 [d], {r}", "89", "90" },
		{ "st.bulk.weak.shared::cta [d], 64, 0", "90", "100" }, { "st.v2.u32 [d], {r, r}", "", "50" },
		{ ".reg .b128 q; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, q", "90", "100" },
		{ "tensormap.replace.tile.global_address.global.b1024.b64 [d], d", "90", "90a" },
		{ "shfl.down.b32 r|p, r, 1, 31", "70", "60" }, { "vote.ballot.b32 r, p", "90", "52" },
	};
	char text[600], why[1300] = "";
	struct ptx_log log;

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		const char *target = i % 2 ? cases[i / 2].from : cases[i / 2].below;
		int want = i % 2 ? 0 : INVALID_PTX;

		log.text[0] = '\0';
		snprintf(text, sizeof(text), ".version 8.6\n.target sm_%s\n.address_size 64\n"
			 ".visible .entry j() { .reg .pred p; .reg .b16 h; .reg .b32 r; .reg .b64 d; "
			 ".reg .f32 f;\n%s;\nret; }\n", target, cases[i / 2].line);
		if (*target && any(text, strlen(text), &log) != want)
			snprintf(why, sizeof(why), "%s for sm_%s: %.200s", cases[i / 2].line, target,
				 log.text);
	}
	told("targets", !*why, why);
}

/* Instructions that ptxas takes, and those that it refuses */
static void taken(void)
{
	static const char good[] =
		"bar.red.popc.u32 r, 1, 1; mov.v2.u32 {r, _}, v; "
		"mov.v4.u32 {r, r, r, r}, %tid; "
		"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s64 [r], d, [r]; "
		"getctarank.u32 r, r; cvt.rn.bf16.u8 h, c; add.u32 x, x, r; or.b64 d, d, 1.5; "
		"ldmatrix.sync.aligned.m8n8.x2.shared.b16 v, [r]; ld.global.u32 r, [s+8-4]; "
		"cvt.u16.u64 h, %clock64; mov.u16 h, %tid.x; mov.u64 d, %gridid; "
		"st.global.u8 [d], d; atom.global.add.v2.f32 _, [d], {f, 1.0}; "
		"ld.global.v2.u32 {r, f}, [d]; ld.global.v2.f32 {r, u}, [d]; shfl.sync.idx.b32 r, r, f, f, -1; "
		"setp.lt.f16x2 _|p, r, r; lop3.or.b32 _|p, r, r, r, 1, !p; ";

	static const char *const bad[] = {
		"ld.global.u32 r, [d-4]", "mov.u64 d, s-4", "mul.f32 f, f, 2", "mul.f16 h, h, 1.0",
		"add.u32 r, r, 1.0", "st.global.f32 [d], 1", "mul.wide.u32 r, r, r", "mad.wide.u32 d, r, r, r",
		"shl.b64 d, d, d", "popc.b64 d, d", "selp.b32 r, r, d, p", "setp.lt.u32 p, d, r", "setp.eq.s32 {p, p}, r, r",
		"mov.u64 d, %tid.x", "ld.global.v2.u32 {f, f}, [d]", "mov.u32 r, %clock64", "mov.u32 r, %tid", "add.u32 r, r, %tid.x",
		"add.u64 d, d, s", "add.u32 r, r.b0, r", "add.u32 r|p, r, r", "cvt.rn.f32.s32 d, f", "cvt.u64.u32 r, r",
		"atom.global.exch.u32 r, [d], r", "atom.global.add.b32 r, [d], r", "red.global.and.u32 [d], r",
		"atom.global.add.f16x2 r, [d], r", "atom.global.add.u32 r, [r], r", "atom.global.add.u32 r, d, r",
		"atom.global.cas.v2.b32 v, [d], v", "ld.relaxed.global.u32 r, [d]", "ld.nc.u32 r, [d]", "ld.global.f16 h, [d]",
		"add.sat.u32 r, r, r", "add.rz.f16 h, h, h", "max.NaN.f64 d, d, d", "and.u32 r, r, r",
		"setp.hi.s32 p, r, r", "set.lt.u32.b32 r, r, r", "sin.f32 f, f", "mbarrier.arrive.shared.b64 [r]",
		"mbarrier.init.b64 [r], 1", "shfl.sync.idx.b32 r, r, 0, 31", "elect.sync p, -1", "bar.arrive 0",
	};
	static const char head[] = HEAD ".global .b32 s[4];\n.visible .entry k() { .reg .pred p; .reg .b8 c; "
		".reg .b16 h; .reg .b32 r; .reg .u32 u; .reg .b64 d; .reg .f32 f; .reg .f16x2 x; .reg .v2 .b32 v;\n";
	char text[1600], why[1300] = "";
	const struct ptx_kernel *kernel;
	struct ptx_code *code;
	struct ptx_log log;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), "%s%s; ret; }\n", head, bad[i]);
		if (any(text, strlen(text), &log) != INVALID_PTX)
			snprintf(why, sizeof(why), "%s is no error", bad[i]);
	}
	snprintf(text, sizeof(text), "%s%s ret; }\n", head, good);
	if (load(text, strlen(text), &code, &log)) {
		snprintf(why, sizeof(why), "%.900s", log.text);
	} else {
		if (object->kernel(code, "k", &kernel, &log))
			snprintf(why, sizeof(why), "%.900s", log.text);
		object->code_free(code);
	}
	told("taken", !*why, why);
}

/* shfl and vote of texts for devices before sm_70: the active lanes meet, those behind first. */
static void without_sync(void)
{
	static const char text[] = ".version 6.3\n.target sm_60\n.address_size 64\n"
		".visible .entry k(.param .u64 o) { .reg .pred p, q; .reg .b32 r<9>; .reg .b64 d<3>; "
		"ld.param.u64 d1, [o]; mov.u32 r1, %tid.x; mad.wide.u32 d2, r1, 8, d1;\n"
		"mov.u32 r2, %laneid; setp.lt.u32 p, r2, 9; mov.u32 r3, 0; @p bra L;\n"
		"shfl.bfly.b32 r3|q, r2, 1, 31; L: add.u32 r3, r3, r2;\n"
		"shfl.down.b32 r4|q, r3, 16, 31; selp.u32 r4, r4, 99, q;\n"
		"shfl.idx.b32 r5, r2, 3, 31; mad.lo.u32 r4, r5, 1000, r4;\n"
		"vote.ballot.b32 r6, p; vote.any.pred q, !p; selp.u32 r7, 1, 0, q; "
		"vote.all.pred q, p; @q add.u32 r7, r7, 2;\n"
		"mad.lo.u32 r4, r7, 100000, r4; st.global.v2.u32 [d2], {r4, r6}; ret; }\n";
	uint32_t out[48][2] = {};
	void *parameters[] = { out };
	char reason[256] = "", why[600] = "";
	struct ptx_code *code;
	struct ptx_log log;

	if (load(text, strlen(text), &code, &log)) {
		told("without_sync", false, log.text);
		return;
	}
	if (run(code, "k", 48, parameters, reason, sizeof(reason)))
		snprintf(why, sizeof(why), "%s", reason);
	for (uint32_t i = 0; i < 48 && !*why; i++) {
		uint32_t lane = i % 32, from = lane + 16, sum = from + (from ^ 1);

		/* the second warp has 16 lanes: one that is not there gives none other */
		if (i >= 32)
			sum = lane + (lane < 9 ? 0 : lane == 9 ? lane : lane ^ 1);
		sum = (lane < 16 ? sum : 99) + 103000;
		if (out[i][0] != sum || out[i][1] != 0x1ff)
			snprintf(why, sizeof(why), "thread %u has %u and %x, not %u", i, out[i][0],
				 out[i][1], sum);
	}
	told("without_sync", !*why, why);
	object->code_free(code);
}

/*
 * A launch makes clusters of the blocks, which the text does not ask for. Each of two blocks reads
 * what the other has in its shared memory, or asks whose its own is; they meet by a counter.
 */
static void clusters_of_a_launch(void)
{
	static const char *const ways[] = {
		"mov.u32 %r4, word; mapa.shared::cluster.u32 %r4, %r4, %r5; "
		"ld.shared::cluster.u32 %r6, [%r4];",
		"mov.u64 %o2, word; cvta.shared.u64 %o2, %o2; mapa.u64 %o2, %o2, %r5; ld.u32 %r6, [%o2];",
		"mov.u64 %o2, word; cvta.shared.u64 %o2, %o2; getctarank.u64 %r4, %o2; sub.u32 %r6, 8, %r4;",
	};
	static const char body[] =
		".visible .entry k(.param .u64 po) { .reg .pred p; .reg .b32 %%r<9>;\n.reg .b64 %%o<3>; "
		".shared .b32 word; ld.param.u64 %%o1, [po]; mov.u32 %%r1, %%cluster_ctarank;\n"
		"add.u32 %%r2, %%r1, 7; st.shared.u32 [word], %%r2; membar.gl;\n"
		"atom.global.add.u32 %%r3, [%%o1], 1; xor.b32 %%r5, %%r1, 1;\n"
		"L: ld.volatile.global.u32 %%r3, [%%o1]; setp.lt.u32 p, %%r3, 2; @p bra L;\n%s\n"
		"mad.wide.u32 %%o2, %%r1, 4, %%o1; st.global.u32 [%%o2+4], %%r6;\n"
		"membar.gl; atom.global.add.u32 %%r3, [%%o1], 1;\n"
		"M: ld.volatile.global.u32 %%r3, [%%o1]; setp.lt.u32 p, %%r3, 4; @p bra M; ret; }\n";
	static const struct ptx_run_host host;
	char text[1200], why[400] = "";
	struct ptx_code *code;
	struct ptx_log log;

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		uint32_t out[3] = {};
		void *parameters[] = { out };
		struct ptx_launch launch = {
			.parameters = parameters, .grid = { 2, 1, 1 }, .block = { 1, 1, 1 },
			.cluster = { 2, 1, 1 }, .is_cluster = true, .multiprocessors = 2,
			.resident = 2, .stack_limit = 65536, .host = &host,
		};
		struct ptx_outcome outcome = {};
		int used = sprintf(text, HEAD), result;

		snprintf(text + used, sizeof(text) - used, body, ways[i]);
		result = load(text, strlen(text), &code, &log);
		if (!result) {
			result = object->kernel(code, "k", &launch.kernel, &log);
			if (!result)
				object->run(&launch, &outcome);
			object->code_free(code);
		}
		if (result || outcome.result || out[1] != 8 || out[2] != 7)
			snprintf(why, sizeof(why), "%s %d, %d, read %u and %u: %.100s %.100s", ways[i],
				 result, outcome.result, out[1], out[2], log.text, outcome.reason);
	}
	told("clusters_of_a_launch", !*why, why);
}

/*
 * One text has an instruction of clusters, and reads at a shared address; the kernel that gives it the
 * address is in another text. Each of two blocks reads its own word.
 */
static void clusters_in_another_text(void)
{
	static const char kernel[] = HEAD
		".extern .func (.param .b32 r) word_at(.param .b32 a);\n"
		".visible .entry k(.param .u64 po) { .reg .b32 %r<4>; .reg .b64 %o<3>; .shared .b32 w;\n"
		"ld.param.u64 %o1, [po]; mov.u32 %r1, %ctaid.x; add.u32 %r2, %r1, 7;\n"
		"st.shared.u32 [w], %r2; mov.u32 %r2, w; { .param .b32 a; .param .b32 r;\n"
		"st.param.b32 [a], %r2; call (r), word_at, (a); ld.param.b32 %r3, [r]; }\n"
		"mad.wide.u32 %o2, %r1, 4, %o1; st.global.u32 [%o2], %r3; ret; }\n";
	static const char other[] = HEAD
		".visible .func (.param .b32 r) word_at(.param .b32 a) { .reg .b32 %r<3>;\n"
		"ld.param.b32 %r1, [a]; ld.shared::cluster.u32 %r2, [%r1]; st.param.b32 [r], %r2; ret; }\n";
	static const char wider[] = HEAD
		".visible .func (.param .b32 r) word_at(.param .b64 a) { ret; }\n";
	struct ptx_text texts[] = { { kernel, sizeof(kernel) - 1 }, { other, sizeof(other) - 1 } };
	struct ptx_variables where = { .address = variable_at };
	static const struct ptx_run_host host;
	uint32_t out[2] = {};
	void *parameters[] = { out };
	struct ptx_launch launch = {
		.parameters = parameters, .grid = { 2, 1, 1 }, .block = { 1, 1, 1 },
		.cluster = { 2, 1, 1 }, .is_cluster = true, .multiprocessors = 2, .resident = 2,
		.stack_limit = 65536, .host = &host,
	};
	struct ptx_outcome outcome = {};
	struct ptx_log log = {};
	struct ptx_code *code;
	char why[400];
	int result = object->code_new(texts, 2, &where, &code, &log);

	if (!result) {
		result = object->kernel(code, "k", &launch.kernel, &log);
		if (!result)
			object->run(&launch, &outcome);
		object->code_free(code);
	}
	snprintf(why, sizeof(why), "%d, %d, read %u and %u: %.100s %.100s", result, outcome.result,
		 out[0], out[1], log.text, outcome.reason);
	told("clusters_in_another_text", !result && !outcome.result && out[0] == 7 && out[1] == 8,
	     why);
	texts[1] = (struct ptx_text) { wider, sizeof(wider) - 1 };
	result = object->code_new(texts, 2, &where, &code, &log);
	told("parameters_in_another_text",
	     result && strstr(log.text, "other parameters of 'word_at'"), log.text);
}

/* Lanes that ask who is active are at the same place of two texts: they are not together. */
static void active_in_another_text(void)
{
#define ACTIVE(name)	HEAD ".visible .func (.param .b32 r) " name "() { .reg .b32 a; "	\
			"activemask.b32 a; st.param.b32 [r], a; ret; }\n"
	static const char kernel[] = ACTIVE("f")
		".extern .func (.param .b32 r) g();\n"
		".visible .entry k(.param .u64 po) { .reg .pred p; .reg .b32 r<3>; .reg .b64 o;\n"
		"ld.param.u64 o, [po]; mov.u32 r1, %tid.x; mad.wide.u32 o, r1, 4, o;\n"
		"{ .param .b32 v; setp.lt.u32 p, r1, 16; @p bra L; call (v), f; bra M; L: call (v), g; M:\n"
		"ld.param.b32 r2, [v]; } st.global.u32 [o], r2; ret; }\n";
	static const char other[] = ACTIVE("g");
	struct ptx_text texts[] = { { kernel, sizeof(kernel) - 1 }, { other, sizeof(other) - 1 } };
	struct ptx_variables where = { .address = variable_at };
	uint32_t out[32] = {};
	void *parameters[] = { out };
	struct ptx_log log = {};
	struct ptx_code *code;
	int result = object->code_new(texts, 2, &where, &code, &log);

	if (!result) {
		result = run(code, "k", 32, parameters, log.text, sizeof(log.text));
		object->code_free(code);
	}
	told("active_in_another_text", !result && out[0] == 0xffff && out[31] == 0xffff0000,
	     result ? log.text : "other lanes are active");
}

/* Rounds upward, and takes subnormals for 0, as programs of gcc -ffast-math do; or no longer */
static void be_odd(bool odd)
{
#ifdef __x86_64__
	uint32_t flush = 0x8040, control = __builtin_ia32_stmxcsr();

	__builtin_ia32_ldmxcsr(odd ? control | flush : control & ~flush);
#else
	uint32_t flush = 1U << 24, control = __builtin_aarch64_get_fpcr();

	__builtin_aarch64_set_fpcr(odd ? control | flush : control & ~flush);
#endif
	fesetround(odd ? FE_UPWARD : FE_TONEAREST);
}

/*
 * A kernel, its numbers and initial values are rounded to nearest and have subnormals, whatever the
 * program has chosen for its own thread, and keeps.
 */
static void rounding_of_the_program(void)
{
	static const char text[] = HEAD
		".global .f32 x = 0.7; .global .f64 y = 0.7; .global .f32 z = 1e-40;\n"
		".visible .entry k(.param .u64 po) { .reg .f32 %f<8>; .reg .f64 %d; .reg .b64 %o;\n"
		"ld.param.u64 %o, [po]; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%o];\n"
		"add.f32 %f5, %f1, %f2; add.rp.f32 %f6, %f1, %f2; mul.f32 %f7, %f3, %f4;\n"
		"st.global.v2.f32 [%o], {%f5, %f6}; st.global.f32 [%o+8], %f7;\n"
		"mov.f32 %f1, 0.7; st.global.f32 [%o+16], %f1; mov.f64 %d, 0.7;\n"
		"st.global.f64 [%o+24], %d; mov.f32 %f1, 1e-40; st.global.f32 [%o+20], %f1; ret; }\n";
	/* 0x116c2 * 2^-149 is next to 1e-40; 0.7 lies above the number next to it, in both formats */
	static const uint32_t floats[] = { 0x3f800000, 0x3f800001, 0x400000, 0x3f000000,
					   0x3f333333, 0x116c2 };
	const uint64_t wide = 0x3fe6666666666666;
	struct { float narrow[6]; double wide; } memory __attribute__((aligned(16))) = {
		{ 1, 0x1p-30f, 0x1p-126f, .5 }, 0 };
	volatile float one = 1, little = 0x1p-30f, least = 0x1p-126f, half = .5, sum = 0, part = 0;
	uint64_t parameters[] = { (uintptr_t)&memory };
	char reason[256] = "";
	bool good = false;
	struct ptx_code *code;
	struct ptx_log log;
	int result;

	be_odd(true);
	result = load(text, sizeof(text) - 1, &code, &log);
	if (!result) {
		result = run(code, "k", 1, parameters, reason, sizeof(reason));
		sum = one + little;
		part = least * half;
		object->code_free(code);
	}
	be_odd(false);
	if (!result)
		good = sum > 1 && !part && !memcmp(memory.narrow, floats, sizeof(floats)) &&
		       !memcmp(&memory.wide, &wide, 8) &&
		       !memcmp(variables[0].memory, &floats[4], 4) &&
		       !memcmp(variables[1].memory, &wide, 8) &&
		       !memcmp(variables[2].memory, &floats[5], 4);
	told("rounding_of_the_program", good, *reason ? reason : "it rounds as the program does, or the "
	     "program as it does");
}

/* A kernel that cannot be translated: the log names the line, and what is lacking. */
static void unsupported(const char *name, const char *head, const char *line, const char *words)
{
	const struct ptx_kernel *kernel;
	struct ptx_log log = {};
	struct ptx_code *code;
	bool good = false;
	char text[512];

	snprintf(text, sizeof(text), ".version 8.6\n.target sm_90a\n.address_size 64\n%s"
		 ".visible .entry k() {\n.reg .b32 r;\n%s\nret;\n}\n", head, line);
	if (!load(text, strlen(text), &code, &log)) {
		good = object->kernel(code, "k", &kernel, &log) && strstr(log.text, words);
		object->code_free(code);
	}
	told(name, good, log.text);
}

/* Of memcast-ptx.so's own allocations, or LLVM's of pages, the one of this number fails. 0: none */
static uint32_t fails_at;
static bool of_pages;

static bool fails(bool pages)
{
	return fails_at && pages == of_pages && !--fails_at;
}

void *__libc_calloc(size_t count, size_t size);

void *calloc(size_t count, size_t size)
{
	Dl_info caller;
	bool own = fails_at && dladdr(__builtin_return_address(0), &caller) &&
		   strstr(caller.dli_fname, PTX_OBJECT);

	return own && fails(false) ? NULL : __libc_calloc(count, size);
}

void *mmap(void *address, size_t bytes, int access, int flags, int fd, off_t offset)
{
	if (fails(true)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, address, bytes, access, flags, fd, offset);
}

/* A launch for which memory lacks fails, and the next one does not. */
static void memory_lacks(const char *name, bool pages)
{
	static const char text[] = HEAD ".visible .entry k(.param .u64 o) { .reg .b64 %d; .reg .b32 %r; "
		".reg .pred %p; ld.param.u64 %d, [o]; mov.u32 %r, 0; L: bar.sync 0; add.u32 %r, %r, 1; "
		"setp.lt.u32 %p, %r, 9; @%p bra L; st.global.u32 [%d], %r; ret; }\n";
	uint32_t out, *parameter = &out, failures = 0;
	const struct ptx_kernel *kernel;
	struct ptx_code *code;
	struct ptx_log log;
	char why[700] = "";
	int first, next = 0;
	bool good = true;

	for (uint32_t number = 1; good; number++) {
		if (load(text, strlen(text), &code, &log))
			break;
		of_pages = pages;
		fails_at = number;
		first = object->kernel(code, "k", &kernel, &log);
		if (fails_at) {			/* there are not so many */
			fails_at = 0;
			object->code_free(code);
			break;
		}
		failures += first == OUT_OF_MEMORY;
		snprintf(why, sizeof(why), "%u: first %d: %.200s", number, first, log.text);
		out = 0;
		next = run(code, "k", 64, &parameter, log.text, sizeof(log.text));
		good = (!first || first == OUT_OF_MEMORY) && !next && out == 9;
		snprintf(why + strlen(why), 300, "; then %d: %.200s, %u", next, log.text, out);
		object->code_free(code);
	}
	told(name, good && failures, why);
}

int main(int argc, char **argv)
{
	if (!open_object(argc == 3 ? argv[1] : NULL))
		return 2;
	setlocale(LC_ALL, "");		/* with a decimal comma, if the script has found one */
	instructions(argv[2]);
	run_sequences();
	numbers();
	masked();
	sparse();
	shapes();
	calls_in_loops();
	declared();
	pairs();
	mixed();
	targets();
	taken();
	without_sync();
	clusters_of_a_launch();
	clusters_in_another_text();
	active_in_another_text();
	rounding_of_the_program();
	unsupported("unsupported", "", "wgmma.fence.sync.aligned;",
		    "kernel k: line 6: wgmma.fence.sync.aligned is not");
	unsupported("unsupported_call", ".extern .func cudaDeviceSynchronize(.param .b64 a);\n",
		    "call.uni cudaDeviceSynchronize, (0);",
		    "kernel k: line 7: call.uni cudaDeviceSynchronize is not");
	cut_off();
	changed();
	large("many_registers", HEAD ".visible .entry k() { .reg .b32 %r<1000000>; ",
	      "mov.b32 %r999999, 1; ", 1, "ret; }\n", 0);
	large("many_modifiers", HEAD ".visible .entry k() { .reg .b32 a; add", ".u32", 4000,
	      " a, a, a; ret; }\n", INVALID_PTX);
	large("long_name", HEAD ".visible .entry ", "name", 1 << 18, "() { ret; }\n", 0);
	large("deep_scopes", HEAD ".visible .entry k() { ", "{", 100000, "ret; }\n", INVALID_PTX);
	large("deep_parentheses", HEAD ".global .u32 x = ", "(", 1000000, "1;\n", INVALID_PTX);
	large("values_of_a_predicate", HEAD ".global .pred p = ", "1", 1,
	      "; .visible .entry k() { ret; }\n", INVALID_PTX);
	large("many_statements", HEAD ".visible .entry j() { .reg .b32 a; ", "add.u32 a, a, 1; ",
	      1 << 19,
	      "ret; \n", INVALID_PTX);
	many_ways();
	many_instructions();
	memory_lacks("memory_lacks", false);
	memory_lacks("memory_of_pages_lacks", true);
	large("without_end", HEAD ".func f() { call f; ret; } .visible .entry k() { ", "call f; ",
	      3,
	      "ret; }\n", 0);
	printf("1..%d\n", number);
	return failed;
}
