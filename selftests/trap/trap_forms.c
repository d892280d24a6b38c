// SPDX-License-Identifier: MIT
/* Instructions that store: every operation, operand size and form of address. */
#include <cpuid.h>
#include <string.h>

#include "trap_forms.h"

/* The processor's features that the instruction needs, the alignment, and the instruction */
#define FORM(needs, align, text)						\
	asm(".pushsection .text; 1: " text "; ret; .popsection\n"		\
	    ".pushsection .rodata; 2: .asciz \"" text "\"; 3: .asciz \"" needs	\
	    "\"; .popsection\n"							\
	    ".pushsection trap_forms, \"aw\"; .quad 1b, 2b, 3b, " #align	\
	    "; .popsection\n")

#define ALU(name)						\
	FORM("", 1, name " %al, (%rdi)");			\
	FORM("", 1, name " %ah, (%rdi)");			\
	FORM("", 1, name " %r12w, 2(%rdi)");			\
	FORM("", 1, name " %ebp, -4(%rdi,%r9,4)");		\
	FORM("", 1, name " %r15, (%rdi)");			\
	FORM("", 1, name "b $0x5a, (%rdi)");			\
	FORM("", 1, name "w $0x1234, (%rdi)");			\
	FORM("", 1, name "l $-3, (%rdi)");			\
	FORM("", 1, name "q $0x12345678, (%rdi)")
#define LOCKED(needs, name)					\
	FORM(needs, 1, "lock " name " %dl, (%rdi)");		\
	FORM(needs, 1, "lock " name " %r8d, (%rdi)");		\
	FORM(needs, 8, "lock " name " %rax, (%rdi)")
#define ONE(name)						\
	FORM("", 1, name "b (%rdi)");				\
	FORM("", 1, name "w (%rdi)");				\
	FORM("", 1, name "l (%rdi)");				\
	FORM("", 1, name "q 7(%rdi)");				\
	FORM("", 4, "lock " name "l (%rdi)")
#define SHIFT(needs, name)					\
	FORM(needs, 1, name "b %cl, (%rdi)");			\
	FORM(needs, 1, name "w $3, (%rdi)");			\
	FORM(needs, 1, name "l %cl, (%rdi)");			\
	FORM(needs, 1, name "q $1, (%rdi)")
#define BIT(name)						\
	FORM("", 1, name "w %r10w, (%rdi)");			\
	FORM("", 1, name "l %r10d, (%rdi)");			\
	FORM("", 1, name "q %r10, (%rdi)");			\
	FORM("", 1, name "l $17, (%rdi)");			\
	FORM("", 8, "lock " name "q %r10, (%rdi)")
#define SET(condition)	FORM("", 1, "set" condition " (%rdi)")

ALU("mov"); ALU("add"); ALU("or"); ALU("adc"); ALU("sbb"); ALU("and"); ALU("sub"); ALU("xor");
LOCKED("", "add"); LOCKED("", "and"); LOCKED("", "or"); LOCKED("", "sub"); LOCKED("", "xor");
LOCKED("", "xadd"); LOCKED("", "cmpxchg");
ONE("inc"); ONE("dec"); ONE("neg"); ONE("not");
SHIFT("", "rol"); SHIFT("", "ror"); SHIFT("", "shl"); SHIFT("", "shr"); SHIFT("", "sar");
/* QEMU's own processor loses the flags when the store of these instructions faults. */
LOCKED("real", "adc"); LOCKED("real", "sbb");
SHIFT("real", "rcl"); SHIFT("real", "rcr");
BIT("bts"); BIT("btr"); BIT("btc");
SET("o"); SET("b"); SET("e"); SET("be"); SET("s"); SET("p"); SET("l"); SET("g");

