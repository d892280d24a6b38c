// SPDX-License-Identifier: MIT
/*
 * Kernels that are cut at barriers, operations of warps and loops, without a device: each random
 * kernel runs as loops over its threads, and with a stack for each thread (MEMCAST_PTX_FIBERS=1).
 *
 *	host-cut MEMCAST-PTX.SO [FIRST [COUNT]]
 */
#include <stdlib.h>

#define GROUP "cut"
#include "random_text.h"
#include "translate.h"

#define KERNELS		24
#define REGISTERS	10
#define BYTES		128		/* of a thread's output */
#define THREADS_MOST	96

static uint32_t labels;
static bool barriers, warps, locals;	/* what the kernel may have */

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

/* What %b and %c of a shuffle may be: numbers, or registers that have another one in each lane */
static void shuffle(uint32_t mask)
{
	static const char *const modes[] = { "up", "down", "bfly", "idx" };
	static const uint32_t segments[] = { 31, 31, 0x1000 | 31, 0x1800 | 31, 0x1c00 | 31, 7, 0 };
	uint32_t mode = below(4), segment = mode ? segments[below(7)] : below(2) << 12;

	if (below(3))
		say("shfl.sync.%s.b32 %%v%u|%%p%u, %%v%u, %u, %u, %%m%u;\n", modes[mode], any(),
		    below(3), any(), below(32), segment, mask);
	else
		say("mov.u32 %%x2, %u; shfl.sync.%s.b32 %%v%u, %%v%u, %%v%u, %%x2, %%m%u;\n",
		    segment, modes[mode], any(), any(), any(), mask);
}

/* An operation of the lanes of %m<mask>, which all come here */
static void warp(uint32_t mask)
{
	static const char *const votes[] = { "all", "any", "uni" };
	static const char *const reductions[] = { "add.u32", "min.u32", "max.s32", "and.b32",
						  "or.b32", "xor.b32" };

	switch (below(10)) {
	case 0:
		say("vote.sync.%s.pred %%p%u, %%p%u, %%m%u;\n", votes[below(3)], below(3), below(3),
		    mask);
		break;
	case 1:
		say("vote.sync.ballot.b32 %%v%u, %%p%u, %%m%u;\n", any(), below(3), mask);
		break;
	case 2:
		say("redux.sync.%s %%v%u, %%v%u, %%m%u;\n", reductions[below(6)], any(), any(), mask);
		break;
	case 3:
		say("and.b32 %%x2, %%v%u, %u; match.any.sync.b32 %%v%u, %%x2, %%m%u;\n", any(),
		    below(8), any(), mask);
		break;
	case 4:
		say("and.b32 %%x2, %%v%u, %u; cvt.u64.u32 %%d0, %%x2; shl.b64 %%d0, %%d0, 20;\n"
		    "match.all.sync.b64 %%v%u|%%p%u, %%d0, %%m%u;\n", any(), below(4), any(),
		    below(3), mask);
		break;
	case 5:		/* what the lowest lane has, through shared memory */
		say("st.shared.u32 [%%own], %%v%u; bar.warp.sync %%m%u;\n"
		    "and.b32 %%x0, %%t, 31; sub.u32 %%x0, %%t, %%x0;\n"
		    "brev.b32 %%x1, %%m%u; clz.b32 %%x1, %%x1; add.u32 %%x0, %%x0, %%x1;\n"
		    "shl.b32 %%x0, %%x0, 2; add.u32 %%x0, %%x0, %%sh;\n"
		    "ld.shared.u32 %%v%u, [%%x0];\n"
		    "bar.warp.sync %%m%u;\n", any(), mask, mask, any(), mask);
		break;
	case 6:
		if (below(2))
			say("elect.sync %%v%u|%%p%u, %%m%u;\n", any(), below(3), mask);
		else
			say("activemask.b32 %%v%u;\n", any());
		break;
	default:
		shuffle(mask);
	}
}

/* Some threads only go on behind it: %p3. @label: behind what the others leave out */
static void some(uint32_t depth, uint32_t label)
{
	if (warps)	/* %m of the next depth has the lanes that stay */
		say("vote.sync.ballot.b32 %%m%u, %%p3, %%m%u;\n", depth + 1, depth);
	say("@!%%p3 bra L%u;\n", label);
}

