// SPDX-License-Identifier: MIT
/* Draws the ratios: a value for each result, and its bar. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define ROW_PIXELS	18

static bool has_ratio(const struct bench_result *result)
{
	return !result->skipped && *result->against;
}

/* Writes a string for gnuplot, which a quote would end; gnuplot's enhanced text is off. */
static void put_label(FILE *to, const struct bench_result *result)
{
	char *text, *c, bar[32] = "";

	if (result->at_least)
		snprintf(bar, sizeof(bar), ": >= %g", result->at_least);
	else if (result->at_most)
		snprintf(bar, sizeof(bar), ": <= %g", result->at_most);
	if (asprintf(&text, "%s: %s %s, against %s%s", result->suite,
		     result->measure, result->parameters, result->against, bar) < 0)
		return;
	for (c = text; *c; c++)
		if (*c == '"' || *c == '\\')
			*c = '\'';
	fprintf(to, "\"%s\"", text);
	free(text);
}

static bool anything(const struct bench *bench)
{
	size_t i;

	for (i = 0; i < bench->count; i++)
		if (has_ratio(&bench->result[i]))
			return true;
	fputs("memcast-bench: --plot: there is no ratio to draw\n", stderr);
	return false;
}

static void put_script(FILE *to, const struct bench *bench, const char *path)
{
	unsigned int rows = 0;
	double least = 1;
	size_t i;

	fputs("$results << END\n", to);
	for (i = 0; i < bench->count; i++) {
		const struct bench_result *result = &bench->result[i];
		double bar = result->at_least ?: result->at_most;

		if (!has_ratio(result))
			continue;
		fprintf(to, "%u %g ", rows++, result->ratio);
		if (bar)
			fprintf(to, "%g ", bar);
		else
			fputs("NaN ", to);
		if (result->ratio < least)
			least = result->ratio;
		fprintf(to, "%d ", result->holds ? 0x4477aa : 0xcc3311);
		put_label(to, result);
		fputc('\n', to);
	}
	fprintf(to, "END\nset terminal svg noenhanced size 1200,%u font 'sans,11'\n",
		rows * ROW_PIXELS + 110);
	fprintf(to, "set output \"%s\"\n", path);
	fprintf(to, "set yrange [%u.5:-0.5]\n", rows - 1);
	fprintf(to, "set logscale x\nset xrange [%g:*]\nset grid xtics\n"
		"set key bottom outside horizontal\n"
		"set xlabel 'ratio; red: the bar does not hold'\n"
		"plot $results using 2:1:(%g):2:($1-0.35):($1+0.35):4:ytic(5) "
		"with boxxyerror fillstyle solid linecolor rgb variable title 'ratio', "
		"$results using 3:1 with points pointtype 7 pointsize 0.6 "
		"linecolor black title 'bar'\n", least / 3, least / 3);
}

bool bench_plot(const struct bench *bench, const char *path)
{
	FILE *gnuplot;

	if (strpbrk(path, "\"\\")) {
		fprintf(stderr, "memcast-bench: --plot: %s: no quotes, please\n", path);
		return false;
	}
	if (system("command -v gnuplot >/dev/null")) {
		fputs("memcast-bench: --plot needs gnuplot; run: apt-get install gnuplot-nox\n",
		      stderr);
		return false;
	}
	gnuplot = anything(bench) ? popen("gnuplot", "w") : NULL;
	if (!gnuplot)
		return false;
	put_script(gnuplot, bench, path);
	return pclose(gnuplot) == 0;
}