/* Instructions whose registers the library has to replace, and forms of addresses */
FORM("", 1, "mov %di, (%rdi)");
FORM("", 1, "lea 1(%rdi), %rsi; xadd %si, -1(%rsi)");
FORM("low", 1, "mov %r8d, (%edi)");
FORM("low", 1, "add %rdx, 4(%edi,%r9d,8)");
FORM("low", 16, "movaps %xmm8, (%edi)");
FORM("", 1, "mov %rsp, (%rdi)");
FORM("", 1, "mov %spl, (%rdi)");
FORM("", 1, "mov %esp, 64(%rdi)");
FORM("", 1, "add %sp, (%rdi)");
FORM("", 1, "mov %dil, (%rdi)");
FORM("", 1, "mov %bpl, -128(%rdi)");
FORM("", 1, "mov %bh, 1(%rdi)");
FORM("", 1, "mov %r11d, 5(%rdi,%r9,8)");
FORM("", 1, "mov %r9, 1000(%rdi,%r9,2)");
FORM("", 1, "mov %ds, (%rdi)");
FORM("", 1, "mov %rax, %ds:(%rdi)");
FORM("", 1, "mov %cx, %es:(%rdi)");
FORM("", 1, "xchg %rdi, %r8; mov %rdi, (%r8); xchg %rdi, %r8");
FORM("", 1, "xchg %rdi, %r13; mov %r12, (%r13); xchg %rdi, %r13");
FORM("", 1, "xchg %rdi, %r12; movl $7, 4(%r12,%r9,4); xchg %rdi, %r12");
FORM("", 1, "xchg %rdi, %rbp; movq $7, (%rbp); xchg %rdi, %rbp");
FORM("", 1, "mov %rsp, %r8; mov %rdi, %rsp; mov %ebx, 4(%rsp,%r9,2); mov %r8, %rsp");
FORM("real", 1, "xchg %al, (%rdi)");
FORM("real", 1, "xchg %dh, (%rdi)");
FORM("real", 1, "xchg %r14w, (%rdi)");
FORM("real", 1, "xchg %ecx, (%rdi)");
FORM("real", 8, "xchg %rsi, (%rdi)");
FORM("", 1, "xadd %bl, (%rdi)");
FORM("", 1, "xadd %si, (%rdi)");
FORM("", 1, "xadd %r8, (%rdi)");
FORM("", 1, "cmpxchg %bl, (%rdi)");
FORM("", 1, "cmpxchg %si, (%rdi)");
FORM("", 1, "cmpxchg %r8d, (%rdi)");
FORM("", 1, "cmpxchg %r8, (%rdi)");
FORM("", 1, "cmpxchg8b (%rdi)");
FORM("", 8, "lock cmpxchg8b (%rdi)");
FORM("cx16", 16, "cmpxchg16b (%rdi)");
FORM("cx16", 16, "lock cmpxchg16b (%rdi)");
FORM("", 1, "shld $5, %edx, (%rdi)");
FORM("", 1, "shld %cl, %r8, (%rdi)");
FORM("", 1, "shrd %cl, %dx, (%rdi)");
FORM("", 1, "movnti %edx, (%rdi)");
FORM("", 1, "movnti %r9, (%rdi)");
FORM("movbe", 1, "movbe %dx, (%rdi)");
FORM("movbe", 1, "movbe %r13, (%rdi)");
FORM("", 1, "push %rdx; popq (%rdi)");
FORM("", 1, "push %rdx; popw (%rdi); lea 6(%rsp), %rsp");

FORM("string", 1, "movsb");
FORM("string", 1, "movsw");
FORM("string", 1, "movsl");
FORM("string", 1, "movsq");
FORM("string", 1, "stosb");
FORM("string", 1, "stosw");
FORM("string", 1, "stosl");
FORM("string", 1, "stosq");
FORM("string", 1, "rep movsb");
FORM("string", 1, "rep movsw");
FORM("string", 1, "rep movsl");
FORM("string", 1, "rep movsq");
FORM("string", 1, "rep stosb");
FORM("string", 1, "rep stosw");
FORM("string", 1, "rep stosl");
FORM("string", 1, "rep stosq");

FORM("", 16, "movaps %xmm3, (%rdi)");
FORM("", 1, "movups %xmm12, (%rdi)");
FORM("", 16, "movapd %xmm0, (%rdi)");
FORM("", 16, "movdqa %xmm15, (%rdi)");
FORM("", 1, "movdqu %xmm7, 9(%rdi)");
FORM("", 16, "movntps %xmm7, (%rdi)");
FORM("", 16, "movntdq %xmm9, (%rdi)");
FORM("", 16, "movntpd %xmm1, (%rdi)");
FORM("", 1, "movss %xmm2, (%rdi)");
FORM("", 1, "movsd %xmm10, (%rdi)");
FORM("", 1, "movd %xmm2, (%rdi)");
FORM("", 1, "movq %xmm2, (%rdi)");
FORM("", 1, "movlps %xmm2, (%rdi)");
FORM("", 1, "movhps %xmm2, (%rdi)");
FORM("", 1, "maskmovdqu %xmm4, %xmm5");
FORM("", 1, "maskmovdqu %xmm14, %xmm5");
FORM("sse4.1", 1, "pextrb $9, %xmm4, (%rdi)");
FORM("sse4.1", 1, "pextrw $2, %xmm4, (%rdi)");
FORM("sse4.1", 1, "pextrd $3, %xmm4, (%rdi)");
FORM("sse4.1", 1, "pextrq $1, %xmm14, (%rdi)");
FORM("sse4.1", 1, "extractps $2, %xmm4, (%rdi)");
FORM("", 1, "movq %mm2, (%rdi)");
FORM("", 1, "movd %mm2, (%rdi)");
FORM("", 1, "movntq %mm3, (%rdi)");
FORM("", 1, "maskmovq %mm1, %mm2");
FORM("", 1, "fsts (%rdi)");
FORM("", 1, "fstl (%rdi)");
FORM("", 1, "fstps (%rdi)");
FORM("", 1, "fstpl (%rdi)");
FORM("", 1, "fstpt (%rdi)");
FORM("", 1, "fists (%rdi)");
FORM("", 1, "fistl (%rdi)");
FORM("", 1, "fistpll (%rdi)");
FORM("sse3", 1, "fisttpl (%rdi)");
FORM("", 1, "fbstp (%rdi)");
FORM("", 1, "fnstcw (%rdi)");
FORM("", 1, "fnstsw (%rdi)");
FORM("", 1, "fnstenv (%rdi)");
FORM("", 1, "fnsave (%rdi)");
FORM("", 1, "stmxcsr (%rdi)");
FORM("", 16, "fxsave64 (%rdi)");

