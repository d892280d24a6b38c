// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bindings: which chunks of which memory a team shows as a member's replica.
 *
 * A binding does not keep its memory alive: it goes with the memory's last user
 * or with the team's, whichever is first. It holds both structs, so that each
 * side can find it without the other's lock.
 *
 * No chunk goes back while a page table shows it. A memory that ends relies on its tree of bindings
 * for that: if the tree is empty, no team shows the memory. So a binding leaves that tree last.
 * mc_bindings_revoke() is the only function that takes away bindings which a team shows.
 */
#include "object.h"
#include "core/trace.h"

/* Return: a member's binding at an offset, or NULL. The team's lock is held, and keeps it. */
struct mc_binding *mc_binding_find(struct mc_member *member,
				   unsigned long offset)
{
	struct interval_tree_node *node =
		interval_tree_iter_first(&member->bindings, offset, offset);

	return node ? container_of(node, struct mc_binding, range) : NULL;
}

/*
 * Return: a binding that is in no tree yet, for a list that mc_bindings_commit() takes; or NULL,
 * with the reason in the call. It holds the structs of team and memory.
 */
struct mc_binding *mc_binding_create(struct mc_call *call, struct mc_team *team,
				     struct mc_memory *memory, unsigned long team_offset,
				     unsigned long memory_offset, unsigned long bytes)
{
	struct mc_binding *binding = mc_alloc(call, call->client->account,
					     sizeof(*binding));

	if (!binding)
		return NULL;
	binding->range.start = team_offset;
	binding->range.last = team_offset + bytes - 1;
	binding->memory_offset = memory_offset;
	binding->account = call->client->account;
	binding->team = team;
	kref_get(&team->object.kref);
	binding->memory = memory;
	kref_get(&memory->object.kref);
	RB_CLEAR_NODE(&binding->of_memory);
	atomic_long_inc(&mc_stats.bindings);
	return binding;
}

/*
 * Frees bindings that are in no tree. The structs of their objects may be freed here, so the
 * caller does not hold the team's lock.
 */
void mc_bindings_free(struct list_head *list)
{
	struct mc_binding *binding, *next;

	list_for_each_entry_safe(binding, next, list, list) {
		mc_object_forget(&binding->team->object);
		mc_object_forget(&binding->memory->object);
		mc_free(binding->account, binding, sizeof(*binding));
		atomic_long_dec(&mc_stats.bindings);
		cond_resched();
	}
}

/* The tree of a memory's bindings: those to one team are neighbours. */
static bool binding_less(struct rb_node *a, const struct rb_node *b)
{
	const struct mc_binding *one = rb_entry(a, struct mc_binding, of_memory);
	const struct mc_binding *other = rb_entry(b, struct mc_binding, of_memory);

	return one->team == other->team ? one->range.start < other->range.start :
					  one->team < other->team;
}

/* For a binding that no team shows yet; else binding_leave_memory() */
static void leave_memory(struct mc_binding *binding)
{
	spin_lock(&binding->memory->lock);
	rb_erase(&binding->of_memory, &binding->memory->bindings);
	spin_unlock(&binding->memory->lock);
	cond_resched();
}

/* A memory that ends may not see the binding from here on: warns if page tables still show it. */
static void binding_leave_memory(struct mc_binding *binding)
{
	const struct mc_team *team = binding->team;

	lockdep_assert_held_write(&team->lock);
	VM_WARN_ON_ONCE(binding->range.start < team->zapped_first ||
			binding->range.last > team->zapped_last ||
			(team->zapped_member && team->zapped_member != binding->member));
	leave_memory(binding);
}

/**
 * mc_bindings_revoke() - take bindings away: zap, the team's tree, the memory's tree last
 * @team: its lock is held for writing
 * @member: whose bindings they are; NULL: of any
 * @first: the first byte of them in the team
 * @last: the last one
 * @revoked: the bindings, by mc_binding.list; for mc_bindings_free(), without the lock
 *
 * Once the page tables are empty no fault fills them again, as faults hold the lock for reading.
 * So a memory that ends finds bindings in its tree, and waits for the lock; or it finds none, and
 * no page table shows it. What else is in the range comes back with a fault.
 */
void mc_bindings_revoke(struct mc_team *team, struct mc_member *member,
			unsigned long first, unsigned long last, struct list_head *revoked)
{
	struct mc_binding *binding;

	mc_team_zap(team, member, first, last);
	list_for_each_entry(binding, revoked, list) {
		unsigned long bytes = binding->range.last - binding->range.start + 1;

		trace_memcast_unbind(team->object.number, binding->member->device->id,
				     binding->memory->object.number, binding->range.start,
				     mc_binding_memory_offset(binding, binding->range.start),
				     bytes);
		interval_tree_remove(&binding->range, &binding->member->bindings);
		binding->member->bound -= bytes;
		binding_leave_memory(binding);
	}
	mc_team_zap_done(team);
}

