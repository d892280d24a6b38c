// SPDX-License-Identifier: MIT
/*
 * The record of what calls cost, in instructions: a text file with a line for
 * each measure, so that a change shows in a diff. Checking against it prints TAP.
 */
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "bench.h"
#include "count.h"
#include "shared/ranks.h"

/*
 * On the machine of the record counts repeat exactly, so memcast has caused a difference.
 * Point releases of a kernel differ by up to 6 %, in the kernel's own loops. Under another
 * point release costs are compared in multiples of a system call's cost.
 */
#define MAY_GROW		0.05
#define MAY_GROW_ELSEWHERE	0.25
#define PRICE			"control: an ioctl on /dev/null"

enum machine { SAME, SAME_SERIES, OTHER };

struct record {
	char *machine;
	enum machine is;	/* the record's machine, compared with this one */
	double scale;		/* 1, or the price of a system call here / in the record */
	struct entry {
		char *name;
		double cost;
		bool seen;
	} *entry;
	size_t count;
};

/* Names everything besides memcast on which the counts depend. */
char *bench_counting_machine(void)
{
	char emulator[64] = "";
	struct utsname uts;
	char *text;
	FILE *file;

	/* QEMU's machine type has its version */
	file = fopen("/sys/class/dmi/id/product_version", "re");
	if (file) {
		if (!fgets(emulator, sizeof(emulator), file))
			emulator[0] = '\0';
		fclose(file);
	}
	emulator[strcspn(emulator, "\n")] = '\0';
	uname(&uts);
	if (asprintf(&text, "Linux %s, gcc %s, glibc %s, QEMU %s", uts.release,
		     __VERSION__, gnu_get_libc_version(), emulator) < 0)
		rank_die("no memory");
	return text;
}

static char *name_of(const struct bench_result *result)
{
	char *name;

	if (asprintf(&name, "%s: %s%s%s", result->suite, result->measure,
		     *result->parameters ? ", " : "", result->parameters) < 0)
		rank_die("no memory");
	return name;
}

bool bench_costs_record(const struct bench *bench, const char *path)
{
	FILE *file = fopen(path, "we");
	size_t i;

	if (!file) {
		fprintf(stderr, "memcast-bench: %s: %s\n", path, strerror(errno));
		return false;
	}
	fputs("# What calls, mappings and faults cost, in instructions, the kernel's included.\n"
	      "# Written by `make costs`. `make check` fails when one grows by more than 5 %: a\n"
	      "# change that is worth that updates this file in its commit and says why.\n", file);
	fprintf(file, "on %s\n", bench->counted_on ?: "?");
	for (i = 0; i < bench->count; i++) {
		const struct bench_result *result = &bench->result[i];
		char *name = name_of(result);

		if (!result->skipped)
			fprintf(file, "%9.0f %s\n", result->value, name);
		free(name);
	}
	return fclose(file) == 0;
}

static void record_line(struct record *record, char *line)
{
	struct entry *entry;
	char *name;
	double cost;

	line[strcspn(line, "\n")] = '\0';
	if (!strncmp(line, "on ", 3)) {
		record->machine = strdup(line + 3);
		return;
	}
	cost = strtod(line, &name);
	if (*line == '#' || name == line || *name != ' ')
		return;
	record->entry = reallocarray(record->entry, record->count + 1,
				     sizeof(*record->entry));
	if (!record->entry)
		rank_die("no memory");
	entry = &record->entry[record->count++];
	*entry = (struct entry) { .name = strdup(name + 1), .cost = cost };
}

static bool record_read(struct record *record, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;

	if (!file) {
		fprintf(stderr, "memcast-bench: %s: %s\n", path, strerror(errno));
		return false;
	}
	while (getline(&line, &room, file) > 0)
		record_line(record, line);
	free(line);
	fclose(file);
	return true;
}

static struct entry *record_find(const struct record *record, const char *name)
{
	size_t i;

	for (i = 0; i < record->count; i++)
		if (!strcmp(record->entry[i].name, name))
			return &record->entry[i];
	return NULL;
}