/* @together: do all threads of the block come here? */
static void block(uint32_t depth, bool together)
{
	for (uint32_t i = 2 + below(4); i--; ) {
		uint32_t label = ++labels, kind = below(warps ? 13 : 10);

		if (kind > 9) {
			warp(depth);
		} else if (kind < 4 || (kind > 6 && depth > 2)) {
			compute();
		} else if (kind == 4) {
			say("st.global.u32 [%%o + %u], %%v%u;\n", 4 * below(8), any());
		} else if (kind == 5) {
			say("red.global.add.u32 [%%s + %u], %%v%u;\n", 4 * below(16), any());
		} else if (kind == 6) {
			if (together && barriers && below(3))
				exchange();
			else if (together && barriers)
				say("barrier.red.popc.u32 %%v%u, 0, %%p%u;\n", any(), below(3));
			else if (locals)
				say("and.b32 %%x0, %%v%u, 28; cvt.u64.u32 %%d0, %%x0;\n"
				    "mov.u64 %%d1, mine; add.u64 %%d0, %%d0, %%d1;\n"
				    "st.local.u32 [%%d0], %%v%u; ld.local.u32 %%v%u, [mine + %u];\n",
				    any(), any(), any(), 4 * below(8));
		} else if (kind == 7) {		/* some threads; or some warps */
			if (below(4))
				say("setp.ge.u32 %%p3, %%t, %u;\n", below(THREADS_MOST));
			else
				say("setp.%s.u32 %%p3, %%v%u, %%v%u;\n", below(2) ? "lt" : "ge",
				    any(), any());
			some(depth, label);
			block(depth + 1, false);
			say("L%u:\n", label);
		} else {			/* a loop: as many turns for all, or not */
			if (kind == 8)
				say("mov.u32 %%n%u, %u;\n", depth, 1 + below(3));
			else
				say("and.b32 %%n%u, %%t, 3; add.u32 %%n%u, %%n%u, 1;\n", depth,
				    depth, depth);
			if (warps)
				say("mov.u32 %%m%u, %%m%u;\n", depth + 1, depth);
			say("L%u:\n", label);
			block(depth + 1, together && kind == 8);
			say("sub.u32 %%n%u, %%n%u, 1; setp.ne.u32 %%p3, %%n%u, 0;\n", depth, depth,
			    depth);
			if (warps)
				say("vote.sync.ballot.b32 %%m%u, %%p3, %%m%u;\n", depth + 1,
				    depth + 1);
			say("@%%p3 bra L%u;\n", label);
		}
	}
}

static void make(uint32_t number_of)
{
	used = labels = 0;
	seed = number_of * 7919 + 1;
	barriers = below(3);
	warps = below(2);
	locals = !barriers && !warps && below(2);
	say(HEAD ".visible .entry k(.param .u64 po, .param .u64 ps) {\n"
	    ".shared .align 4 .b8 words[%u];\n"
	    ".reg .b32 %%v<%u>, %%x<4>, %%n<4>, %%m<6>, %%own, %%sh, %%b, %%nt, %%t, %%g;\n"
	    ".reg .f32 %%f<2>;\n"
	    ".reg .b64 %%d<2>, %%o, %%s; .reg .pred %%p<4>;\n"
	    "ld.param.u64 %%o, [po]; ld.param.u64 %%s, [ps]; mov.u32 %%b, %%ctaid.x;\n"
	    "mov.u32 %%x0, %%ntid.x; mov.u32 %%x1, %%ntid.y; mov.u32 %%x2, %%ntid.z;\n"
	    "mul.lo.u32 %%nt, %%x0, %%x1; mul.lo.u32 %%nt, %%nt, %%x2; mov.u32 %%t, %%tid.z;\n"
	    "mov.u32 %%x2, %%tid.y; mad.lo.u32 %%t, %%t, %%x1, %%x2; mov.u32 %%x2, %%tid.x;\n"
	    "mad.lo.u32 %%t, %%t, %%x0, %%x2; mad.lo.u32 %%g, %%b, %%nt, %%t; mov.u32 %%m0, -1;\n"
	    "mul.wide.u32 %%d0, %%g, %u; add.u64 %%o, %%o, %%d0; mov.u32 %%sh, words;\n"
	    "shl.b32 %%x1, %%t, 2; add.u32 %%own, %%sh, %%x1; mov.f32 %%f1, 0f3F800000;\n"
	    "mov.u64 %%d1, 0; setp.gt.u32 %%p0, %%t, 7; setp.gt.u32 %%p1, %%t, 40;\n"
	    "setp.lt.u32 %%p2, %%t, 33;\n", 4 * THREADS_MOST, REGISTERS, BYTES);
	for (uint32_t i = 0; i < REGISTERS; i++)
		say("mad.lo.u32 %%v%u, %%g, %u, %u;\n", i, below(99999), below(99999));
	if (warps)
		say("st.shared.u32 [%%own], %%v0;\n");
	if (locals)
		say(".local .align 4 .b8 mine[32];\n");
	for (uint32_t i = 0; locals && i < 8; i++)
		say("st.local.u32 [mine + %u], %%v%u;\n", 4 * i, i);
	for (uint32_t i = 1 + below(4); i--; ) {
		block(0, true);
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

static const uint32_t shapes[][3] = {
	{ 1, 1, 1 }, { 31, 1, 1 }, { 32, 1, 1 }, { 96, 1, 1 }, { 8, 3, 2 }, { 5, 7, 1 },
	{ 1, 20, 2 },
};

#define SHAPES	(sizeof(shapes) / sizeof(shapes[0]))

static unsigned char output[2][SHAPES][THREADS_MOST * BYTES];
static uint32_t sums[2][16];

static void compare(uint32_t kernel)
{
	char name[32], why[300] = "", reason[512] = "";
	struct ptx_code *code[2] = {};
	struct ptx_log log;
	bool good = true;

	memset(output, 0, sizeof(output));
	memset(sums, 0, sizeof(sums));
	make(kernel);
	for (int i = 0; i < 2 && good; i++) {
		setenv("MEMCAST_PTX_FIBERS", i ? "1" : "0", 1);
		/* threads that never wait have their own stacks only where they are checked */
		setenv("MEMCAST_PTX_CHECK", i && !barriers && !warps ? "1" : "0", 1);
		good = !load(text, used, &code[i], &log);
		for (uint32_t j = 0; j < SHAPES && good; j++) {
			void *parameters[] = { output[i][j], sums[i] };

			good = !run_shape(code[i], "k", shapes[j], parameters, reason,
					  sizeof(reason));
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