/*
 * Remembers which process took away a member's bindings in a range. There is room for one loss:
 * as the bindings of a memory go one by one, adjacent ones count as one loss.
 */
void mc_member_lost(struct mc_member *member, struct mc_team *team,
		    unsigned long first, unsigned long last, enum mc_loss_cause cause)
{
	struct mc_loss *loss = &member->loss;

	lockdep_assert_held_write(&team->lock);
	if (loss->order && loss->cause == cause && mc_process_is_caller(&loss->process) &&
	    first <= loss->last + 1 && last + 1 >= loss->first) {
		loss->first = min(loss->first, first);
		loss->last = max(loss->last, last);
	} else {
		loss->more = loss->order;
		loss->first = first;
		loss->last = last;
		loss->cause = cause;
		mc_process_set(&loss->process);
	}
	loss->order = ++team->losses;
}

/*
 * Has a member that joined after @member a binding in the range? Loads from a window show the first
 * bound member, so once @member is bound there, page-table entries of the later one are wrong.
 */
static bool member_hides_later(struct mc_team *team, struct mc_member *member,
			       unsigned long first, unsigned long last)
{
	struct mc_member *later = member + 1;

	lockdep_assert_held(&team->lock);
	for (; later < team->member + team->joined; later++)
		if (interval_tree_iter_first(&later->bindings, first, last))
			return true;
	return false;
}

/* Takes the bindings before @binding out of the trees of their memories. */
static void bindings_leave_memories(struct list_head *list, struct mc_binding *binding)
{
	list_for_each_entry_continue_reverse(binding, list, list)
		leave_memory(binding);
}

/*
 * Puts bindings into the trees of their memories, all or none. A memory may be lost meanwhile:
 * lost_objects.c marks it, and only then takes away what its tree has, under its lock. So a
 * binding is in the tree in time to be taken away, or it finds the mark here and stays out.
 */
static int bindings_enter_memories(struct mc_call *call, struct list_head *list)
{
	struct mc_binding *binding;

	list_for_each_entry(binding, list, list) {
		struct mc_memory *memory = binding->memory;
		bool lost;

		spin_lock(&memory->lock);
		lost = READ_ONCE(memory->object.lost);
		if (likely(!lost))
			rb_add(&binding->of_memory, &memory->bindings, binding_less);
		spin_unlock(&memory->lock);
		if (unlikely(lost)) {
			bindings_leave_memories(list, binding);
			return mc_object_fail_lost(call, &memory->object);
		}
		cond_resched();
	}
	return 0;
}

/*
 * Fails if the member has anything bound in the range. A binding does not know which process made
 * it; most likely it was the one that added the device.
 */
static int check_unbound(struct mc_call *call, struct mc_team *team, struct mc_member *member,
			 unsigned long first, unsigned long last)
{
	struct interval_tree_node *node;
	char process[MC_PROCESS_WORDS];

	lockdep_assert_held(&team->lock);
	node = interval_tree_iter_first(&member->bindings, first, last);
	if (!node)
		return 0;
	mc_process_print(&member->joined_by, process, sizeof(process));
	return mc_fail(call, -EINVAL,
		       "the range overlaps a binding of device %u: memory %llu is bound from byte %lu to %lu, and %s added the device",
		       mc_device_ordinal(call->client, member->device->id),
		       container_of(node, struct mc_binding, range)->memory->object.number,
		       node->start, node->last, process);
}

/*
 * Binds all bindings of a list, which is in order and for one member, or none. Takes the team's
 * lock. Return: 0, and the list is empty; or an error, and the caller frees the list.
 */
int mc_bindings_commit(struct mc_call *call, struct mc_team *team,
		       struct mc_device *device, struct list_head *list)
{
	struct mc_binding *binding, *first, *last;
	struct mc_member *member;
	int ret;

	ret = mc_fabric_check(call, device);
	if (ret)
		return ret;
	first = list_first_entry(list, struct mc_binding, list);
	last = list_last_entry(list, struct mc_binding, list);

