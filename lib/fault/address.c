// SPDX-License-Identifier: MIT
/*
 * Answers about an address, for signal handlers: the window or team at it, and why an access
 * fails. The tests in selftests/trap have functions of their own instead.
 */
#include <errno.h>
#include <string.h>

#include "fault.h"
#include "base/ioctl.h"
#include "memory/address.h"
#include "memory/view/view.h"

/* Could a window be at this address? Most faults have other causes, and are not to cost anything. */
bool fault_near(uintptr_t address)
{
	return window_near(address);
}

bool fault_window_at(uintptr_t address, struct trap_window *window)
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

/* Does a store to the window at an address reach all members, wherever in the window it is? */
bool fault_window_is_bound(uintptr_t address)
{
	struct memcast_address_check check = {
		.address = address,
		.flags = MEMCAST_CHECK_STORE | MEMCAST_CHECK_WHOLE,
	};

	return device_ask(MEMCAST_ADDRESS_CHECK, &check);
}

/*
 * Return: is the address in a window, whatever the CPU's access? @place: output, the place in
 * the team.
 */
bool fault_place_at(uintptr_t address, struct fault_place *place)
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

/* Return: is there memory of a device, or a window? @memory: output */
bool fault_memory_at(uintptr_t address, struct fault_memory *memory)
{
	struct memcast_address_info info = { .address = address };

	if (!device_ask(MEMCAST_ADDRESS_INFO, &info) || !info.out_mapping_bytes)
		return false;
	*memory = (struct fault_memory) {
		.call = info.out_heap ? block_origin(&info) : "cuMemMap()",
		.offset = address - info.out_mapping,
		.bytes = info.out_mapping_bytes,
		.team = info.out_type == MEMCAST_TYPE_TEAM ? info.out_object : 0,
		.device = info.out_location == MEMCAST_LOCATION_DEVICE ? info.out_location_id :
									 UINT32_MAX,
	};
	return true;
}

/*
 * Writes to @text why an access at the address fails. Return: false if the library knows no
 * reason. A child of fork() cannot ask the module: at addresses that its parent has mapped, the
 * reason is the fork().
 */
bool fault_reason(uintptr_t address, bool store, char *text, size_t size)
{
	static const char of_a_child[] =
		"a child of fork() has none of its parent's device memory: "
		"run another program, which calls cuInit(), or fork() before cuInit()";
	struct memcast_address_check check = {
		.header = { .reason = (uintptr_t)text, .reason_size = size },
		.address = address,
		.flags = store ? MEMCAST_CHECK_STORE : 0,
	};

	if (library_forked()) {
		/* signal handlers may not call snprintf() */
		memcpy(text, of_a_child, size < sizeof(of_a_child) ? size : sizeof(of_a_child));
		text[size - 1] = '\0';
		return window_between(address);
	}
	return !device_ask(MEMCAST_ADDRESS_CHECK, &check) && errno == EFAULT;
}
