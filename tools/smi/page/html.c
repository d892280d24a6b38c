// SPDX-License-Identifier: MIT
/*
 * Shows memcast-smi's JSON as a page: pools and teams as pictures, processes as a table. The page
 * needs no script and no other file, and is XML as well, so that any parser reads it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "shared/name.h"

static const char style[] =
	"body{font:15px/1.45 system-ui,sans-serif;color:#222;max-width:960px;margin:2em auto;"
	"padding:0 1em}\n"
	"h1,h2,h3{line-height:1.2;margin:1.4em 0 .4em}h1{margin-top:0}h3{font-size:1em}\n"
	"svg{display:block;width:100%;height:auto}"
	"svg text{font:12px system-ui,sans-serif;fill:#222}\n"
	"svg .on{fill:#fff}svg .bound{fill:#1b7837;stroke:#fff;stroke-width:.5}"
	"svg .name{font-weight:600}.note{color:#666}\n"
	".bad{color:#b2182b;font-weight:600}.good{color:#1b7837}\n"
	"table{border-collapse:collapse;width:100%}td,th{padding:.3em .8em .3em 0;text-align:left;"
	"border-bottom:1px solid #ddd}\n"
	".swatch{display:inline-block;width:.9em;height:.9em;border-radius:2px}\n";

/* Colours that colour-blind people can tell apart, too */
static const char *const colours[] = {
	"#4477aa", "#c2405a", "#228833", "#9a8400", "#1f8aa8", "#aa3377", "#885522",
};

void put_size(FILE *to, int64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double size = (double)bytes;
	size_t unit = 0;

	for (; size >= 1024 && unit < 4; unit++)
		size /= 1024;
	fprintf(to, "%.4g %s", size, units[unit]);
}

/* "1 team", "2 teams"; @more: the ending of the plural */
static void put_count(FILE *to, size_t number, const char *word, const char *more)
{
	fprintf(to, "%zu %s%s", number, word, number == 1 ? "" : more);
}

/* Return: a process's place in the list, which gives the process its colour; -1: it is not there */
static int place_of(struct json_object *all, int64_t pid)
{
	struct json_object *processes = part(all, "processes");

	for (size_t i = 0; i < count(processes); i++)
		if (get(item(processes, i), "pid") == pid)
			return (int)i;
	return -1;
}

const char *colour_of(struct json_object *all, int64_t pid)
{
	int place = place_of(all, pid);

	return place < 0 ? "#999999" :
			   colours[(size_t)place % (sizeof(colours) / sizeof(*colours))];
}

void put_process(FILE *to, struct json_object *all, int64_t pid, bool named)
{
	int place = named ? place_of(all, pid) : -1;

	fprintf(to, "%" PRId64, pid);
	if (place < 0)
		return;
	fputc(' ', to);
	name_put_xml(to, json_object_get_string(part(item(part(all, "processes"), (size_t)place),
						     "name")));
}

void put_processes(FILE *to, struct json_object *all, struct json_object *pids)
{
	for (size_t i = 0; i < count(pids); i++) {
		fputs(i ? ", " : "", to);
		put_process(to, all, json_object_get_int64(item(pids, i)), true);
	}
}

static void put_teams(FILE *to, struct json_object *all)
{
	struct json_object *teams = part(all, "teams");

	fputs("<h2>Teams</h2>\n", to);
	if (!count(teams))
		fputs("<p>There is none.</p>\n", to);
	else
		fputs("<p class=\"note\">A team is a multicast object; a box is a device that has "
		      "joined it, its bar the team's size there, green where memory is bound to "
		      "it.</p>\n", to);
	for (size_t i = 0; i < count(teams); i++)
		put_team(to, all, item(teams, i));
}

/* ---- processes, and the head and foot of the page */

