// SPDX-License-Identifier: GPL-2.0-only
/* Frees xarrays whose length a user has chosen. */
#include <linux/sched.h>
#include "core.h"

/**
 * mc_xa_destroy() - empty an array that no other thread uses any more
 * @xa: the array; its entries are values, or point to what the caller has freed
 *
 * xa_destroy() alone frees all entries in one go, with interrupts off.
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
