// SPDX-License-Identifier: GPL-2.0-only
/* Chunks: how they come from the kernel, and go back to it. */
#include <linux/gfp.h>
#include <linux/page_ref.h>
#include <linux/sched.h>
#include "device.h"

/*
 * Return: a zeroed chunk of 2^@order pages of a node, which the caller owns; or NULL.
 *
 * A chunk has no references, in use or not: an attempt to pin one of its pages (as
 * fast GUP may make on 6.1) fails, as it does for a free page. So no pin can outlive
 * the chunk's owner.
 */
struct page *mc_chunk_alloc(int node, gfp_t flags, unsigned int order)
{
	struct page *chunk = alloc_pages_node(node, GFP_KERNEL | __GFP_COMP |
					      __GFP_NOWARN | __GFP_ZERO |
					      __GFP_RETRY_MAYFAIL | flags, order);

	/* a kernel thread that walks all pages of the machine may hold one for a moment */
	while (chunk && !page_ref_freeze(chunk, 1))
		cond_resched();
	return chunk;
}

/* Gives a chunk of mc_chunk_alloc(), of the same order, back to the kernel. */
void mc_chunk_free(struct page *chunk, unsigned int order)
{
	page_ref_unfreeze(chunk, 1);
	__free_pages(chunk, order);
}
