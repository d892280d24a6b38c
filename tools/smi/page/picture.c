// SPDX-License-Identifier: MIT
/* Pools and teams as pictures of memcast-smi's page */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "shared/name.h"

#define WIDTH		960	/* of the pictures, in pixels */
#define BAR_X		110
#define BAR_WIDTH	630
#define ROW		40	/* of a pool */
#define BOX_WIDTH	112	/* of a member of a team */
#define BOX_HEIGHT	78
#define IN_A_ROW	8	/* boxes */
#define PITCH		(WIDTH / IN_A_ROW)
#define LETTER		7	/* about how wide one is */

/* ---- pools */

/* Writes the holders' names, or their pids if names need too much room, or nothing. */
static void put_label(FILE *to, struct json_object *all, struct json_object *pids, double x,
		      double y, double width)
{
	for (int named = 1; named >= 0; named--) {
		char *label = NULL;
		size_t size = 0;
		FILE *words = open_memstream(&label, &size);

		if (!words)
			return;
		for (size_t i = 0; i < count(pids); i++) {
			fputs(i ? ", " : "", words);
			put_process(words, all, json_object_get_int64(item(pids, i)), named);
		}
		fclose(words);
		if (width > LETTER * (double)size + 8) {
			fprintf(to, "<text class=\"on\" x=\"%.2f\" y=\"%.2f\" "
				"text-anchor=\"middle\">%s</text>", x + width / 2, y, label);
			named = 0;
		}
		free(label);
	}
}

/* Draws a stripe for each process that holds a memory, with a label of these processes. */
static void put_stripes(FILE *to, struct json_object *all, struct json_object *pids, double x,
			double y, double width)
{
	size_t stripes = count(pids);

	for (size_t i = 0; i < stripes; i++)
		fprintf(to, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
			"fill=\"%s\"/>", x, y + 26.0 / stripes * i, width, 26.0 / stripes,
			colour_of(all, json_object_get_int64(item(pids, i))));
	/* The edge of a single chunk of a large pool would cover the chunk. */
	if (width >= 4)
		fprintf(to, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"26\" "
			"fill=\"none\" stroke=\"#fff\"/>", x, y, width);
	put_label(to, all, pids, x, y + 17, width);
}

/*
 * Draws a memory in a pool, with its size as width: at its places, or at @x in a pool without
 * places. Return: @x for the next memory
 */
static double put_piece(FILE *to, struct json_object *all, struct json_object *memory, bool placed,
			double x, double y, double per_byte)
{
	struct json_object *pids = part(memory, "pids"), *places = part(memory, "places");
	double width = (double)get(memory, "bytes") * per_byte;

	fprintf(to, "<g><title>memory %" PRId64 ": ", get(memory, "memory"));
	put_size(to, get(memory, "bytes"));
	fputs(", held by ", to);
	put_processes(to, all, pids);
	fputs("</title>", to);
	if (!placed)
		put_stripes(to, all, pids, x, y, width);
	for (size_t i = 0; placed && places && i < count(places); i++)
		put_stripes(to, all, pids, BAR_X + (double)get(item(places, i), "at") * per_byte, y,
			    (double)get(item(places, i), "bytes") * per_byte);
	fputs("</g>\n", to);
	return x + width;
}

/* Below a device's name: its host, if the machine has several, and its state, if it is not ready */
static void put_state(FILE *to, struct json_object *device, bool hosts, double y)
{
	const char *state = json_object_get_string(part(device, "state"));

	fprintf(to, "<text x=\"0\" y=\"%.2f\">", y);
	if (hosts)
		fprintf(to, "host %" PRId64 " ", get(device, "host"));
	if (strcmp(state, "ready"))
		fprintf(to, "<tspan fill=\"#b2182b\">%s</tspan>", state);
	fputs("</text>\n", to);
}

/* Draws bytes of other processes: under all memories, as their places are unknown, or at @x. */
static void put_unseen(FILE *to, int64_t bytes, bool placed, double x, double y, double per_byte)
{
	if (bytes <= 0)
		return;
	fputs("<g><title>", to);
	put_size(to, bytes);
	fprintf(to, " used by processes that are not shown%s</title><rect x=\"%.2f\" y=\"%.2f\" "
		"width=\"%.2f\" height=\"26\" fill=\"url(#unseen)\" stroke=\"#fff\"/></g>\n",
		placed ? ", at places that are not told; the rest is free" : "", x, y,
		placed ? (double)BAR_WIDTH : (double)bytes * per_byte);
}

