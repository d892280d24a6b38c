// SPDX-License-Identifier: MIT
/*
 * Rows of threads, without a device: kernels that never wait run as loops, of which rows leave out
 * tests of bounds, and blocks side by side run as one. Each random kernel gives the same that way
 * and under MEMCAST_PTX_CHECK, where each thread runs by itself. And all NaNs of f32 are PTX's one.
 *
 *	host-rows MEMCAST-PTX.SO [FIRST [COUNT]]
 */
#include <stdlib.h>

#define GROUP "rows"
#include "random_text.h"
#include "translate.h"

#define KERNELS		40
#define WIDE		1200U		/* blocks of a row of the grid: several run as one */
#define THREADS_MOST	64U
#define WORDS		(2 * 4 * WIDE * THREADS_MOST)
#define TURNS		4U		/* of a loop in which all threads go on by WORDS */

static uint32_t predicates;
/* of a loop at the end of a kernel, which is cut there: one to four, or four of each thread */
static enum turns { NONE, UNLIKE, ALIKE } turns;

/* A value that changes along a row, or not: a register of 32 bits, and one of 64 */
static void make_value(void)
{
	static const int32_t steps[] = { 1, 1, 1, -1, 2, -3, 16, 1000, 65536, -65536, 1 << 20 };
	static const uint32_t near[] = { 0, 0x7fffffff, 0x80000000, 0xffffffff };
	uint32_t near_to = near[below(4)] + below(2000) - 1000;

	switch (below(6)) {
	case 0:
		say("add.s32 %%v, %%y, %d;\n", (int)below(4) - 2);
		break;
	case 1:
		say("sub.s32 %%v, %u, %%i;\n", near_to);
		break;
	case 2:
		say("shl.b32 %%v, %%i, %u; add.u32 %%v2, %%v, %u; mov.b32 %%v, %%v2;\n", below(4),
		    near_to);
		break;
	default:
		say("mad.lo.s32 %%v, %%i, %d, %u;\n", steps[below(11)], below(3) ? 0 : near_to);
	}
	/* each has its own registers: only then are their courses known */
	say("cvt.%s %%w, %%v;\n", below(2) ? "s64.s32" : "u64.u32");
}

/* A comparison near a value that the row may have, into a predicate of its own */
static void make_test(void)
{
	static const char *const how[] = { "lt", "le", "gt", "ge", "lt", "ge", "eq", "ne" };
	static const char *const types[] = { "s32", "u32", "s64", "u64" };
	static const char *const names[] = { "lo", "ls", "hi", "hs" };
	static const uint32_t near[] = { 0, 0x7fffffff, 0x80000000, 0xffffffff };
	uint32_t type = below(4), limit = below(3) ? below(WIDE * 40) : near[below(4)];
	int32_t offset = (int32_t)below(41) - 20;

	say("{ .reg .b32 %%v, %%v2; .reg .b64 %%w;\n");
	make_value();
	if (type < 2 && below(4) == 0)
		say("setp.%s.u32", names[below(4)]);
	else
		say("setp.%s.%s", how[below(8)], types[type]);
	say(" %%p%u, %s, %lld; }\n", predicates++, type < 2 ? "%v" : "%w",
	    type < 2 ? (long long)(int32_t)(limit + offset) : (long long)limit + offset);
}

/* Tests that end some threads, alone or together */
static void make_tests(void)
{
	static const char *const ends[] = { "bra END", "ret" };

	for (uint32_t i = 1 + below(3); i--; ) {
		uint32_t first = predicates;

		make_test();
		for (uint32_t j = below(3); j--; ) {
			make_test();
			say("%s.pred %%p%u, %%p%u, %%p%u;\n", below(3) ? "or" : "and",
			    predicates + 1, first, predicates - 1);
			predicates += 2;
			first = predicates - 1;
		}
		say("@%s%%p%u %s;\n", below(2) ? "" : "!", first, ends[below(2)]);
	}
}

