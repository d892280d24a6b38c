/* SPDX-License-Identifier: MIT */
/* Texts that host-fuzz-text changes, and words that it puts in. */
#ifndef FUZZ_TEXTS_H
#define FUZZ_TEXTS_H

#define FUZZ_HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"

static const char *const texts[] = {
	FUZZ_HEAD
	".visible .global .align 4 .b32 words[4] = { 7, -8, 0x9, (1 << 4) | 3 };\n"
	".global .align 8 .u64 place[] = { generic(words)+8, words, 0xff00(words) };\n"
	".global .f32 floats[2][3] = { { 1.5, -.5e-3, 0f3f800000 }, { 2 } };\n"
	".global .f64 wide = 0d4008000000000000;\n.extern .global .u32 other;\n"
	".weak .global .v4 .f32 four = { 1.0, 2.0, 3.0, 4.0 };\n.common .global .u32 both;\n"
	".const .align 4 .b8 bytes[5] = { 1, 2, 3 };\n.extern .shared .align 16 .b8 dynamic[];\n"
	".shared .b32 fixed[64];\n"
	".file 1 \"a file.cu\"\n.section .debug_info { .b8 1, 2\n.b32 label+4 }\n"
	".func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %r<2>; ld.param.b32 %r0, [x]; "
	"add.u32 %r0, %r0, %r0; st.param.b32 [r], %r0; ret; }\n"
	".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
	".global .u64 table[2] = { twice, 0 };\n",

	FUZZ_HEAD
	".visible .entry k(.param .u64 to, .param .align 8 .b8 much[24]) .maxntid 128, 1, 1 "
	".minnctapersm 2 {\n.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<32>; .reg .b64 %d<8>;\n"
	".reg .f32 %f<8>; .reg .v2 .f32 pair; .local .align 8 .b8 stack[16]; .shared .b32 s[32];\n"
	".loc 1 7 3\nld.param.u64 %d1, [to]; ld.param.v2.u32 {%r1, %r2}, [much+8];\n"
	"mov.u32 %r3, %tid.x; setp.lt.and.u32 %p1|%p2, %r3, 16, !%p0; @%p1 bra A;\n"
	"@!%p1 add.sat.s32 %r4, %r3, -5; mov.b64 {%r5, _}, %d1; mov.b32 {%h0, %h1}, %r5;\n"
	"A: mad.wide.u32 %d2, %r3, 4, %d1; fma.rn.ftz.f32 %f1, %f0, 0f3f800000, 1.5;\n"
	"T: .branchtargets A, B, C;\nbrx.idx %r3, T;\n"
	"B: { .reg .b32 %r<2>; .param .b32 a; .param .b32 v; st.param.b32 [a], %r1;\n"
	"P: .callprototype (.param .b32 _) _ (.param .b32 _); call (v), %d3, (a), P;\n"
	"ld.param.b32 %r1, [v]; }\n"
	"C: atom.acq_rel.gpu.global.add.u32 %r6, [%d2+4], 1; red.relaxed.sys.global.or.b32 [%d2], %r6;\n"
	"ld.volatile.shared.v4.u32 {%r8, %r9, %r10, %r11}, [s]; st.shared.b32 [s+4], %r8;\n"
	"bar.sync 0; barrier.red.popc.u32 %r7, 1, 64, %p1; vote.sync.ballot.b32 %r7, %p1, -1;\n"
	"shfl.sync.bfly.b32 %r7|%p3, %r7, 1, 31, -1; lop3.b32 %r7, %r1, %r2, %r3, 0x96;\n"
	"cvt.rzi.s32.f32 %r7, %f1; cvta.to.global.u64 %d4, %d1; prmt.b32 %r7, %r1, %r2, 0x5410;\n"
	"multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%d1];\n"
	"cp.async.ca.shared.global [s], [%d1], 16; cp.async.commit_group; cp.async.wait_group 0;\n"
	"st.global.v2.f32 [%d1+-8], {pair.x, pair.y}; // to the end\n/* and more */ exit; }\n",

	".version 7.0\n.target sm_80, texmode_independent\n"
	".func f();\n.func g();\n.alias g, f;\n.pragma \"nounroll\";\n"
	".visible .func f() { bra END; END: ret; }\n"
	".entry one () .reqntid 32 { { { call f; } } trap; }\n"
	".entry two (.param .b8 x[4080]) { .reg .b128 q; mov.b128 q, {1, 2}; ret.uni; }\n",
};

static const char *const words[] = {
	"{", "}", "(", ")", "[", "]", ";", ",", ":", ".", "@", "@!", "%", "%r1", "%p1", "<", ">", "|",
	"_", "-", "+", "0x", "0f", "0d", "1e999", "4294967296", "18446744073709551615", "-1", "0",
	"/*", "*/", "//", "\"", "\n", ".reg", ".b32", ".pred", ".f64", ".v2", ".align", ".param",
	".local", ".shared", ".global", ".const", ".extern", ".weak", ".func", ".entry", ".visible",
	".version", ".target", ".section", ".branchtargets", ".callprototype", ".pragma", ".alias",
	"<4294967295>", "<1000000>", "[4294967295]", "[99999999999999999999]", "add.u32", "call",
	"bra", "ret", "ld.global.u32", "st.shared.v4.b32", "mov.b64", "cvt.rn.f32.s32", "setp.eq.s32",
	"generic(", "1 ? 2 : 3", "~", "!", "<<", "&&", "%tid.x", "k", "f", "words", "\x80", "$",
};

#endif /* FUZZ_TEXTS_H */
