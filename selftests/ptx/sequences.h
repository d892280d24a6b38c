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
};

#endif /* SEQUENCES_H */