/* Each thread that is left stores its place, and adds to what is there: none may run twice. */
static void make(uint32_t kernel)
{
	used = predicates = 0;
	seed = kernel * 7919 + 1;
	say(HEAD ".visible .entry k(.param .u64 po) {\n"
	    ".reg .b32 %%b, %%n, %%t, %%i, %%y, %%m, %%c, %%a, %%x<4>; .reg .b64 %%d<4>;\n"
	    ".reg .pred %%p<40>; ld.param.u64 %%d0, [po]; mov.u32 %%b, %%ctaid.x;\n"
	    "mov.u32 %%n, %%ntid.x; mov.u32 %%t, %%tid.x; ");
	if (below(2))
		say("mad.lo.s32 %%i, %%b, %%n, %%t;\n");
	else
		say("mul.lo.s32 %%c, %%n, %%b; add.s32 %%i, %%t, %%c;\n");
	say("mov.u32 %%y, %%ctaid.y; mov.u32 %%x0, %%ntid.y; mov.u32 %%x1, %%tid.y;\n"
	    "mad.lo.s32 %%y, %%y, %%x0, %%x1;\n");
	make_tests();
	if (below(4) == 0)	/* blocks do not run as one then */
		say("add.u32 %%a, %%t, 1;\n");
	else
		say("mov.u32 %%a, 7;\n");
	say("mov.u32 %%m, %%nctaid.x; mul.lo.u32 %%m, %%m, %%n; mad.lo.u32 %%x2, %%y, %%m, %%i;\n"
	    "mul.wide.u32 %%d1, %%x2, 4; add.u64 %%d1, %%d0, %%d1; mov.u32 %%m, 0;\n"
	    "and.b32 %%x2, %%i, 3;\n");
	turns = (enum turns)(below(5) % 3);
	say("%sld.global.u32 %%x3, [%%d1];\n"
	    "add.u32 %%x3, %%x3, %%a; add.u32 %%x3, %%x3, %%i; st.global.u32 [%%d1], %%x3;\n",
	    turns ? "TURN: " : "");
	if (turns == UNLIKE)
		say("add.s32 %%i, %%i, 1; add.u32 %%m, %%m, 1; setp.le.u32 %%p39, %%m, %%x2;\n"
		    "@%%p39 bra TURN;\n");
	else if (turns == ALIKE)
		say("mul.lo.u32 %%c, %%n, %u; add.s32 %%i, %%i, %%c; add.u32 %%m, %%m, 1;\n"
		    "add.u64 %%d1, %%d1, %u; setp.lt.u32 %%p39, %%m, %u; @%%p39 bra TURN;\n", WIDE,
		    4 * WORDS, TURNS);
	say("END: ret; }\n");
}

static const struct ptx_run_host host;

static int launch(struct ptx_code *code, uint32_t blocks, const uint32_t block[2],
		  const void *parameters, struct ptx_outcome *outcome)
{
	struct ptx_launch launch = {
		.parameters = parameters, .grid = { blocks, 2, 1 },
		.block = { block[0], block[1], 1 }, .cluster = { 1, 1, 1 }, .multiprocessors = 1,
		.stack_limit = 65536, .host = &host,
	};
	struct ptx_log log = {};
	int result = object->kernel(code, "k", &launch.kernel, &log);

	snprintf(outcome->reason, sizeof(outcome->reason), "%.200s", log.text);
	if (!result) {
		object->run(&launch, outcome);
		result = outcome->result;
	}
	return result;
}

static const uint32_t blocks[][2] = { { 64, 1 }, { 33, 2 }, { 8, 2 }, { 32, 8 } };

static void compare(uint32_t kernel)
{
	static uint32_t output[2][TURNS * WORDS];
	struct ptx_code *code[2] = {};
	struct ptx_outcome outcome = {};
	struct ptx_log log = {};
	char name[32], why[1200] = "";
	bool good = true;

	make(kernel);
	for (int i = 0; i < 2 && good; i++) {
		setenv("MEMCAST_PTX_CHECK", i ? "1" : "0", 1);
		good = !load(text, used, &code[i], &log);
	}
	for (size_t j = 0; j < sizeof(blocks) / sizeof(blocks[0]) && good; j++) {
		memset(output, 0, sizeof(output));
		for (int i = 0; i < 2 && good; i++) {
			void *parameters[] = { output[i] };

			good = !launch(code[i], WIDE, blocks[j], parameters, &outcome);
		}
		for (uint32_t i = 0; i < TURNS * WORDS && good; i++)
			if (output[0][i] != output[1][i]) {
				snprintf(why, sizeof(why), "block %u x %u: %#x at %u, not %#x",
					 blocks[j][0], blocks[j][1], output[0][i], i, output[1][i]);
				good = false;
			}
	}
	if (!good && !*why)
		snprintf(why, sizeof(why), "%.500s%.500s", log.text, outcome.reason);
	for (int i = 0; i < 2; i++)
		object->code_free(code[i]);
	snprintf(name, sizeof(name), "kernel_%u", kernel);
	told(name, good, why);
}

