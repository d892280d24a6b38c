/* SPDX-License-Identifier: MIT */
/* The PTX that ptx_test and ptx_link_test launch; line numbers in tests count from .version. */
#ifndef PTX_KERNELS_H
#define PTX_KERNELS_H

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* %r1: the thread's number in the grid */
#define NUMBER								\
	"mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"	\
	"mad.lo.u32 %r1, %r2, %r3, %r4;\n"
#define REGISTERS							\
	".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<16>; .reg .f32 %f<8>;\n"

static const char kernels[] = HEAD
	/* c = a + b */
	".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {\n" REGISTERS
	"ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [c]; ld.param.u32 %r9, [n];\n"
	NUMBER
	"setp.ge.u32 %p1, %r1, %r9; @%p1 ret;\n"
	"mul.wide.u32 %d4, %r1, 4; add.u64 %d1, %d1, %d4; add.u64 %d2, %d2, %d4; add.u64 %d3, %d3, %d4;\n"
	"ld.global.f32 %f1, [%d1]; ld.global.f32 %f2, [%d2]; add.f32 %f3, %f1, %f2;\n"
	"st.global.f32 [%d3], %f3; ret; }\n"
	/* variables, of which one has the address of another */
	".visible .global .align 4 .b32 words[4] = { 7, -8, 9, 10 };\n"
	".visible .global .align 8 .u64 place = generic(words);\n"
	".visible .entry read(.param .u64 to) {\n" REGISTERS
	"ld.param.u64 %d1, [to]; ld.global.u64 %d2, [place]; ld.u32 %r1, [%d2 + 4]; st.global.u32 [%d1], %r1;\n"
	"ld.global.u32 %r2, [words + 8]; st.global.u32 [%d1 + 4], %r2; ret; }\n"
	/* the sum of a block's words, by shared memory and barriers */
	".visible .entry sum(.param .u64 to, .param .u64 from) {\n" REGISTERS
	".shared .align 4 .b32 part[1024];\n"
	"ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from];\n" NUMBER
	"mul.wide.u32 %d3, %r1, 4; add.u64 %d3, %d2, %d3; ld.global.u32 %r5, [%d3];\n"
	"mov.u32 %r6, part; shl.b32 %r7, %r4, 2; add.u32 %r7, %r6, %r7; st.shared.u32 [%r7], %r5;\n"
	"shr.u32 %r8, %r3, 1;\n"
	"NEXT: bar.sync 0; setp.eq.u32 %p1, %r8, 0; @%p1 bra LAST;\n"
	"setp.ge.u32 %p2, %r4, %r8; @%p2 bra SKIP;\n"
	"shl.b32 %r9, %r8, 2; add.u32 %r9, %r7, %r9; ld.shared.u32 %r10, [%r9];\n"
	"ld.shared.u32 %r11, [%r7]; add.u32 %r11, %r11, %r10; st.shared.u32 [%r7], %r11;\n"
	"SKIP: shr.u32 %r8, %r8, 1; bra NEXT;\n"
	"LAST: setp.ne.u32 %p3, %r4, 0; @%p3 ret; ld.shared.u32 %r12, [part];\n"
	"mul.wide.u32 %d4, %r2, 4; add.u64 %d4, %d1, %d4; st.global.u32 [%d4], %r12; ret; }\n"
	/* adds 1 to at[0], waits until it is @all, and adds 1 to at[1] */
	".visible .entry meet(.param .u64 at, .param .u32 all) {\n" REGISTERS
	"ld.param.u64 %d1, [at]; ld.param.u32 %r9, [all]; mov.u32 %r4, %tid.x; bar.sync 0;\n"
	"setp.ne.u32 %p1, %r4, 0; @%p1 bra WAIT; red.release.sys.global.add.u32 [%d1], 1;\n"
	"WAIT: ld.acquire.sys.global.u32 %r5, [%d1]; setp.lt.u32 %p2, %r5, %r9; @%p2 bra WAIT;\n"
	"bar.sync 0; red.global.add.u32 [%d1 + 4], 1; ret; }\n"
	/* an all-reduce of 4 ranks at most: barrier by multimem.red, sum by multimem.ld_reduce */
	".visible .entry all_reduce(.param .u64 window, .param .u64 own, .param .u32 ranks, .param .u32 rank) {\n"
	REGISTERS
	"ld.param.u64 %d1, [window]; ld.param.u64 %d2, [own]; ld.param.u32 %r9, [ranks];\n"
	"ld.param.u32 %r10, [rank]; mov.u32 %r4, %tid.x; mov.u32 %r3, %ntid.x;\n"
	"setp.ne.u32 %p1, %r4, 0; @%p1 bra JOIN;\n"
	"multimem.red.release.sys.global.add.u32 [%d1], 1;\n"
	"SPIN: ld.acquire.sys.global.u32 %r5, [%d2]; setp.lt.u32 %p2, %r5, %r9; @%p2 bra SPIN;\n"
	"JOIN: bar.sync 0;\n"
	/* rank r reduces the words of threads r, r + ranks, ... */
	"rem.u32 %r6, %r4, %r9; setp.ne.u32 %p3, %r6, %r10; @%p3 bra DONE;\n"
	"mul.wide.u32 %d3, %r4, 4; add.u64 %d3, %d1, %d3;\n"
	"multimem.ld_reduce.relaxed.sys.global.add.f32 %f1, [%d3 + 4096];\n"
	"multimem.st.relaxed.sys.global.f32 [%d3 + 4096], %f1;\n"
	"DONE: bar.sync 0; @%p1 bra END;\n"
	"multimem.red.release.sys.global.add.u32 [%d1 + 4], 1;\n"
	"TAIL: ld.acquire.sys.global.u32 %r5, [%d2 + 4]; setp.lt.u32 %p2, %r5, %r9; @%p2 bra TAIL;\n"
	"END: bar.sync 0; ret; }\n"
	/* all blocks wait for each other in the workspace that cooperative launches have */
	".visible .entry together(.param .u64 to) {\n" REGISTERS
	"mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %d1, {%r2, %r1};\n"
	"ld.param.u64 %d2, [to]; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %tid.x;\n"
	"setp.ne.u32 %p1, %r4, 0; @%p1 bra JOIN;\n"
	"red.global.add.u32 [%d2], 1; atom.add.release.gpu.u32 %r5, [%d1 + 4], 1;\n"
	"SPIN: ld.acquire.gpu.u32 %r5, [%d1 + 4]; setp.lt.u32 %p2, %r5, %r3; @%p2 bra SPIN;\n"
	"JOIN: bar.sync 0; ld.volatile.global.u32 %r6, [%d2]; setp.ne.u32 %p3, %r6, %r3; @%p3 ret;\n"
	"red.global.add.u32 [%d2 + 4], 1; ret; }\n"
	".visible .entry trap_at_3() { .reg .pred %p; .reg .b32 %r; mov.u32 %r, %tid.x;\n"
	"setp.eq.u32 %p, %r, 3; @%p trap; ret; }\n"
	".visible .entry empty() { ret; }\n";