FORM("avx", 32, "vmovaps %ymm3, (%rdi)");
FORM("avx", 1, "vmovups %ymm13, (%rdi)");
FORM("avx", 1, "vmovdqu %xmm13, 3(%rdi,%r9,8)");
FORM("avx", 32, "vmovntdq %ymm3, (%rdi)");
FORM("avx", 1, "vmovss %xmm3, (%rdi)");
FORM("avx", 1, "vmovq %xmm9, (%rdi)");
FORM("avx", 1, "vmovhpd %xmm9, (%rdi)");
FORM("avx", 1, "vpextrq $1, %xmm9, (%rdi)");
FORM("avx", 1, "vextractf128 $1, %ymm9, (%rdi)");
FORM("avx", 1, "vmaskmovps %ymm2, %ymm3, (%rdi)");
FORM("avx", 1, "vmaskmovpd %xmm12, %xmm3, (%rdi)");
FORM("avx", 1, "vmaskmovdqu %xmm12, %xmm3");
FORM("avx2", 1, "vextracti128 $1, %ymm2, (%rdi)");
FORM("avx2", 1, "vpmaskmovd %ymm2, %ymm13, (%rdi)");
FORM("avx2", 1, "vpmaskmovq %ymm2, %ymm3, (%rdi)");
FORM("f16c", 1, "vcvtps2ph $0, %ymm2, (%rdi)");
FORM("f16c", 1, "vcvtps2ph $4, %xmm2, (%rdi)");

FORM("avx512f", 64, "vmovaps %zmm3, (%rdi)");
FORM("avx512f", 1, "vmovups %zmm31, 64(%rdi)");
FORM("avx512f", 1, "vmovups %zmm20, (%rdi){%k1}");
FORM("avx512f", 64, "vmovapd %zmm20, (%rdi){%k2}");
FORM("avx512f", 1, "vmovdqu32 %zmm1, 3(%rdi,%r9,8){%k3}");
FORM("avx512f", 1, "vmovdqu64 %zmm17, (%rdi){%k4}");
FORM("avx512f", 64, "vmovntps %zmm17, (%rdi)");
FORM("avx512f", 1, "vmovss %xmm17, (%rdi){%k1}");
FORM("avx512f", 1, "vextractf64x4 $1, %zmm17, (%rdi){%k1}");
FORM("avx512f", 1, "vextracti32x4 $3, %zmm17, (%rdi)");
FORM("avx512f", 1, "vpcompressd %zmm17, (%rdi){%k1}");
FORM("avx512f", 1, "vpcompressq %zmm2, (%rdi){%k5}");
FORM("avx512f", 1, "vcompressps %zmm2, (%rdi){%k5}");
FORM("avx512f", 1, "vcompresspd %zmm2, (%rdi){%k6}");
FORM("avx512f", 1, "vpmovdb %zmm2, (%rdi){%k6}");
FORM("avx512f", 1, "vpmovsqd %zmm22, (%rdi)");
FORM("avx512f", 1, "vpmovusqw %zmm22, (%rdi){%k7}");
FORM("avx512f", 1, "vcvtps2ph $0, %zmm22, (%rdi){%k7}");
FORM("avx512vl", 1, "vmovdqu32 %ymm22, (%rdi){%k7}");
FORM("avx512vl", 1, "vpcompressd %xmm22, (%rdi){%k7}");
FORM("avx512vl", 1, "vpmovqb %ymm22, (%rdi){%k7}");
FORM("avx512bw", 1, "vmovdqu8 %zmm22, (%rdi){%k7}");
FORM("avx512bw", 1, "vmovdqu16 %zmm2, (%rdi){%k1}");
FORM("avx512bw", 1, "vpmovwb %zmm2, (%rdi){%k1}");
FORM("avx512bw", 1, "kmovq %k3, (%rdi)");
FORM("avx512dq", 1, "vextractf32x8 $1, %zmm2, (%rdi){%k1}");
FORM("avx512dq", 1, "vpextrq $1, %xmm22, (%rdi)");
FORM("avx512vbmi2", 1, "vpcompressb %zmm2, (%rdi){%k1}");
FORM("avx512vbmi2", 1, "vpcompressw %zmm2, (%rdi){%k1}");

