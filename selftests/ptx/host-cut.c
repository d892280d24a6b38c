// SPDX-License-Identifier: MIT
/*
 * Kernels that are cut at barriers and loops, without a device: each random kernel runs as loops
 * over its threads and, with MEMCAST_PTX_FIBERS=1, with a stack for each thread.
 *
 *	host-cut MEMCAST-PTX.SO [FIRST [COUNT]]
 */
#include <stdarg.h>
#include <stdlib.h>

#define GROUP "cut"
#include "translate.h"

#define KERNELS		24
#define REGISTERS	10
#define BYTES		128		/* of a thread's output */
#define THREADS_MOST	96

static char text[1 << 18];
static size_t used;
static uint32_t seed, labels;

static uint32_t below(uint32_t count)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(seed >> 8) * count >> 24);
}

static void say(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	used += vsnprintf(text + used, sizeof(text) - used, format, list);
	va_end(list);
}

static uint32_t any(void)
{
	return below(REGISTERS);
}

static void compute(void)
{
	static const char *const two[] = { "add.u32", "sub.u32", "mul.lo.u32", "xor.b32", "and.b32",
					   "min.s32", "max.u32" };

	switch (below(6)) {
	case 0:
		say("mad.lo.u32 %%v%u, %%v%u, %u, %%v%u;\n", any(), any(), below(9999), any());
		break;
	case 1:
		say("cvt.rn.f32.u32 %%f0, %%v%u; fma.rn.f32 %%f1, %%f0, %%f1, %%f0;\n", any());
		break;
	case 2:
		say("mov.b32 %%v%u, %%f1; mul.wide.u32 %%d0, %%v%u, 77; cvt.u32.u64 %%v%u, %%d0;\n",
		    any(), any(), any());
		break;
	case 3:
		say("setp.lt.u32 %%p%u, %%v%u, %%v%u; @!%%p%u add.u32 %%v%u, %%v%u, 5;\n", below(3),
		    any(), any(), below(3), any(), any());
		break;
	default:
		say("%s %%v%u, %%v%u, %%v%u;\n", two[below(7)], any(), any(), any());
	}
}

/* Each thread writes a word of shared memory, and reads another one's. */
static void exchange(void)
{
	say("st.shared.u32 [%%own], %%v%u; bar.sync 0;\n"
	    "add.u32 %%x0, %%t, %u; rem.u32 %%x0, %%x0, %%nt; shl.b32 %%x0, %%x0, 2;\n"
	    "add.u32 %%x0, %%x0, %%sh; ld.shared.u32 %%v%u, [%%x0]; bar.sync 0;\n", any(),
	    1 + below(64), any());
}

/* @together: do all threads of the block come here? @barriers: may there be any? */
static void block(uint32_t depth, bool together, bool barriers)
{
	for (uint32_t i = 2 + below(4); i--; ) {
		uint32_t label = ++labels, kind = below(10);

		if (kind < 4 || (kind > 6 && depth > 2)) {
			compute();
		} else if (kind == 4) {
			say("st.global.u32 [%%o + %u], %%v%u;\n", 4 * below(8), any());
		} else if (kind == 5) {
			say("red.global.add.u32 [%%s + %u], %%v%u;\n", 4 * below(16), any());
		} else if (kind == 6) {
			if (together && barriers)
				exchange();
		} else if (kind == 7) {		/* some threads */
			say("setp.lt.u32 %%p3, %%t, %u; @%%p3 bra L%u;\n", below(THREADS_MOST),
			    label);
			block(depth + 1, false, barriers);
			say("L%u:\n", label);
		} else {			/* a loop: as many turns for all, or not */
			if (kind == 8)
				say("mov.u32 %%n%u, %u;\n", depth, 1 + below(3));
			else
				say("and.b32 %%n%u, %%t, 3; add.u32 %%n%u, %%n%u, 1;\n", depth,
				    depth, depth);
			say("L%u:\n", label);
			block(depth + 1, together && kind == 8, barriers);
			say("sub.u32 %%n%u, %%n%u, 1; setp.ne.u32 %%p3, %%n%u, 0; @%%p3 bra L%u;\n",
			    depth, depth, depth, label);
		}
	}
}

