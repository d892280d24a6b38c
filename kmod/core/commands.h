/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of the file, a row each: COMMAND(STRUCT, NAME, LAST, NEEDS).
 *
 * MEMCAST_NAME is the ioctl, its argument is a struct memcast_STRUCT, whose first version
 * ended with the field LAST, and the handler is mc_STRUCT(), in the folder that the command
 * is about. NEEDS is MULTICAST where devices have to be able to, NO_HOST where the command
 * answers although the client's host was lost, else NOTHING.
 *
 * A file that includes this defines COMMAND(), which every row expands to. MC_ROW_END
 * keeps checkpatch.pl from taking a semicolon before it for a mistake.
 *
 * include/uapi/memcast.h names each command once more, as the header of iommufd does: programs
 * include that header, and people read it, without the module's source.
 */
#define MC_ROW_END

COMMAND(system_info, SYSTEM_INFO, out_recommended, NOTHING)
COMMAND(device_info, DEVICE_INFO, reserved, NOTHING)
COMMAND(handle_info, HANDLE_INFO, out_joined, NOTHING)
COMMAND(handle_release, HANDLE_RELEASE, reserved, NOTHING)
COMMAND(handle_retain, HANDLE_RETAIN, handle, NOTHING)
COMMAND(export, EXPORT, out_fd, NOTHING)
COMMAND(import, IMPORT, out_handle, NOTHING)
COMMAND(memory_create, MEMORY_CREATE, reserved, NOTHING)
COMMAND(team_create, TEAM_CREATE, out_handle, MULTICAST)
COMMAND(team_add, TEAM_ADD, device, MULTICAST)
COMMAND(bind_memory, BIND_MEMORY, bytes, MULTICAST)
COMMAND(bind_address, BIND_ADDRESS, reserved, MULTICAST)
COMMAND(unbind, UNBIND, bytes, MULTICAST)
COMMAND(reservation_free, RESERVATION_FREE, bytes, NOTHING)
COMMAND(map, MAP, reserved, NOTHING)
COMMAND(unmap, UNMAP, bytes, NOTHING)
COMMAND(set_access, SET_ACCESS, reserved, NOTHING)
COMMAND(get_access, GET_ACCESS, reserved, NOTHING)
COMMAND(copy, COPY, flags, NOTHING)
COMMAND(fill, FILL, flags, NOTHING)
COMMAND(channel, CHANNEL, reserved, NOTHING)
COMMAND(address_info, ADDRESS_INFO, padding, NOTHING)
COMMAND(heap_create, HEAP_CREATE, reserved, NOTHING)
COMMAND(heap_destroy, HEAP_DESTROY, flags, NOTHING)
COMMAND(heap_info, HEAP_INFO, reserved, NOTHING)
COMMAND(heap_set, HEAP_SET, value, NOTHING)
COMMAND(heap_access, HEAP_ACCESS, entries, NOTHING)
COMMAND(heap_trim, HEAP_TRIM, keep, NOTHING)
COMMAND(block_alloc, BLOCK_ALLOC, out_address, NOTHING)
COMMAND(block_register, BLOCK_REGISTER, heap, NOTHING)
COMMAND(block_free, BLOCK_FREE, reserved, NOTHING)
COMMAND(export_range, EXPORT_RANGE, out_fd, NOTHING)
COMMAND(heap_export, HEAP_EXPORT, reserved, NOTHING)
COMMAND(heap_import, HEAP_IMPORT, reserved, NOTHING)
COMMAND(block_export, BLOCK_EXPORT, out_bytes, NOTHING)
COMMAND(block_import, BLOCK_IMPORT, out_address, NOTHING)
COMMAND(block_map, BLOCK_MAP, out_address, NOTHING)
COMMAND(team_wait, TEAM_WAIT, since, NOTHING)
COMMAND(team_members, TEAM_MEMBERS, out_joined, NOTHING)
COMMAND(address_check, ADDRESS_CHECK, reserved, NO_HOST)
COMMAND(block_set, BLOCK_SET, mask, NOTHING)
COMMAND(ipc_export, IPC_EXPORT, out_key, NOTHING)
COMMAND(ipc_open, IPC_OPEN, flags, NOTHING)
COMMAND(client_list, CLIENT_LIST, reserved, NOTHING)
COMMAND(client_protect, CLIENT_PROTECT, reserved, NOTHING)
COMMAND(team_count, TEAM_COUNT, multimem, NOTHING)

#undef COMMAND
#undef MC_ROW_END