static void put_pool(FILE *to, struct json_object *all, struct json_object *device, double y)
{
	struct json_object *memories = part(all, "memories");
	int64_t total = get(device, "total"), used = total - get(device, "free");
	bool placed = smi_pool_has_places(all);
	double per_byte = BAR_WIDTH / (double)(total ? total : 1), x = BAR_X;

	fprintf(to, "<text class=\"name\" x=\"0\" y=\"%.2f\">device %" PRId64 "</text>"
		"<rect x=\"%d\" y=\"%.2f\" width=\"%d\" height=\"26\" fill=\"#eee\"/>\n",
		y + 17, get(device, "device"), BAR_X, y, BAR_WIDTH);
	/* Memories are drawn over it. */
	if (placed)
		put_unseen(to, smi_pool_unplaced(all, device), true, BAR_X, y, per_byte);
	for (size_t i = 0; i < count(memories); i++)
		if (!strcmp(json_object_get_string(part(item(memories, i), "where")),
			    json_object_get_string(part(device, "device"))))
			x = put_piece(to, all, item(memories, i), placed, x, y, per_byte);
	if (!placed)
		put_unseen(to, used - get(device, "seen"), false, x, y, per_byte);
	fprintf(to, "<text x=\"%d\" y=\"%.2f\">", BAR_X + BAR_WIDTH + 12, y + 17);
	put_size(to, used);
	fputs(" of ", to);
	put_size(to, total);
	fprintf(to, " used, node %" PRId64 "</text>\n", get(device, "node"));
}

void put_pools(FILE *to, struct json_object *all)
{
	struct json_object *devices = part(all, "devices");
	bool hosts = smi_has_hosts(devices);

	fprintf(to, "<h2>Pools</h2>\n<p class=\"note\">Each bar is the memory of a device. "
		"A piece has the colour of the process that holds it, in stripes if several do; "
		"grey is free, hatched is %s</p>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %zu\">\n"
		"<defs><pattern id=\"unseen\" width=\"6\" height=\"6\" "
		"patternUnits=\"userSpaceOnUse\"><rect width=\"6\" height=\"6\" fill=\"#ccc\"/>"
		"<path d=\"M0 6L6 0\" stroke=\"#888\"/></pattern></defs>\n",
		smi_pool_has_places(all) ?
		"free or used by processes that are not shown. A piece stands at its place in the "
		"pool." :
		"used by processes that are not shown. Pieces stand in the order of processes, as "
		"lazy pools have no places.", WIDTH, count(devices) * ROW);
	for (size_t i = 0; i < count(devices); i++) {
		put_pool(to, all, item(devices, i), (double)i * ROW + 6);
		put_state(to, item(devices, i), hosts, (double)i * ROW + 36);
	}
	fputs("</svg>\n", to);
}

/* ---- teams */

static void put_box(FILE *to, double x, double y, bool missing)
{
	fprintf(to, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\"/>"
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"%s\" "
		"stroke=\"%s\"%s/>\n",
		x + BOX_WIDTH / 2.0, y - 14, y, missing ? "#b2182b" : "#335577", x, y, BOX_WIDTH,
		BOX_HEIGHT, missing ? "#fff" : "#f4f7fa", missing ? "#b2182b" : "#335577",
		missing ? " stroke-dasharray=\"4 3\"" : "");
}

static void put_member(FILE *to, struct json_object *all, struct json_object *team,
		       struct json_object *member, double x, double y)
{
	int64_t bound = get(member, "bound"), pid = get(member, "pid");

	put_box(to, x, y, false);
	fprintf(to, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">device %" PRId64 "</text>",
		x + 8, y + 18, get(member, "device"));
	put_bindings_bar(to, team, member, x + 8, y + 26, BOX_WIDTH - 16);
	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\">", x + 8, y + 51);
	if (bound) {
		put_size(to, bound);
		fputs(" bound", to);
	} else {
		fputs("nothing bound", to);
	}
	fprintf(to, "</text><text x=\"%.1f\" y=\"%.1f\"", x + 8, y + 68);
	if (get(member, "ended") && pid)
		fprintf(to, " style=\"fill:#b2182b\">%" PRId64 " has ended</text>\n", pid);
	else if (get(member, "ended"))
		fputs(" style=\"fill:#b2182b\">its process has ended</text>\n", to);
	else if (pid)
		fprintf(to, " style=\"fill:%s\">joined by %" PRId64 "</text>\n",
			colour_of(all, pid), pid);
	else
		fputs(">joined</text>\n", to);
}

