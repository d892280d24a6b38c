// SPDX-License-Identifier: GPL-2.0-only
/* The end of an array that a user has made as long as it is. */
#include <linux/sched.h>
#include "private.h"

/**
 * mc_xa_destroy() - empty an array that nobody else uses any more
 * @xa: of values, or of what the caller has freed
 *
 * xa_destroy() alone frees what is left in one go, with interrupts off.
 */
void mc_xa_destroy(struct xarray *xa)
{
	unsigned long index;
	void *entry;

	xa_for_each(xa, index, entry) {
		xa_erase(xa, index);
		cond_resched();
	}
	xa_destroy(xa);
}
