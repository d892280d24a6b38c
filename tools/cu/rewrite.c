// SPDX-License-Identifier: MIT
/*
 * Rewrites CUDA C++ as C++: a kernel is followed by its registration, a launch becomes a call,
 * and shared memory belongs to the block. No line is added or removed, so that messages and
 * debuggers have the lines of the file.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "cu.h"

struct rewrite {
	struct words *words;
	const char *file;
	const char *shape;		/* of the kernels: do their threads wait for each other? */
	unsigned int kernels;
};

static bool is_any(const struct words *words, size_t number, const char *const *texts)
{
	for (; *texts; texts++)
		if (word_is(words, number, *texts))
			return true;
	return false;
}

/* Words that have an equal in C++, or no meaning there */
static const struct {
	const char *from, *to;
} plain[] = {
	{ "__device__", "" },
	{ "__host__", "" },
	{ "__constant__", "" },
	{ "__grid_constant__", "" },
	{ "__forceinline__", "inline __attribute__((always_inline))" },
	{ "__noinline__", "__attribute__((noinline))" },
	{ "__align__", "alignas" },
	{ "__assert_fail", "::memcast::cu::assertion_failed" },
	{ "cudaMemcpyToSymbol", "::memcast::cu::to_symbol" },
	{ "cudaMemcpyFromSymbol", "::memcast::cu::from_symbol" },
	{ "cudaMemcpyToSymbolAsync", "::memcast::cu::to_symbol_async" },
	{ "cudaMemcpyFromSymbolAsync", "::memcast::cu::from_symbol_async" },
	{ "cudaGetSymbolSize", "::memcast::cu::symbol_size" },
	{ "cudaGetSymbolAddress", "::memcast::cu::symbol_address" },
};

/* Is the word CUDA's? Not in __attribute__((__noinline__)), nor where a function is declared */
static bool is_plain(const struct words *words, size_t number)
{
	if (word_is(words, number, "__noinline__"))
		return !word_is(words, number - 1, "(") && !word_is(words, number - 1, ",");
	if (word_is(words, number, "__assert_fail") ||
	    !strncmp(words->list[number].text, "cuda", 4))
		return word_is(words, number + 1, "(") && !word_is(words, number - 1, "void") &&
		       !word_is(words, number - 1, "cudaError_t");
	return true;
}

static void rewrite_plain(struct words *words, size_t number)
{
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (word_is(words, number, plain[i].from) && is_plain(words, number)) {
			const char *to = plain[i].to;

			/* ::cudaMemcpyToSymbol() has the first sign already */
			if (*to == ':' && word_is(words, number - 1, "::"))
				to += 2;
			word_replace(words, number, to);
			return;
		}
}

/* The first word of the statement or declaration that this one stands in */
static size_t statement(const struct words *words, size_t number)
{
	while (number > 1 && !word_is(words, number - 1, ";") &&
	       !word_is(words, number - 1, "{") && !word_is(words, number - 1, "}"))
		number = word_is(words, number - 1, ")") && words->list[number - 1].partner ?
			 words->list[number - 1].partner : number - 1;
	return number;
}

/* ---- kernels */

/* Return: the number of the name in name<values>, whose last sign is @number, or 0 */
static size_t template_start(const struct words *words, size_t number)
{
	int depth = 0;

	for (; number > 1; number--) {
		if (word_is(words, number, ">"))
			depth++;
		else if (word_is(words, number, "<") && !--depth)
			return number - 1;
		else if (word_is(words, number, ")") && words->list[number].partner)
			number = words->list[number].partner;
		else if (word_is(words, number, ";") || word_is(words, number, "{"))
			return 0;
	}
	return 0;
}

/* Words that brackets follow although they are no function's name */
static const char *const with_brackets[] = {
	"__launch_bounds__", "__attribute__", "__align__", "alignas", "decltype", NULL
};

/* Return: a copy of the file's text from word @first to word @last */
static char *text_of(const struct words *words, size_t first, size_t last)
{
	const char *start = words->list[first].text;
	const char *end = words->list[last].text + words->list[last].length;
	char *text = first <= last ? strndup(start, end - start) : strdup("");

	if (!text)
		err(1, NULL);
	return text;
}

/* Removes __launch_bounds__(threads, ...). Return: the text of the threads */
static char *launch_bounds(struct words *words, size_t number)
{
	size_t end = words->list[number + 1].partner, last = number + 2;
	char *threads;

	while (last + 1 < end && !word_is(words, last + 1, ",")) {
		last++;
		if (word_is(words, last, "("))
			last = words->list[last].partner;
	}
	threads = text_of(words, number + 2, last);
	for (size_t i = number; i <= end; i++)
		word_replace(words, i, "");
	return threads;
}

