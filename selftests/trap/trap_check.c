// SPDX-License-Identifier: MIT
/*
 * The reference for a store to a window is the same instruction on ordinary memory, once for each
 * replica with that replica's contents: memory, registers, flags and floating-point state have to
 * be the same afterwards, to the bit.
 */
#include <cpuid.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "trap_forms.h"

uint64_t form_random(uint64_t *seed)
{
	uint64_t x = *seed += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static void random_bytes(void *to, size_t bytes, uint64_t *seed)
{
	for (size_t at = 0; at < bytes; at += 8) {
		uint64_t word = form_random(seed);

		memcpy((char *)to + at, &word, bytes - at < 8 ? bytes - at : 8);
	}
}

/* Random vectors and masks, and some numbers on the x87 stack */
void form_state(struct state *state, uint64_t *seed)
{
	static const double number[4] = { 1.5, -3e9, 0.1, 7e4 };
	uint64_t all = form_xcr0();
	unsigned int size, offset, c, d;

	memset(state->vector, 0, sizeof(state->vector));
	asm volatile("fninit; fldl %1; fldl %2; fldl %3; fldl %4; xsave64 %0; fninit"
		     : "+m" (state->vector)
		     : "m" (number[0]), "m" (number[1]), "m" (number[2]), "m" (number[3]),
		       "a" ((uint32_t)all), "d" (0));
	random_bytes(state->vector + 160, 256, seed);
	for (unsigned int i = 2; i < 8; i++) {
		if (!(all >> i & 1))
			continue;
		__cpuid_count(0xd, i, size, offset, c, d);
		random_bytes(state->vector + offset, size, seed);
	}
	*(uint64_t *)(void *)(state->vector + 512) = all;
	random_bytes(state->reg, sizeof(state->reg), seed);
	state->flags = form_random(seed) & ARITHMETIC;
}

/* Does what the library's trap_enter() does; written independently of it */
asm(".pushsection .text\n"
	".globl form_run\n"
	".type form_run, @function\n"
	"form_run:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"	push %rsi\n"
	"	push %rdi\n"
	"	mov $0xe7, %eax; xor %edx, %edx\n"
	"	xrstor64 192(%rdi)\n"
	"	push 128(%rdi); popfq\n"
	"	mov 0x00(%rdi), %rax; mov 0x08(%rdi), %rcx; mov 0x10(%rdi), %rdx\n"
	"	mov 0x18(%rdi), %rbx; mov 0x28(%rdi), %rbp; mov 0x30(%rdi), %rsi\n"
	"	mov 0x40(%rdi), %r8;  mov 0x48(%rdi), %r9;  mov 0x50(%rdi), %r10\n"
	"	mov 0x58(%rdi), %r11; mov 0x60(%rdi), %r12; mov 0x68(%rdi), %r13\n"
	"	mov 0x70(%rdi), %r14; mov 0x78(%rdi), %r15; mov 0x38(%rdi), %rdi\n"
	"	call *8(%rsp)\n"
	"	pushfq\n"
	"	push %rdi\n"
	"	mov 16(%rsp), %rdi\n"
	"	mov %rax, 0x00(%rdi); mov %rcx, 0x08(%rdi); mov %rdx, 0x10(%rdi)\n"
	"	mov %rbx, 0x18(%rdi); mov %rbp, 0x28(%rdi); mov %rsi, 0x30(%rdi)\n"
	"	mov %r8,  0x40(%rdi); mov %r9,  0x48(%rdi); mov %r10, 0x50(%rdi)\n"
	"	mov %r11, 0x58(%rdi); mov %r12, 0x60(%rdi); mov %r13, 0x68(%rdi)\n"
	"	mov %r14, 0x70(%rdi); mov %r15, 0x78(%rdi)\n"
	"	pop 0x38(%rdi)\n"
	"	pop 128(%rdi)\n"
	"	cld\n"
	"	mov $0xe7, %eax; xor %edx, %edx\n"
	"	xsave64 192(%rdi)\n"
	"	fninit\n"
	"	pushq $0x1f80; ldmxcsr (%rsp); add $24, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n"
	".popsection\n");
_Static_assert(offsetof(struct state, vector) == 192, "as above");

#define AROUND	1280UL
#define HUGE_PAGE	(2UL << 20)	/* more than enough for reference()'s replicas */

/* Return: the offset of the first byte of the state that differs, or -1 */
static int different(const struct state *a, const struct state *b, unsigned int offset,
		     unsigned int size)
{
	for (unsigned int i = offset; i < offset + size; i++)
		if (a->vector[i] != b->vector[i])
			return i;
	return -1;
}

static int different_vectors(const struct state *a, const struct state *b)
{
	unsigned int size, offset, c, d;
	int at = different(a, b, 0, 416);
	uint64_t all = form_xcr0();

	for (unsigned int i = 2; i < 8 && at < 0; i++) {
		if (!(all >> i & 1))
			continue;
		__cpuid_count(0xd, i, size, offset, c, d);
		at = different(a, b, offset, size);
	}
	return at;
}

/* Compares states; the reference's operand is at another address, by @moved. */
static const char *compare(const struct state *expected, const struct state *got,
			   uint64_t moved)
{
	static char what[96];
	int at;

	for (unsigned int i = 0; i < 16; i++) {
		uint64_t e = expected->reg[i], g = got->reg[i];

		if (i == SP || e == g || e + moved == g)
			continue;
		snprintf(what, sizeof(what), "register %u: %#lx instead of %#lx", i, g, e);
		return what;
	}
	if ((expected->flags ^ got->flags) & (ARITHMETIC | DIRECTION)) {
		snprintf(what, sizeof(what), "flags: %#lx instead of %#lx", got->flags,
			 expected->flags);
		return what;
	}
	at = different_vectors(expected, got);
	if (at < 0)
		return NULL;
	snprintf(what, sizeof(what), "byte %d of the vector state: %#x instead of %#x", at,
		 got->vector[at], expected->vector[at]);
	return what;
}

static void prepare(struct state *state, const struct form *form, const void *old,
		    uint64_t *seed)
{
	static unsigned char source[AROUND], stack_memory[1 << 16];
	const stack_t stack = { .ss_sp = stack_memory, .ss_size = sizeof(stack_memory) };
	bool string = !strcmp(form->needs, "string");

	/*
	 * Some forms have the stack pointer in the window, so the handler needs a stack of its own:
	 * it took 9464 bytes in QEMU.
	 */
	sigaltstack(&stack, NULL);
	form_state(state, seed);
	random_bytes(source, sizeof(source), seed);
	state->reg[9] %= 16;
	/* the number of a bit within some hundred bytes */
	state->reg[10] = (int64_t)state->reg[10] % 8000;
	state->reg[CX] = string ? form_random(seed) % 24 : state->reg[CX];
	if (string)
		state->reg[SI] = (uintptr_t)source + AROUND / 2;
	if (string && form_random(seed) & 1)
		state->flags |= DIRECTION;
	/* the value that cmpxchg expects is often in memory */
	if (form_random(seed) & 1) {
		memcpy(&state->reg[AX], old, 8);
		memcpy(&state->reg[DX], (const char *)old + 8, 8);
		if (strstr(form->text, "cmpxchg8b"))
			memcpy(&state->reg[DX], (const char *)old + 4, 4);
	}
}

/*
 * Returns ordinary memory at an address with the same lower 16 bits as an operand. It is a huge
 * page, in which neighbouring addresses are neighbouring memory: when an x87 store begins less than
 * its size before the end of a page, QEMU 10 puts the rest behind that page in memory, whichever
 * page is mapped there.
 */
static unsigned char *reference(unsigned int replica, const unsigned char *operand)
{
	static unsigned char *memory;

	if (!memory) {
		memory = mmap(NULL, 2 * HUGE_PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
		memory += -(uintptr_t)memory & (HUGE_PAGE - 1);
		madvise(memory, HUGE_PAGE, MADV_HUGEPAGE);
	}
	return memory + ((3 * replica + 1) << 16) + ((uintptr_t)operand & 0xffff);
}

/*
 * Clears the addresses of the last floating-point instruction and of its operand, which fnstenv and
 * its like store. Only xsave and xrstor keep these addresses, so they are not compared: on AMD's
 * processors, and in QEMU, they are lost when the kernel lets another thread run.
 */
static void forget_pointers(const struct form *form, unsigned char *operand)
{
	if (!strncmp(form->text, "fnstenv", 7) || !strncmp(form->text, "fnsave", 6))
		memset(operand + 12, 0, 16);
}

const char *form_check(const struct area *area, const struct form *form, size_t offset,
		       uint64_t *seed)
{
	static struct state start, expected, got;
	size_t from = offset < AROUND ? 0 : offset - AROUND;
	size_t bytes = offset + AROUND > area->bytes ? area->bytes - from :
						       offset + AROUND - from;
	unsigned char *operand = area->window + offset;

	for (unsigned int i = 0; i < area->replicas; i++) {
		random_bytes(area->replica[i] + from, bytes, seed);
		if (i && from < area->plain)
			memcpy(area->replica[i] + from, area->replica[0] + from,
			       area->plain - from);
		memcpy(reference(i, operand) - (offset - from),
		       area->replica[i] + from, bytes);
	}
	prepare(&start, form, area->replica[0] + offset, seed);
	/*
	 * all runs from one place in the code, so that the stack pointer is the same; the window's
	 * run first
	 */
	for (int i = -1; i < (int)area->replicas; i++) {
		struct state *state = i < 0 ? &got : i ? &(struct state) {} : &expected;

		*state = start;
		state->reg[DI] = (uintptr_t)(i < 0 ? operand : reference(i, operand));
		form_run(state, form->code);
	}
	for (unsigned int i = 0; i < area->replicas; i++) {
		size_t skip = i && from < area->plain ? area->plain - from : 0;

		forget_pointers(form, area->replica[i] + offset);
		forget_pointers(form, reference(i, operand));
		if (memcmp(area->replica[i] + from + skip,
			   reference(i, operand) - (offset - from) + skip, bytes - skip))
			return "memory";
	}
	return compare(&expected, &got, operand - reference(0, operand));
}

/* Memory with the alignment of windows, and room around it */
static unsigned char *shadow_of(const unsigned char *replica, size_t bytes)
{
	unsigned char *shadow = mmap(NULL, bytes + (6UL << 20), PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	shadow += (2UL << 20) + (-(uintptr_t)shadow & ((2UL << 20) - 1));
	memcpy(shadow, replica, bytes);
	return shadow;
}

static const struct form *any_form(const struct area *area, uint64_t *seed)
{
	size_t count = __stop_trap_forms - __start_trap_forms;

	for (;;) {
		const struct form *form = &__start_trap_forms[form_random(seed) % count];

		/* with a low address, the stored value may depend on the whole address */
		if (form_possible(form, area) && form_divisible(form) &&
		    strcmp(form->needs, "low"))
			return form;
	}
}

const char *forms_mixed(const struct area *area, unsigned int count, uint64_t *seed)
{
	static struct state start, expected, got;
	unsigned char *shadow[8];
	static char what[160];

	for (unsigned int i = 0; i < area->replicas; i++)
		shadow[i] = shadow_of(area->replica[i], area->bytes);
	for (unsigned int n = 0; n < count; n++) {
		const struct form *form = any_form(area, seed);
		size_t offset = AROUND + area->plain +
				form_random(seed) % (area->bytes - area->plain - 2 * AROUND);
		const char *wrong;

		prepare(&start, form, area->replica[0] + offset, seed);
		for (int i = -1; i < (int)area->replicas; i++) {
			struct state *state = i < 0 ? &got : i ? &(struct state) {} : &expected;

			*state = start;
			state->reg[DI] = (uintptr_t)(i < 0 ? area->window : shadow[i]) + offset;
			form_run(state, form->code);
		}
		for (unsigned int i = 0; i < area->replicas; i++) {
			forget_pointers(form, area->replica[i] + offset);
			forget_pointers(form, shadow[i] + offset);
		}
		wrong = compare(&expected, &got, area->window - shadow[0]);
		if (wrong) {
			snprintf(what, sizeof(what), "%u: %s: %s", n, form->text, wrong);
			return what;
		}
	}
	for (unsigned int i = 0; i < area->replicas; i++)
		if (memcmp(shadow[i] + area->plain, area->replica[i] + area->plain,
			   area->bytes - area->plain))
			return "memory";
	return NULL;
}

double processor_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}
