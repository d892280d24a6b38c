// SPDX-License-Identifier: GPL-2.0-only
/* Reasons in words: why a load or store of the CPU is a fault, and which member a copy missed. */
#include <linux/slab.h>
#include "map.h"

/* Names the object of a mapping, for a sentence. */
static int print_mapped(const struct mc_mapping *mapping, char *text, size_t size)
{
	struct mc_object *object = mapping->object;
	char words[MC_WORDS];

	if (object->type == MEMCAST_TYPE_MEMORY)
		return scnprintf(text, size, "memory %llu", object->number);
	if (!mapping->replica)
		return scnprintf(text, size, "the window of team %llu", object->number);
	return scnprintf(text, size, "%s's replica of team %llu",
			 mc_device_words(mapping->reservation->client,
					 mapping->replica->device->id, words), object->number);
}

/*
 * Return: of all members, or @only one, the member whose loss at an offset is the newest; or NULL.
 * @known: none of these members has lost memory that it no longer remembers.
 */
static const struct mc_member *last_loss(struct mc_team *team, struct mc_member *only,
					 unsigned long offset, bool *known)
{
	const struct mc_member *member, *found = NULL;

	lockdep_assert_held(&team->lock);
	*known = true;
	for (member = team->member; member < team->member + team->joined; member++) {
		const struct mc_loss *loss = &member->loss;

		if (only && member != only)
			continue;
		*known &= !loss->more;
		if (loss->order && offset >= loss->first && offset <= loss->last &&
		    (!found || found->loss.order < loss->order))
			found = member;
	}
	return found;
}

/*
 * Fails a call as no memory is bound at an offset: to the replica of @only, or (NULL) to a window,
 * where any member's memory would do.
 */
static int fail_unbound(struct mc_call *call, struct mc_team *team,
			struct mc_member *only, unsigned long offset)
{
	char whose[48] = "no device has memory", last[64] = "";
	char loss[MC_LOSS_WORDS], words[MC_WORDS];
	const struct mc_client *client = call->client;
	const struct mc_member *member;
	bool known;

	if (only)
		scnprintf(whose, sizeof(whose), "%s has no memory",
			  mc_device_words(client, only->device->id, words));
	member = last_loss(team, only, offset, &known);
	if (!member)
		return mc_fail(call, -EFAULT, "%s at byte %lu of team %llu%s", whose, offset,
			       team->object.number, known ?
			       " yet: cuMulticastBindMem() binds some" :
			       ": not bound yet, or no more");
	if (!only)
		scnprintf(last, sizeof(last), "%s's was the last, ",
			  mc_device_words(client, member->device->id, words));
	mc_loss_print(&member->loss, loss, sizeof(loss));
	return mc_fail(call, -EFAULT, "%s at byte %lu of team %llu any more: %s%s", whose,
		       offset, team->object.number, last, loss);
}

/*
 * Return: a binding at an offset, of any member or of @only, if there is one of a memory that is
 * not ending, that; or NULL.
 */
static const struct mc_binding *find_binding(struct mc_team *team, struct mc_member *only,
					     unsigned long offset)
{
	const struct mc_binding *binding, *found = NULL;
	struct mc_member *member;

	lockdep_assert_held(&team->lock);
	for (member = team->member; member < team->member + team->joined; member++) {
		binding = only && member != only ? NULL : mc_binding_find(member, offset);
		if (binding)
			found = binding;
		if (binding && !mc_object_has_ended(&binding->memory->object))
			break;
	}
	return found;
}

/* As mc_say_missed(), for a mapping that shows a window */
static bool say_missed(struct mc_call *call, const struct mc_mapping *mapping, u64 address)
{
	unsigned long offset = mc_mapping_offset(mapping, address);
	struct mc_team *team = mc_team(mapping->object);
	struct mc_member *member;
	bool found = false;

	lockdep_assert_held(&mapping->reservation->lock);
	down_read(&team->lock);
	for (member = team->member; member < team->member + team->joined; member++) {
		if (mc_binding_find(member, offset))
			continue;
		fail_unbound(call, team, member, offset);
		found = true;
		break;
	}
	up_read(&team->lock);
	return found;
}

/**
 * mc_say_missed() - name the first member of a window that has no memory bound at an address
 * @call: its reason is the output
 * @reservation: around the address
 * @address: where the window was written
 *
 * Takes the reservation's and the team's lock.
 *
 * Return: is there such a member? It may have got memory since it was missed.
 */
bool mc_say_missed(struct mc_call *call, struct mc_reservation *reservation, u64 address)
{
	struct mc_mapping *mapping;
	bool found = false;

	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, address);
	if (mapping && mapping->object->type == MEMCAST_TYPE_TEAM && !mapping->replica)
		found = say_missed(call, mapping, address);
	up_read(&reservation->lock);
	return found;
}