static void make(uint32_t number_of)
{
	bool barriers;

	used = labels = 0;
	seed = number_of * 7919 + 1;
	barriers = below(4);
	say(HEAD ".visible .entry k(.param .u64 po, .param .u64 ps) {\n"
	    ".shared .align 4 .b8 words[%u];\n"
	    ".reg .b32 %%v<%u>, %%x<4>, %%n<4>, %%own, %%sh, %%b, %%nt, %%t, %%g; .reg .f32 %%f<2>;\n"
	    ".reg .b64 %%d<2>, %%o, %%s; .reg .pred %%p<4>;\n"
	    "ld.param.u64 %%o, [po]; ld.param.u64 %%s, [ps]; mov.u32 %%b, %%ctaid.x;\n"
	    "mov.u32 %%nt, %%ntid.x; mov.u32 %%t, %%tid.x; mad.lo.u32 %%g, %%b, %%nt, %%t;\n"
	    "mul.wide.u32 %%d0, %%g, %u; add.u64 %%o, %%o, %%d0; mov.u32 %%sh, words;\n"
	    "shl.b32 %%x1, %%t, 2; add.u32 %%own, %%sh, %%x1; mov.f32 %%f1, 0f3F800000;\n"
	    "mov.u64 %%d1, 0; setp.gt.u32 %%p0, %%t, 7; setp.gt.u32 %%p1, %%t, 40;\n"
	    "setp.lt.u32 %%p2, %%t, 33;\n", 4 * THREADS_MOST, REGISTERS, BYTES);
	for (uint32_t i = 0; i < REGISTERS; i++)
		say("mad.lo.u32 %%v%u, %%g, %u, %u;\n", i, below(99999), below(99999));
	for (uint32_t i = 1 + below(4); i--; ) {
		block(0, true, barriers);
		if (barriers)
			exchange();
		if (!below(4))	/* some threads end here, and no barrier waits for them */
			say("setp.lt.u32 %%p3, %%t, %u; @%%p3 bra OUT;\n", below(16));
	}
	say("OUT:\n");
	for (uint32_t i = 0; i < REGISTERS; i++)
		say("st.global.u32 [%%o + %u], %%v%u;\n", 32 + 4 * i, i);
	say("st.global.f32 [%%o + %u], %%f1; ret; }\n", 32 + 4 * REGISTERS);
}

static unsigned char output[2][4][THREADS_MOST * BYTES];
static uint32_t sums[2][16];

static void compare(uint32_t kernel)
{
	static const uint32_t threads[] = { 1, 31, 32, 96 };
	char name[32], why[300] = "", reason[512] = "";
	struct ptx_code *code[2] = {};
	struct ptx_log log;
	bool good = true;

	memset(output, 0, sizeof(output));
	memset(sums, 0, sizeof(sums));
	make(kernel);
	for (int i = 0; i < 2 && good; i++) {
		setenv("MEMCAST_PTX_FIBERS", i ? "1" : "0", 1);
		good = !load(text, used, &code[i], &log);
		for (uint32_t j = 0; j < sizeof(threads) / sizeof(threads[0]) && good; j++) {
			void *parameters[] = { output[i][j], sums[i] };

			good = !run(code[i], "k", threads[j], parameters, reason, sizeof(reason));
		}
		snprintf(why, sizeof(why), "%.140s%.140s", log.text, reason);
	}
	if (good && (memcmp(output[0], output[1], sizeof(output[0])) ||
		     memcmp(sums[0], sums[1], sizeof(sums[0])))) {
		good = false;
		snprintf(why, sizeof(why), "results differ");
	}
	for (int i = 0; i < 2; i++)
		object->code_free(code[i]);
	snprintf(name, sizeof(name), "kernel_%u", kernel);
	told(name, good, why);
}

int main(int argc, char **argv)
{
	uint32_t first = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	uint32_t count = argc > 3 ? strtoul(argv[3], NULL, 10) : KERNELS;

	setenv("MEMCAST_PTX_CACHE", "0", 1);
	if (!open_object(argc > 1 ? argv[1] : NULL))
		return 2;
	printf("TAP version 13\n1..%u\n", count);
	for (uint32_t i = first; i < first + count; i++)
		compare(i);
	return failed;
}
