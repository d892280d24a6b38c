// SPDX-License-Identifier: MIT
/* The commands: the kind of value of each field, and the object that a success gives. */
#include <uapi/memcast.h>

#include "fuzz_commands.h"

#define S(arg, member)	sizeof(((struct memcast_##arg *)0)->member)
#define F(arg, member, kind)	\
	{ offsetof(struct memcast_##arg, member), S(arg, member), kind }
#define GIVES(kind_, arg, member, more)	\
	.gives = kind_, .value = offsetof(struct memcast_##arg, member), \
	.extra = offsetof(struct memcast_##arg, more)
#define COMMAND(NAME, arg, fields, ...)	\
	[MEMCAST_NR_##NAME - MEMCAST_NR_BASE] = { \
		.name = #NAME, .size = sizeof(struct memcast_##arg), \
		.field = { REMOVE_PARENTHESES fields }, .gives = -1, __VA_ARGS__ }
#define REMOVE_PARENTHESES(...)	__VA_ARGS__

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
const struct fuzz_command fuzz_commands[FUZZ_COMMANDS] = {
	COMMAND(SYSTEM_INFO, system_info, ()),
	COMMAND(DEVICE_INFO, device_info, (F(device_info, device, DEVICE))),
	COMMAND(HANDLE_INFO, handle_info, (F(handle_info, handle, HANDLE))),
	COMMAND(HANDLE_RELEASE, handle_release, (F(handle_release, handle, HANDLE))),
	COMMAND(HANDLE_RETAIN, handle_retain, (F(handle_retain, address, MAPPED)),
	     GIVES(MEMORY, handle_retain, out_handle, address)),
	COMMAND(EXPORT, export, (F(export, handle, HANDLE), F(export, handle_type, TYPE)),
	     GIVES(DMABUF, export, out_fd, flags)),
	COMMAND(IMPORT, import, (F(import, handle_type, TYPE), F(import, fd, FD),
	     F(import, fabric, FABRIC), F(import, flags, FLAGS), F(import, device, REST)),
	     GIVES(MEMORY, import, out_handle, bytes)),
	COMMAND(MEMORY_CREATE, memory_create, (F(memory_create, location, LOCATION),
	     F(memory_create, location_id, DEVICE), F(memory_create, bytes, BYTES),
	     F(memory_create, handle_types, TYPES)),
	     GIVES(MEMORY, memory_create, out_handle, bytes)),
	COMMAND(TEAM_CREATE, team_create, (F(team_create, bytes, BYTES),
	     F(team_create, devices, WIDTH), F(team_create, handle_types, TYPES)),
	     GIVES(TEAM, team_create, out_handle, bytes)),
	COMMAND(TEAM_ADD, team_add, (F(team_add, team, TEAM), F(team_add, device, DEVICE))),
	COMMAND(BIND_MEMORY, bind_memory, (F(bind_memory, team, TEAM),
	     F(bind_memory, device, OWN_DEVICE), F(bind_memory, memory, MEMORY),
	     F(bind_memory, team_offset, OFFSET), F(bind_memory, memory_offset, OFFSET),
	     F(bind_memory, bytes, BYTES))),
	COMMAND(BIND_ADDRESS, bind_address, (F(bind_address, team, TEAM),
	     F(bind_address, device, OWN_DEVICE), F(bind_address, team_offset, OFFSET),
	     F(bind_address, address, MAPPED), F(bind_address, bytes, BYTES))),
	COMMAND(UNBIND, unbind, (F(unbind, team, TEAM), F(unbind, device, DEVICE),
	     F(unbind, team_offset, OFFSET), F(unbind, bytes, BYTES))),
	COMMAND(RESERVATION_FREE, reservation_free, (F(reservation_free, address, RESERVATION),
	     F(reservation_free, bytes, EXTRA), F(reservation_free, flags, FEW))),
	COMMAND(MAP, map, (F(map, handle, HANDLE), F(map, flags, FLAGS),
	     F(map, address, RESERVATION), F(map, bytes, BYTES), F(map, offset, OFFSET)),
	     GIVES(MAPPING, map, address, bytes)),
	COMMAND(UNMAP, unmap, (F(unmap, address, MAPPING), F(unmap, bytes, EXTRA))),
	COMMAND(SET_ACCESS, set_access, (F(set_access, address, MAPPING),
	     F(set_access, bytes, EXTRA), F(set_access, entries, ENTRIES),
	     F(set_access, count, COUNT))),
	COMMAND(GET_ACCESS, get_access, (F(get_access, address, MAPPED),
	     F(get_access, location, LOCATION), F(get_access, location_id, DEVICE))),
	COMMAND(COPY, copy, (F(copy, to, ANY_ADDRESS), F(copy, from, ANY_ADDRESS),
	     F(copy, bytes, LOW), F(copy, device, DEVICE), F(copy, flags, FLAGS),
	     F(copy, rows, ROWS), F(copy, to_pitch, BYTES), F(copy, from_pitch, BYTES))),
	COMMAND(FILL, fill, (F(fill, to, MAPPED), F(fill, count, LOW), F(fill, width, WIDTH),
	     F(fill, value, FEW), F(fill, device, DEVICE), F(fill, flags, FLAGS),
	     F(fill, rows, ROWS), F(fill, pitch, BYTES))),
	COMMAND(CHANNEL, channel, (F(channel, fd, CHANNEL_FD))),
	COMMAND(ADDRESS_INFO, address_info, (F(address_info, address, ANY_ADDRESS),
	     F(address_info, device, DEVICE))),
	COMMAND(HEAP_CREATE, heap_create, (F(heap_create, location, LOCATION),
	     F(heap_create, location_id, DEVICE), F(heap_create, handle_types, TYPES),
	     F(heap_create, flags, FLAGS), F(heap_create, limit, OFFSET)),
	     GIVES(HEAP, heap_create, out_heap, limit)),
	COMMAND(HEAP_DESTROY, heap_destroy, (F(heap_destroy, heap, ANY_HEAP),
	     F(heap_destroy, flags, FEW))),
	COMMAND(HEAP_INFO, heap_info, (F(heap_info, heap, ANY_HEAP), F(heap_info, device, DEVICE))),
	COMMAND(HEAP_SET, heap_set, (F(heap_set, heap, ANY_HEAP), F(heap_set, setting, SETTING),
	     F(heap_set, value, OFFSET))),
	COMMAND(HEAP_ACCESS, heap_access, (F(heap_access, heap, ANY_HEAP),
	     F(heap_access, count, COUNT), F(heap_access, entries, ENTRIES))),
	COMMAND(HEAP_TRIM, heap_trim, (F(heap_trim, heap, ANY_HEAP), F(heap_trim, flags, FEW),
	     F(heap_trim, keep, OFFSET))),
	COMMAND(BLOCK_ALLOC, block_alloc, (F(block_alloc, heap, HEAP), F(block_alloc, flags, FEW),
	     F(block_alloc, bytes, LOW)), GIVES(BLOCK, block_alloc, out_address, bytes)),
	COMMAND(BLOCK_REGISTER, block_register, (F(block_register, address, PLAIN),
	     F(block_register, bytes, EXTRA), F(block_register, flags, FEW),
	     F(block_register, heap, ANY_HEAP)),
	     GIVES(BLOCK, block_register, address, bytes)),
	COMMAND(BLOCK_FREE, block_free, (F(block_free, address, BLOCK),
	     F(block_free, flags, FLAGS))),
	COMMAND(EXPORT_RANGE, export_range, (F(export_range, address, MAPPED),
	     F(export_range, bytes, EXTRA)), GIVES(DMABUF, export_range, out_fd, bytes)),
	COMMAND(HEAP_EXPORT, heap_export, (F(heap_export, heap, HEAP),
	     F(heap_export, handle_type, TYPE)), GIVES(HEAP_FD, heap_export, out_fd, heap)),
	COMMAND(HEAP_IMPORT, heap_import, (F(heap_import, handle_type, TYPE),
	     F(heap_import, fd, HEAP_FD)), GIVES(IMPORTED, heap_import, out_heap, fd)),
	COMMAND(BLOCK_EXPORT, block_export, (F(block_export, address, BLOCK)),
	     GIVES(RECORD, block_export, out_object, out_bytes)),
	COMMAND(BLOCK_IMPORT, block_import, (F(block_import, heap, IMPORTED),
	     F(block_import, object, RECORD), F(block_import, offset, HIGH),
	     F(block_import, bytes, EXTRA)), GIVES(BLOCK, block_import, out_address, bytes)),
	COMMAND(BLOCK_MAP, block_map, (F(block_map, heap, HEAP), F(block_map, handle, MEMORY),
	     F(block_map, offset, OFFSET), F(block_map, bytes, LOW)),
	     GIVES(BLOCK, block_map, out_address, bytes)),
	COMMAND(TEAM_WAIT, team_wait, (F(team_wait, team, TEAM), F(team_wait, command, WAITING),
	     F(team_wait, flags, FEW), F(team_wait, since, OFFSET))),
	COMMAND(TEAM_MEMBERS, team_members, (F(team_members, team, TEAM),
	     F(team_members, count, COUNT), F(team_members, members, ENTRIES))),
	COMMAND(ADDRESS_CHECK, address_check, (F(address_check, address, ANY_ADDRESS),
	     F(address_check, flags, FEW))),
	COMMAND(BLOCK_SET, block_set, (F(block_set, address, BLOCK), F(block_set, flags, FEW),
	     F(block_set, mask, FEW))),
	COMMAND(IPC_EXPORT, ipc_export, (F(ipc_export, address, BLOCK))),
	COMMAND(IPC_OPEN, ipc_open, (F(ipc_open, flags, FEW))),
	COMMAND(CLIENT_LIST, client_list, (F(client_list, key, KEY)),
	     GIVES(OTHER_FD, client_list, out_fd, key)),
	COMMAND(CLIENT_PROTECT, client_protect, (F(client_protect, key, FEW))),
	COMMAND(TEAM_COUNT, team_count, (F(team_count, address, ANY_ADDRESS),
	     F(team_count, multimem, COUNT))),
};
#pragma GCC diagnostic pop

const char *fuzz_command_name(unsigned int command)
{
	return fuzz_commands[command].name;
}
