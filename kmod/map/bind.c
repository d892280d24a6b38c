// SPDX-License-Identifier: GPL-2.0-only
/* The commands that make and undo bindings: checks of their arguments, and what they bind. */
#include <linux/sched/signal.h>
#include "map.h"

/*
 * Fails a call as the memory is another device's, or host's. A function of its own, as room for
 * words costs each call.
 */
static noinline int fail_elsewhere(struct mc_call *call, const struct mc_memory *memory,
				   const struct mc_device *device)
{
	char words[MC_WORDS];

	if (!memory->device)
		return mc_fail(call, -ENODEV,
			       "the memory is of %s, and can be bound there for its devices",
			       mc_host_words(memory->object.host, words));
	mc_device_words(call->client, memory->device->id, words);
	if (!device)
		return mc_fail(call, -ENODEV, "the memory is on %s, and can be bound there", words);
	return mc_fail(call, -ENODEV, "the memory is on %s, not on device %u", words,
		       mc_device_ordinal(call->client, device->id));
}

/* Checks whether a memory may be bound at all, as far as that needs no complete team. */
static int bind_check(struct mc_call *call, struct mc_team *team,
		      struct mc_memory *memory, struct mc_device *device)
{
	if (memory->flags & MEMCAST_MEMORY_TILES)
		return mc_fail(call, -EINVAL, "the memory is for the tiles of arrays alone");
	if (team->object.handle_types && !memory->object.handle_types)
		return mc_fail(call, -EINVAL,
			       "a shareable team takes only shareable memory: requestedHandleTypes");
	/* foreign memory is of any device that it is bound for */
	if (memory->device == device || memory->foreign)
		return 0;
	if (memory->device || !mc_memory_is_local(call->client, memory))
		return fail_elsewhere(call, memory, device);
	if (memory->location != MEMCAST_LOCATION_HOST_NUMA)
		return mc_fail(call, -EINVAL,
			       "of the host's memory only that of a NUMA node can be bound");
	if (memory->location_id != dev_to_node(&device->dev))
		return mc_fail(call, -ENODEV,
			       "the memory is on host node %u, device %u is on node %d",
			       memory->location_id, mc_device_ordinal(call->client, device->id),
			       dev_to_node(&device->dev));
	return 0;
}

/* Return: the device to bind for: the named one, or the memory's; or an error. */
static struct mc_device *bind_device(struct mc_call *call,
				     struct mc_memory *memory, u32 device)
{
	if (device != MEMCAST_DEVICE_OF_MEMORY)
		return mc_find_device(call, device);
	if (memory->device && mc_memory_is_local(call->client, memory))
		return memory->device;
	if (memory->device)
		return ERR_PTR(fail_elsewhere(call, memory, NULL));
	return ERR_PTR(mc_fail(call, -ENODEV,
			       "host memory is of no device: cuMulticastBindMem_v2 names one"));
}

