/* SPDX-License-Identifier: MIT */
/*
 * memcast-smi shows the contents of the JSON that it prints; docs/memcast-smi.schema.json is
 * a schema of that:
 *
 *   version    tool, module, linux: the versions of these
 *   backing    of pools: "eager" or "lazy"
 *   time       when /proc was read; driver, cuda: versions, as NVML has them
 *   count      how many devices there are, also where only some are shown
 *   devices    device, host, state: "ready"; "in_progress" or "failed": the state of its links
 *              to the fabric; or "lost", with its host; name, uuid, address: on the bus, node,
 *              total, free, taken: with backing=lazy, bytes that were touched, seen: bytes
 *              that the listed processes hold
 *   processes  pid, name, memory: by device, or "host", "foreign", "elsewhere": on another
 *              host; teams: numbers; fds: exported fds that it has open; host: the host that
 *              it is on
 *   memories   memory, where: as in the processes' memory, bytes; pids; places: at: offset in
 *              the pool, bytes; untold: bytes at further places, which the kernel does not list
 *   teams      team, size, devices, members: device, bound, pid: the process that added it,
 *              ended: if that process has ended, bindings: at: offset in the team, memory, from:
 *              offset in the memory, bytes; untold: bytes of further bindings; pids; missing:
 *              how many members have not joined; others: devices that could join; waits: calls
 *              that wait for them: pid, call, ms: how long the call waits
 *   activities pid, what: "kernel sum", or "stream 0x…" with a long wait for a word; ms: since when;
 *              where: at what its threads wait, or ""
 *   unseen     how many processes (no kernel threads) memcast-smi may not read
 */
#ifndef MEMCAST_SMI_H
#define MEMCAST_SMI_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static inline struct json_object *part(struct json_object *object, const char *name)
{
	return json_object_object_get(object, name);
}

static inline int64_t get(struct json_object *object, const char *name)
{
	return json_object_get_int64(part(object, name));
}

/* All of it. Return: NULL if there are no devices, after a message to stderr */
struct json_object *smi_collect(void);
/* device.c: the same for the devices alone */
struct json_object *smi_collect_devices(void);
/* device.c: whether there is a device of another host than 0 */
bool smi_has_hosts(struct json_object *devices);
/* The numbers of devices in a file of /proc: 0 is the machine's device @first, of @all it has */
struct smi_count {
	unsigned int first, all;
};

/* device.c: the number that memcast-smi has for a device of such a file */
unsigned int smi_number(const struct smi_count *count, unsigned int device);
/* list.c: the list of what a client holds, and whether a file is the one that asks for lists */
FILE *smi_list(const char *path, uint64_t key);
bool smi_list_is_own(const char *pid, const char *fd);
void smi_list_end(void);
/* team.c, for collect.c */
struct json_object *smi_team(const char *id, int64_t bytes, const char *rest,
			     const struct smi_count *count, size_t all);
void smi_team_wait(struct json_object *team, const char *rest);
void smi_team_bindings(struct json_object *team, int64_t device, const char *text);

/* activity.c: add what a process does, for collect.c */
void smi_activities(struct json_object *list, const char *pid);

/* device.c: versions, and the time */
void smi_add_versions(struct json_object *all);

void smi_print(struct json_object *all);

/*
 * html.c: write the page to file @path, or "-"; @every: the seconds after which a browser loads it
 * again, or 0. Return: false if it could not be written, after a message to stderr
 */
bool smi_html(struct json_object *all, const char *path, unsigned int every);

/* pool.c: add the places of a memory's chunks, for collect.c */
void smi_pool_places(struct json_object *memory, const char *text);
/* Do pools have places at all? */
bool smi_pool_has_places(struct json_object *all);
/* How many used bytes of a pool are not at a place of a shown memory */
int64_t smi_pool_unplaced(struct json_object *all, struct json_object *device);
/* Print which processes hold the memory of each pool, in characters */
void smi_pool_print(struct json_object *all);

/* choose.c: leave the devices of a list, and what concerns them. Return: false if one is unknown */
bool smi_choose(struct json_object *all, const char *words);

/* query.c: --query-device and -q */
#define SMI_FIELDS	32

struct smi_query {
	const struct query_field *field[SMI_FIELDS];
	size_t count;
	bool no_header, no_units;
};

/* Return: false if a word is unknown */
bool smi_query_parse(struct smi_query *query, const char *names);
bool smi_format_parse(struct smi_query *query, const char *format);
void smi_query_help(void);
void smi_query_print(const struct smi_query *query, struct json_object *all, bool header);
void smi_query_print_all(struct json_object *all);

#endif /* MEMCAST_SMI_H */