/* What thread i does with a, which may be any NaN, and b = i */
static const struct {
	const char *name, *body;
} nans[] = {
	{ "sum", "add.f32 %r, %a, %b;" },
	{ "chain", "add.f32 %f0, %a, %b; mul.f32 %f1, %f0, %b; fma.rn.f32 %r, %f1, %b, %f1;" },
	{ "stored_in_between", "add.f32 %f0, %a, %b; st.global.f32 [%d2], %f0;"
	  "mul.f32 %r, %f0, %b;" },
	{ "bits_in_between", "mul.rn.f32 %f0, %a, %b; mov.b32 %x0, %f0; add.rn.f32 %f1, %f0, %b;"
	  "xor.b32 %x0, %x0, 0; mov.b32 %r, %x0;" },
	{ "moved", "fma.rn.f32 %f0, %a, %b, %b; mov.f32 %f1, %f0; add.f32 %f2, %f0, %b;"
	  "setp.lt.f32 %p0, %f2, 0f00000000; selp.f32 %r, %f2, %f1, %p0;" },
	{ "loop", "mov.f32 %f0, %a; mov.u32 %x0, 3; L: fma.rn.f32 %f0, %f0, %b, %b;"
	  "sub.u32 %x0, %x0, 1; setp.ne.u32 %p0, %x0, 0; @%p0 bra L; add.f32 %r, %f0, %b;" },
	{ "loop_of_bits", "mov.f32 %f0, %a; mov.u32 %x0, 3; L: add.f32 %f0, %f0, %b;"
	  "mov.f32 %r, %f0; sub.u32 %x0, %x0, 1; setp.ne.u32 %p0, %x0, 0; @%p0 bra L;" },
	{ "negated", "add.f32 %f0, %a, %b; neg.f32 %f1, %f0; add.f32 %r, %f1, %b;" },
	{ "smallest", "add.f32 %f0, %a, %b; add.f32 %f1, %a, %a; min.f32 %r, %f0, %f1;" },
	{ "root", "mul.f32 %f0, %a, %b; sqrt.rn.f32 %r, %f0;" },
	{ "quotient", "div.rn.f32 %f0, %a, %b; add.f32 %r, %f0, %f0;" },
};

/* Whatever makes a NaN of f32, its bits are PTX's. */
static void one_nan(size_t i)
{
	static const uint32_t some[] = { 0xffc00001, 0x7f800001, 0x7fc12345, 0xff800001 };
	static uint32_t a[64], results[64], between[64];
	void *parameters[] = { a, results, between };
	struct ptx_outcome outcome = {};
	struct ptx_code *code = NULL;
	struct ptx_log log = {};
	char why[600] = "";
	bool good;

	used = 0;
	say(HEAD ".visible .entry k(.param .u64 pa, .param .u64 pr, .param .u64 pb) {\n"
	    ".reg .f32 %%a, %%b, %%r, %%f<4>; .reg .b32 %%t, %%x<2>; .reg .b64 %%d<4>;\n"
	    ".reg .pred %%p<2>; mov.u32 %%t, %%tid.x; mul.wide.u32 %%d3, %%t, 4;\n"
	    "ld.param.u64 %%d0, [pa]; ld.param.u64 %%d1, [pr]; ld.param.u64 %%d2, [pb];\n"
	    "add.u64 %%d0, %%d0, %%d3; add.u64 %%d1, %%d1, %%d3; add.u64 %%d2, %%d2, %%d3;\n"
	    "ld.global.f32 %%a, [%%d0]; cvt.rn.f32.u32 %%b, %%t; %s\n"
	    "st.global.f32 [%%d1], %%r; ret; }\n", nans[i].body);
	for (uint32_t j = 0; j < 64; j++) {
		a[j] = some[j % 4];
		between[j] = 0x7fffffff;
	}
	setenv("MEMCAST_PTX_CHECK", "0", 1);
	good = !load(text, used, &code, &log) &&
	       !launch(code, 1, (const uint32_t []) { 64, 1 }, parameters, &outcome);
	snprintf(why, sizeof(why), "%.200s%.200s", log.text, outcome.reason);
	for (uint32_t j = 0; j < 64 && good; j++)
		if (results[j] != 0x7fffffff || between[j] != 0x7fffffff) {
			snprintf(why, sizeof(why), "thread %u: %#x, %#x", j, results[j],
				 between[j]);
			good = false;
		}
	object->code_free(code);
	told(nans[i].name, good, why);
}

