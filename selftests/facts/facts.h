/* SPDX-License-Identifier: MIT */
/* Runs and checks a line of a table of facts: facts_language.c, facts_call.c, facts_names.c. */
#ifndef MEMCAST_FACTS_H
#define MEMCAST_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of a statement: a CUresult if the statement is a call of the driver, else a number */
struct fact_value {
	bool is_result;
	int64_t number;
};

struct fact_field {
	const char *type, *name;
	size_t offset, size, all;	/* @all: bytes of the type */
};

/*
 * Runs the statement @text: NAME = EXPRESSION, or EXPRESSION. Return: false if the statement
 * makes no sense, and @wrong (@size bytes) says why.
 */
bool fact_run(const char *text, struct fact_value *value, char *wrong, size_t size);

/*
 * Are the result and the outputs of the last statement as @expected says? If not, or if
 * @expected makes no sense, @wrong says where they differ, or why.
 */
bool fact_check(const char *expected, const struct fact_value *value, char *wrong, size_t size);

/* Ends the statement as one that makes no sense; @format says why. */
__attribute__((format(printf, 1, 2), noreturn))
void fact_nonsense(const char *format, ...);
void *fact_zeroed(size_t size);

/*
 * facts_call.c. fact_own_function(): calls a function of the language's own; return: is @name
 * one? fact_call(): calls any other function; @by_value: NULL, or 64 bytes passed by value.
 */
bool fact_own_function(const char *name, const int64_t *a, size_t count, int64_t *value);
int64_t fact_call(const char *name, const int64_t *a, size_t count, const int64_t *by_value);

/* facts_names.c: find a name. Return: NULL or false if it is unknown */
bool fact_constant(const char *name, int64_t *value);
void *fact_function(const char *name);
const struct fact_field *fact_field(const char *type, const char *name);

#endif /* MEMCAST_FACTS_H */