/* A store to the address; it is in line 7. */
static const char store[] = HEAD
	".visible .entry store(.param .u64 to)\n{\n"
	".reg .b64 %d<2>; ld.param.u64 %d1, [to];\n"
	"st.global.u32 [%d1], 7;\n"
	"ret;\n}\n";

/* Prints the numbers below count, each in a line of 1,001 bytes; fails an assertion if it is 0. */
#define PRINTED_LINE	1001
static const char printing[] = HEAD
	".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
	".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n,"
	" .param .b64 s);\n"
	".global .align 1 .b8 format[8] = { 37, 49, 48, 48, 48, 100, 10, 0 };\n"
	".global .align 1 .b8 name[2] = { 120, 0 };\n"
	".visible .entry print(.param .u32 count) {\n" REGISTERS
	".local .align 8 .b8 values[8]; mov.b64 %d1, values; cvta.local.u64 %d1, %d1;\n"
	"mov.b64 %d2, format; cvta.global.u64 %d2, %d2; ld.param.u32 %r2, [count];\n"
	"mov.b64 %d3, name; cvta.global.u64 %d3, %d3; mov.u32 %r1, 0;\n"
	"setp.eq.u32 %p1, %r2, 0; @!%p1 bra NEXT;\n"
	"{ .param .b64 m, f; .param .b32 l; .param .b64 n, s; st.param.b64 [m], %d3;\n"
	"st.param.b64 [f], %d3; st.param.b32 [l], 12; st.param.b64 [n], %d3; st.param.b64 [s], 1;\n"
	"call.uni __assertfail, (m, f, l, n, s); }\n"
	"NEXT: st.local.u32 [values], %r1;\n"
	"{ .param .b64 f, a; .param .b32 r; st.param.b64 [f], %d2; st.param.b64 [a], %d1;\n"
	"call.uni (r), vprintf, (f, a); }\n"
	"add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r2; @%p1 bra NEXT; ret; }\n";

/* Each thread: 6 multimem operations at a window and 3 at another one, in turns */
#define COUNT(name, wait)									\
	".visible .entry " name "(.param .u64 first, .param .u64 second) {\n" REGISTERS	\
	"ld.param.u64 %d1, [first]; ld.param.u64 %d2, [second]; mov.u32 %r1, 0;\n"		\
	"NEXT: multimem.st.relaxed.sys.global.u32 [%d1], 1;\n" wait			\
	"multimem.ld_reduce.relaxed.sys.global.add.f32 %f1, [%d1 + 4];\n"		\
	"multimem.red.relaxed.sys.global.add.u32 [%d2], 1;\n"				\
	"add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra NEXT; ret; }\n"

static const char counting[] = HEAD COUNT("count", "") COUNT("count_and_wait", "bar.sync 0;\n");

/* An instruction that memcast does not have, in line 7 */
static const char unsupported[] =
	".version 8.0\n.target sm_90a\n.address_size 64\n"
	".visible .entry multiply()\n{\n"
	".reg .b32 %r<2>;\n"
	"wgmma.fence.sync.aligned;\n"
	"ret;\n}\n";

#endif /* PTX_KERNELS_H */
