// SPDX-License-Identifier: MIT
/* memcast-cu's options: those of nvcc, and those of the C++ compiler, which are passed on to it. */
#define _GNU_SOURCE
#include <err.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cu.h"

struct cu_options cu_options;

void cu_add(struct cu_list *list, const char *item)
{
	if (list->count + 1 >= list->room) {
		list->room = list->room ? 2 * list->room : 32;
		list->items = reallocarray(list->items, list->room, sizeof(*list->items));
		if (!list->items)
			err(1, NULL);
	}
	list->items[list->count++] = item;
	list->items[list->count] = NULL;
}

void cu_add_all(struct cu_list *list, const struct cu_list *from)
{
	for (size_t i = 0; i < from->count; i++)
		cu_add(list, from->items[i]);
}

char *cu_text(const char *format, ...)
{
	va_list list;
	char *made;

	va_start(list, format);
	if (vasprintf(&made, format, list) < 0)
		err(1, NULL);
	va_end(list);
	return made;
}

/* Options of nvcc that have a value and no meaning here */
static const char *const ignored_values[] = {
	"-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode", "--generate-code", "-rdc",
	"--relocatable-device-code", "-Xptxas", "--ptxas-options", "-Xnvlink", "--nvlink-options",
	"-Xfatbin", "--fatbin-options", "-cudart", "--cudart", "-cudadevrt", "--cudadevrt",
	"-maxrregcount", "--maxrregcount", "-t", "--threads", "-ftz", "--ftz", "-fmad", "--fmad",
	"-prec-div", "--prec-div", "-prec-sqrt", "--prec-sqrt", "-diag-suppress", "--diag-suppress",
	"-Xcudafe", "-x",
};

static const char *const ignored[] = {
	"-G", "--device-debug", "-lineinfo", "--generate-line-info", "-use_fast_math",
	"--use_fast_math", "--expt-relaxed-constexpr", "-expt-relaxed-constexpr",
	"--expt-extended-lambda", "-expt-extended-lambda", "--extended-lambda", "-extended-lambda",
	"-extra-device-vectorization", "--extra-device-vectorization", "-restrict", "--restrict",
	"-Wno-deprecated-gpu-targets", "--resource-usage", "-res-usage", "--source-in-ptx",
	"-lcudart_static", "-lcudadevrt", "-forward-unknown-to-host-compiler",
	"--forward-unknown-to-host-compiler",
};

static bool is_one_of(const char *option, size_t length, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == length && !memcmp(option, names[i], length))
			return true;
	return false;
}

#define IS_ONE_OF(option, length, names) \
	is_one_of(option, length, names, sizeof(names) / sizeof(names[0]))

/* Return: the value of -name=value or -name value, else NULL. @separate: is it the next word? */
static const char *value_of(char **next, const char *name, bool *separate)
{
	size_t length = strlen(name);

	if (strncmp(*next, name, length) || ((*next)[length] && (*next)[length] != '='))
		return NULL;
	*separate = !(*next)[length];
	if (!*separate)
		return *next + length + 1;
	if (!next[1])
		errx(2, "%s needs a value", name);
	return next[1];
}

static void add_commas(struct cu_list *list, const char *values)
{
	char *copy = cu_text("%s", values), *rest, *item;

	for (item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest))
		cu_add(list, item);
}

/* Reads an option with a value that has a meaning here. Return: was *next such an option? */
static bool read_value(char **next, bool *separate)
{
	static const struct {
		const char *name, *other;
	} names[] = {
		{ "-o", "--output-file" }, { "-Xcompiler", "--compiler-options" },
		{ "-Xlinker", "--linker-options" }, { "-ccbin", "--compiler-bindir" },
		{ "-std", "--std" }, { "-default-stream", "--default-stream" },
	};
	const char *value = NULL;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && !value; i++) {
		value = value_of(next, names[i].name, separate);
		if (!value)
			value = value_of(next, names[i].other, separate);
	}
	if (!value)
		return false;
	switch (i - 1) {
	case 0:
		cu_options.output = value;
		break;
	case 1:
		add_commas(&cu_options.compiling, value);
		break;
	case 2:
		cu_add(&cu_options.linking, cu_text("-Wl,%s", value));
		break;
	case 3:
		cu_options.compiler = value;
		break;
	case 4:
		cu_add(&cu_options.compiling, cu_text("-std=%s", value));
		break;
	default:
		if (!strcmp(value, "per-thread"))
			cu_add(&cu_options.compiling, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
	}
	return true;
}

bool cu_has_ending(const char *name, const char *ending)
{
	size_t length = strlen(name), all = strlen(ending);

	return length > all && !strcmp(name + length - all, ending);
}

static bool read_flag(const char *option)
{
	if (!strcmp(option, "-c") || !strcmp(option, "-dc") || !strcmp(option, "--compile") ||
	    !strcmp(option, "--device-c"))
		cu_options.objects_only = true;
	else if (!strcmp(option, "-E") || !strcmp(option, "--preprocess"))
		cu_options.preprocess_only = true;
	else if (!strcmp(option, "-shared") || !strcmp(option, "--shared"))
		cu_options.shared = true;
	else if (!strcmp(option, "-v") || !strcmp(option, "--verbose"))
		cu_options.show = true;
	else if (!strcmp(option, "--dryrun") || !strcmp(option, "-dryrun"))
		cu_options.dry = true;
	else
		return false;
	return true;
}

static void read_option(char ***next)
{
	char *option = **next;
	size_t name = strcspn(option, "=");
	bool separate;

	if (read_value(*next, &separate)) {
		*next += separate;
		return;
	}
	if (read_flag(option) || IS_ONE_OF(option, strlen(option), ignored))
		return;
	if (IS_ONE_OF(option, name, ignored_values)) {
		*next += !option[name] && (*next)[1];
		return;
	}
	if (strchr("IDUL", option[1]) && option[1] && !option[2] && (*next)[1]) {
		cu_add(&cu_options.compiling, option);
		cu_add(&cu_options.compiling, *++*next);
	} else if (!strncmp(option, "-l", 2) || !strncmp(option, "-L", 2) ||
		   !strncmp(option, "-Wl,", 4)) {
		cu_add(&cu_options.linking, option);
		if (!option[2] && (*next)[1])
			cu_add(&cu_options.linking, *++*next);
	} else {
		cu_add(&cu_options.compiling, option);
	}
}

void cu_read_options(char **arguments)
{
	for (char **next = arguments; *next; next++) {
		if (**next == '-' && (*next)[1])
			read_option(&next);
		else
			cu_add(&cu_options.sources, *next);
	}
}
