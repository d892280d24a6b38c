// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mapping may reach over the end of its reservation. The reservations behind lend it their
 * addresses for as long as it is there, and have no mappings of their own in what they lend.
 * Whoever looks up an address that is lent gets the borrower, which has the mapping in its tree.
 */
#include "map.h"

static void reservation_free(struct kref *kref)
{
	struct mc_reservation *reservation =
		container_of(kref, struct mc_reservation, kref);

	mc_free(reservation->client->account, reservation, sizeof(*reservation));
	atomic_long_dec(&mc_stats.reservations);
}

/* Lets go of the struct, which does not end the reservation. */
void mc_reservation_put(struct mc_reservation *reservation)
{
	kref_put(&reservation->kref, reservation_free);
}

/**
 * mc_borrower() - who has the mappings at an address of a reservation?
 * @reservation: its VMA shows the address
 * @address: where
 *
 * Takes the reservation's lock if it lends anything.
 *
 * Return: the reservation that borrows the address, held; or NULL: @reservation has them itself.
 */
struct mc_reservation *mc_borrower(struct mc_reservation *reservation, unsigned long address)
{
	struct mc_reservation *borrower = NULL;

	if (likely(!READ_ONCE(reservation->borrower)))
		return NULL;
	down_read(&reservation->lock);
	/* a copy of the VMA, by mremap(), is elsewhere */
	if (reservation->borrower && address >= reservation->start &&
	    address <= reservation->lent_last) {
		borrower = reservation->borrower;
		kref_get(&borrower->kref);
	}
	up_read(&reservation->lock);
	return borrower;
}

/* Lends the addresses up to @last, if nothing is there. Return: 0, or an error. */
static int lend(struct mc_call *call, struct mc_reservation *lender,
		struct mc_reservation *borrower, unsigned long last)
{
	int ret = 0;

	lockdep_assert_held_write(&borrower->lock);
	last = min(last, lender->end - 1);
	/* of two reservations whose locks a thread holds, the one with lower addresses is first */
	down_write_nested(&lender->lock, SINGLE_DEPTH_NESTING);
	if (lender->dead || lender->retiring) {
		ret = mc_fail(call, -EINVAL, "the reservation at %#lx has been freed",
			      lender->start);
	} else if (lender->of_heap || lender->borrower ||
		   interval_tree_iter_first(&lender->mappings, lender->start, last)) {
		ret = mc_fail(call, -EINVAL,
			      "the mapping would reach over the reservation's end, and something is mapped at %#lx already",
			      lender->start);
	} else {
		kref_get(&borrower->kref);
		lender->lent_last = last;
		WRITE_ONCE(lender->borrower, borrower);
	}
	up_write(&lender->lock);
	return ret;
}

static void take_back(struct mc_reservation *lender)
{
	struct mc_reservation *borrower;

	down_write_nested(&lender->lock, SINGLE_DEPTH_NESTING);
	borrower = lender->borrower;
	WRITE_ONCE(lender->borrower, NULL);
	up_write(&lender->lock);
	mc_reservation_put(borrower);
}

/**
 * mc_lend() - lend a reservation what is behind its end, up to the end of a mapping
 * @call: the call
 * @overhang: from mc_overhang_find(); its lenders become the borrower's
 * @borrower: its lock is held for writing, and no mapping of it reaches over its end
 * @last: the last address of the mapping
 *
 * Takes the lenders' locks. Return: 0, or an error, and then nothing is lent.
 */
int mc_lend(struct mc_call *call, struct mc_overhang *overhang,
	    struct mc_reservation *borrower, unsigned long last)
{
	unsigned int i;
	int ret = 0;

	lockdep_assert_held_write(&borrower->lock);
	if (likely(!overhang->count))
		return 0;
	VM_WARN_ON_ONCE(borrower->lender);
	for (i = 0; i < overhang->count && !ret; i++)
		ret = lend(call, overhang->lender[i], borrower, last);
	if (ret) {
		for (i--; i--;)
			take_back(overhang->lender[i]);
		return ret;
	}
	while (overhang->count) {
		struct mc_reservation *lender = overhang->lender[--overhang->count];

		lender->next_lender = borrower->lender;
		borrower->lender = lender;
	}
	WRITE_ONCE(borrower->reach, last + 1);
	return 0;
}

/**
 * mc_lend_end() - give back what a reservation has borrowed, if nothing is mapped there
 * @borrower: its lock is held for writing
 *
 * Takes the lenders' locks.
 *
 * Return: the lenders, for mc_overhang_end() or mc_lenders_put() without locks; or NULL.
 */
struct mc_reservation *mc_lend_end(struct mc_reservation *borrower)
{
	struct mc_reservation *first = borrower->lender, *lender;

	lockdep_assert_held_write(&borrower->lock);
	if (likely(!first) ||
	    interval_tree_iter_first(&borrower->mappings, borrower->end, ULONG_MAX))
		return NULL;
	for (lender = first; lender; lender = lender->next_lender)
		take_back(lender);
	borrower->lender = NULL;
	WRITE_ONCE(borrower->reach, borrower->end);
	return first;
}

/*
 * Gives up lenders, for callers that may not unmap spares: the program itself has unmapped the
 * borrower, or the process is ending. Spares then stay reserved until the process ends.
 */
void mc_lenders_put(struct mc_reservation *lender)
{
	while (lender) {
		struct mc_reservation *next = lender->next_lender;

		mc_reservation_put(lender);
		lender = next;
	}
}
