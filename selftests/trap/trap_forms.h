/* SPDX-License-Identifier: MIT */
/*
 * trap_forms.c: every kind of instruction that stores. trap_check.c: compares the effect on a
 * window with the effect on ordinary memory.
 */
#ifndef MEMCAST_TRAP_FORMS_H
#define MEMCAST_TRAP_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Windows side by side, with their replicas; ordinary memory may come first. */
struct area {
	unsigned char *window;
	size_t bytes;
	size_t plain;
	unsigned int replicas;
	unsigned char *replica[8];	/* from the start of @window */
};

/* An instruction that writes to (%rdi): an entry of a table that FORM() makes */
struct form {
	void (*code)(void);
	const char *text, *needs;
	unsigned long align;
};

extern const struct form __start_trap_forms[], __stop_trap_forms[];

/* In the order of the registers' numbers in instructions */
enum { AX, CX, DX, BX, SP, BP, SI, DI };

/* The state before and after an instruction */
struct state {
	uint64_t reg[16];		/* without the stack pointer */
	uint64_t flags;
	unsigned char vector[4096] __attribute__((aligned(64)));
};

#define ARITHMETIC	0x8d5UL
#define DIRECTION	0x400UL

uint64_t form_xcr0(void);	/* state components that matter here */
uint64_t form_random(uint64_t *seed);
bool form_possible(const struct form *form, const struct area *area);
bool form_divisible(const struct form *form);	/* may it cross an edge of a window? */
void form_state(struct state *state, uint64_t *seed);
void form_run(struct state *state, void (*code)(void));

/*
 * Runs the form at an offset of the window, with random contents and registers. Return: NULL, or
 * what differed
 */
const char *form_check(const struct area *area, const struct form *form, size_t offset,
		       uint64_t *seed);

/* Runs many forms one after the other; each finds the contents that the one before left. */
const char *forms_mixed(const struct area *area, unsigned int count, uint64_t *seed);

/* Return: processor time of this process */
double processor_seconds(void);

#define EVERY_FORM(form)	\
	for (const struct form *form = __start_trap_forms; form < __stop_trap_forms; form++)

#endif /* MEMCAST_TRAP_FORMS_H */
