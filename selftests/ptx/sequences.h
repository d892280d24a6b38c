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
	/* a sum behind an address has its signs; WARP_SZ is a number */
	{ ".shared .b32 s[4]; st.shared.u32 [s+4], %r1; ld.shared.u32 %r0, [s+8-4];", { 7 }, 7 },
	{ ".shared .b32 s[4]; st.shared.u32 [s+4], %r1; mov.u64 %d1, s+8-4; ld.shared.u32 %r0, [%d1];",
	  { 7 }, 7 },
	{ "add.s32 %r4, %r1, -WARP_SZ; and.b32 %r5, %r2, WARP_SZ-1; mad.lo.u32 %r0, %r4, 100, %r5;",
	  { 35, 0x7b }, 327 },
	/* the contrary is combined, too */
	{ "setp.lt.and.u32 %p2|%p3, %r1, %r2, %p0; selp.u32 %r0, 1, 0, %p3;", { 7, 5 }, 0 },
	/* a count that begins at its limit goes down */
	{ ".shared .b32 s; st.shared.u32 [s], %r1; atom.shared.dec.u32 %r4, [s], %r2; "
	  "ld.shared.u32 %r0, [s];", { 5, 5 }, 4 },
	/* a carry that only the carry before it makes */
	{ "add.cc.u32 %r4, %r1, %r1; addc.cc.u32 %r5, %r2, 0; addc.u32 %r0, %r3, %r5;",
	  { 0x80000000, 0xffffffff, 5 }, 6 },
	/* computed by hand: elements of a vector of registers differ; p - p is 0 */
	{ ".reg .v2 .b32 v; mov.v2.b32 v, {%r1, %r2}; mov.v2.b32 v, {v.y, v.x}; mov.b64 {%r4, %r5}, v; "
	  "mad.lo.u32 %r0, %r4, 100, %r5;", { 3, 7 }, 703 },
	{ ".reg .v2 .b16 v; ld.global.v2.b16 v, [%i]; min.f16 %h0, v.x, v.y; max.f16 %h1, v.y, v.y; "
	  "mov.b32 %r0, {%h0, %h1};", { 0x3c004000 }, 0x3c003c00 },
	{ "mov.b32 %f1, %r1; mul.f32 %f2, %f1, %f1; sub.f32 %f3, %f2, %f2; mov.b32 %r0, %f3;",
	  { 0x3f800001 }, 0 },
};

#endif /* SEQUENCES_H */
