// SPDX-License-Identifier: MIT
/*
 * Compares memcast's answers with those recorded on hardware. The records are tables that
 * anyone can extend by a line: facts/tables/NAME.tsv; facts/README.md explains their language.
 * Each group of a table runs in a process of its own, and is one result of this test.
 *
 *	facts_test [--hardware] [TABLE…]	--hardware: compare NVIDIA's driver with the tables
 */
#include <glob.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"
#include "helpers.h"
#include "kselftest.h"
#include "processor.h"

#define LINES	4096

/* Columns of a line: @hardware's answer, and @memcast's if it differs */
struct line {
	int number;
	char *name, *statement, *hardware, *memcast, *why;
};

static struct line lines[LINES];
static bool on_hardware;

/* Shared with a group's process, which counts its lines, facts and failures here */
static struct {
	int line;
	unsigned int facts, failures, done;
} *state;

/* Several tabs separate columns like one, to align them. The first column may be empty. */
static char *column(char **rest)
{
	char *start = *rest, *end = strchr(start, '\t');

	if (!end) {
		*rest = start + strlen(start);
		return start;
	}
	*end++ = '\0';
	*rest = end + strspn(end, "\t");
	return start;
}

static const char *of_line(struct line *line)
{
	if (!*line->statement)
		return "it says nothing";
	if (!*line->name && *line->memcast)
		return "a difference needs a name";
	if (*line->memcast && !strcmp(line->hardware, line->memcast))
		return "there is no difference";
	if (*line->memcast && !*line->why)
		return "a difference needs a reason";
	if (!*line->hardware)
		line->hardware = "";
	return NULL;
}

static void run_line(const char *table, struct line *line)
{
	const char *expected = *line->memcast && !on_hardware ? line->memcast : line->hardware;
	const char *wrong = of_line(line);
	char reason[300];
	struct fact_value value;

	state->line = line->number;
	state->facts += !!*line->name;
	if (!wrong && !fact_run(line->statement, &value, reason, sizeof(reason)))
		wrong = reason;
	/* a call without an expected result has to succeed */
	if (!wrong && !*expected && value.is_result)
		expected = "SUCCESS";
	/* a statement that is no call, and has no expected value, is not checked */
	if (!wrong && *expected && !fact_check(expected, &value, reason, sizeof(reason)))
		wrong = reason;
	if (wrong) {
		state->failures++;
		printf("# %s:%d: %s: %s\n", table, line->number,
		       *line->name ? line->name : line->statement, wrong);
		fflush(stdout);
	}
}

static void run_group(const char *table, const char *group, struct line *first, unsigned int count)
{
	const char *left;
	int status;
	pid_t pid;

	*state = (typeof(*state)) {};
	fflush(stdout);
	pid = fork();
	if (!pid) {
		for (unsigned int i = 0; i < count; i++, state->done++)
			/* on hardware, skips a call that NVIDIA's library does not survive */
			if (!on_hardware || strncmp(first[i].hardware, "CRASHED", 7))
				run_line(table, &first[i]);
		fflush(stdout);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		ksft_exit_fail_msg("no process for %s\n", group);
	if (!WIFSIGNALED(status) && (WEXITSTATUS(status) || state->done != count)) {
		state->failures++;
		ksft_print_msg("%s:%d: the process ended there, with status %d\n", table,
			       state->line, WEXITSTATUS(status));
	}
	if (WIFSIGNALED(status)) {
		state->failures++;
		ksft_print_msg("%s:%d: signal %d\n", table, state->line, WTERMSIG(status));
	}
	left = on_hardware ? "" : left_over();
	if (*left)
		ksft_print_msg("%s: this is left: %s\n", group, left);
	ksft_test_result(!state->failures && !*left, "%s: %s (%u facts)\n", table, group,
			 state->facts);
}

/* Is a fact one of other processors, or of other pages, as its name says? */
static bool is_elsewhere(const char *name)
{
	return strstr(name, OF_OTHERS) || (strstr(name, "(4K pages)") && PAGE != 4096);
}

/* Reads a table, and runs its groups if @run. Return: the number of groups */
static unsigned int read_table(const char *path, bool run)
{
	char *text = NULL, *group = NULL, *base = basename(strdupa(path));
	unsigned int groups = 0, count = 0;
	size_t size = 0;
	ssize_t length;
	FILE *file = fopen(path, "r");

	if (!file)
		ksft_exit_fail_msg("%s cannot be read\n", path);
	for (int number = 1; (length = getline(&text, &size, file)) >= 0; number++) {
		char *rest;

		if (length && text[length - 1] == '\n')
			text[length - 1] = '\0';
		if (*text == '@') {
			if (run && group)
				run_group(base, group, lines, count);
			group = strdup(text + 1 + strspn(text + 1, " "));
			groups++;
			count = 0;
		}
		if (!*text || *text == '#' || *text == '@' || !run)
			continue;
		if (count == LINES || !group)
			ksft_exit_fail_msg("%s:%d: too many lines, or no group\n", path, number);
		rest = strdup(text);
		lines[count] = (struct line) { .number = number };
		lines[count].name = column(&rest);
		if (is_elsewhere(lines[count].name))
			continue;
		lines[count].statement = column(&rest);
		lines[count].hardware = column(&rest);
		lines[count].memcast = column(&rest);
		lines[count++].why = column(&rest);
	}
	if (run && group)
		run_group(base, group, lines, count);
	free(text);
	fclose(file);
	return groups;
}

int main(int argc, char **argv)
{
	char own[4096] = "", pattern[4200];
	unsigned int groups = 0;
	glob_t tables = {};

	on_hardware = argc > 1 && !strcmp(argv[1], "--hardware");
	argc -= on_hardware;
	argv += on_hardware;
	state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (state == MAP_FAILED || readlink("/proc/self/exe", own, sizeof(own) - 1) < 0)
		return KSFT_FAIL;
	snprintf(pattern, sizeof(pattern), "%s/facts/tables/*.tsv", dirname(own));
	if (argc < 2 && glob(pattern, 0, NULL, &tables))
		ksft_exit_fail_msg("there are no tables: %s\n", pattern);
	ksft_print_header();
	for (int run = 0; run < 2; run++) {
		for (int i = 1; i < argc; i++)
			groups += read_table(argv[i], run);
		for (size_t i = 0; i < tables.gl_pathc; i++)
			groups += read_table(tables.gl_pathv[i], run);
		if (!run)
			ksft_set_plan(groups);
	}
	ksft_finished();
}
