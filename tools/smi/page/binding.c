// SPDX-License-Identifier: MIT
/* The bindings of a team on memcast-smi's page: a bar for each member, and a table */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "html.h"

/* "6 MiB": without rounding, in the largest unit that allows it */
static void put_exact(FILE *to, int64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB" };
	size_t unit = 0;

	for (; bytes && !(bytes % 1024) && unit < 3; unit++)
		bytes /= 1024;
	fprintf(to, "%" PRId64 " %s", bytes, bytes ? units[unit] : "bytes");
}

/* "memory 7, from 0 bytes on" */
static void put_what(FILE *to, struct json_object *binding)
{
	fprintf(to, "memory %" PRId64 ", from ", get(binding, "memory"));
	put_exact(to, get(binding, "from"));
	fputs(" on", to);
}

void put_bindings_bar(FILE *to, struct json_object *team, struct json_object *member, double x,
		      double y, double width)
{
	struct json_object *bindings = part(member, "bindings");
	double per_byte = width / (double)(get(team, "size") ? get(team, "size") : 1);

	fprintf(to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"8\" fill=\"#ddd\"/>", x, y,
		width);
	for (size_t i = 0; i < count(bindings); i++) {
		struct json_object *binding = item(bindings, i);

		fprintf(to, "<rect class=\"bound\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
			"height=\"8\"><title>at ", x + (double)get(binding, "at") * per_byte, y,
			(double)get(binding, "bytes") * per_byte);
		put_exact(to, get(binding, "at"));
		fputs(" of the team: ", to);
		put_exact(to, get(binding, "bytes"));
		fputs(" of ", to);
		put_what(to, binding);
		fputs("</title></rect>", to);
	}
	fputc('\n', to);
}

/* Lists the processes that hold a memory; none, if memcast-smi may not read their files */
static void put_holders(FILE *to, struct json_object *all, int64_t number)
{
	struct json_object *memories = part(all, "memories");

	for (size_t i = 0; i < count(memories); i++) {
		if (get(item(memories, i), "memory") != number)
			continue;
		put_processes(to, all, part(item(memories, i), "pids"));
		return;
	}
	fputs("processes that are not shown", to);
}

static void put_member_rows(FILE *to, struct json_object *all, struct json_object *member)
{
	struct json_object *bindings = part(member, "bindings");

	for (size_t i = 0; i < count(bindings); i++) {
		struct json_object *binding = item(bindings, i);

		fprintf(to, "<tr><td>%" PRId64 "</td><td>", get(member, "device"));
		put_exact(to, get(binding, "at"));
		fputs("</td><td>", to);
		put_exact(to, get(binding, "bytes"));
		fputs("</td><td>", to);
		put_what(to, binding);
		fputs("</td><td>", to);
		put_holders(to, all, get(binding, "memory"));
		fputs("</td></tr>\n", to);
	}
	if (!get(member, "untold"))
		return;
	fprintf(to, "<tr><td>%" PRId64 "</td><td>elsewhere</td><td>", get(member, "device"));
	put_exact(to, get(member, "untold"));
	fputs("</td><td>more bindings than are listed</td><td></td></tr>\n", to);
}

void put_bindings_table(FILE *to, struct json_object *all, struct json_object *team)
{
	struct json_object *members = part(team, "members");
	bool any = false;

	for (size_t i = 0; i < count(members); i++)
		any |= get(item(members, i), "bound") > 0;
	if (!any)
		return;
	fputs("<details><summary>What is bound where</summary>\n<table>\n<tr><th>Device</th>"
	      "<th>At, in the team</th><th>Size</th><th>What</th><th>Held by</th></tr>\n", to);
	for (size_t i = 0; i < count(members); i++)
		put_member_rows(to, all, item(members, i));
	fputs("</table>\n</details>\n", to);
}
