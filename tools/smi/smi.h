/* SPDX-License-Identifier: MIT */
/*
 * What memcast-smi shows, as the JSON that it prints; docs/memcast-smi.schema.json has it
 * as a schema:
 *
 *   version    tool, module, linux: those that answer
 *   backing    of pools: "eager" or "lazy"
 *   time       when it was looked at; driver, cuda: versions, as NVML has them
 *   count      how many devices there are, also where only some are shown
 *   devices    device, host, state: "ready", or "in_progress" or "failed": its links to the
 *              fabric; or "lost", with its host; name, uuid, address: on the bus, node, total,
 *              free, seen: what the processes hold of it
 *   processes  pid, name, memory: by device, or "host", "foreign", "elsewhere": on another
 *              host; teams: numbers; fds: exported ones that it has open; host: that it is on
 *   memories   memory, where: as in the processes' memory, bytes; pids; places: at in the pool,
 *              bytes, untold: bytes at places that are too many to be there
 *   teams      team, size, devices, members: device, bound, pid of who added it, ended if
 *              that process has, bindings: at in the team, memory, from: where in it, bytes,
 *              untold: bytes of bindings that are too many to be there; pids; missing: how many have not joined; others: devices
 *              that could; waits: calls that wait for them: pid, call, ms: for how long
 *   unseen     how many processes (no kernel threads) this one may not look into
 */
#ifndef MEMCAST_SMI_H
#define MEMCAST_SMI_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

/* NULL: there are no devices, which stderr says. */
struct json_object *smi_look(void);
/* device.c, the same for the devices alone */
struct json_object *smi_look_devices(void);
/* device.c: whether there is a device of another host than 0 */
bool smi_has_hosts(struct json_object *devices);
/* How devices are counted in a file of /proc: from device @first of @all that the machine has */
struct smi_count {
	unsigned int first, all;
};

/* device.c: the number that this program has for a device of such a file */
unsigned int smi_number(const struct smi_count *count, unsigned int device);
/* team.c, for look.c */
struct json_object *smi_team(const char *id, int64_t bytes, const char *rest,
			     const struct smi_count *count, size_t all);
void smi_team_wait(struct json_object *team, const char *rest);
void smi_team_bindings(struct json_object *team, int64_t device, const char *text);

/* device.c: versions, and the time */
void smi_look_versions(struct json_object *all);

void smi_print(struct json_object *all);

/*
 * html.c: write the page to that file, or "-"; @every: the browser is to look again after
 * so many seconds, or 0. False: it could not be written, which stderr says.
 */
bool smi_html(struct json_object *all, const char *path, unsigned int every);

/* pool.c: where the chunks of a memory lie, for look.c */
void smi_pool_places(struct json_object *memory, const char *text);
/* Do pools have places at all? */
bool smi_pool_has_places(struct json_object *all);
/* How much of a pool's used bytes has no place among the memories that are shown */
int64_t smi_pool_unplaced(struct json_object *all, struct json_object *device);
/* Who holds what of each pool, in characters */
void smi_pool_print(struct json_object *all);

/* choose.c: leave the devices of a list, and what is about them. False: there is none such */
bool smi_choose(struct json_object *all, const char *words);

/* query.c: --query-device and -q */
#define SMI_FIELDS	32

struct smi_query {
	const struct query_field *field[SMI_FIELDS];
	size_t count;
	bool no_header, no_units;
};

/* Return: false if the words are not all known */
bool smi_query_parse(struct smi_query *query, const char *names);
bool smi_format_parse(struct smi_query *query, const char *format);
void smi_query_help(void);
void smi_query_print(const struct smi_query *query, struct json_object *all, bool header);
void smi_query_print_all(struct json_object *all);

#endif /* MEMCAST_SMI_H */
