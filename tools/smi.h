/* SPDX-License-Identifier: MIT */
/*
 * What memcast-smi shows, as the JSON that it prints:
 *
 *   devices    device, uuid, node, total, free, seen: what the processes hold of it
 *   processes  pid, name, memory: by device, or "host", "foreign"; teams: numbers;
 *              fds: exported ones that it has open
 *   teams      team, size, devices, members: device, bound; pids
 *   unseen     how many processes (no kernel threads) this one may not look into
 */
#ifndef MEMCAST_SMI_H
#define MEMCAST_SMI_H

#include <json-c/json.h>

/* NULL: there are no devices. */
struct json_object *smi_look(void);
void smi_print(struct json_object *all);

#endif /* MEMCAST_SMI_H */