/* Fails a call if a member, or the one whose replica is mapped, has a gap in the mapping. */
static int check_whole(struct mc_call *call, const struct mc_mapping *mapping)
{
	unsigned long last = mc_mapping_offset(mapping, mapping->va.last), offset;
	struct mc_team *team = mc_team(mapping->object);
	const struct mc_binding *binding;
	struct mc_member *member;
	int ret;

	lockdep_assert_held(&team->lock);
	for (member = team->member; member < team->member + team->joined; member++) {
		if (mapping->replica && member != mapping->replica)
			continue;
		offset = mc_mapping_offset(mapping, mapping->va.start);
		for (; offset <= last; offset = binding->range.last + 1) {
			binding = mc_binding_find(member, offset);
			if (!binding || mc_object_has_ended(&binding->memory->object))
				return fail_unbound(call, team, member, offset);
			ret = mc_must_stop();
			if (ret)
				return ret;
			cond_resched();
		}
	}
	return 0;
}

static int check_mapping(struct mc_call *call, const struct mc_mapping *mapping)
{
	struct memcast_address_check *check = call->arg;
	bool store = check->flags & MEMCAST_CHECK_STORE;
	const struct mc_binding *binding;
	struct mc_team *team;
	unsigned long offset;
	char mapped[64];
	int ret = 0;

	lockdep_assert_held(&mapping->reservation->lock);
	if (max(mapping->any, mapping->host) <
	    (store ? MEMCAST_ACCESS_READWRITE : MEMCAST_ACCESS_READ)) {
		print_mapped(mapping, mapped, sizeof(mapped));
		return mc_fail(call, -EFAULT, "cuMemSetAccess() has let nobody %s %s there",
			       store ? "write" : "read", mapped);
	}
	if (mapping->object->type == MEMCAST_TYPE_MEMORY)
		return mc_object_check(call, mapping->object) ? -EFAULT : 0;
	team = mc_team(mapping->object);
	offset = mc_mapping_offset(mapping, check->address);
	down_read(&team->lock);
	binding = find_binding(team, mapping->replica, offset);
	if (check->flags & MEMCAST_CHECK_WHOLE)
		ret = check_whole(call, mapping);
	else if (!binding)
		ret = fail_unbound(call, team, mapping->replica, offset);
	else if (mc_object_has_ended(&binding->memory->object))
		ret = mc_fail(call, -EFAULT, "memory %llu, which is bound there, is being freed",
			      binding->memory->object.number);
	up_read(&team->lock);
	return ret;
}

static int fail_unmapped(struct mc_call *call, const struct mc_reservation *reservation)
{
	const struct memcast_address_check *check = call->arg;
	const struct mc_unmapped *last = &reservation->unmapped;

	lockdep_assert_held(&reservation->lock);
	if (reservation->of_heap)
		return mc_fail(call, -EFAULT,
			       "no block is there: it was freed, or this is past its end");
	if (last->object && check->address >= last->first && check->address <= last->last)
		return mc_fail(call, -EFAULT,
			       "nothing is mapped there any more: cuMemUnmap() took %s %llu away",
			       last->type == MEMCAST_TYPE_TEAM ? "team" : "memory", last->object);
	return mc_fail(call, -EFAULT, "nothing is mapped there; cuMemMap() does that");
}

/* Return: the account of the first memory that could not be populated. */
static struct mc_account *lacking(const struct mc_pinned_range *pinned)
{
	unsigned int i;

	for (i = 0; i < pinned->replicas; i++)
		if (!pinned->spot[i].kaddr)
			return pinned->spot[i].memory->object.account;
	return NULL;
}

/* Fails a call if the access failed because a chunk could not be taken. Without locks. */
static int check_touched(struct mc_call *call, struct mc_reservation *reservation)
{
	struct memcast_address_check *check = call->arg;
	struct mc_pinned_range pinned;
	int ret;

	if (!mc_lazy())
		return 0;
	pinned.spot = kmalloc_array(mc_spots(true), sizeof(*pinned.spot), GFP_KERNEL_ACCOUNT);
	if (!pinned.spot)
		return -ENOMEM;
	ret = mc_pinned_range_find(&pinned, reservation, check->address, 1, MC_ANY_DEVICE,
				   check->flags & MEMCAST_CHECK_STORE);
	if (!ret) {
		/* as the fault does: a load takes chunks, too */
		if (mc_pinned_range_fill(&pinned, true))
			ret = mc_lazy_fail(call, -EFAULT, lacking(&pinned), 1);
		mc_pinned_range_put(&pinned);
	} else {
		/* the mapping has changed since */
		ret = 0;
	}
	kfree(pinned.spot);
	return ret;
}

/* MEMCAST_ADDRESS_CHECK: say why a load or store at an address is a fault. */
int mc_address_check(struct mc_call *call)
{
	struct memcast_address_check *check = call->arg;
	struct mc_reservation *reservation;
	struct mc_mapping *mapping;
	int ret;

	if (check->flags & ~(MEMCAST_CHECK_STORE | MEMCAST_CHECK_WHOLE) || check->reserved)
		return mc_fail(call, -EINVAL, "unknown flags or reserved fields");
	reservation = mc_reservation_at(call, check->address);
	if (IS_ERR(reservation))
		return PTR_ERR(reservation);
	if (READ_ONCE(call->client->lost)) {
		mc_fail_lost(call);
		mc_reservation_put(reservation);
		return -EFAULT;
	}
	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, check->address);
	ret = mapping ? check_mapping(call, mapping) : fail_unmapped(call, reservation);
	up_read(&reservation->lock);
	if (!(check->flags & MEMCAST_CHECK_WHOLE))
		ret = ret ?: check_touched(call, reservation);
	mc_reservation_put(reservation);
	return ret;
}
