/* SPDX-License-Identifier: MIT */
/* The files of memcast-smi --html share these: parts of the page, and of the JSON that it shows. */
#ifndef MEMCAST_SMI_HTML_H
#define MEMCAST_SMI_HTML_H

#include <stdint.h>
#include <stdio.h>

#include "smi/smi.h"

static inline struct json_object *item(struct json_object *array, size_t index)
{
	return json_object_array_get_idx(array, index);
}

static inline size_t count(struct json_object *array)
{
	return json_object_array_length(array);
}

/* html.c: "64 MiB" */
void put_size(FILE *to, int64_t bytes);
/* "712 rank0", or the number alone */
void put_process(FILE *to, struct json_object *all, int64_t pid, bool named);
void put_processes(FILE *to, struct json_object *all, struct json_object *pids);
const char *colour_of(struct json_object *all, int64_t pid);

/* picture.c */
void put_pools(FILE *to, struct json_object *all);
void put_team(FILE *to, struct json_object *all, struct json_object *team);

/* binding.c: a bar of the bound ranges of a member; a table of a team's bindings, if any */
void put_bindings_bar(FILE *to, struct json_object *team, struct json_object *member, double x,
		      double y, double width);
void put_bindings_table(FILE *to, struct json_object *all, struct json_object *team);

#endif /* MEMCAST_SMI_HTML_H */
