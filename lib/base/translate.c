// SPDX-License-Identifier: MIT
/*
 * Translates the device numbers in the arguments of ioctls, where CUDA_VISIBLE_DEVICES makes
 * the program's numbers differ from the module's. Signal handlers call this, too.
 */
#include <linux/ioctl.h>

#include "visible.h"

static uint32_t to_module[MEMCAST_MAX_DEVICES], from_module[MEMCAST_MAX_DEVICES];
static uint32_t devices, visible;	/* how many there are, and how many the program sees */

enum kind {
	DEVICE,		/* u32, an input; with a condition: if those flags are set */
	PLACE,		/* enum memcast_location and u32, an input */
	PLACE_TOLD,	/* the same, an output: an invisible device is elsewhere */
	ENTRIES,	/* pointer to struct memcast_access_entry, an input; count */
	MEMBERS_TOLD,	/* pointer to struct memcast_team_member, an output; count */
};

#define FIELD(command, type, field, kind) \
	{ MEMCAST_NR_##command, kind, offsetof(struct memcast_##type, field), 0, 0 }
#define COUNTED(command, type, field, count, kind) \
	{ MEMCAST_NR_##command, kind, offsetof(struct memcast_##type, field), \
	  offsetof(struct memcast_##type, count), 0 }
/* A device number that must be 0 unless a flag is set */
#define DEVICE_IF(flag, command, type, field) \
	{ MEMCAST_NR_##command, DEVICE, offsetof(struct memcast_##type, field), \
	  offsetof(struct memcast_##type, flags), flag }

/* Every field of include/uapi/memcast.h with a device number */
static const struct field {
	unsigned char command, kind;
	unsigned short offset, other;	/* other: offset of the count, or of the flags */
	unsigned int condition;
} fields[] = {
	FIELD(DEVICE_INFO, device_info, device, DEVICE),
	FIELD(MEMORY_CREATE, memory_create, location, PLACE),
	FIELD(HANDLE_INFO, handle_info, out_location, PLACE_TOLD),
	DEVICE_IF(MEMCAST_IMPORT_FOREIGN, IMPORT, import, device),
	FIELD(TEAM_ADD, team_add, device, DEVICE),
	COUNTED(TEAM_MEMBERS, team_members, members, count, MEMBERS_TOLD),
	FIELD(BIND_MEMORY, bind_memory, device, DEVICE),
	FIELD(BIND_ADDRESS, bind_address, device, DEVICE),
	FIELD(UNBIND, unbind, device, DEVICE),
	COUNTED(SET_ACCESS, set_access, entries, count, ENTRIES),
	FIELD(GET_ACCESS, get_access, location, PLACE),
	FIELD(COPY, copy, device, DEVICE),
	DEVICE_IF(MEMCAST_COPY_PEER, COPY, copy, from_device),
	FIELD(FILL, fill, device, DEVICE),
	FIELD(ADDRESS_INFO, address_info, out_location, PLACE_TOLD),
	FIELD(ADDRESS_INFO, address_info, device, DEVICE),
	FIELD(HEAP_CREATE, heap_create, location, PLACE),
	FIELD(HEAP_INFO, heap_info, out_location, PLACE_TOLD),
	FIELD(HEAP_INFO, heap_info, device, DEVICE),
	COUNTED(HEAP_ACCESS, heap_access, entries, count, ENTRIES),
};

void translate_by(const uint32_t *order, uint32_t count, uint32_t seen)
{
	devices = count;
	visible = seen;
	for (uint32_t i = 0; i < count; i++) {
		to_module[i] = order[i];
		from_module[order[i]] = i;
	}
}

/* A number that is no device's stays: it has another meaning, or none. */
static void replace(uint32_t *number, const uint32_t *map)
{
	if (*number < devices)
		*number = map[*number];
}

static void replace_place(uint32_t *place, const uint32_t *map)
{
	if (place[0] == MEMCAST_LOCATION_DEVICE)
		replace(&place[1], map);
}

/*
 * The program has no number for a device that it does not see: its memory, which another process
 * has shared, is told as another host's is.
 */
static void tell_place(uint32_t *place)
{
	replace_place(place, from_module);
	if (place[0] != MEMCAST_LOCATION_DEVICE || place[1] < visible || place[1] >= devices)
		return;
	place[0] = MEMCAST_LOCATION_ELSEWHERE;
	place[1] = MEMCAST_DEVICE_NONE;
}

static void replace_given(const struct field *field, char *argument, const uint32_t *map)
{
	uint32_t other = *(uint32_t *)(argument + field->other);
	void *at = argument + field->offset;
	struct memcast_access_entry *entries;

	switch (field->kind) {
	case DEVICE:
		if (!field->condition || other & field->condition)
			replace(at, map);
		break;
	case PLACE:
		replace_place(at, map);
		break;
	case ENTRIES:
		entries = (void *)(uintptr_t)*(uint64_t *)at;
		for (uint32_t i = 0; i < other; i++)
			replace_place(&entries[i].location, map);
		break;
	}
}

static void replace_told(const struct field *field, char *argument)
{
	uint32_t count = *(uint32_t *)(argument + field->other);
	void *at = argument + field->offset;
	struct memcast_team_member *members;

	switch (field->kind) {
	case PLACE_TOLD:
		tell_place(at);
		break;
	case MEMBERS_TOLD:
		members = (void *)(uintptr_t)*(uint64_t *)at;
		for (uint32_t i = 0; i < count; i++)
			replace(&members[i].device, from_module);
		break;
	}
}

void visible_before(unsigned long request, void *argument)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].command == _IOC_NR(request))
			replace_given(&fields[i], argument, to_module);
}

/* The inputs get their old values again, for a caller that repeats the ioctl. */
void visible_after(unsigned long request, void *argument, bool succeeded)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (fields[i].command != _IOC_NR(request))
			continue;
		replace_given(&fields[i], argument, from_module);
		if (succeeded)
			replace_told(&fields[i], argument);
	}
}