	down_write(&team->lock);
	/* mc_members_undo() takes the lock after the host is lost, and undoes what is there then */
	if (unlikely(READ_ONCE(device->host->lost))) {
		ret = mc_fail_lost_host(call, device->host);
		goto unlock;
	}
	member = mc_team_member(team, device);
	if (!member) {
		ret = mc_no_member(call, device->id);
		goto unlock;
	}
	ret = check_unbound(call, team, member, first->range.start, last->range.last);
	if (ret)
		goto unlock;
	ret = team->has_slot ? 0 : mc_fabric_take_slot(call, team->object.account);
	if (ret)
		goto unlock;
	ret = bindings_enter_memories(call, list);
	if (ret) {
		if (!team->has_slot)
			mc_fabric_give_slot(team->object.account);
		goto unlock;
	}
	team->has_slot = true;
	list_for_each_entry(binding, list, list) {
		binding->member = member;
		interval_tree_insert(&binding->range, &member->bindings);
		member->bound += binding->range.last - binding->range.start + 1;
		/*
		 * A thread that frees a block there waits for the reservation's lock, and so
		 * for this, before it gives its place to another block.
		 */
		WRITE_ONCE(binding->memory->exposed, true);
		trace_memcast_bind(binding->team->object.number, binding->member->device->id,
				   binding->memory->object.number, binding->range.start,
				   mc_binding_memory_offset(binding, binding->range.start),
				   binding->range.last - binding->range.start + 1);
		cond_resched();
	}
	/* replica mappings of this member had no page-table entries there */
	if (member_hides_later(team, member, first->range.start, last->range.last))
		mc_team_zap_windows(team, first->range.start, last->range.last);
	INIT_LIST_HEAD(list);
unlock:
	up_write(&team->lock);
	return ret;
}

/* Do whole bindings of a member cover a range without a hole? Return: 0 or an error. */
static int bindings_cover(struct mc_call *call, struct mc_team *team,
			  struct mc_member *member, unsigned long first,
			  unsigned long last)
{
	struct interval_tree_node *node;
	unsigned long where;
	int ret;

	lockdep_assert_held(&team->lock);
	ret = mc_range_is_covered(&member->bindings, first, last, &where, &node);
	if (ret != -EINVAL)
		return ret;
	if (!node)
		return mc_fail_not_bound(call, team, member, where);
	return mc_fail(call, -EINVAL,
		       "only a part of the binding of %lu bytes at %lu of device %u is in the range",
		       node->last - node->start + 1, node->start,
		       mc_device_ordinal(call->client, member->device->id));
}

/* Undoes whole bindings of a device in a range of a team, or none. Takes the team's lock. */
int mc_bindings_undo_range(struct mc_call *call, struct mc_team *team,
			   struct mc_device *device,
			   unsigned long first, unsigned long last)
{
	struct mc_binding *binding;
	struct mc_member *member;
	unsigned long next;
	LIST_HEAD(revoked);
	int ret;

	down_write(&team->lock);
	member = mc_team_member(team, device);
	if (!member) {
		ret = mc_no_member(call, device->id);
		goto unlock;
	}
	ret = bindings_cover(call, team, member, first, last);
	if (ret)
		goto unlock;
	for (next = first; next <= last; next = binding->range.last + 1) {
		binding = mc_binding_find(member, next);
		list_add_tail(&binding->list, &revoked);
		cond_resched();
	}
	mc_member_lost(member, team, first, last, MC_LOSS_UNBOUND);
	mc_bindings_revoke(team, member, first, last, &revoked);
unlock:
	up_write(&team->lock);
	mc_bindings_free(&revoked);
	return ret;
}

static void add_all_of_member(struct mc_member *member, struct list_head *list)
{
	struct rb_node *node;

	for (node = rb_first_cached(&member->bindings); node; node = rb_next(node)) {
		list_add_tail(&rb_entry(node, struct mc_binding, range.rb)->list, list);
		cond_resched();
	}
}

/* Undoes all bindings of a team that has ended, which nothing maps. */
void mc_bindings_undo_team(struct mc_team *team)
{
	struct mc_member *member;
	LIST_HEAD(revoked);

	down_write(&team->lock);
	for (member = team->member; member < team->member + team->joined; member++)
		add_all_of_member(member, &revoked);
	if (!list_empty(&revoked))
		mc_bindings_revoke(team, NULL, 0, team->object.bytes - 1, &revoked);
	up_write(&team->lock);
	mc_bindings_free(&revoked);
}

/* Undoes all bindings of a member whose host is lost. Takes the team's lock. */
void mc_bindings_undo_member(struct mc_member *member)
{
	struct mc_team *team = member->team;
	struct mc_binding *binding;
	LIST_HEAD(revoked);

	down_write(&team->lock);
	add_all_of_member(member, &revoked);
	if (!list_empty(&revoked)) {
		unsigned long first, last;

		list_for_each_entry(binding, &revoked, list)
			mc_member_lost(member, team, binding->range.start, binding->range.last,
				       MC_LOSS_HOST);
		first = list_first_entry(&revoked, struct mc_binding, list)->range.start;
		last = list_last_entry(&revoked, struct mc_binding, list)->range.last;
		mc_bindings_revoke(team, member, first, last, &revoked);
	}
	up_write(&team->lock);
	mc_bindings_free(&revoked);
}