/* Registers the kernel<values> that an explicit instantiation makes, before any launch of it. */
static void register_instance(struct rewrite *rewrite, size_t number)
{
	struct words *words = rewrite->words;
	size_t at = number, start;
	char *name;

	for (; at < words->count && !word_is(words, at, ";"); at++) {
		if (!word_is(words, at, ">") || !word_is(words, at + 1, "("))
			continue;
		start = template_start(words, at);
		name = text_of(words, start, at);
		while (!word_is(words, at, ";"))
			at++;
		word_after(words, at,
			   " static const ::memcast::cu::registration "
			   "memcast_cu_%u(&%s, \"kernel\", 0, %s);",
			   ++rewrite->kernels, name, rewrite->shape);
		free(name);
	}
}

/* Rewrites a kernel from __global__ on. A definition gets a registration, a template does not. */
static void rewrite_kernel(struct rewrite *rewrite, size_t number)
{
	struct words *words = rewrite->words;
	size_t at = number + 1, first = statement(words, number);
	bool is_template = word_is(words, first, "template");
	char *threads = NULL, *name;

	word_replace(words, number, "");
	if (is_template && !word_is(words, first + 1, "<"))
		register_instance(rewrite, number);
	for (;; at++) {
		if (at >= words->count || word_is(words, at, ";") || word_is(words, at, "{"))
			goto out;	/* no kernel: the compiler's message is better */
		if (!words->list[at].name || !word_is(words, at + 1, "(") ||
		    !words->list[at + 1].partner)
			continue;
		if (!is_any(words, at, with_brackets))
			break;
		if (word_is(words, at, "__launch_bounds__")) {
			free(threads);
			threads = launch_bounds(words, at);
		}
		at = words->list[at + 1].partner;
	}
	for (first = at; word_is(words, first - 1, "::"); )
		first -= words->list[first - 2].name ? 2 : 1;
	name = text_of(words, first, at);
	at = words->list[at + 1].partner + 1;
	if (!is_template && word_is(words, at, "{") && words->list[at].partner)
		word_after(words, words->list[at].partner,
			   " static const ::memcast::cu::registration "
			   "memcast_cu_%u(&%s, \"%s\", %s, %s);",
			   ++rewrite->kernels, name, name, threads ? threads : "0",
			   rewrite->shape);
	free(name);
out:
	free(threads);
}

/* ---- launches */

static bool chevrons(const struct words *words, size_t number, const char *sign)
{
	for (size_t i = number; i < number + 3; i++)
		if (!word_is(words, i, sign) || (i > number && words->list[i].space_length))
			return false;
	return true;
}

/* The first word of the expression that ends with this one: a::b<c>, table[i].kernel, (f) */
static size_t expression(const struct words *words, size_t number)
{
	for (;;) {
		if (word_is(words, number, ">"))
			number = template_start(words, number);
		while ((word_is(words, number, ")") || word_is(words, number, "]")) &&
		       words->list[number].partner) {
			number = words->list[number].partner;
			if (!words->list[number - 1].name && !word_is(words, number - 1, ")") &&
			    !word_is(words, number - 1, "]"))
				return number;
			number--;
		}
		if (!number || !words->list[number].name)
			return 0;
		if (word_is(words, number - 1, "template"))
			number--;
		if (word_is(words, number - 1, "::") && !words->list[number - 2].name &&
		    !word_is(words, number - 2, ">"))
			return number - 1;
		if (!word_is(words, number - 1, "::") && !word_is(words, number - 1, ".") &&
		    !word_is(words, number - 1, "->"))
			return number;
		number -= 2;
	}
}

/* kernel<<<grid, block>>> is launch_as(shape, kernel, grid, block). */
static void rewrite_launch(struct rewrite *rewrite, size_t number)
{
	struct words *words = rewrite->words;
	size_t first, end;

	for (end = number + 3; end < words->count && !chevrons(words, end, ">"); end++) {
		if (word_is(words, end, "(") && words->list[end].partner)
			end = words->list[end].partner;
		else if (word_is(words, end, ";"))
			return;
	}
	first = expression(words, number - 1);
	if (end >= words->count || !first || !word_is(words, end + 3, "("))
		errx(1, "%s: what is launched, and how? %.60s", rewrite->file,
		     words->list[number - 1].text);
	word_before(words, first, "::memcast::cu::launch_as(%s, ", rewrite->shape);
	for (size_t i = 0; i < 3; i++) {
		word_replace(words, number + i, i ? "" : ",");
		word_replace(words, end + i, i ? "" : ")");
	}
}

