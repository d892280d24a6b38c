/* SPDX-License-Identifier: MIT */
/*
 * Two sides exchange words, round after round. Side 0 writes and side 1 checks; in store_buffer
 * both do both. Words at @at: 0 the flag, 64 the answer, 128 data, 1024 how many were wrong, 4096
 * and on: what side 0 and side 1 saw in each round.
 */
#ifndef LITMUS_KERNELS_H
#define LITMUS_KERNELS_H

/* %r1: the side, %r2: the last round, %r3: the round, %d1: @at */
#define SIDES(name)								\
	".visible .entry " name "(.param .u64 at, .param .u32 side, .param .u32 rounds) {\n" \
	".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<16>;\n"		\
	"ld.param.u64 %d1, [at]; ld.param.u32 %r1, [side]; ld.param.u32 %r2, [rounds];\n" \
	"mov.u32 %r4, %ctaid.x; add.u32 %r1, %r1, %r4; mov.u32 %r5, %tid.x; mov.u32 %r3, 0;\n" \
	"setp.ne.u32 %p1, %r1, 0; @%p1 bra READER;\n"
#define NEXT_ROUND(label)							\
	"setp.ge.u32 %p2, %r3, %r2; @%p2 ret; add.u32 %r3, %r3, 1;\n"
#define WAIT_FOR_ANSWER								\
	"ANSWER: ld.acquire.sys.global.u32 %r6, [%d1+64]; setp.ne.u32 %p2, %r6, %r3; @%p2 bra ANSWER;\n" \
	"bra WRITER;\n"
#define ANSWER_IT								\
	"st.release.sys.global.u32 [%d1+64], %r3; bra READER;\n"
/* data is right if it is @wanted */
#define CHECK(data, wanted)							\
	"setp.ne.u32 %p3, " data ", " wanted "; @%p3 red.global.add.u32 [%d1+1024], 1;\n"

#define MESSAGE(name, store, load)						\
	SIDES(name)								\
	"WRITER: " NEXT_ROUND(WRITER)						\
	"st.global.u32 [%d1+128], %r3; st.global.u32 [%d1+256], %r3;\n" store	\
	WAIT_FOR_ANSWER								\
	"READER: " NEXT_ROUND(READER)						\
	"SPIN: " load "setp.ne.u32 %p2, %r6, %r3; @%p2 bra SPIN;\n"		\
	"ld.global.u32 %r7, [%d1+256]; ld.global.u32 %r8, [%d1+128];\n"		\
	CHECK("%r7", "%r3") CHECK("%r8", "%r3")					\
	ANSWER_IT "}\n"

static const char litmus_kernels[] = HEAD
	MESSAGE("message_release", "st.release.sys.global.u32 [%d1], %r3;\n",
		"ld.acquire.sys.global.u32 %r6, [%d1];")
	MESSAGE("message_fence", "fence.acq_rel.sys; st.relaxed.sys.global.u32 [%d1], %r3;\n",
		"ld.relaxed.sys.global.u32 %r6, [%d1]; fence.acq_rel.sys;")
	MESSAGE("message_volatile", "membar.sys; st.volatile.global.u32 [%d1], %r3;\n",
		"ld.volatile.global.u32 %r6, [%d1]; membar.sys;")
	MESSAGE("message_atomic", "red.release.sys.global.add.u32 [%d1], 1;\n",
		"atom.acquire.sys.global.or.b32 %r6, [%d1], 0;")

	/* of two sides that each write a word and then read the other's, one sees the other */
	SIDES("store_buffer")
	"READER: setp.ge.u32 %p2, %r3, %r2; @%p2 ret; add.u32 %r3, %r3, 1;\n"
	/* each side counts up, and waits until both have: 2 in round 1 */
	"mul.lo.u32 %r9, %r3, 2; mul.wide.u32 %d2, %r3, 8; add.u64 %d2, %d2, %d1;\n"
	"mul.wide.u32 %d3, %r1, 4; add.u64 %d3, %d3, %d2; xor.b32 %r10, %r1, 1;\n"
	"mul.wide.u32 %d4, %r10, 4; add.u64 %d4, %d4, %d2;\n"
	"red.release.sys.global.add.u32 [%d1], 1;\n"
	"SPIN: ld.acquire.sys.global.u32 %r6, [%d1]; setp.lt.u32 %p2, %r6, %r9; @%p2 bra SPIN;\n"
	"mul.wide.u32 %d5, %r1, 64; add.u64 %d5, %d5, %d1;\n"
	"mul.wide.u32 %d6, %r10, 64; add.u64 %d6, %d6, %d1;\n"
	"st.relaxed.sys.global.u32 [%d5+128], %r3; fence.sc.sys;\n"
	"ld.relaxed.sys.global.u32 %r7, [%d6+128]; st.global.u32 [%d3+4096], %r7; bra READER; }\n"

	/* NCCL's LL: data and flags in one store of 16 bytes */
	SIDES("low_latency")
	"WRITER: " NEXT_ROUND(WRITER)
	"mul.lo.u32 %r7, %r3, 7; mul.lo.u32 %r8, %r3, 11;\n"
	"st.volatile.global.v4.u32 [%d1+128], {%r7, %r3, %r8, %r3};\n" WAIT_FOR_ANSWER
	"READER: " NEXT_ROUND(READER)
	"mul.lo.u32 %r7, %r3, 7; mul.lo.u32 %r8, %r3, 11;\n"
	"SPIN: ld.volatile.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d1+128];\n"
	"setp.ne.u32 %p2, %r11, %r3; @%p2 bra SPIN; setp.ne.u32 %p2, %r13, %r3; @%p2 bra SPIN;\n"
	CHECK("%r10", "%r7") CHECK("%r12", "%r8") ANSWER_IT "}\n"

	/* NCCL's LL128: 8 lanes write 128 bytes, of which the last 8 are the flag */
	SIDES("low_latency_128")
	"WRITER: " NEXT_ROUND(WRITER)
	"mad.lo.u32 %r7, %r3, 64, %r5; cvt.u64.u32 %d2, %r7; cvt.u64.u32 %d3, %r3;\n"
	"and.b32 %r8, %r5, 7; setp.eq.u32 %p4, %r8, 7; selp.b64 %d3, %d3, %d2, %p4;\n"
	"mul.wide.u32 %d4, %r5, 16; add.u64 %d4, %d4, %d1;\n"
	"bar.warp.sync -1; st.volatile.global.v2.u64 [%d4+512], {%d2, %d3};\n"
	WAIT_FOR_ANSWER
	"READER: bar.warp.sync -1;\n" NEXT_ROUND(READER)
	"mad.lo.u32 %r7, %r3, 64, %r5; and.b32 %r8, %r5, 7; setp.eq.u32 %p4, %r8, 7;\n"
	"mul.wide.u32 %d4, %r5, 16; add.u64 %d4, %d4, %d1; cvt.u64.u32 %d7, %r3;\n"
	"SPIN: ld.volatile.global.v2.u64 {%d2, %d3}, [%d4+512];\n"
	"setp.ne.and.u64 %p2, %d3, %d7, %p4; vote.sync.any.pred %p2, %p2, -1; @%p2 bra SPIN;\n"
	"cvt.u32.u64 %r10, %d2;\n" CHECK("%r10", "%r7")
	"cvt.u32.u64 %r11, %d3; selp.b32 %r12, %r3, %r7, %p4;\n" CHECK("%r11", "%r12")
	"bar.warp.sync -1; setp.ne.u32 %p5, %r5, 0; @%p5 bra READER;\n"
	ANSWER_IT "}\n";

#endif /* LITMUS_KERNELS_H */
