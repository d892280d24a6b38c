// SPDX-License-Identifier: GPL-2.0-only
/* MEMCAST_TEAM_COUNT: what processes have done at a team's windows without the kernel. */
#include <linux/overflow.h>
#include "map.h"

/* Adds to a count that any process with a window may raise: it does not wrap around. */
static void count_up(atomic64_t *count, s64 more)
{
	s64 before = atomic64_read(count), after;

	do {
		if (check_add_overflow(before, more, &after))
			after = S64_MAX;
	} while (!atomic64_try_cmpxchg(count, &before, after));
}

int mc_team_count(struct mc_call *call)
{
	const struct memcast_team_count *given = call->arg;
	struct mc_reservation *reservation;
	struct mc_mapping *mapping;
	int ret = 0;

	if (given->multimem > S64_MAX)
		return mc_fail(call, -EINVAL, "%llu operations are more than a count holds",
			       given->multimem);
	reservation = mc_reservation_at(call, given->address);
	if (IS_ERR(reservation))
		return PTR_ERR(reservation);
	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, given->address);
	if (mapping && mc_mapping_is_window(mapping))
		count_up(&mc_team(mapping->object)->multimem, given->multimem);
	else
		ret = mc_fail(call, -EINVAL, "no team is mapped at %#llx", given->address);
	up_read(&reservation->lock);
	mc_reservation_put(reservation);
	return ret;
}
