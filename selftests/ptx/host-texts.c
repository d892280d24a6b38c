// SPDX-License-Identifier: MIT
/*
 * The translator of PTX, without a device: which texts it takes and refuses. One that is cut off,
 * too large or mad gives an error with a line, and so does one for which memory lacks.
 *
 *	host-texts MEMCAST-PTX.SO
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GROUP	"texts"
#include "translate.h"

#define OUT_OF_MEMORY	2

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
	if (!open_object(argc == 2 ? argv[1] : NULL))
		return 2;
	sparse();
	shapes();
	declared();
	targets();
	taken();
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