/* Elements all around, some over each other; and all elements at one address */
#define D(shift, n)	"vpsrad $" #shift ", %zmm" #n ", %zmm" #n "; "
#define Q(shift, n)	"vpsraq $" #shift ", %zmm" #n ", %zmm" #n "; "
FORM("avx512f", 1, D(22, 4) "vpscatterdd %zmm5, (%rdi,%zmm4,1){%k3}");
FORM("avx512f", 1, D(24, 4) "kxnorw %k3, %k3, %k3; vpscatterdd %zmm25, 8(%rdi,%zmm4,4){%k3}");
FORM("avx512f", 1, "vpxord %zmm4, %zmm4, %zmm4; vpscatterdd %zmm5, (%rdi,%zmm4,8){%k3}");
FORM("avx512f", 1, D(24, 9) "vpscatterdq %zmm5, -64(%rdi,%ymm9,2){%k1}");
FORM("avx512f", 1, Q(54, 20) "vpscatterqd %ymm5, 4(%rdi,%zmm20,1){%k7}");
FORM("avx512f", 1, Q(57, 31) "vpscatterqq %zmm30, (%rdi,%zmm31,8){%k2}");
FORM("avx512f", 1, D(25, 16) "vscatterdps %zmm5, 1000(%rdi,%zmm16,1){%k3}");
FORM("avx512f", 1, D(25, 4) "vscatterdpd %zmm4, (%rdi,%ymm4,8){%k4}");
FORM("avx512f", 1, Q(55, 4) "vscatterqps %ymm17, (%rdi,%zmm4,1){%k5}");
FORM("avx512f", 1, Q(55, 4) "mov %rdi, %r12; vscatterqpd %zmm5, (%r12,%zmm4,2){%k6}");
FORM("avx512vl", 1, D(22, 4) "vpscatterdd %xmm5, (%rdi,%xmm4,1){%k3}");
FORM("avx512vl", 1, D(22, 24) "vpscatterdq %ymm15, (%rdi,%xmm24,1){%k3}");
FORM("avx512vl", 1, Q(54, 4) "vpscatterqd %xmm5, (%rdi,%ymm4,1){%k3}");
FORM("avx512vl", 1, Q(54, 4) "vpscatterqd %xmm5, (%rdi,%xmm4,1){%k3}");
FORM("avx512vl", 1, Q(54, 4) "vscatterqpd %ymm5, (%rdi,%ymm4,1){%k3}");

uint64_t form_xcr0(void)
{
	uint32_t low, high;

	asm("xgetbv" : "=a" (low), "=d" (high) : "c" (0));
	return (low | (uint64_t)high << 32) & 0xe7;
}

bool form_possible(const struct form *form, const struct area *area)
{
	static const struct {
		const char *name;
		unsigned int leaf, reg, bit;
		unsigned long state;
	} features[] = {
		{ "cx16", 1, 2, 13, 0 }, { "movbe", 1, 2, 22, 0 }, { "sse4.1", 1, 2, 19, 0 },
		{ "sse3", 1, 2, 0, 0 }, { "avx", 1, 2, 28, 6 }, { "f16c", 1, 2, 29, 6 },
		{ "avx2", 7, 1, 5, 6 }, { "avx512f", 7, 1, 16, 0xe6 },
		{ "avx512vl", 7, 1, 31, 0xe6 }, { "avx512bw", 7, 1, 30, 0xe6 },
		{ "avx512dq", 7, 1, 17, 0xe6 }, { "avx512vbmi2", 7, 2, 6, 0xe6 },
	};
	unsigned int reg[4];

	if (!strcmp(form->needs, "real")) {
		__cpuid(0x40000000, reg[0], reg[1], reg[2], reg[3]);
		return memcmp(&reg[1], "TCGTCGTCGTCG", 12);
	}
	if (!strcmp(form->needs, "low"))
		return (uintptr_t)area->window + area->bytes <= 1UL << 32;
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (strcmp(form->needs, features[i].name))
			continue;
		__cpuid_count(features[i].leaf, 0, reg[0], reg[1], reg[2], reg[3]);
		return reg[features[i].reg] >> features[i].bit & 1 &&
		       (form_xcr0() & features[i].state) == features[i].state;
	}
	return true;
}

/* Return: may the store be divided at an edge? A locked one may not, nor may a dump of state. */
bool form_divisible(const struct form *form)
{
	return form->align == 1 && !strstr(form->text, "lock") &&
	       !strstr(form->text, "xchg %") && !strstr(form->text, "fnsave");
}
