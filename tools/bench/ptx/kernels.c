// SPDX-License-Identifier: MIT
/* The kernels, as nvcc makes them of what one would write. All have parameters as struct arrays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"
#include "shared/ranks.h"

#define HEAD	".version 8.6\n.target sm_90\n.address_size 64\n"

/* Registers, parameters, global addresses in %a, %b and %c, %n; and %i, the thread's number */
#define ENTRY(name)								\
	".visible .entry " name "(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 pn)\n" \
	"{\n"									\
	".reg .b64 %a, %b, %c, %d<16>; .reg .b32 %n, %i, %r<40>; .reg .f32 %f<64>;\n"	\
	".reg .b16 %h<8>; .reg .pred %p<8>;\n"

#define BEGIN(name)								\
	ENTRY(name)								\
	"ld.param.u64 %d0, [pa]; ld.param.u64 %d1, [pb]; ld.param.u64 %d2, [pc];\n" \
	"ld.param.u32 %n, [pn];\n"						\
	"cvta.to.global.u64 %a, %d0; cvta.to.global.u64 %b, %d1; cvta.to.global.u64 %c, %d2;\n" \
	"mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n"	\
	"mad.lo.s32 %i, %r0, %r1, %r2;\n"

#define END	"ret;\n}\n"

/* if (i < n) */
#define WITHIN	"setp.ge.s32 %p0, %i, %n; @%p0 bra $end;\n"

/* for (; i < n; i += the grid's threads) */
#define EACH	"mov.u32 %r3, %nctaid.x; mul.lo.s32 %r4, %r3, %r1;\n" WITHIN "$each:\n"
#define NEXT	"add.s32 %i, %i, %r4; setp.lt.s32 %p0, %i, %n; @%p0 bra $each;\n"

#define HALVE(distance)								\
	"setp.ge.u32 %p1, %r2, " #distance "; @%p1 bra $less" #distance ";\n"	\
	"ld.shared.u32 %r11, [%r9 + 4 * " #distance "]; ld.shared.u32 %r12, [%r9];\n"	\
	"add.u32 %r12, %r12, %r11; st.shared.u32 [%r9], %r12;\n"		\
	"$less" #distance ": bar.sync 0;\n"

#define SHUFFLE(distance)							\
	"shfl.sync.down.b32 %r11, %r10, " #distance ", 31, 0xffffffff; add.u32 %r10, %r10, %r11;\n"

/* A step of a product of tiles of 16 x 16 */
#define STEP(k)									\
	"ld.shared.f32 %f1, [%r20 + 4 * " #k "]; ld.shared.f32 %f2, [%r21 + 64 * " #k "];\n" \
	"fma.rn.f32 %f0, %f1, %f2, %f0;\n"

