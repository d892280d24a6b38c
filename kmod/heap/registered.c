// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges of the program's own memory that it has registered. They are not pinned: copies reach them
 * by their addresses. A device would go on with the pages that were there when the range was
 * registered; so a program that unmaps the range, and then uses it, has a fault that only hardware
 * would show. The memory manager tells of each unmapping, and the next copy or fill says it. For
 * pages that madvise() or a truncated file drops it does not tell whether they come back.
 */
#include "heap.h"

/* A part of the range leaves the page tables. */
static bool invalidate(struct mmu_interval_notifier *notifier,
		       const struct mmu_notifier_range *range, unsigned long sequence)
{
	struct mc_registered *registered =
		container_of(notifier, struct mc_registered, notifier);

	mmu_interval_set_seq(notifier, sequence);
	if (range->event == MMU_NOTIFY_UNMAP && !xchg(&registered->unmapped, true))
		atomic_inc(&registered->client->unmapped);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = { .invalidate = invalidate };

/* Lets the memory manager watch a block that no tree has. Without locks. Return: 0, or an error. */
int mc_registered_watch(struct mc_call *call, struct mc_block *block)
{
	struct mc_client *client = call->client;
	struct mc_registered *registered =
		mc_alloc(call, client->account, sizeof(*registered));
	int ret;

	if (!registered)
		return -ENOMEM;
	registered->client = client;
	registered->block = block;
	INIT_LIST_HEAD(&registered->list);
	ret = mmu_interval_notifier_insert(&registered->notifier, client->mm, block->va.start,
					   mc_block_bytes(block), &notifier_ops);
	if (ret) {
		mc_free(client->account, registered, sizeof(*registered));
		/* an address space's first notifier takes all its locks, and stops for signals */
		return ret == -EINTR ? -ERESTARTNOINTR :
		       mc_fail(call, ret, "no memory for a notifier");
	}
	block->registered = registered;
	return 0;
}

/* Frees what no list has. Without locks, as mc_registered_free_ended() */
void mc_registered_free(struct mc_registered *registered)
{
	struct mc_client *client = registered->client;

	mmu_interval_notifier_remove(&registered->notifier);
	if (registered->unmapped && !registered->said)
		atomic_dec(&client->unmapped);
	mc_free(client->account, registered, sizeof(*registered));
}

/* The range's block has left the tree. The heap_lock is held; see mc_registered_free_ended(). */
void mc_registered_end(struct mc_client *client, struct mc_registered *registered)
{
	lockdep_assert_held(&client->heap_lock);
	list_move(&registered->list, &client->registered_ended);
}

/**
 * mc_registered_free_ended() - free what mc_registered_end() has left
 * @client: whose
 *
 * Without locks: it waits until no thread of the program changes page tables, which threads that do
 * so all the time put off.
 */
void mc_registered_free_ended(struct mc_client *client)
{
	struct mc_registered *registered, *next;
	LIST_HEAD(ended);

	/* another thread frees what it has just ended itself */
	if (list_empty_careful(&client->registered_ended))
		return;
	mutex_lock(&client->heap_lock);
	list_splice_init(&client->registered_ended, &ended);
	mutex_unlock(&client->heap_lock);
	list_for_each_entry_safe(registered, next, &ended, list) {
		mc_registered_free(registered);
		cond_resched();
	}
}

/* Rows of the program's own memory, which a call has read or written */
struct rows {
	unsigned long address, bytes;	/* of the first row; bytes is 1 or more */
	unsigned long pitch;		/* from row to row */
	unsigned long last;		/* address of the last row's last byte */
};

static bool is_news(const struct mc_block *block)
{
	return block->registered && block->registered->unmapped && !block->registered->said;
}

/* Is a byte of a row in the block, which meets the range from the first row to the last? */
static bool has_row(const struct mc_block *block, const struct rows *rows)
{
	unsigned long first = max(block->va.start, rows->address) - rows->address;
	unsigned long last = min(block->va.last, rows->last) - rows->address;
	unsigned long within = rows->pitch ? first % rows->pitch : first;

	/* if not in the row that begins before the block, then in the next one */
	return within < rows->bytes || last - first >= rows->pitch - within;
}

/**
 * mc_registered_note() - say that memory was registered, and unmapped since
 * @call: its reason is the output
 * @address: of the program's own memory, which a call has read or written
 * @bytes: of a row; 1 or more
 * @count: how many rows; 1 or more
 * @pitch: bytes from row to row
 *
 * Takes the heap_lock if the program has unmapped a registered range.
 *
 * Return: was a range found of which this has not been said? It is said once for each range.
 */
bool mc_registered_note(struct mc_call *call, unsigned long address, unsigned long bytes,
			unsigned long count, unsigned long pitch)
{
	const struct rows rows = {
		.address = address, .bytes = bytes, .pitch = pitch,
		.last = address + (count - 1) * pitch + bytes - 1,
	};
	struct mc_client *client = call->client;
	struct mc_block *block;

	if (likely(!atomic_read(&client->unmapped)))
		return false;
	mutex_lock(&client->heap_lock);
	block = mc_block_find(client, address, rows.last);
	while (block && !(is_news(block) && has_row(block, &rows))) {
		block = block->va.last < rows.last && !fatal_signal_pending(current) ?
			mc_block_find(client, block->va.last + 1, rows.last) : NULL;
		cond_resched();
	}
	if (block) {
		block->registered->said = true;
		atomic_dec(&client->unmapped);
		mc_fail(call, 0,
			"memory at %#lx was registered, and the program has unmapped it since",
			block->va.start);
	}
	mutex_unlock(&client->heap_lock);
	return block;
}
