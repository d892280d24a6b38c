// SPDX-License-Identifier: GPL-2.0-only
/* Mappings of teams: taking a range of a team out of the page tables of every process. */
#include "object.h"
#include "core/trace.h"

static void zap_mappings(struct rb_root_cached *mappings, unsigned long first,
			 unsigned long last)
{
	struct interval_tree_node *node;

	for (node = interval_tree_iter_first(mappings, first, last); node;
	     node = interval_tree_iter_next(node, first, last)) {
		struct mc_object_range *range = container_of(node, struct mc_object_range, bytes);
		unsigned long from = max(first, node->start);
		unsigned long bytes = min(last, node->last) - from + 1;

		from += range->address - node->start;
		trace_memcast_zap(from, bytes);
		unmap_mapping_range(range->tables, from, bytes, 1);
		cond_resched();
	}
}

/* Takes a range of a team out of the page tables that show its windows. With the team's lock. */
void mc_team_zap_windows(struct mc_team *team, unsigned long first, unsigned long last)
{
	lockdep_assert_held_write(&team->lock);
	zap_mappings(&team->windows, first, last);
}

/*
 * Takes a range, in which bindings of a member (NULL: of any) are about to be undone, out of the
 * page tables of every process: the member's replica mappings, and the windows. With the team's
 * lock, without which no fault brings it back.
 */
void mc_team_zap(struct mc_team *team, struct mc_member *member,
		 unsigned long first, unsigned long last)
{
	struct mc_member *each = member ?: team->member;
	struct mc_member *end = member ? member + 1 : team->member + team->joined;

	mc_team_zap_windows(team, first, last);
	for (; each < end; each++)
		zap_mappings(&each->replicas, first, last);
	team->zapped_member = member;
	team->zapped_first = first;
	team->zapped_last = last;
}

/* The bindings in the range of mc_team_zap() are undone. With the team's lock. */
void mc_team_zap_done(struct mc_team *team)
{
	lockdep_assert_held_write(&team->lock);
	team->zapped_first = ULONG_MAX;
	team->zapped_last = 0;
}
