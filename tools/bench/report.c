// SPDX-License-Identifier: MIT
/* Results: collecting them, and showing them as a table or as JSON. */
#include <json-c/json.h>
#include <libsmartcols.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "shared/ranks.h"

#define PROGRESS_SECONDS	2.0

bool bench_quick(const struct bench *bench)
{
	return bench->quick;
}

const char *bench_bytes(uint64_t bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB" };
	static char text[8][32];
	static unsigned int next;
	unsigned int i = 0;

	while (i < 3 && bytes >= 1024 && bytes % 1024 == 0) {
		bytes /= 1024;
		i++;
	}
	next = (next + 1) % 8;
	snprintf(text[next], sizeof(text[next]), "%llu %s",
		 (unsigned long long)bytes, unit[i]);
	return text[next];
}

static char *copy(const char *text)
{
	char *own = strdup(text ?: "");

	if (!own)
		rank_die("no memory for a result");
	return own;
}

static struct bench_result *result_new(struct bench *bench, const char *suite)
{
	struct bench_result *all = reallocarray(bench->result, bench->count + 1,
						sizeof(*all));

	if (!all)
		rank_die("no memory for a result");
	bench->result = all;
	all[bench->count] = (struct bench_result) {
		.suite = copy(suite), .holds = true,
	};
	return &all[bench->count++];
}

/* May a ratio between @low and @high be what @line asks for? */
static bool within(const struct bench_line *line, double low, double high)
{
	return (!line->at_least || high >= line->at_least) &&
	       (!line->at_most || low <= line->at_most);
}

static void add(struct bench *bench, const char *suite,
		const struct bench_line *line)
{
	struct bench_result *result = result_new(bench, suite);

	result->measure = copy(line->measure);
	result->parameters = copy(line->parameters);
	result->unit = copy(line->unit);
	result->against = copy(line->against);
	result->value = line->value;
	result->peer = line->peer;
	result->ratio = line->ratio;
	result->at_least = line->at_least;
	result->at_most = line->at_most;
	if (!line->against)
		return;
	if (!result->ratio)
		result->ratio = line->faster ? line->peer / line->value :
					       line->value / line->peer;
	result->low = line->low ?: result->ratio;
	result->high = line->high ?: result->ratio;
	result->holds = within(line, result->ratio, result->ratio);
	result->noisy = !result->holds && within(line, result->low, result->high);
}

void bench_add(struct bench *bench, const struct bench_line *line)
{
	add(bench, bench->suite->name, line);
}

static void skip(struct bench *bench, const char *suite, const char *measure,
		 char *why)
{
	struct bench_result *result = result_new(bench, suite);

	result->measure = copy(measure);
	result->parameters = copy("");
	result->unit = copy("");
	result->against = copy("");
	result->skipped = why;
}

void bench_skip(struct bench *bench, const char *measure, const char *format, ...)
{
	va_list args;
	char *why;

	va_start(args, format);
	if (vasprintf(&why, format, args) < 0)
		rank_die("no memory for a result");
	va_end(args);
	skip(bench, bench->suite->name, measure, why);
}

void bench_progress_end(struct bench *bench)
{
	if (bench->line_open)
		fputs("\r\033[K", stderr);
	bench->line_open = false;
}

void bench_progress(struct bench *bench, const char *format, ...)
{
	bool tty = isatty(STDERR_FILENO);
	va_list args;

	if (bench_now() - bench->shown < PROGRESS_SECONDS)
		return;
	bench->shown = bench_now();
	fprintf(stderr, "%s%s: ", tty ? "\r\033[K" : "", bench->suite->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	if (!tty)
		fputc('\n', stderr);
	bench->line_open = tty;
}

/* ---- the table */

static const char *number(char text[32], double value)
{
	/* whole numbers from a thousand on, not 1.234e+06 */
	snprintf(text, 32, value >= 1000 ? "%.0f" : "%.3g", value);
	return text;
}

static void cell(struct libscols_line *line, size_t column, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void cell(struct libscols_line *line, size_t column, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0 ||
	    scols_line_refer_data(line, column, text))
		rank_die("no memory for a table");
	va_end(args);
}

enum column { SUITE, MEASURE, PARAMETERS, VALUE, UNIT, RATIO, NOISE, BAR, HOLDS, PEER, AGAINST };

static void show_result(struct libscols_table *table,
			const struct bench_result *result)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	char text[32];

	if (!line)
		rank_die("no memory for a table");
	cell(line, SUITE, "%s", result->suite);
	cell(line, MEASURE, "%s", result->measure);
	if (result->skipped) {
		cell(line, HOLDS, "skipped");
		cell(line, AGAINST, "%s", result->skipped);
		return;
	}
	cell(line, PARAMETERS, "%s", result->parameters);
	cell(line, VALUE, "%s", number(text, result->value));
	cell(line, UNIT, "%s", result->unit);
	if (!*result->against)
		return;
	cell(line, RATIO, "%s", number(text, result->ratio));
	if (result->high > result->low)
		cell(line, NOISE, "±%.1f%%", 50 * (result->high - result->low) / result->ratio);
	if (result->at_least)
		cell(line, BAR, ">= %s", number(text, result->at_least));
	if (result->at_most)
		cell(line, BAR, "<= %s", number(text, result->at_most));
	if (result->at_least || result->at_most)
		cell(line, HOLDS, "%s", result->holds ? "yes" : result->noisy ? "noisy" : "NO");
	cell(line, PEER, "%s", number(text, result->peer));
	cell(line, AGAINST, "%s", result->against);
}

