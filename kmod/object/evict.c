// SPDX-License-Identifier: GPL-2.0-only
/*
 * Evictions: bindings that go as their memory ends, or is lost. Memories that end together go with
 * one zap per team.
 */
#include <linux/list_sort.h>
#include "object.h"
#include "core/trace.h"

/* Bindings to one team, of memories that have ended or are lost, that go with one zap */
struct eviction {
	struct mc_team *team;		/* whose lock is held for writing */
	struct list_head revoked;
	unsigned long first, last;
	struct mc_member *member;	/* of all of them; NULL: they are of several */
};

/* Return: the team of a memory's first binding, its struct held; or NULL. */
static struct mc_team *memory_first_team(struct mc_memory *memory)
{
	struct mc_team *team = NULL;
	struct rb_node *node;

	spin_lock(&memory->lock);
	node = rb_first(&memory->bindings);
	if (node) {
		team = rb_entry(node, struct mc_binding, of_memory)->team;
		kref_get(&team->object.kref);
	}
	spin_unlock(&memory->lock);
	return team;
}

/*
 * Return: the binding of a memory after @previous (NULL: the first) if it is to this team, whose
 * lock keeps it and @previous where they are; or NULL.
 */
static struct mc_binding *memory_next_binding(struct mc_memory *memory, struct mc_team *team,
					      struct mc_binding *previous)
{
	struct mc_binding *binding;
	struct rb_node *node;

	lockdep_assert_held_write(&team->lock);
	spin_lock(&memory->lock);
	node = previous ? rb_next(&previous->of_memory) : rb_first(&memory->bindings);
	binding = node ? rb_entry(node, struct mc_binding, of_memory) : NULL;
	if (binding && binding->team != team)
		binding = NULL;
	spin_unlock(&memory->lock);
	return binding;
}

/* Adds a memory's bindings to the team, which come first in its tree. Return: were there any? */
static bool eviction_add(struct eviction *eviction, struct mc_memory *memory)
{
	enum mc_loss_cause cause = READ_ONCE(memory->object.lost) ? MC_LOSS_HOST : MC_LOSS_ENDED;
	struct mc_team *team = eviction->team;
	unsigned long first = ULONG_MAX, last = 0;
	struct mc_binding *binding = NULL;

	while ((binding = memory_next_binding(memory, team, binding))) {
		if (list_empty(&eviction->revoked))
			eviction->member = binding->member;
		else if (eviction->member != binding->member)
			eviction->member = NULL;
		first = min(first, binding->range.start);
		last = max(last, binding->range.last);
		mc_member_lost(binding->member, team, binding->range.start,
			       binding->range.last, cause);
		list_add_tail(&binding->list, &eviction->revoked);
		cond_resched();
	}
	if (first > last)
		return false;
	trace_memcast_evict(team->object.number, memory->object.number, first, last - first + 1);
	eviction->first = min(eviction->first, first);
	eviction->last = max(eviction->last, last);
	return true;
}

/* Takes the team's lock, and the struct of the team from the caller. */
static void eviction_begin(struct eviction *eviction, struct mc_team *team)
{
	*eviction = (struct eviction) { .team = team, .first = ULONG_MAX };
	INIT_LIST_HEAD(&eviction->revoked);
	down_write(&team->lock);
}

/* Undoes what was added. Releases the team's lock; @undone: for mc_bindings_free() */
static void eviction_end(struct eviction *eviction, struct list_head *undone)
{
	struct mc_team *team = eviction->team;

	if (!list_empty(&eviction->revoked))
		mc_bindings_revoke(team, eviction->member, eviction->first, eviction->last,
				   &eviction->revoked);
	up_write(&team->lock);
	list_splice_tail(&eviction->revoked, undone);
	mc_object_forget(&team->object);
}

/*
 * Undoes all bindings of a memory that has ended, or is lost, team by team. The memory's lock comes
 * after a team's: so this looks which team is next, takes that team's lock, and looks again.
 * Another thread may have undone the bindings in between, or made one to an earlier team.
 */
void mc_bindings_undo_memory(struct mc_memory *memory)
{
	struct eviction eviction;
	struct mc_team *team;
	LIST_HEAD(undone);

	while ((team = memory_first_team(memory))) {
		eviction_begin(&eviction, team);
		eviction_add(&eviction, memory);
		eviction_end(&eviction, &undone);
	}
	mc_bindings_free(&undone);
}

static struct mc_memory *memory_of_ended(const struct list_head *entry)
{
	return mc_memory(list_entry(entry, struct mc_object, ended));
}

/* Return: the address of a memory's next team, as a number to sort by; 0: it is bound to none. */
static unsigned long team_to_sort_by(struct mc_memory *memory)
{
	unsigned long team = 0;
	struct rb_node *node;

	spin_lock(&memory->lock);
	node = rb_first(&memory->bindings);
	if (node)
		team = (unsigned long)rb_entry(node, struct mc_binding, of_memory)->team;
	spin_unlock(&memory->lock);
	return team;
}

static int compare_teams(void *unused, const struct list_head *a, const struct list_head *b)
{
	unsigned long one = team_to_sort_by(memory_of_ended(a));
	unsigned long other = team_to_sort_by(memory_of_ended(b));

	cond_resched();
	return one < other ? -1 : one > other;
}

/* Moves the memories with bindings (@bound), or those without, from one list to the other. */
static void move_memories(struct list_head *from, struct list_head *to, bool bound)
{
	struct mc_object *object, *next;

	list_for_each_entry_safe(object, next, from, ended) {
		if (object->type == MEMCAST_TYPE_MEMORY &&
		    !!team_to_sort_by(mc_memory(object)) == bound)
			list_move_tail(&object->ended, to);
		cond_resched();
	}
}

/*
 * Undoes the bindings of ended memories to the team that is next for each: one zap for all that
 * have the same team next, which are neighbours in the list.
 */
static void undo_next_teams(struct list_head *bound)
{
	struct list_head *entry = bound->next;
	struct eviction eviction;
	struct mc_team *team;
	LIST_HEAD(undone);

	while (entry != bound) {
		team = memory_first_team(memory_of_ended(entry));
		if (!team) {
			entry = entry->next;
			continue;
		}
		eviction_begin(&eviction, team);
		while (entry != bound && eviction_add(&eviction, memory_of_ended(entry)))
			entry = entry->next;
		eviction_end(&eviction, &undone);
	}
	mc_bindings_free(&undone);
}

/**
 * mc_objects_end() - end objects whose last user has gone
 * @ended: the objects, by mc_object.ended; empty afterwards
 *
 * It zaps the mappings of a team once for all memories that were bound to it: one by one, the end
 * of n memories, as of a process that had them, would cost n times as much in all who map the team.
 * Without locks.
 */
void mc_objects_end(struct list_head *ended)
{
	struct mc_object *object, *next;
	LIST_HEAD(bound);

	move_memories(ended, &bound, true);
	while (!list_empty(&bound)) {
		list_sort(NULL, &bound, compare_teams);
		undo_next_teams(&bound);
		move_memories(&bound, ended, false);
	}
	list_for_each_entry_safe(object, next, ended, ended) {
		list_del(&object->ended);
		object->ops->end(object);
		mc_object_forget(object);
		cond_resched();
	}
}