const char ptx_kernels[] = HEAD
	".visible .entry empty(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n"
	"{ ret; }\n"

	BEGIN("vector_add") WITHIN
	"mul.wide.s32 %d3, %i, 4; add.s64 %d4, %a, %d3; add.s64 %d5, %b, %d3;\n"
	"ld.global.f32 %f0, [%d4]; ld.global.f32 %f1, [%d5]; add.f32 %f2, %f0, %f1;\n"
	"add.s64 %d6, %c, %d3; st.global.f32 [%d6], %f2;\n"
	"$end: " END

	BEGIN("saxpy") WITHIN
	"mul.wide.s32 %d3, %i, 2; add.s64 %d4, %a, %d3; add.s64 %d5, %b, %d3;\n"
	"ld.global.u16 %h0, [%d4]; ld.global.u16 %h1, [%d5]; mov.b16 %h2, 0x4000;\n"
	"mul.rn.f16 %h3, %h2, %h0; add.rn.f16 %h3, %h3, %h1;\n"
	"add.s64 %d6, %c, %d3; st.global.u16 [%d6], %h3;\n"
	"$end: " END

	/* each thread sums words, and a block's threads halve their number until one is left */
	BEGIN("sum_shared")
	".shared .align 4 .b8 words[1024];\n"
	"mov.u32 %r10, 0;\n" EACH
	"mul.wide.s32 %d3, %i, 4; add.s64 %d4, %a, %d3; ld.global.u32 %r11, [%d4];\n"
	"add.u32 %r10, %r10, %r11;\n" NEXT
	"$end: mov.u32 %r8, words; shl.b32 %r7, %r2, 2; add.u32 %r9, %r8, %r7;\n"
	"st.shared.u32 [%r9], %r10; bar.sync 0;\n"
	HALVE(128) HALVE(64) HALVE(32) HALVE(16) HALVE(8) HALVE(4) HALVE(2) HALVE(1)
	"setp.ne.u32 %p2, %r2, 0; @%p2 bra $out;\n"
	"ld.shared.u32 %r13, [words]; red.global.add.u32 [%c], %r13;\n"
	"$out: " END

	/* likewise, a warp's lanes by shuffles; the first warp sums what all warps have */
	BEGIN("sum_shuffle")
	".shared .align 4 .b8 words[128];\n"
	"mov.u32 %r10, 0;\n" EACH
	"mul.wide.s32 %d3, %i, 4; add.s64 %d4, %a, %d3; ld.global.u32 %r11, [%d4];\n"
	"add.u32 %r10, %r10, %r11;\n" NEXT
	"$end:\n" SHUFFLE(16) SHUFFLE(8) SHUFFLE(4) SHUFFLE(2) SHUFFLE(1)
	"and.b32 %r5, %r2, 31; shr.u32 %r6, %r2, 5; mov.u32 %r8, words;\n"
	"setp.ne.u32 %p1, %r5, 0; @%p1 bra $not_first;\n"
	"shl.b32 %r7, %r6, 2; add.u32 %r9, %r8, %r7; st.shared.u32 [%r9], %r10;\n"
	"$not_first: bar.sync 0;\n"
	"setp.gt.u32 %p2, %r2, 31; @%p2 bra $out;\n"
	"shr.u32 %r12, %r1, 5; setp.ge.u32 %p3, %r2, %r12; mov.u32 %r10, 0; @%p3 bra $none;\n"
	"shl.b32 %r7, %r2, 2; add.u32 %r9, %r8, %r7; ld.shared.u32 %r10, [%r9];\n"
	"$none:\n" SHUFFLE(16) SHUFFLE(8) SHUFFLE(4) SHUFFLE(2) SHUFFLE(1)
	"setp.ne.u32 %p4, %r2, 0; @%p4 bra $out;\n"
	"red.global.add.u32 [%c], %r10;\n"
	"$out: " END

	BEGIN("histogram") EACH
	"cvt.s64.s32 %d3, %i; add.s64 %d4, %a, %d3; ld.global.u8 %h0, [%d4];\n"
	"cvt.u32.u16 %r5, %h0; mul.wide.u32 %d5, %r5, 4; add.s64 %d6, %c, %d5;\n"
	"atom.global.add.u32 %r6, [%d6], 1;\n" NEXT
	"$end: " END

	/* square matrices; a block of 16 x 16 threads takes tiles through shared memory */
	BEGIN("product")
	".shared .align 4 .b8 tile_a[1024]; .shared .align 4 .b8 tile_b[1024];\n"
	"mov.u32 %r3, %tid.y; mov.u32 %r4, %ctaid.y;\n"
	"shl.b32 %r5, %r4, 4; add.u32 %r5, %r5, %r3;\n"		/* row */
	"shl.b32 %r6, %r0, 4; add.u32 %r6, %r6, %r2;\n"		/* column */
	"mov.f32 %f0, 0f00000000; mov.u32 %r7, 0;\n"
	"mov.u32 %r8, tile_a; mov.u32 %r9, tile_b;\n"
	"shl.b32 %r10, %r3, 6; shl.b32 %r11, %r2, 2;\n"
	"add.u32 %r20, %r8, %r10; add.u32 %r21, %r9, %r11;\n"	/* the row in A, the column in B */
	"add.u32 %r22, %r20, %r11; add.u32 %r23, %r21, %r10;\n"
	"$tile: add.u32 %r12, %r7, %r2; mad.lo.u32 %r13, %r5, %n, %r12;\n"
	"mul.wide.u32 %d3, %r13, 4; add.s64 %d3, %a, %d3; ld.global.f32 %f3, [%d3];\n"
	"st.shared.f32 [%r22], %f3;\n"
	"add.u32 %r14, %r7, %r3; mad.lo.u32 %r15, %r14, %n, %r6;\n"
	"mul.wide.u32 %d4, %r15, 4; add.s64 %d4, %b, %d4; ld.global.f32 %f4, [%d4];\n"
	"st.shared.f32 [%r23], %f4;\n"
	"bar.sync 0;\n"
	STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
	STEP(8) STEP(9) STEP(10) STEP(11) STEP(12) STEP(13) STEP(14) STEP(15)
	"bar.sync 0;\n"
	"add.u32 %r7, %r7, 16; setp.lt.u32 %p1, %r7, %n; @%p1 bra $tile;\n"
	"mad.lo.u32 %r16, %r5, %n, %r6; mul.wide.u32 %d5, %r16, 4; add.s64 %d5, %c, %d5;\n"
	"st.global.f32 [%d5], %f0;\n" END

	/* tiles of 32 x 32, in rows of 33 words; a block has 32 x 8 threads */
	BEGIN("transpose")
	".shared .align 4 .b8 tile[4224];\n"
	"mov.u32 %r3, %tid.y; mov.u32 %r4, %ctaid.y; mov.u32 %r8, tile;\n"
	"shl.b32 %r5, %r0, 5; add.u32 %r5, %r5, %r2; shl.b32 %r6, %r4, 5; add.u32 %r6, %r6, %r3;\n"
	"mad.lo.u32 %r7, %r6, %n, %r5; mul.wide.u32 %d3, %r7, 4; add.s64 %d3, %a, %d3;\n"
	"mul.wide.u32 %d4, %n, 32;\n"				/* bytes of 8 rows */
	"mad.lo.u32 %r9, %r3, 33, %r2; shl.b32 %r9, %r9, 2; add.u32 %r9, %r8, %r9;\n"
	"ld.global.f32 %f0, [%d3]; st.shared.f32 [%r9], %f0; add.s64 %d3, %d3, %d4;\n"
	"ld.global.f32 %f1, [%d3]; st.shared.f32 [%r9 + 1056], %f1; add.s64 %d3, %d3, %d4;\n"
	"ld.global.f32 %f2, [%d3]; st.shared.f32 [%r9 + 2112], %f2; add.s64 %d3, %d3, %d4;\n"
	"ld.global.f32 %f3, [%d3]; st.shared.f32 [%r9 + 3168], %f3;\n"
	"bar.sync 0;\n"
	"shl.b32 %r5, %r4, 5; add.u32 %r5, %r5, %r2; shl.b32 %r6, %r0, 5; add.u32 %r6, %r6, %r3;\n"
	"mad.lo.u32 %r7, %r6, %n, %r5; mul.wide.u32 %d5, %r7, 4; add.s64 %d5, %c, %d5;\n"
	"mad.lo.u32 %r9, %r2, 33, %r3; shl.b32 %r9, %r9, 2; add.u32 %r9, %r8, %r9;\n"
	"ld.shared.f32 %f4, [%r9]; st.global.f32 [%d5], %f4; add.s64 %d5, %d5, %d4;\n"
	"ld.shared.f32 %f5, [%r9 + 32]; st.global.f32 [%d5], %f5; add.s64 %d5, %d5, %d4;\n"
	"ld.shared.f32 %f6, [%r9 + 64]; st.global.f32 [%d5], %f6; add.s64 %d5, %d5, %d4;\n"
	"ld.shared.f32 %f7, [%r9 + 96]; st.global.f32 [%d5], %f7;\n" END

	/* a point and its four neighbours */
	BEGIN("stencil")
	"mov.u32 %r3, %ctaid.y; mov.u32 %r4, %ntid.y; mov.u32 %r5, %tid.y;\n"
	"mad.lo.s32 %r6, %r3, %r4, %r5; add.s32 %r7, %n, -1;\n"
	"setp.lt.s32 %p0, %i, 1; setp.ge.s32 %p1, %i, %r7; or.pred %p2, %p0, %p1;\n"
	"setp.lt.s32 %p3, %r6, 1; or.pred %p4, %p2, %p3; setp.ge.s32 %p5, %r6, %r7;\n"
	"or.pred %p6, %p4, %p5; @%p6 bra $end;\n"
	"mad.lo.s32 %r8, %r6, %n, %i; mul.wide.s32 %d3, %r8, 4; add.s64 %d4, %a, %d3;\n"
	"mul.wide.s32 %d5, %n, 4; sub.s64 %d6, %d4, %d5; add.s64 %d7, %d4, %d5;\n"
	"ld.global.f32 %f0, [%d4]; ld.global.f32 %f1, [%d4 + -4]; ld.global.f32 %f2, [%d4 + 4];\n"
	"ld.global.f32 %f3, [%d6]; ld.global.f32 %f4, [%d7];\n"
	"add.f32 %f5, %f1, %f2; add.f32 %f6, %f5, %f3; add.f32 %f7, %f6, %f4;\n"
	"mul.f32 %f8, %f7, 0f3E800000; add.f32 %f9, %f0, %f8;\n"
	"add.s64 %d8, %c, %d3; st.global.f32 [%d8], %f9;\n"
	"$end: " END

	/* n: of 16 bytes; a is a window, c memory */
	BEGIN("multimem_load") EACH
	"mul.wide.s32 %d3, %i, 16; add.s64 %d4, %a, %d3; add.s64 %d5, %c, %d3;\n"
	"multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f0, %f1, %f2, %f3}, [%d4];\n"
	"st.global.v4.f32 [%d5], {%f0, %f1, %f2, %f3};\n" NEXT
	"$end: " END

	BEGIN("multimem_all_reduce") EACH
	"mul.wide.s32 %d3, %i, 16; add.s64 %d4, %a, %d3;\n"
	"multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f0, %f1, %f2, %f3}, [%d4];\n"
	"multimem.st.relaxed.sys.global.v4.f32 [%d4], {%f0, %f1, %f2, %f3};\n" NEXT
	"$end: " END

	/* barriers of which a loop has one: what a thread's turn costs. n: how often */
	BEGIN("turns")
	"mov.u32 %r5, 0; setp.eq.u32 %p0, %n, 0; @%p0 bra $end;\n"
	"$each: add.u32 %r5, %r5, 1; barrier.sync 1; setp.lt.u32 %p0, %r5, %n; @%p0 bra $each;\n"
	"$end: " END;