/* ---- shared memory */

/* Is it outside of all functions: in nothing but namespaces and extern "C"? */
static bool outside(const struct words *words, size_t number)
{
	for (size_t i = 1; i < number; i++) {
		size_t end = words->list[i].partner;

		if (!word_is(words, i, "{") || !end || end < i)
			continue;
		if (end < number)
			i = end;
		else if (!word_is(words, i - 1, "namespace") &&
			 !word_is(words, i - 2, "namespace") && words->list[i - 1].text[0] != '"' &&
			 !word_is(words, i - 2, "::"))
			return false;
	}
	return true;
}

/* Return: the text of words @first to @last, without those that were removed */
static char *what_is_left(const struct words *words, size_t first, size_t last)
{
	size_t bytes = 1;
	char *text, *at;

	for (size_t i = first; i <= last; i++)
		bytes += words->list[i].length + 1;
	text = at = calloc(1, bytes);
	if (!text)
		err(1, NULL);
	for (size_t i = first; i <= last; i++) {
		at = mempcpy(at, words->list[i].text, words->list[i].length);
		if (words->list[i].length)
			*at++ = ' ';
	}
	return text;
}

static void take_away(struct words *words, size_t first, size_t last)
{
	for (size_t i = first; i <= last; i++)
		word_replace(words, i, "");
}

/* Rewrites extern __shared__ type name[]; from word @first to the semicolon at @end. */
static void rewrite_dynamic(struct rewrite *rewrite, size_t first, size_t end)
{
	struct words *words = rewrite->words;
	bool is_outside = outside(words, first);
	char *type, *name;

	if (end < first + 4 || !word_is(words, end - 1, "]") || !word_is(words, end - 2, "[") ||
	    !words->list[end - 3].name)
		errx(1, "%s: shared memory of the launch is declared as: "
		     "extern __shared__ type name[];", rewrite->file);
	name = text_of(words, end - 3, end - 3);
	for (size_t i = first; i < end - 3; i++) {
		if (is_any(words, i, with_brackets) && words->list[i + 1].partner)
			take_away(words, i, words->list[i + 1].partner);
		else if (word_is(words, i, "extern") || word_is(words, i, "__shared__"))
			word_replace(words, i, "");
	}
	type = what_is_left(words, first, end - 4);
	take_away(words, first, end - 1);
	if (is_outside)
		word_before(words, end, "static const ::memcast::cu::shared_array<%s> %s", type,
			    name);
	else
		word_before(words, end,
			    "%s(&%s)[] = *reinterpret_cast<%s(*)[]>"
			    "(::memcast::cu::dynamic_shared())", type, name, type);
	free(type);
	free(name);
}

static void rewrite_shared(struct rewrite *rewrite, size_t number)
{
	struct words *words = rewrite->words;
	size_t first = statement(words, number), end = number;

	while (end < words->count && !word_is(words, end, ";"))
		end++;
	for (size_t i = first; i < number + 2; i++) {
		if (word_is(words, i, "extern")) {
			rewrite_dynamic(rewrite, first, end);
			return;
		}
		if (word_is(words, i, "static"))
			word_replace(words, i, "");
	}
	word_replace(words, number, "static thread_local");
}

/* ---- */

/* Words by which threads wait for each other, so that each needs a stack of its own */
static bool waits(const struct words *words)
{
	for (size_t i = 1; i < words->count; i++) {
		const struct word *word = &words->list[i];

		if (word->of_tool || !word->name)
			continue;
		if (!strncmp(word->text, "__syncthreads", 13) || word_is(words, i, "__syncwarp") ||
		    word_is(words, i, "__nanosleep") ||
		    (word->length > 7 && !strncmp(word->text, "__", 2) &&
		     !memcmp(word->text + word->length - 5, "_sync", 5)))
			return true;
	}
	return false;
}

void cu_rewrite(struct words *words, const char *file)
{
	struct rewrite rewrite = {
		.words = words, .file = file,
		.shape = waits(words) ? "MEMCAST_THREADS" : "MEMCAST_THREADS_ALONE",
	};

	for (size_t i = 1; i < words->count; i++) {
		if (words->list[i].of_tool)
			continue;
		if (word_is(words, i, "__global__"))
			rewrite_kernel(&rewrite, i);
		else if (word_is(words, i, "__shared__"))
			rewrite_shared(&rewrite, i);
		else if (chevrons(words, i, "<") && !word_is(words, i - 1, "operator"))
			rewrite_launch(&rewrite, i);
		else
			rewrite_plain(words, i);
	}
}