static void put_row(FILE *to, struct json_object *all, struct json_object *process)
{
	struct json_object *teams = part(process, "teams");
	const char *comma = "";

	fprintf(to, "<tr><td><span class=\"swatch\" style=\"background:%s\"></span></td><td>%"
		PRId64 "</td><td>", colour_of(all, get(process, "pid")), get(process, "pid"));
	name_put_xml(to, json_object_get_string(part(process, "name")));
	fputs("</td><td>", to);
	json_object_object_foreach(part(process, "memory"), where, bytes) {
		fprintf(to, "%s%s%s: ", comma, *where >= '0' && *where <= '9' ? "device " : "",
			where);
		put_size(to, json_object_get_int64(bytes));
		comma = ", ";
	}
	fputs("</td><td>", to);
	for (size_t i = 0; i < count(teams); i++) {
		int64_t team = json_object_get_int64(item(teams, i));

		fprintf(to, "%s<a href=\"#team-%" PRId64 "\">%" PRId64 "</a>", i ? ", " : "", team,
			team);
	}
	fprintf(to, "</td><td>%" PRId64 "</td></tr>\n", get(process, "fds"));
}

static void put_table(FILE *to, struct json_object *all)
{
	struct json_object *processes = part(all, "processes");

	fputs("<h2>Processes</h2>\n", to);
	if (!count(processes)) {
		fputs("<p>None uses the devices.</p>\n", to);
	} else {
		fputs("<table>\n<tr><th></th><th>PID</th><th>Name</th><th>Memory</th><th>Teams</th>"
		      "<th>Exported files</th></tr>\n", to);
		for (size_t i = 0; i < count(processes); i++)
			put_row(to, all, item(processes, i));
		fputs("</table>\n", to);
	}
	if (get(all, "unseen")) {
		fputs("<p class=\"note\">You may not look into ", to);
		put_count(to, (size_t)get(all, "unseen"), "process", "es");
		fputs(" of other users; root may.</p>\n", to);
	}
}

static void put_head(FILE *to, struct json_object *all)
{
	struct json_object *version = part(all, "version"), *teams = part(all, "teams");
	size_t waits = 0;

	for (size_t i = 0; i < count(teams); i++)
		waits += count(part(item(teams, i), "waits"));
	fputs("<h1>memcast</h1>\n<p>", to);
	put_count(to, count(part(all, "devices")), "device", "s");
	fputs(", ", to);
	put_count(to, count(part(all, "processes")), "process", "es");
	fputs(", ", to);
	put_count(to, count(teams), "team", "s");
	if (waits) {
		fputs("; <span class=\"bad\">", to);
		put_count(to, waits, "call", "s");
		fprintf(to, " wait%s for members</span>", waits == 1 ? "s" : "");
	}
	fputs("</p>\n<p class=\"note\">", to);
	name_put_xml(to, json_object_get_string(part(all, "time")));
	fputs(", memcast.ko ", to);
	name_put_xml(to, json_object_get_string(part(version, "module")));
	fputs(", Linux ", to);
	name_put_xml(to, json_object_get_string(part(version, "linux")));
	fputs(", CUDA ", to);
	name_put_xml(to, json_object_get_string(part(all, "cuda")));
	fputs("</p>\n", to);
}

static void put_page(FILE *to, struct json_object *all, unsigned int every)
{
	fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
	      "<meta charset=\"utf-8\"/>\n<title>memcast</title>\n", to);
	if (every)
		fprintf(to, "<meta http-equiv=\"refresh\" content=\"%u\"/>\n", every);
	fprintf(to, "<style>\n%s</style>\n</head>\n<body>\n", style);
	put_head(to, all);
	put_pools(to, all);
	put_teams(to, all);
	put_table(to, all);
	fputs("</body>\n</html>\n", to);
}

bool smi_html(struct json_object *all, const char *path, unsigned int every)
{
	char *part_path = NULL;
	bool good = false;
	FILE *to;

	if (!strcmp(path, "-")) {
		put_page(stdout, all, every);
		return true;
	}
	/* A browser that reloads the page meanwhile gets the previous page, whole. */
	if (asprintf(&part_path, "%s.part", path) < 0)
		return false;
	to = fopen(part_path, "we");
	if (to) {
		put_page(to, all, every);
		good = !ferror(to);
		good &= !fclose(to) && !rename(part_path, path);
	}
	if (!good) {
		perror(part_path);
		remove(part_path);
	}
	free(part_path);
	return good;
}
