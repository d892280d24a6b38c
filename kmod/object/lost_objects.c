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
 * Takes the first member off the list of those that are to be undone; @held: the member, whose
 * team's struct is held, or NULL if the team is being freed.
 */
static bool take_member(struct mc_host *host, struct mc_member **held)
{
	struct mc_member *member;

	spin_lock(&host->objects_lock);
	member = list_first_entry_or_null(&host->lost_members, struct mc_member, of_host);
	*held = NULL;
	if (member) {
		list_move_tail(&member->of_host, &host->members);
		if (kref_get_unless_zero(&member->team->object.kref))
			*held = member;
	}
	spin_unlock(&host->objects_lock);
	return member;
}

/*
 * Undoes the bindings of all devices of a lost host: also those of memory that is not of the host,
 * as another driver's. A bind that comes later finds that the host is lost, under its team's lock.
 */
void mc_members_undo(struct mc_host *host)
{
	struct mc_member *member;

	spin_lock(&host->objects_lock);
	list_splice_init(&host->members, &host->lost_members);
	spin_unlock(&host->objects_lock);
	while (take_member(host, &member)) {
		if (member) {
			struct mc_object *team = &member->team->object;

			mc_bindings_undo_member(member);
			mc_object_forget(team);
		}
		cond_resched();
	}
}

/* Takes the first marked object off its list; @held: the object, or NULL if it is being freed. */
static bool take_marked(struct mc_host *host, struct mc_object **held)
{
	struct mc_object *object;

	spin_lock(&host->objects_lock);
	object = list_first_entry_or_null(&host->lost_objects, struct mc_object, of_place);
	*held = NULL;
	if (object) {
		list_del_init(&object->of_place);
		if (kref_get_unless_zero(&object->kref))
			*held = object;
	}
	spin_unlock(&host->objects_lock);
	return object;
}

/* Undoes the bindings of marked memories. A bind that comes later finds the mark: see binding.c. */
void mc_objects_undo(struct mc_host *host)
{
	struct mc_object *object;

	while (take_marked(host, &object)) {
		if (object && object->type == MEMCAST_TYPE_MEMORY)
			mc_bindings_undo_memory(mc_memory(object));
		if (object)
			mc_object_forget(object);
		cond_resched();
	}
}