/* "Linux 6.12.117+deb12-amd64, gcc…": equal but for 117+deb12-amd64? */
static bool same_series(const char *a, const char *b)
{
	unsigned int major[2], minor[2];
	const char *rest_a = strchr(a, ','), *rest_b = strchr(b, ',');

	return rest_a && rest_b && !strcmp(rest_a, rest_b) &&
	       sscanf(a, "Linux %u.%u.", &major[0], &minor[0]) == 2 &&
	       sscanf(b, "Linux %u.%u.", &major[1], &minor[1]) == 2 &&
	       major[0] == major[1] && minor[0] == minor[1];
}

static void record_judge(struct record *record, const struct bench *bench)
{
	const char *here = bench->counted_on ?: "?", *there = record->machine ?: "?";
	struct entry *price = record_find(record, PRICE);
	size_t i;

	record->scale = 1;
	record->is = !strcmp(here, there) ? SAME :
		     price && same_series(here, there) ? SAME_SERIES : OTHER;
	for (i = 0; i < bench->count && record->is == SAME_SERIES; i++) {
		char *name = name_of(&bench->result[i]);

		if (!strcmp(name, PRICE))
			record->scale = bench->result[i].value / price->cost;
		free(name);
	}
}

/* Prints a line of TAP for @result. Return: is it ok? */
static bool check_one(const struct record *record,
		      const struct bench_result *result, const char *name,
		      size_t number)
{
	struct entry *entry = record_find(record, name);
	double limit = record->is == SAME ? MAY_GROW : MAY_GROW_ELSEWHERE;
	double change = entry ? result->value / entry->cost / record->scale - 1 : 0;
	bool bar = result->at_least || result->at_most;
	const char *why = "";
	bool ok = false;

	if (result->skipped)
		why = result->skipped;
	else if (!result->holds)
		why = ": its bar does not hold, see memcast-bench";
	else if (record->is != OTHER && !entry)
		why = ": new, run make costs";
	else if (record->is != OTHER && change > limit)
		why = ": it grew too much";
	else
		ok = true;

	printf("%s %zu %s # ", ok ? "ok" : "not ok", number, name);
	if (ok && record->is == OTHER && !bar)
		printf("SKIP recorded on another machine: ");
	printf("%.0f instructions", result->value);
	if (entry)
		printf(", recorded %.0f, %+.1f %%", entry->cost, change * 100);
	printf("%s\n", why);
	return ok;
}

/* Counts recorded measures that are no longer made: TAP's plan, which comes first, has them. */
static size_t record_unseen(struct record *record, const struct bench *bench)
{
	size_t i, unseen = record->count;

	for (i = 0; i < bench->count; i++) {
		char *name = name_of(&bench->result[i]);
		struct entry *entry = record_find(record, name);

		if (entry && !entry->seen) {
			entry->seen = true;
			unseen--;
		}
		free(name);
	}
	return record->is == OTHER ? 0 : unseen;
}

static void explain(const struct record *record, const char *here)
{
	static const char *const judged[] = {
		[SAME] = "All is as it was recorded: nothing may grow by more than 5 %",
		[SAME_SERIES] = "Another point release of the kernel: in multiples of an ioctl "
				"on /dev/null nothing may grow by more than 25 %",
		[OTHER] = "Not comparable, so growth is not judged, only bars are; run make "
			  "costs before a change to record what it costs here",
	};

	if (record->is != SAME)
		printf("# recorded on %s\n# this is     %s\n", record->machine ?: "?", here);
	printf("# %s\n", judged[record->is]);
}

int bench_costs_check(const struct bench *bench, const char *path)
{
	struct record record = { 0 };
	size_t i, number = 0, failed = 0, unseen;

	if (!record_read(&record, path))
		return 3;
	record_judge(&record, bench);
	unseen = record_unseen(&record, bench);
	printf("TAP version 13\n1..%zu\n", bench->count + unseen);
	explain(&record, bench->counted_on ?: "?");
	for (i = 0; i < bench->count; i++) {
		char *name = name_of(&bench->result[i]);

		failed += !check_one(&record, &bench->result[i], name, ++number);
		free(name);
	}
	for (i = 0; i < record.count && unseen; i++)
		if (!record.entry[i].seen)
			printf("not ok %zu %s # recorded, and not counted any more: "
			       "run make costs\n", ++number, record.entry[i].name);
	return failed + unseen > 0;
}
