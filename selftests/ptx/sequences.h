/* SPDX-License-Identifier: MIT */
/*
 * Statements whose result on an H100 is not that of the instructions one by one, or that facts.txt
 * cannot say: guards, numbers in the text, several instructions. %r1 to %r3 are given, %r0 is the
 * result; %p1 is true and %p0 false.
 */
#ifndef SEQUENCES_H
#define SEQUENCES_H

#include <stdint.h>

static const struct sequence {
	const char *text;
	uint32_t in[3], out;
} sequences[] = {
	/* a number by which 16 bits are shifted has 16 bits; a register has 32 */
	{ "mov.b32 {%h0, %h1}, %r1; shl.b16 %h1, %h0, 0x10001; mov.b32 %r0, {%h1, %h0};",
	  { 0x1234 }, 0x12342468 },
	{ "mov.b32 {%h0, %h1}, %r1; shr.s16 %h1, %h0, 0x80000000; mov.b32 %r0, {%h1, %h0};",
	  { 0x9234 }, 0x92349234 },
	{ "mov.b32 {%h0, %h1}, %r1; shl.b16 %h1, %h0, %r2; mov.b32 %r0, {%h1, %h0};",
	  { 0x1234, 0x10001 }, 0x12340000 },
	/* where the guard is false, the register's magnitude is converted */
	{ "mov.b32 %f0, %r1; @%p0 set.ge.f32.u32 %f0, %r2, %r3; mov.b32 %r0, %f0;",
	  { 0x80000000 }, 0xcf000000 },
	{ "mov.b32 %f0, %r1; @%p0 set.ge.f32.u32 %f0, %r2, %r3; mov.b32 %r0, %f0;",
	  { 0xffffffff }, 0x3f800000 },
	{ "mov.b32 %f0, %r1; @%p1 set.ge.f32.u32 %f0, %r2, %r3; mov.b32 %r0, %f0;",
	  { 0x80000000 }, 0x3f800000 },
	/* products by a number are not shifted by numbers of 64 or more, others are */
	{ "cvt.u64.u32 %d0, %r1; mul.lo.u64 %d1, %d0, 7; shl.b64 %d2, %d1, 64; cvt.u32.u64 %r0, %d2;",
	  { 3 }, 21 },
	{ "cvt.u64.u32 %d0, %r1; mad.lo.s64 %d1, %d0, 7, 5; mov.b64 %d3, %d1; @%p1 bra A; ret; A:\n"
	  "shl.b64 %d2, %d3, 0xffffffff; cvt.u32.u64 %r0, %d2;", { 3 }, 26 },
	{ "mul.wide.u32 %d1, %r1, 7; add.u64 %d1, %d1, 4; shl.b64 %d1, %d1, 70; cvt.u32.u64 %r0, %d1;",
	  { 3 }, 25 },
	{ "cvt.u64.u32 %d0, %r1; mul.lo.u64 %d1, %d0, %d0; shl.b64 %d2, %d1, 64; cvt.u32.u64 %r0, %d2;",
	  { 3 }, 0 },
	{ "cvt.u64.u32 %d0, %r1; mul.lo.u64 %d1, %d0, 7; shl.b64 %d2, %d1, 3; cvt.u32.u64 %r0, %d2;",
	  { 3 }, 168 },
	{ "cvt.u64.u32 %d0, %r1; mul.lo.u64 %d1, %d0, 7; xor.b64 %d1, %d1, 1; shl.b64 %d2, %d1, 64;\n"
	  "cvt.u32.u64 %r0, %d2;", { 3 }, 0 },
	/* a function takes a signed parameter as a signed number of bits */
	{ "{ .param .b32 a; .param .b32 v; st.param.b32 [a], %r1; call (v), shift, (a);\n"
	  "ld.param.b32 %r0, [v]; }", { 0xffd61234 }, 0x1234 },
	{ "{ .param .b32 a; .param .b32 v; st.param.b32 [a], %r1; call (v), shift, (a);\n"
	  "ld.param.b32 %r0, [v]; }", { 0x00041234 }, 0x2340 },
};

/* What sequences call: shifts 16 bits by a number of 16 bits */
static const char sequences_functions[] =
	".func (.param .b32 v) shift(.param .align 4 .b8 a[4]) { .reg .b16 %h; .reg .b32 %r<2>;\n"
	"ld.param.u16 %h, [a]; ld.param.s16 %r0, [a+2]; shl.b16 %h, %h, %r0; cvt.u32.u16 %r1, %h;\n"
	"st.param.b32 [v], %r1; ret; }\n";

#endif /* SEQUENCES_H */
