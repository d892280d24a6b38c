// SPDX-License-Identifier: MIT
/*
 * The translator of PTX, without a device: results of instructions against facts.txt, and numbers
 * of the text.
 *
 *	host-translate MEMCAST-PTX.SO FACTS.TXT
 */
#include <fenv.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/run/run.h"
#include "sequences.h"
#define GROUP	"translate"
#include "translate.h"

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

int main(int argc, char **argv)
{
	if (!open_object(argc == 3 ? argv[1] : NULL))
		return 2;
	setlocale(LC_ALL, "");		/* with a decimal comma, if the script has found one */
	instructions(argv[2]);
	run_sequences();
	numbers();
	masked();
	calls_in_loops();
	pairs();
	mixed();
	without_sync();
	clusters_of_a_launch();
	clusters_in_another_text();
	active_in_another_text();
	rounding_of_the_program();
	printf("1..%d\n", number);
	return failed;
}
