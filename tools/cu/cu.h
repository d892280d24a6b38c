/* SPDX-License-Identifier: MIT */
/*
 * memcast-cu: rewrites the parts of a .cu file that are not C++ in C++.
 *
 *   words.c		splits a preprocessed file into words, and writes the changed words
 *   rewrite.c	replaces the words of kernels, launches and shared memory
 *   options.c	options as nvcc has them
 *   memcast-cu.c	runs the C++ compiler
 */
#ifndef MEMCAST_TOOLS_CU_H
#define MEMCAST_TOOLS_CU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A name, number, string or sign. Its text is a part of the file's text, or is memcast-cu's own. */
struct word {
	const char *space;		/* blanks and preprocessor lines before the word */
	size_t space_length;
	const char *text;
	size_t length;
	char *before, *after;		/* text to insert around the word, or NULL */
	size_t partner;			/* of a bracket: the other one; 0: none */
	bool name;			/* is the word a name? */
	bool of_tool;			/* is the word in one of memcast's headers? */
};

struct words {
	struct word *list;		/* the first one is empty: no word has number 0 */
	size_t count;
	const char *rest;		/* the text behind the last word */
};

/* @text: a whole preprocessed file, which has to stay. Ends the program if @text is damaged. */
struct words words_read(const char *text, const char *file);
void words_write(const struct words *words, FILE *out);

bool word_is(const struct words *words, size_t number, const char *text);
void word_replace(struct words *words, size_t number, const char *text);
__attribute__((format(printf, 3, 4)))
void word_before(struct words *words, size_t number, const char *format, ...);
__attribute__((format(printf, 3, 4)))
void word_after(struct words *words, size_t number, const char *format, ...);

/* Rewrites CUDA C++ as C++. @file: the name for messages */
void cu_rewrite(struct words *words, const char *file);

/* Words of a command; NULL follows the last one. The words stay until the program ends. */
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
	const char *compiler, *output;		/* NULL: no option names one */
	bool objects_only, preprocess_only, shared;
	bool show, dry;				/* print commands; run no command */
} cu_options;

void cu_read_options(char **arguments);

#endif /* MEMCAST_TOOLS_CU_H */
