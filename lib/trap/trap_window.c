// SPDX-License-Identifier: MIT
/* Where windows are, for trap.c and its like. (Their tests have another one.) */
#define _GNU_SOURCE
#include "library.h"
#include "trap.h"

bool trap_window_at(uintptr_t address, struct trap_window *window)
{
	const struct memcast_view *view;
	CUmemAccess_flags access;
	size_t offset;

	if (!window_trapped(address, &view, &offset, &access) ||
	    access != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
		return false;
	window->start = address - offset;
	window->bytes = view->bytes;
	window->replicas = view->replicas;
	window->replica = view->replica;
	return true;
}

/* Return: is it in a window, whatever the CPU may do there? */
bool trap_place_at(uintptr_t address, struct trap_place *place)
{
	struct memcast_address_info info = { .address = address };

	if (!window_near(address) ||
	    !device_ask(MEMCAST_ADDRESS_INFO, &info) ||
	    info.out_type != MEMCAST_TYPE_TEAM || info.out_flags & MEMCAST_ADDRESS_REPLICA)
		return false;
	place->team = info.out_object;
	place->offset = info.out_offset + address - info.out_mapping;
	return true;
}

/* Return: what the program may not have known about the address, or NULL. */
const char *trap_reason(uintptr_t address, int signal, bool store)
{
	struct memcast_address_info info = { .address = address };
	bool team, allowed;

	if (!device_ask(MEMCAST_ADDRESS_INFO, &info) || info.out_heap)
		return NULL;
	if (!info.out_mapping_bytes)
		return "nothing is mapped there; cuMemMap() does that";
	team = info.out_type == MEMCAST_TYPE_TEAM;
	allowed = store ? info.out_writable : info.out_readable;
	if (signal == SIGSEGV && !allowed)
		return store ? "cuMemSetAccess() has let nobody write what is mapped there" :
			       "cuMemSetAccess() has let nobody read what is mapped there";
	if (signal == SIGBUS && team)
		return info.out_flags & MEMCAST_ADDRESS_REPLICA ?
		       "this member has no memory there: not bound yet, or gone with its last owner" :
		       "the team has no memory there: not bound yet, or gone with its last owner";
	return NULL;
}