/* "device 1", "1 or 2", "one of 6 others" */
static void put_others(FILE *to, struct json_object *others)
{
	if (count(others) > 3) {
		fprintf(to, "one of %zu", count(others));
		return;
	}
	for (size_t i = 0; i < count(others); i++)
		fprintf(to, "%s%" PRId64, i ? " or " : "device ",
			json_object_get_int64(item(others, i)));
}

static void put_missing(FILE *to, struct json_object *team, double x, double y)
{
	put_box(to, x, y, true);
	fprintf(to, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\" style=\"fill:#b2182b\">missing"
		"</text><text x=\"%.1f\" y=\"%.1f\">", x + 8, y + 18, x + 8, y + 40);
	put_others(to, part(team, "others"));
	fputs("</text>\n", to);
}

static void put_picture(FILE *to, struct json_object *all, struct json_object *team)
{
	struct json_object *members = part(team, "members");
	size_t joined = count(members), boxes = joined + (size_t)get(team, "missing");
	size_t rows = (boxes + IN_A_ROW - 1) / IN_A_ROW;

	fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %zu\">\n", WIDTH,
		32 + rows * (BOX_HEIGHT + 20));
	for (size_t row = 0; row < rows; row++) {
		size_t here = row + 1 < rows ? IN_A_ROW : boxes - row * IN_A_ROW;
		double y = 30.0 + (double)row * (BOX_HEIGHT + 20);

		/* A line leads from one row to the next, past the boxes. */
		if (row)
			fprintf(to, "<path d=\"M2 30V%.1fH%.1f\" fill=\"none\" "
				"stroke=\"#335577\"/>\n", y,
				(double)(here - 1) * PITCH + BOX_WIDTH / 2.0 + 4);
	}
	fprintf(to, "<rect width=\"%zu\" height=\"30\" rx=\"4\" fill=\"#335577\"/>"
		"<text class=\"on\" x=\"12\" y=\"20\">team %" PRId64 ": ",
		(boxes < IN_A_ROW ? boxes > 3 ? boxes : 4 : IN_A_ROW) * PITCH - 4,
		get(team, "team"));
	put_size(to, get(team, "size"));
	fprintf(to, ", %" PRId64 " writes, %" PRId64 " multimem operations</text>\n",
		get(team, "writes"), get(team, "multimem"));
	for (size_t i = 0; i < boxes; i++) {
		double x = (double)(i % IN_A_ROW) * PITCH + 4;
		double y = 44.0 + (double)(i / IN_A_ROW) * (BOX_HEIGHT + 20);

		if (i < joined)
			put_member(to, all, team, item(members, i), x, y);
		else
			put_missing(to, team, x, y);
	}
	fputs("</svg>\n", to);
}

void put_team(FILE *to, struct json_object *all, struct json_object *team)
{
	struct json_object *waits = part(team, "waits");
	int64_t missing = get(team, "missing");

	fprintf(to, "<h3 id=\"team-%" PRId64 "\">Team %" PRId64 ", ", get(team, "team"),
		get(team, "team"));
	if (missing)
		fprintf(to, "<span class=\"bad\">%" PRId64 " of %" PRId64 " devices missing</span>",
			missing, get(team, "devices"));
	else
		fputs("<span class=\"good\">complete</span>", to);
	fputs("; held by ", to);
	put_processes(to, all, part(team, "pids"));
	fputs("</h3>\n", to);
	put_picture(to, all, team);
	put_bindings_table(to, all, team);
	for (size_t i = 0; i < count(waits); i++) {
		struct json_object *wait = item(waits, i);

		fputs("<p class=\"bad\">", to);
		put_process(to, all, get(wait, "pid"), true);
		fprintf(to, " has waited for %.1f s in ", (double)get(wait, "ms") / 1e3);
		name_put_xml(to, json_object_get_string(part(wait, "call")));
		fputs("</p>\n", to);
	}
}
