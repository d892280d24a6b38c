// SPDX-License-Identifier: GPL-2.0-only
/*
 * Evictions: bindings that go as their memory ends, or is lost. Memories that end together go with
 * one zap per team, whichever teams each of them is bound to.
 */
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

/* Return: the address of a memory's first team, as a number to sort by; 0: it is bound to none. */
static unsigned long memory_sort_key(struct mc_memory *memory)
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

static bool next_team_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct mc_memory, by_team)->next_team <
	       rb_entry(b, struct mc_memory, by_team)->next_team;
}

/* Puts a memory that has ended into the tree, unless it is bound to no team any more. */
static void bound_add(struct rb_root_cached *bound, struct mc_memory *memory)
{
	memory->next_team = memory_sort_key(memory);
	if (memory->next_team)
		rb_add_cached(&memory->by_team, bound, next_team_less);
	cond_resched();
}

/* Return: the first memory of the tree if its next team is this one; or NULL. */
static struct mc_memory *bound_to(const struct rb_root_cached *bound, const struct mc_team *team)
{
	struct rb_node *node = rb_first_cached(bound);
	struct mc_memory *memory = node ? rb_entry(node, struct mc_memory, by_team) : NULL;

	return memory && memory->next_team == (unsigned long)team ? memory : NULL;
}

/*
 * Undoes all bindings of the tree's memories to the team that is next, with one zap. A memory's own
 * tree has the same order of teams, and it gets no more bindings, as it has ended: so no later step
 * comes back to this team.
 */
static void undo_next_team(struct rb_root_cached *bound, struct list_head *ended)
{
	struct mc_memory *memory = rb_entry(rb_first_cached(bound), struct mc_memory, by_team);
	struct mc_team *team = memory_first_team(memory);
	struct mc_object *object;
	struct eviction eviction;
	LIST_HEAD(undone);
	LIST_HEAD(done);

	if (!team || !bound_to(bound, team)) {
		/* another thread has undone the bindings to the team that was next */
		rb_erase_cached(&memory->by_team, bound);
		bound_add(bound, memory);
		if (team)
			mc_object_forget(&team->object);
		return;
	}
	eviction_begin(&eviction, team);
	while ((memory = bound_to(bound, team))) {
		rb_erase_cached(&memory->by_team, bound);
		eviction_add(&eviction, memory);
		list_move_tail(&memory->object.ended, &done);
		cond_resched();
	}
	eviction_end(&eviction, &undone);
	list_for_each_entry(object, &done, ended)
		bound_add(bound, mc_memory(object));
	list_splice(&done, ended);
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
	struct rb_root_cached bound = RB_ROOT_CACHED;
	struct mc_object *object, *next;

	list_for_each_entry(object, ended, ended) {
		if (object->type == MEMCAST_TYPE_MEMORY)
			bound_add(&bound, mc_memory(object));
		cond_resched();
	}
	while (!RB_EMPTY_ROOT(&bound.rb_root))
		undo_next_team(&bound, ended);
	list_for_each_entry_safe(object, next, ended, ended) {
		list_del(&object->ended);
		object->ops->end(object);
		mc_object_forget(object);
		cond_resched();
	}
}
