/* SPDX-License-Identifier: MIT */
/*
 * memcast-cu: what C++ cannot say of a .cu file, written in C++.
 *
 *   words.c		a preprocessed file as words, and the file as they become
 *   rewrite.c	kernels, launches, shared memory: which words become what
 *   options.c	options as nvcc has them
 *   memcast-cu.c	runs the C++ compiler
 */
#ifndef MEMCAST_TOOLS_CU_H
#define MEMCAST_TOOLS_CU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A name, number, string or sign. Its text is in the file's, or one of the tool's. */
struct word {
	const char *space;		/* what stands before it: blanks, lines of the preprocessor */
	size_t space_length;
	const char *text;
	size_t length;
	char *before, *after;		/* what is to stand around it, or NULL */
	size_t partner;			/* of a bracket: the other one; 0: none */
	bool name;			/* is it one? */
	bool of_tool;			/* it stands in a header of memcast's */
};

struct words {
	struct word *list;		/* the first one is empty: no word has number 0 */
	size_t count;
	const char *rest;		/* behind the last one */
};

/* @text: a whole preprocessed file, which stays; ends the program where it is damaged */
struct words words_read(const char *text, const char *file);
void words_write(const struct words *words, FILE *out);

bool word_is(const struct words *words, size_t number, const char *text);
void word_replace(struct words *words, size_t number, const char *text);
__attribute__((format(printf, 3, 4)))
void word_before(struct words *words, size_t number, const char *format, ...);
__attribute__((format(printf, 3, 4)))
void word_after(struct words *words, size_t number, const char *format, ...);

/* Makes C++ of it. @file: for messages */
void cu_rewrite(struct words *words, const char *file);

/* Words of a command; NULL follows the last one. Each stays until the program ends. */
struct cu_list {
	const char **items;
	size_t count, room;
};

void cu_add(struct cu_list *list, const char *item);
void cu_add_all(struct cu_list *list, const struct cu_list *from);
__attribute__((format(printf, 1, 2)))
char *cu_text(const char *format, ...);
bool cu_has_ending(const char *name, const char *ending);

extern struct cu_options {
	struct cu_list compiling, linking;	/* options for each */
	struct cu_list sources;
	const char *compiler, *output;		/* NULL: not said */
	bool objects_only, preprocess_only, shared;
	bool show, dry;				/* commands; run none of them */
} cu_options;

void cu_read_options(char **arguments);

#endif /* MEMCAST_TOOLS_CU_H */
