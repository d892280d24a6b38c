// SPDX-License-Identifier: GPL-2.0-only
/* The verbs that make and undo bindings: what they take, and in which order. */
#include "private.h"

/* What may be bound at all, as far as the team does not have to be complete. */
static int bind_check(struct mc_call *call, struct mc_team *team,
		      struct mc_memory *memory, struct mc_device *device)
{
	if (team->object.handle_types && !memory->object.handle_types)
		return mc_fail(call, -EINVAL,
			       "a shareable team takes only memory created with a handle type");
	if (device != memory->device)
		return mc_fail(call, -ENODEV,
			       "the memory is on device %u, not on device %u",
			       memory->device->id, device->id);
	return 0;
}

int mc_bind_memory(struct mc_call *call)
{
	struct memcast_bind_memory *bind = call->arg;
	struct mc_device *device = NULL;
	struct mc_binding *binding;
	struct mc_memory *memory;
	struct mc_team *team;
	LIST_HEAD(list);
	int ret;

	if (bind->flags)
		return mc_fail(call, -EINVAL, "unknown flags %#x", bind->flags);
	team = mc_find_team(call, bind->team);
	if (IS_ERR(team))
		return PTR_ERR(team);
	memory = mc_find_memory(call, bind->memory);
	if (IS_ERR(memory)) {
		ret = PTR_ERR(memory);
		goto put_team;
	}
	device = bind->device == MEMCAST_DEVICE_OF_MEMORY ? memory->device :
		 mc_find_device(call, bind->device);
	if (IS_ERR(device)) {
		ret = PTR_ERR(device);
		goto put_memory;
	}
	ret = bind_check(call, team, memory, device);
	if (ret)
		goto put_memory;
	ret = mc_check_range(call, "team", bind->team_offset, bind->bytes,
			     team->object.bytes);
	if (ret)
		goto put_memory;
	ret = mc_check_range(call, "memory", bind->memory_offset, bind->bytes,
			     memory->object.bytes);
	if (ret)
		goto put_memory;
	ret = mc_team_wait(call, team);
	if (ret)
		goto put_memory;

	binding = mc_binding_create(team, memory,
				    bind->team_offset >> MC_CHUNK_SHIFT,
				 bind->memory_offset >> MC_CHUNK_SHIFT,
				 bind->bytes >> MC_CHUNK_SHIFT);
	if (!binding) {
		ret = -ENOMEM;
		goto put_memory;
	}
	list_add(&binding->list, &list);
	ret = mc_bindings_commit(call, team, device, &list);
	mc_bindings_free(&list);
put_memory:
	mc_object_put(&memory->object);
put_team:
	mc_object_put(&team->object);
	return ret;
}

/*
 * A binding for each mapping in the range, uncommitted. Holds the reservation's
 * lock: the mappings keep the memories.
 */
static int bindings_of_address(struct mc_call *call, struct mc_team *team,
			       struct mc_reservation *reservation,
			       struct list_head *list)
{
	struct memcast_bind_address *bind = call->arg;
	unsigned long index = bind->address >> MC_CHUNK_SHIFT;
	unsigned long end = index + (bind->bytes >> MC_CHUNK_SHIFT);
	unsigned long at = bind->team_offset >> MC_CHUNK_SHIFT;

	while (index < end) {
		struct mc_mapping *mapping = mc_mapping_find(reservation, index);
		struct mc_binding *binding;
		unsigned long chunks;

		if (!mapping || mapping->object->type != MEMCAST_TYPE_MEMORY)
			return mc_fail(call, -EINVAL, "no memory is mapped at %#lx",
				       index << MC_CHUNK_SHIFT);
		chunks = min(end, mapping->at.last + 1) - index;
		binding = mc_binding_create(team, mc_memory(mapping->object), at,
					    mc_mapping_shows(mapping, index), chunks);
		if (!binding)
			return -ENOMEM;
		list_add_tail(&binding->list, list);
		index += chunks;
		at += chunks;
	}
	return 0;
}

static int bind_reservation(struct mc_call *call, struct mc_team *team,
			    struct mc_device *device,
			    struct mc_reservation *reservation)
{
	struct mc_binding *binding;
	LIST_HEAD(list);
	int ret;

	down_read(&reservation->lock);
	ret = bindings_of_address(call, team, reservation, &list);
	list_for_each_entry(binding, &list, list) {
		if (ret)
			break;
		if (!device)
			device = binding->memory->device;
		ret = bind_check(call, team, binding->memory, device);
	}
	if (!ret)
		ret = mc_bindings_commit(call, team, device, &list);
	up_read(&reservation->lock);
	mc_bindings_free(&list);
	return ret;
}

int mc_bind_address(struct mc_call *call)
{
	struct memcast_bind_address *bind = call->arg;
	struct mc_reservation *reservation;
	struct mc_device *device = NULL;
	struct mc_team *team;
	int ret;

	if (bind->flags || bind->reserved)
		return mc_fail(call, -EINVAL, "unknown flags or reserved fields");
	team = mc_find_team(call, bind->team);
	if (IS_ERR(team))
		return PTR_ERR(team);
	if (bind->device != MEMCAST_DEVICE_OF_MEMORY) {
		device = mc_find_device(call, bind->device);
		if (IS_ERR(device)) {
			ret = PTR_ERR(device);
			goto put_team;
		}
	}
	ret = mc_check_range(call, "team", bind->team_offset, bind->bytes,
			     team->object.bytes);
	if (ret)
		goto put_team;
	ret = mc_check_range(call, "address space", bind->address, bind->bytes,
			     TASK_SIZE_MAX);
	if (ret)
		goto put_team;
	ret = mc_team_wait(call, team);
	if (ret)
		goto put_team;

	reservation = mc_reservation_find(call->client, bind->address);
	if (reservation) {
		ret = bind_reservation(call, team, device, reservation);
		mc_reservation_put(reservation);
	} else {
		ret = mc_fail(call, -EINVAL, "%#llx is not in a reservation",
			      bind->address);
	}
put_team:
	mc_object_put(&team->object);
	return ret;
}

int mc_unbind(struct mc_call *call)
{
	struct memcast_unbind *unbind = call->arg;
	struct mc_device *device;
	struct mc_team *team;
	int ret;

	team = mc_find_team(call, unbind->team);
	if (IS_ERR(team))
		return PTR_ERR(team);
	device = mc_find_device(call, unbind->device);
	if (IS_ERR(device)) {
		ret = PTR_ERR(device);
		goto put_team;
	}
	ret = mc_check_range(call, "team", unbind->team_offset, unbind->bytes,
			     team->object.bytes);
	if (ret)
		goto put_team;
	ret = mc_bindings_undo_range(call, team, device,
				     unbind->team_offset >> MC_CHUNK_SHIFT,
				  (unbind->team_offset + unbind->bytes - 1) >>
				  MC_CHUNK_SHIFT);
put_team:
	mc_object_put(&team->object);
	return ret;
}
