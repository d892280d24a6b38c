// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access to foreign memory with the CPU: in brackets, as the memory's exporter wants it, and
 * after the dma-buf's fences.
 */
#include <linux/dma-buf.h>
#include <linux/sched/signal.h>
#include "dmabuf.h"
#include "map/map.h"

/* Mark of a foreign memory whose exporter has been told that the CPU's access begins */
#define BEGUN	XA_MARK_0

/* Adds a foreign memory once: a team can show the same one at any number of places. */
static int bracket_add(struct xarray *brackets, struct mc_memory *memory)
{
	unsigned long number = memory->object.number;
	int ret;

	if (!memory->foreign || xa_load(brackets, number))
		return 0;
	ret = xa_reserve(brackets, number, GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	/* a memory that is ending counts as unbound already */
	if (mc_object_tryget(&memory->object))
		xa_store(brackets, number, memory, GFP_KERNEL);
	else
		xa_release(brackets, number);
	return 0;
}

static int brackets_of_team(struct xarray *brackets, const struct mc_mapping *mapping,
			    unsigned long first, unsigned long last)
{
	struct mc_team *team = mc_team(mapping->object);
	struct interval_tree_node *node;
	int ret = 0;
	u32 i;

	down_read(&team->lock);
	for (i = 0; i < team->joined && !ret; i++) {
		struct rb_root_cached *bindings = &team->member[i].bindings;

		if (mapping->replica && mapping->replica != &team->member[i])
			continue;
		for (node = interval_tree_iter_first(bindings, first, last); node && !ret;
		     node = interval_tree_iter_next(node, first, last)) {
			ret = mc_must_stop() ?:
			      bracket_add(brackets,
					  container_of(node, struct mc_binding, range)->memory);
			cond_resched();
		}
	}
	up_read(&team->lock);
	return ret;
}

/**
 * mc_foreign_find() - find foreign memory that is going to be accessed with the CPU
 * @brackets: output: memories by object number, each with a user until mc_foreign_end_cpu(),
 *	which the caller calls whether this fails or not
 * @reservation: around the address
 * @address: where
 * @bytes: how much
 *
 * Takes the locks of reservation and teams.
 *
 * Return: 0, -ENOMEM, or as mc_must_stop().
 */
int mc_foreign_find(struct xarray *brackets, struct mc_reservation *reservation,
		    u64 address, u64 bytes)
{
	struct rb_root_cached *mappings = &reservation->mappings;
	unsigned long first = address, last = address + bytes - 1;
	struct interval_tree_node *node;
	int ret = 0;

	down_read(&reservation->lock);
	for (node = interval_tree_iter_first(mappings, first, last); node && !ret;
	     node = interval_tree_iter_next(node, first, last)) {
		struct mc_mapping *mapping = container_of(node, struct mc_mapping, va);

		ret = mc_must_stop();
		if (ret)
			break;
		if (mapping->object->type == MEMCAST_TYPE_MEMORY)
			ret = bracket_add(brackets, mc_memory(mapping->object));
		else
			ret = brackets_of_team(brackets, mapping,
					       mc_mapping_offset(mapping, max(first, node->start)),
					       mc_mapping_offset(mapping, min(last, node->last)));
		cond_resched();
	}
	up_read(&reservation->lock);
	return ret;
}

/**
 * mc_foreign_begin_cpu() - get foreign memory ready for access with the CPU
 * @call: the call
 * @brackets: from mc_foreign_find(); for mc_foreign_end_cpu(), whether this fails or not
 * @write: the memory is going to be written; else read
 *
 * Waits for fences of the buffers. Without locks: the exporter may take its own.
 *
 * Return: 0, or an error.
 */
int mc_foreign_begin_cpu(struct mc_call *call, struct xarray *brackets, bool write)
{
	struct mc_memory *memory;
	unsigned long number;
	int ret = 0;

	xa_for_each(brackets, number, memory) {
		if (fatal_signal_pending(current))
			return -EINTR;
		/* the core waits for fences, whatever the exporter does */
		ret = dma_buf_begin_cpu_access(mc_foreign_dmabuf(memory->foreign),
					       write ? DMA_TO_DEVICE : DMA_FROM_DEVICE);
		if (ret)
			break;
		xa_set_mark(brackets, number, BEGUN);
		cond_resched();
	}
	if (ret && ret != -ENOMEM && ret != -EINTR && ret != -ERESTARTSYS)
		return mc_fail(call, -EIO,
			       "the exporter of a dma-buf refuses the access (errno %d)",
			       -ret);
	return ret;
}

/* Ends the access that was begun, and gives up the users of all memories. Without locks. */
void mc_foreign_end_cpu(struct xarray *brackets, bool write)
{
	struct mc_memory *memory;
	unsigned long number;

	/* nearly always, and cheaper to find out than by a walk */
	if (xa_empty(brackets))
		return;
	xa_for_each(brackets, number, memory) {
		if (xa_get_mark(brackets, number, BEGUN))
			dma_buf_end_cpu_access(mc_foreign_dmabuf(memory->foreign),
					       write ? DMA_TO_DEVICE : DMA_FROM_DEVICE);
		mc_object_put(&memory->object);
		cond_resched();
	}
	mc_xa_destroy(brackets);
}
