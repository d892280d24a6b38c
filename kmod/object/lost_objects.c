// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects, and members of teams, of hosts that are lost. docs/architecture.md, "Losing a host", has
 * the order in which objects are marked and taken away, and why no page comes back.
 */
#include "object.h"

/*
 * Marks all objects of a host that is lost: from now on no call makes a handle of one, and no
 * memory among them is mapped, bound or shown anew.
 */
void mc_objects_mark(struct mc_host *host)
{
	struct mc_object *object;

	do {
		spin_lock(&host->objects_lock);
		object = list_first_entry_or_null(&host->objects, struct mc_object, of_place);
		if (object) {
			WRITE_ONCE(object->lost, true);
			list_move_tail(&object->of_place, &host->lost_objects);
		}
		spin_unlock(&host->objects_lock);
		cond_resched();
	} while (object);
}

/*
 * Undoes the bindings of all devices of a lost host: also those of memory that is not of the host,
 * as another driver's. A bind that comes later finds that the host is lost, under its team's lock.
 */
void mc_members_undo(struct mc_host *host)
{
	struct mc_member *member;
	bool held;

	spin_lock(&host->objects_lock);
	list_splice_init(&host->members, &host->lost_members);
	spin_unlock(&host->objects_lock);
	do {
		spin_lock(&host->objects_lock);
		member = list_first_entry_or_null(&host->lost_members, struct mc_member, of_host);
		if (member)
			list_move_tail(&member->of_host, &host->members);
		/* not if the team is being freed */
		held = member && kref_get_unless_zero(&member->team->object.kref);
		spin_unlock(&host->objects_lock);
		if (held) {
			struct mc_object *team = &member->team->object;

			mc_bindings_undo_member(member);
			mc_object_forget(team);
		}
		cond_resched();
	} while (member);
}

/* Undoes the bindings of marked memories. A bind that comes later finds the mark: see binding.c. */
void mc_objects_undo(struct mc_host *host)
{
	struct mc_object *object;
	bool held;

	do {
		spin_lock(&host->objects_lock);
		object = list_first_entry_or_null(&host->lost_objects, struct mc_object, of_place);
		if (object)
			list_del_init(&object->of_place);
		/* not if it is being freed */
		held = object && kref_get_unless_zero(&object->kref);
		spin_unlock(&host->objects_lock);
		if (held && object->type == MEMCAST_TYPE_MEMORY)
			mc_bindings_undo_memory(mc_memory(object));
		if (held)
			mc_object_forget(object);
		cond_resched();
	} while (object);
}
