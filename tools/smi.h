/* SPDX-License-Identifier: MIT */
/*
 * What memcast-smi shows, as the JSON that it prints:
 *
 *   devices    device, name, uuid, address: on the bus, node, total, free, seen: what the
 *              processes hold of it
 *   processes  pid, name, memory: by device, or "host", "foreign"; teams: numbers;
 *              fds: exported ones that it has open
 *   teams      team, size, devices, members: device, bound, pid of who added it; pids;
 *              missing: how many have not joined; others: devices that could;
 *              waits: calls that wait for them: pid, call, ms: for how long
 *   unseen     how many processes (no kernel threads) this one may not look into
 */
#ifndef MEMCAST_SMI_H
#define MEMCAST_SMI_H

#include <json-c/json.h>

/* NULL: there are no devices, which stderr says. */
struct json_object *smi_look(void);
/* smi-device.c, the same for the devices alone */
struct json_object *smi_look_devices(void);
/* smi-team.c, for smi-look.c */
struct json_object *smi_team(const char *id, int64_t bytes, const char *rest, size_t all);
void smi_team_wait(struct json_object *team, const char *rest);

void smi_print(struct json_object *all);

#endif /* MEMCAST_SMI_H */
