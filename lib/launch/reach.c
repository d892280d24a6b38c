// SPDX-License-Identifier: MIT
/*
 * Which memory a launch may access, for MEMCAST_PTX_CHECK: the module knows each allocation, to the
 * byte, and each mapping. On the same device, contexts may access each other's.
 */
#include <stdio.h>

#include "alloc/alloc.h"
#include "base/ioctl.h"
#include "fault/fault.h"
#include "launch.h"
#include "translate/ptx_object.h"

#define BEFORE	(64UL << 10)		/* so far below an address an allocation is looked for */
#define ALIGNED	256UL			/* allocations begin at multiples of this */

static bool mapping_at(uint64_t address, uint32_t device, struct memcast_address_info *info)
{
	*info = (struct memcast_address_info) { .address = address, .device = device };
	return device_ask(MEMCAST_ADDRESS_INFO, info) && info->out_mapping_bytes;
}

static bool is_on_device(const struct memcast_address_info *info)
{
	return info->out_location == MEMCAST_LOCATION_DEVICE;
}

/* Says what the address lies behind, or why a fault would come; else that nothing is there. */
static void reach_explain(uint64_t address, uint32_t device, struct ptx_reach *reach)
{
	struct memcast_address_info info;

	for (uint64_t at = (address - 1) & ~(ALIGNED - 1); address - at <= BEFORE; at -= ALIGNED) {
		uint64_t end;

		if (!mapping_at(at, device, &info)) {
			if (at < ALIGNED)
				break;
			continue;
		}
		end = info.out_mapping + info.out_mapping_bytes;
		snprintf(reach->text, sizeof(reach->text), "%llu byte%s behind the end of %s "
			 "of %llu bytes at %#llx", (unsigned long long)(address - end + 1),
			 address == end ? "" : "s", info.out_heap ? "an allocation" : "a mapping",
			 (unsigned long long)info.out_mapping_bytes,
			 (unsigned long long)info.out_mapping);
		return;
	}
	if (!fault_reason(address, false, reach->text, sizeof(reach->text)))
		snprintf(reach->text, sizeof(reach->text), "no memory of the context is there");
}

/* @data: the launch */
bool reach_find(void *data, uint64_t address, struct ptx_reach *reach)
{
	const struct translated *launch = data;
	const struct slot *slot = launch->slot, *owner;
	struct memcast_address_info info;

	*reach = (struct ptx_reach) {};
	if (!mapping_at(address, slot->device, &info)) {
		reach_explain(address, slot->device, reach);
		return false;
	}
	reach->start = info.out_mapping;
	reach->end = info.out_mapping + info.out_mapping_bytes;
	reach->window = info.out_type == MEMCAST_TYPE_TEAM &&
			!(info.out_flags & MEMCAST_ADDRESS_REPLICA);
	owner = slot_of_block(&info);
	/* plain memory has no access of its own: the context's, peers', the host's, managed memory */
	if (owner)
		reach->stores = !is_on_device(&info) || block_managed(&info) ||
				owner->device == slot->device ||
				slot_has_peer(slot, owner);
	else
		reach->stores = info.out_access == MEMCAST_ACCESS_READWRITE;
	if (reach->stores || (!owner && info.out_access == MEMCAST_ACCESS_READ))
		return true;
	if (owner)
		snprintf(reach->text, sizeof(reach->text), "memory of device %u, and no call of "
			 "cuCtxEnablePeerAccess() has let device %u access it", owner->device,
			 slot->device);
	else
		snprintf(reach->text, sizeof(reach->text), "device %u has no access to this "
			 "mapping: cuMemSetAccess()", slot->device);
	return false;
}
