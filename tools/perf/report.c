// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "perf.h"
#include "shared/name.h"

const char *collective_name(enum collective collective)
{
	static const char *const name[] = { "allreduce", "broadcast", "reduce" };

	return name[collective];
}

/* nccl-tests prints -1 where a collective has no root. */
static int shown_root(const struct options *options)
{
	return options->collective == ALLREDUCE ? -1 : (int)options->root;
}

static void format_uuid(const unsigned char *uuid, char text[37])
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		text += sprintf(text, "%s%02x", i == 4 || i == 6 || i == 8 ||
				i == 10 ? "-" : "", uuid[i]);
}

static void table_begin(const struct report *report)
{
	const struct options *options = report->options;
	const struct introduction *rank = report->rank;
	char uuid[37];
	unsigned int i;

	printf("# memcast-perf %s\n", collective_name(options->collective));
	printf("# nThread 1 nDevices %u minBytes %zu maxBytes %zu step: %zu(factor) "
	       "warmup iters: %u iters: %u validation: %u\n#\n# Using devices\n",
	       options->ranks, options->min_bytes, options->max_bytes,
	       options->factor, options->warmup, options->iterations,
	       options->checks);
	for (i = 0; i < options->ranks; i++) {
		format_uuid(rank[i].uuid, uuid);
		printf("#  Rank %2u Pid %6d %s%s%sdevice %2d %s %s\n", i, rank[i].pid,
		       *rank[i].host ? "on " : "", rank[i].host, *rank[i].host ? " " : "",
		       rank[i].device, uuid, rank[i].name);
	}
	printf("#\n# driver version %d.%d\n#\n", rank[0].driver_version / 1000,
	       rank[0].driver_version % 1000 / 10);
	printf("#%11s  %12s  %8s  %6s  %6s  %9s  %7s  %7s  %6s\n", "size",
	       "count", "type", "redop", "root", "time", "algbw", "busbw",
	       "#wrong");
	printf("#%11s  %12s  %8s  %6s  %6s  %9s  %7s  %7s\n", "(B)",
	       "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)");
}

void report_begin(struct report *report)
{
	if (report->options->json)
		report->rows = json_object_new_array();
	else
		table_begin(report);
}

static void json_row(struct report *report, size_t count, unsigned int iterations,
		     double seconds, double algbw, double busbw, uint64_t wrong)
{
	const struct options *options = report->options;
	struct json_object *row = json_object_new_object();

	json_object_object_add(row, "size", json_object_new_uint64(
			       count * options->element->bytes));
	json_object_object_add(row, "count", json_object_new_uint64(count));
	json_object_object_add(row, "type", json_object_new_string(
			       options->element->nccl_name));
	json_object_object_add(row, "redop", json_object_new_string("sum"));
	json_object_object_add(row, "root",
			       json_object_new_int(shown_root(options)));
	json_object_object_add(row, "iterations", json_object_new_int((int)iterations));
	json_object_object_add(row, "time_us",
			       json_object_new_double(seconds * 1e6));
	json_object_object_add(row, "algbw_gbs", json_object_new_double(algbw));
	json_object_object_add(row, "busbw_gbs", json_object_new_double(busbw));
	json_object_object_add(row, "wrong", options->checks ?
			       json_object_new_uint64(wrong) : NULL);
	json_object_array_add(report->rows, row);
}

void report_row(struct report *report, size_t count, unsigned int iterations,
		double seconds, uint64_t wrong)
{
	const struct options *options = report->options;
	size_t bytes = count * options->element->bytes;
	double algbw = (double)bytes * 1e-9 / seconds;
	double busbw = algbw;

	/* nccl-tests' formula for the traffic on a link, per byte of payload */
	if (options->collective == ALLREDUCE)
		busbw *= 2.0 * (options->ranks - 1) / options->ranks;
	report->busbw_sum += busbw;
	report->sizes++;
	report->wrong += wrong;
	report->last = bytes;
	if (iterations < options->iterations && !report->fewer)
		report->fewer = bytes;

	if (options->json) {
		json_row(report, count, iterations, seconds, algbw, busbw, wrong);
		return;
	}
	printf("%12zu  %12zu  %8s  %6s  %6d  %9.2f  %7.3f  %7.3f  ", bytes,
	       count, options->element->nccl_name, "sum", shown_root(options),
	       seconds * 1e6, algbw, busbw);
	if (options->checks)
		printf("%6" PRIu64 "\n", wrong);
	else
		printf("%6s\n", "N/A");
	fflush(stdout);
}

static void json_end(struct report *report, double average)
{
	const struct options *options = report->options;
	struct json_object *all = json_object_new_object();
	struct json_object *devices = json_object_new_array();
	unsigned int i;
	char uuid[37];

	for (i = 0; i < options->ranks; i++) {
		const struct introduction *rank = &report->rank[i];
		struct json_object *one = json_object_new_object();

		format_uuid(rank->uuid, uuid);
		json_object_object_add(one, "rank", json_object_new_int((int)i));
		json_object_object_add(one, "pid",
				       json_object_new_int(rank->pid));
		if (*rank->host) {
			json_object_object_add(one, "host", json_object_new_string(rank->host));
			json_object_object_add(one, "device", json_object_new_int(rank->device));
		}
		json_object_object_add(one, "uuid", json_object_new_string(uuid));
		json_object_object_add(one, "name", name_new(rank->name));
		json_object_array_add(devices, one);
	}
	json_object_object_add(all, "collective", json_object_new_string(
			       collective_name(options->collective)));
	json_object_object_add(all, "driver_version", json_object_new_int(
			       report->rank[0].driver_version));
	json_object_object_add(all, "warmup",
			       json_object_new_int((int)options->warmup));
	json_object_object_add(all, "iterations",
			       json_object_new_int((int)options->iterations));
	json_object_object_add(all, "devices", devices);
	json_object_object_add(all, "results", report->rows);
	json_object_object_add(all, "out_of_bounds", options->checks ?
			       json_object_new_uint64(report->wrong) : NULL);
	json_object_object_add(all, "average_busbw_gbs",
			       json_object_new_double(average));
	json_object_object_add(all, "sizes_left_out", json_object_new_boolean(report->cut));
	puts(json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY));
	json_object_put(all);
}

void report_end(struct report *report)
{
	double average = report->busbw_sum / report->sizes;

	if (report->options->json) {
		json_end(report, average);
		return;
	}
	if (report->fewer)
		printf("# Fewer iterations from %zu bytes on: a trial of each size says what "
		       "there is time for in %u s\n", report->fewer, report->options->seconds);
	if (report->cut)
		printf("# No sizes above %zu bytes: they would take longer than %u s\n",
		       report->last, report->options->seconds);
	if (report->options->checks)
		printf("# Out of bounds values : %" PRIu64 " %s\n",
		       report->wrong, report->wrong ? "FAILED" : "OK");
	printf("# Avg bus bandwidth    : %g\n#\n", average);
}
