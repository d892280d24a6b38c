/* SPDX-License-Identifier: MIT */
/* A line of a table of facts, done: facts_language.c and what it uses. */
#ifndef MEMCAST_FACTS_H
#define MEMCAST_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a statement gave: a CUresult if it is a call of the driver, else a number */
struct fact_value {
	bool is_result;
	int64_t number;
};

struct fact_field {
	const char *type, *name;
	size_t offset, size, all;	/* @all: bytes of the type */
};

/*
 * Return: false where the line makes no sense, and why in @wrong (@size bytes).
 * @text: NAME = EXPRESSION, or EXPRESSION.
 */
bool fact_run(const char *text, struct fact_value *value, char *wrong, size_t size);

/*
 * Are the result and the outputs of the last statement as @expected says? If not, or if
 * that makes no sense, what is otherwise is in @wrong.
 */
bool fact_check(const char *expected, const struct fact_value *value, char *wrong, size_t size);

/* Ends the statement: why it makes no sense. */
__attribute__((format(printf, 1, 2), noreturn))
void fact_nonsense(const char *format, ...);
void *fact_zeroed(size_t size);

/*
 * facts_call.c: the language's own functions, Return: is it one?; and all others.
 * @by_value: NULL, or 64 bytes that are passed by value.
 */
bool fact_own_function(const char *name, const int64_t *a, size_t count, int64_t *value);
int64_t fact_call(const char *name, const int64_t *a, size_t count, const int64_t *by_value);

/* facts_names.c: Return: NULL, or whether there is one */
bool fact_constant(const char *name, int64_t *value);
void *fact_function(const char *name);
const struct fact_field *fact_field(const char *type, const char *name);

#endif /* MEMCAST_FACTS_H */