/* A value that wraps around is past a limit in the middle of a row only. */
static const struct {
	const char *name, *test;
} wraps[] = {
	{ "wraps_signed", "add.s32 %v, %i, 0x7fffff00; setp.gt.s32 %p, %v, 0x7fffff80;"
	  "@%p bra END;" },
	{ "wraps_unsigned", "add.u32 %v, %i, 0xffffff00; setp.gt.u32 %p, %v, 0xffffff80;"
	  "@%p ret;" },
	{ "wraps_downwards", "sub.s32 %v, 0x80000100, %i; setp.lt.s32 %p, %v, 0x80000080;"
	  "@%p ret;" },
	{ "wraps_before_it_is_widened", "add.s32 %v, %i, 0x7fffff00; cvt.s64.s32 %w, %v;"
	  "setp.gt.s64 %p, %w, 0x7fffff80; @%p bra END;" },
	{ "wraps_widened_without_sign", "sub.u32 %v, 256, %i; cvt.u64.u32 %w, %v;"
	  "setp.lt.u64 %p, %w, 128; @%p bra END;" },
	{ "two_ranges", "setp.lt.s32 %p, %i, 100; setp.gt.s32 %q, %i, 300; or.pred %p2, %p, %q;"
	  "@!%p2 bra END;" },
	{ "not_along_the_row", "and.b32 %v, %i, 64; setp.ne.u32 %p, %v, 0; @%p bra END;" },
	{ "product", "mul.lo.u32 %v, %i, %i; setp.lt.u32 %p, %v, 100000; @!%p bra END;" },
	{ "equal", "setp.eq.s32 %p, %i, 200; @%p bra END;" },
	{ "special_register_widened", "cvt.u64.u32 %w, %tid.x; setp.ge.u64 %p, %w, 40; @%p bra END;" },
	{ "of_two_sources", "cvt.rn.f32.u32 %f, %i; cvt.rn.f16x2.f32 %v, 0f00000000, %f;"
	  "setp.eq.u32 %p, %v, 0x4900; @%p bra END;" },
	{ "cut_for_a_wide_register", "cvt.u64.u32 %w, %i; add.u64 %w2, %w, 0xfffffff0;"
	  "cvt.u32.u64 %w3, %w2; setp.lt.u64 %p, %w3, 10; @%p bra END;" },
	{ "part_of_a_wide_register", "cvt.u64.u32 %w, %i; add.u64 %w2, %w, 0x7ffffff0;"
	  "cvt.s64.s32 %w3, %w2; setp.lt.s64 %p, %w3, 0; @%p bra END;" },
};

/* The same as where each thread runs by itself; some threads are left, and some are not. */
static void one_wrap(size_t i)
{
	static uint32_t output[2][WORDS];
	struct ptx_code *code[2] = {};
	struct ptx_outcome outcome = {};
	struct ptx_log log = {};
	uint32_t stored = 0;
	bool good = true;

	used = 0;
	say(HEAD ".visible .entry k(.param .u64 po) {\n"
	    ".reg .b32 %%b, %%n, %%t, %%i, %%v; .reg .b64 %%d<2>, %%w, %%w2, %%w3;"
	    ".reg .f32 %%f; .reg .pred %%p, %%q, %%p2;\n"
	    "mov.u32 %%b, %%ctaid.x; mov.u32 %%n, %%ntid.x; mov.u32 %%t, %%tid.x;\n"
	    "ld.param.u64 %%d0, [po]; mad.lo.s32 %%i, %%b, %%n, %%t; %s\n"
	    "mul.wide.u32 %%d1, %%i, 4; add.u64 %%d1, %%d0, %%d1; st.global.u32 [%%d1], 1;\n"
	    "END: ret; }\n", wraps[i].test);
	memset(output, 0, sizeof(output));
	for (int j = 0; j < 2 && good; j++) {
		void *parameters[] = { output[j] };

		setenv("MEMCAST_PTX_CHECK", j ? "1" : "0", 1);
		good = !load(text, used, &code[j], &log) &&
		       !launch(code[j], WIDE, (const uint32_t []) { 64, 1 }, parameters, &outcome);
	}
	for (uint32_t j = 0; j < WORDS; j++)
		stored += output[1][j];
	good = good && !memcmp(output[0], output[1], sizeof(output[0])) && stored &&
	       stored < WIDE * 64;
	for (int j = 0; j < 2; j++)
		object->code_free(code[j]);
	told(wraps[i].name, good, outcome.reason);
}

#define COUNT(list)	(sizeof(list) / sizeof((list)[0]))

int main(int argc, char **argv)
{
	uint32_t first = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	uint32_t count = argc > 3 ? strtoul(argv[3], NULL, 10) : KERNELS;

	setenv("MEMCAST_PTX_CACHE", "0", 1);
	if (!open_object(argc > 1 ? argv[1] : NULL))
		return 2;
	printf("TAP version 13\n1..%zu\n", count + COUNT(nans) + COUNT(wraps));
	for (size_t i = 0; i < COUNT(nans); i++)
		one_nan(i);
	for (size_t i = 0; i < COUNT(wraps); i++)
		one_wrap(i);
	for (uint32_t i = first; i < first + count; i++)
		compare(i);
	return failed;
}