void bench_table(const struct bench *bench)
{
	static const struct {
		const char *name;
		int flags;
	} columns[] = {
		[SUITE] = { "suite", 0 },
		[MEASURE] = { "measure", 0 },
		[PARAMETERS] = { "parameters", 0 },
		[VALUE] = { "value", SCOLS_FL_RIGHT },
		[UNIT] = { "unit", 0 },
		[RATIO] = { "ratio", SCOLS_FL_RIGHT },
		[NOISE] = { "noise", SCOLS_FL_RIGHT },
		[BAR] = { "bar", 0 },
		[HOLDS] = { "holds", 0 },
		[PEER] = { "peer's", SCOLS_FL_RIGHT },
		[AGAINST] = { "held against", 0 },
	};
	struct libscols_table *table;
	size_t i;

	setlocale(LC_CTYPE, "");
	table = scols_new_table();
	if (!table)
		rank_die("no memory for a table");
	/* A table that is cut to the terminal's width would lose its last columns, the verdicts. */
	scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (!scols_table_new_column(table, columns[i].name, 0,
					    columns[i].flags))
			rank_die("no memory for a table");
	for (i = 0; i < bench->count; i++)
		show_result(table, &bench->result[i]);
	scols_print_table(table);
	scols_unref_table(table);
}

/* ---- JSON */

static void put_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, json_object_new_string(text));
}

static void put_number(struct json_object *object, const char *key, double value)
{
	json_object_object_add(object, key, json_object_new_double(value));
}

static struct json_object *result_json(const struct bench_result *result)
{
	struct json_object *object = json_object_new_object();

	put_text(object, "suite", result->suite);
	put_text(object, "measure", result->measure);
	if (result->skipped) {
		put_text(object, "skipped", result->skipped);
		return object;
	}
	put_text(object, "parameters", result->parameters);
	put_number(object, "value", result->value);
	put_text(object, "unit", result->unit);
	if (!*result->against)
		return object;
	put_number(object, "peer", result->peer);
	put_text(object, "against", result->against);
	put_number(object, "ratio", result->ratio);
	if (result->high > result->low) {
		put_number(object, "low", result->low);
		put_number(object, "high", result->high);
	}
	if (result->at_least)
		put_number(object, "at_least", result->at_least);
	if (result->at_most)
		put_number(object, "at_most", result->at_most);
	if (result->at_least || result->at_most)
		json_object_object_add(object, "holds",
				       json_object_new_boolean(result->holds));
	if (result->noisy)
		json_object_object_add(object, "noisy", json_object_new_boolean(true));
	return object;
}

struct json_object *bench_json(const struct bench *bench)
{
	struct json_object *all = json_object_new_object();
	struct json_object *results = json_object_new_array();
	size_t i;

	for (i = 0; i < bench->count; i++)
		json_object_array_add(results, result_json(&bench->result[i]));
	json_object_object_add(all, "results", results);
	if (bench->counted_on)
		put_text(all, "counted_on", bench->counted_on);
	return all;
}

static const char *get_text(struct json_object *object, const char *key)
{
	struct json_object *value = json_object_object_get(object, key);

	return value ? json_object_get_string(value) : NULL;
}

static double get_number(struct json_object *object, const char *key)
{
	return json_object_get_double(json_object_object_get(object, key));
}

bool bench_add_json(struct bench *bench, struct json_object *all)
{
	struct json_object *results = json_object_object_get(all, "results");
	const char *counted_on = get_text(all, "counted_on");
	size_t i;

	if (!json_object_is_type(results, json_type_array))
		return false;
	if (counted_on)
		bench->counted_on = copy(counted_on);
	for (i = 0; i < json_object_array_length(results); i++) {
		struct json_object *one = json_object_array_get_idx(results, i);
		const char *suite = get_text(one, "suite");
		const char *measure = get_text(one, "measure");
		const char *skipped = get_text(one, "skipped");

		if (!suite || !measure)
			return false;
		if (skipped) {
			skip(bench, suite, measure, copy(skipped));
			continue;
		}
		add(bench, suite, &(struct bench_line) {
			.measure = measure,
			.parameters = get_text(one, "parameters"),
			.value = get_number(one, "value"),
			.unit = get_text(one, "unit"),
			.peer = get_number(one, "peer"),
			.against = get_text(one, "against"),
			.ratio = get_number(one, "ratio"),
			.low = get_number(one, "low"),
			.high = get_number(one, "high"),
			.at_least = get_number(one, "at_least"),
			.at_most = get_number(one, "at_most"),
		});
	}
	return true;
}