/* MEMCAST_BIND_MEMORY: bind a range of a memory to a team, once it is complete. */
int mc_bind_memory(struct mc_call *call)
{
	struct memcast_bind_memory *bind = call->arg;
	struct mc_binding *binding;
	struct mc_device *device;
	struct mc_memory *memory;
	struct mc_team *team;
	LIST_HEAD(list);
	int ret;

	if (bind->flags & ~MEMCAST_NO_WAIT)
		return mc_fail(call, -EINVAL, "unknown flags %#x", bind->flags);
	team = mc_find_team(call, bind->team);
	if (IS_ERR(team))
		return PTR_ERR(team);
	memory = mc_find_memory(call, bind->memory);
	if (IS_ERR(memory)) {
		ret = PTR_ERR(memory);
		goto put_team;
	}
	device = bind_device(call, memory, bind->device);
	if (IS_ERR(device)) {
		ret = PTR_ERR(device);
		goto put_memory;
	}
	ret = bind_check(call, team, memory, device);
	if (ret)
		goto put_memory;
	ret = mc_check_range(call, "team", bind->team_offset, bind->bytes,
			     team->object.bytes, MC_CHUNK_SIZE);
	if (ret)
		goto put_memory;
	ret = mc_check_range(call, "memory", bind->memory_offset, bind->bytes,
			     memory->object.bytes, MC_CHUNK_SIZE);
	if (ret)
		goto put_memory;
	ret = mc_team_await(call, team, MEMCAST_NR_BIND_MEMORY, bind->flags & MEMCAST_NO_WAIT);
	if (ret)
		goto put_memory;

	binding = mc_binding_create(call, team, memory, bind->team_offset,
				    bind->memory_offset, bind->bytes);
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

/* The most bindings of one call, which holds the team's lock meanwhile: other calls wait for it. */
#define MOST_BINDINGS	SZ_1M

/* Fails a bind of a heap's memory, and names the calls whose memory can be bound. */
static int fail_heap(struct mc_call *call, struct mc_reservation *reservation)
{
	const struct memcast_bind_address *bind = call->arg;
	struct mc_mapping *mapping = mc_mapping_find(reservation, bind->address);

	lockdep_assert_held(&reservation->lock);
	if (reservation->of_pool)
		return mc_fail(call, -EINVAL,
			       "a pool's memory is bound as an allocation of whole chunks: cuMemAllocAsync() of %lu bytes or more",
			       MC_CHUNK_SIZE);
	if (mapping && !mc_memory(mapping->object)->device)
		return mc_fail(call, -EINVAL,
			       "memory of cuMemHostAlloc() or cuMemAllocManaged() cannot be bound; that of cuMemCreate() can");
	return mc_fail(call, -EINVAL,
		       "memory of cuMemAlloc() cannot be bound; that of cuMemCreate() can, and that of cuMemAllocAsync() from %lu bytes on",
		       MC_CHUNK_SIZE);
}

/*
 * Is it memory of another process's cuMemAlloc(), opened by an IPC handle? Other blocks of that
 * process may be in its chunks.
 */
static bool is_opened(const struct mc_reservation *reservation, const struct mc_memory *memory)
{
	return reservation->of_heap && !reservation->of_pool && !memory->foreign &&
	       !memory->object.handle_types;
}

/*
 * Makes a list of uncommitted bindings, one for each mapping in the range. The caller holds the
 * reservation's lock: the mappings keep the memories.
 */
static int bindings_of_address(struct mc_call *call, struct mc_team *team,
			       struct mc_reservation *reservation,
			       struct list_head *list)
{
	struct memcast_bind_address *bind = call->arg;
	unsigned long address = bind->address;
	unsigned long end = address + bind->bytes;
	unsigned long team_offset = bind->team_offset;
	unsigned int n;

	lockdep_assert_held(&reservation->lock);
	if (reservation->of_heap && !reservation->of_block)
		return fail_heap(call, reservation);
	for (n = 0; address < end; n++) {
		struct mc_mapping *mapping = mc_mapping_find(reservation, address);
		unsigned long memory_offset, bytes;
		struct mc_binding *binding;

		if (n == MOST_BINDINGS)
			return mc_fail(call, -ENOMEM,
				       "the range has more than %u mappings: bind a part at a time",
				       MOST_BINDINGS);
		if (!mapping || mapping->object->type != MEMCAST_TYPE_MEMORY)
			return mc_fail(call, -EINVAL, "no memory is mapped at %#lx",
				       address);
		if (is_opened(reservation, mc_memory(mapping->object)))
			return fail_heap(call, reservation);
		memory_offset = mc_mapping_offset(mapping, address);
		bytes = min(end, mapping->va.last + 1) - address;
		if (!IS_ALIGNED(memory_offset | bytes, MC_CHUNK_SIZE))
			return mc_fail(call, -EINVAL,
				       "what is mapped at %#lx is not whole chunks of %lu",
				       address, MC_CHUNK_SIZE);
		binding = mc_binding_create(call, team, mc_memory(mapping->object), team_offset,
					    memory_offset, bytes);
		if (!binding)
			return -ENOMEM;
		list_add_tail(&binding->list, list);
		if (fatal_signal_pending(current))
			return -EINTR;
		address += bytes;
		team_offset += bytes;
		cond_resched();
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
			device = bind_device(call, binding->memory,
					     MEMCAST_DEVICE_OF_MEMORY);
		ret = IS_ERR(device) ? PTR_ERR(device) :
		      bind_check(call, team, binding->memory, device);
		cond_resched();
	}
	if (!ret)
		ret = mc_bindings_commit(call, team, device, &list);
	up_read(&reservation->lock);
	mc_bindings_free(&list);
	return ret;
}

/* MEMCAST_BIND_ADDRESS: bind the memories that are mapped in a range of addresses. */
int mc_bind_address(struct mc_call *call)
{
	struct memcast_bind_address *bind = call->arg;
	struct mc_reservation *reservation;
	struct mc_device *device = NULL;
	struct mc_team *team;
	int ret;

	if (bind->flags & ~MEMCAST_NO_WAIT || bind->reserved)
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
			     team->object.bytes, MC_CHUNK_SIZE);
	if (ret)
		goto put_team;
	ret = mc_check_range(call, NULL, bind->address, bind->bytes,
			     TASK_SIZE_MAX, MC_CHUNK_SIZE);
	if (ret)
		goto put_team;
	reservation = mc_reservation_at(call, bind->address);
	if (IS_ERR(reservation)) {
		ret = PTR_ERR(reservation);
		goto put_team;
	}
	ret = mc_team_await(call, team, MEMCAST_NR_BIND_ADDRESS,
			    bind->flags & MEMCAST_NO_WAIT) ?:
	      bind_reservation(call, team, device, reservation);
	mc_reservation_put(reservation);
put_team:
	mc_object_put(&team->object);
	return ret;
}

/* MEMCAST_UNBIND: undo whole bindings of a device. */
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
			     team->object.bytes, MC_CHUNK_SIZE);
	if (ret)
		goto put_team;
	ret = mc_bindings_undo_range(call, team, device, unbind->team_offset,
				     unbind->team_offset + unbind->bytes - 1);
put_team:
	mc_object_put(&team->object);
	return ret;
}
