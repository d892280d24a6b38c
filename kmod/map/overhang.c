// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is behind a reservation, for a mapping that reaches over its end, as NVIDIA's driver lets
 * it: other reservations lend it their addresses, and where nothing is, the module reserves the
 * addresses for as long as the mapping is there, as a spare.
 */
#include <linux/mman.h>
#include <linux/sched/signal.h>
#include "map.h"

/* Reserves what is free from an address on, up to @end. Return: the spare, held; or an error. */
static struct mc_reservation *spare_new(struct mc_call *call, unsigned long address,
					unsigned long end)
{
	struct mc_client *client = call->client;
	struct mc_reservation *spare = NULL;
	const struct vm_area_struct *vma;
	unsigned long place = -ENOMEM;

	mmap_read_lock(client->mm);
	vma = find_vma(client->mm, address);
	if (vma)
		end = min(end, vma->vm_start);
	mmap_read_unlock(client->mm);
	if (end > address)
		place = vm_mmap(call->file, address, end - address, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_FIXED_NOREPLACE, 0);
	if (!IS_ERR_VALUE(place))
		spare = mc_reservation_lookup(client, address);
	if (!spare)
		return ERR_PTR(mc_fail(call, -EINVAL,
				       "the mapping would reach over the reservation's end, and what is at %#lx is in use",
				       address));
	down_write(&spare->lock);
	spare->spare = spare->start == address && spare->end == end;
	up_write(&spare->lock);
	return spare;
}

/* Gives up a lender, and a spare's addresses unless another call has borrowed them. No locks. */
static void lender_put(struct mc_reservation *lender)
{
	bool unmap;

	down_write(&lender->lock);
	unmap = lender->spare && !lender->borrower && !lender->dead && !lender->retiring;
	if (unmap)
		lender->retiring = true;
	up_write(&lender->lock);
	/* where munmap() fails (mseal(), no memory) only the addresses stay */
	if (unmap)
		vm_munmap(lender->start, lender->end - lender->start);
	mc_reservation_put(lender);
}

/* Gives up the lenders that were found. Without locks. */
void mc_overhang_put(struct mc_overhang *overhang)
{
	while (overhang->count)
		lender_put(overhang->lender[--overhang->count]);
}

/**
 * mc_overhang_find() - find the reservations that a mapping reaches into, and reserve the gaps
 * @call: the call
 * @overhang: output, for mc_lend(); the caller gives it to mc_overhang_put()
 * @address: the end of the mapping's reservation
 * @end: the end of the mapping
 *
 * Without locks. Return: 0, or an error.
 */
int mc_overhang_find(struct mc_call *call, struct mc_overhang *overhang, unsigned long address,
		     unsigned long end)
{
	while (address < end) {
		struct mc_reservation *lender;

		if (fatal_signal_pending(current))
			return -EINTR;
		if (overhang->count == ARRAY_SIZE(overhang->lender))
			return mc_fail(call, -EINVAL,
				       "the mapping would reach into more than %zu reservations behind its own",
				       ARRAY_SIZE(overhang->lender));
		lender = mc_reservation_lookup(call->client, address) ?:
			 spare_new(call, address, end);
		if (IS_ERR(lender))
			return PTR_ERR(lender);
		overhang->lender[overhang->count++] = lender;
		address = lender->end;
	}
	return 0;
}

/* Gives up lenders that mc_lend_end() returned, and the addresses of spares. Without locks. */
void mc_overhang_end(struct mc_reservation *lender)
{
	while (lender) {
		struct mc_reservation *next = lender->next_lender;

		lender_put(lender);
		lender = next;
	}
}
