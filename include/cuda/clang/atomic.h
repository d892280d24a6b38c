/* SPDX-License-Identifier: MIT */
/*
 * Device code of clang: atomics on one word, relaxed. Each returns the word's value before. They
 * are for all threads of the device; those of _block and _system are for other sets of threads.
 */
#ifndef MEMCAST_CLANG_ATOMIC_H
#define MEMCAST_CLANG_ATOMIC_H

/* @letter: the register that asm has for the type; @value: what the instruction gets */
#define MEMCAST_ATOM(name, type, scope, operation, letter, given)			\
inline __device__ type name(type *word, type value)					\
{											\
	type old;									\
											\
	asm volatile("atom" scope operation " %0, [%1], %2;" : "=" letter(old)		\
		     : "l"(word), letter(given) : "memory");				\
	return old;									\
}
#define MEMCAST_ATOMS(name, type, operation, letter, given)				\
MEMCAST_ATOM(name, type, "", operation, letter, given)					\
MEMCAST_ATOM(name##_block, type, ".cta", operation, letter, given)			\
MEMCAST_ATOM(name##_system, type, ".sys", operation, letter, given)
#define MEMCAST_ATOMIC(name, type, operation, letter)					\
MEMCAST_ATOMS(name, type, operation, letter, value)
/* Atomics of types of the same size, and for all of them the same bits */
#define MEMCAST_ATOMIC_BITS(name, operation)						\
MEMCAST_ATOMIC(name, int, operation ".b32", "r")					\
MEMCAST_ATOMIC(name, unsigned int, operation ".b32", "r")				\
MEMCAST_ATOMIC(name, unsigned long long, operation ".b64", "l")

MEMCAST_ATOMIC(atomicAdd, int, ".add.s32", "r")
MEMCAST_ATOMIC(atomicAdd, unsigned int, ".add.u32", "r")
MEMCAST_ATOMIC(atomicAdd, unsigned long long, ".add.u64", "l")
MEMCAST_ATOMIC(atomicAdd, float, ".add.f32", "f")
MEMCAST_ATOMIC(atomicAdd, double, ".add.f64", "d")
MEMCAST_ATOMS(atomicSub, int, ".add.s32", "r", -value)
MEMCAST_ATOMS(atomicSub, unsigned int, ".add.u32", "r", -value)
MEMCAST_ATOMIC_BITS(atomicExch, ".exch")
MEMCAST_ATOMIC(atomicExch, float, ".exch.b32", "f")
MEMCAST_ATOMIC(atomicMin, int, ".min.s32", "r")
MEMCAST_ATOMIC(atomicMin, unsigned int, ".min.u32", "r")
MEMCAST_ATOMIC(atomicMin, long long, ".min.s64", "l")
MEMCAST_ATOMIC(atomicMin, unsigned long long, ".min.u64", "l")
MEMCAST_ATOMIC(atomicMax, int, ".max.s32", "r")
MEMCAST_ATOMIC(atomicMax, unsigned int, ".max.u32", "r")
MEMCAST_ATOMIC(atomicMax, long long, ".max.s64", "l")
MEMCAST_ATOMIC(atomicMax, unsigned long long, ".max.u64", "l")
MEMCAST_ATOMIC(atomicInc, unsigned int, ".inc.u32", "r")
MEMCAST_ATOMIC(atomicDec, unsigned int, ".dec.u32", "r")
MEMCAST_ATOMIC_BITS(atomicAnd, ".and")
MEMCAST_ATOMIC_BITS(atomicOr, ".or")
MEMCAST_ATOMIC_BITS(atomicXor, ".xor")
#undef MEMCAST_ATOMIC_BITS
#undef MEMCAST_ATOMIC
#undef MEMCAST_ATOMS
#undef MEMCAST_ATOM

#define MEMCAST_CAS(name, type, operation, letter)					\
inline __device__ type name(type *word, type expected, type value)			\
{											\
	type old;									\
											\
	asm volatile("atom" operation " %0, [%1], %2, %3;" : "=" letter(old)		\
		     : "l"(word), letter(expected), letter(value) : "memory");		\
	return old;									\
}
#define MEMCAST_CASES(type, bits, letter)						\
MEMCAST_CAS(atomicCAS, type, ".cas" bits, letter)					\
MEMCAST_CAS(atomicCAS_block, type, ".cta.cas" bits, letter)				\
MEMCAST_CAS(atomicCAS_system, type, ".sys.cas" bits, letter)

MEMCAST_CASES(int, ".b32", "r")
MEMCAST_CASES(unsigned int, ".b32", "r")
MEMCAST_CASES(unsigned long long, ".b64", "l")
MEMCAST_CASES(unsigned short, ".b16", "h")
#undef MEMCAST_CASES
#undef MEMCAST_CAS

#endif /* MEMCAST_CLANG_ATOMIC_H */