/* Sums, loads, stores and branches, in about the mixture that programs have */
char *ptx_long_kernel(unsigned int instructions)
{
	static const char step[] =
		"ld.global.u32 %%r5, [%%d4 + %u]; mad.lo.u32 %%r6, %%r5, %%n, %%r6;\n"
		"xor.b32 %%r7, %%r6, %%r5; shr.u32 %%r8, %%r7, 3; add.u32 %%r6, %%r6, %%r8;\n"
		"setp.gt.u32 %%p1, %%r6, %u; @%%p1 bra $over%u; sub.u32 %%r6, %%r6, %%i;\n"
		"$over%u: cvt.rn.f32.u32 %%f0, %%r6; fma.rn.f32 %%f1, %%f0, %%f1, %%f0;\n"
		"st.global.f32 [%%d5 + %u], %%f1;\n";
	size_t room = 4096 + instructions * 64UL, used;
	char *text = malloc(room);

	if (!text)
		rank_die("no memory for a text");
	used = sprintf(text, "%s%s", HEAD, BEGIN("long") WITHIN
		       "mov.u32 %r6, 1; mov.f32 %f1, 0f00000000; mul.wide.s32 %d3, %i, 4;\n"
		       "add.s64 %d4, %a, %d3; add.s64 %d5, %c, %d3;\n");
	for (unsigned int i = 0; i * 11 < instructions; i++)
		used += snprintf(text + used, room - used, step, 4 * i, 12345 * i, i, i, 4 * i);
	snprintf(text + used, room - used, "$end: %s", END);
	return text;
}
