// SPDX-License-Identifier: GPL-2.0-only
/* Memories: chunks of one device's pool, or pages of the host; foreign.c has other drivers'. */
#include <linux/nodemask.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include "core/compat.h"
#include "object.h"

/* Return: the machine's memory that a memory of the host takes. */
static unsigned long host_bytes(const struct mc_memory *memory)
{
	return ((memory->chunks - 1) << MC_CHUNK_SHIFT) + (PAGE_SIZE << memory->last_order);
}

/*
 * Host memory comes from the kernel and is charged to the caller's cgroup. It comes in
 * chunks too, so that PMD entries show it as well; the last chunk may be smaller.
 */
static void host_give_chunks(struct mc_memory *memory, unsigned long chunks)
{
	while (chunks--) {
		mc_chunk_free(memory->chunk[chunks],
			      chunks == memory->chunks - 1 ? memory->last_order :
							     MC_CHUNK_ORDER);
		cond_resched();
	}
	mc_uncharge(memory->object.account, host_bytes(memory));
}

static int host_take(struct mc_call *call, struct mc_memory *memory)
{
	bool numa = memory->location == MEMCAST_LOCATION_HOST_NUMA;
	int node = numa ? memory->location_id : numa_node_id();
	unsigned long i;
	int ret;

	ret = mc_charge(call, memory->object.account, host_bytes(memory));
	if (ret)
		return ret;
	for (i = 0; i < memory->chunks; i++) {
		u32 order = i == memory->chunks - 1 ? memory->last_order :
						      MC_CHUNK_ORDER;

		ret = mc_must_stop() ?: mc_check_left(call);
		if (ret)
			goto give_back;
		memory->chunk[i] = mc_chunk_alloc(node, __GFP_ACCOUNT |
						  (numa ? __GFP_THISNODE : 0),
						  order);
		if (!memory->chunk[i]) {
			ret = -ENOMEM;
			goto give_back;
		}
		cond_resched();
	}
	return 0;

give_back:
	host_give_chunks(memory, i);
	return ret;
}

static void host_give_back(struct mc_memory *memory)
{
	host_give_chunks(memory, memory->chunks);
}

static const struct mc_memory_ops host_ops = { .give_back = host_give_back };

static void pool_give_back(struct mc_memory *memory)
{
	mc_pool_give(&memory->device->pool, memory->object.account, memory->chunk, memory->chunks);
}

static const struct mc_memory_ops pool_ops = { .give_back = pool_give_back };

/* Return: the most bytes that there could be, checked before an array for them is made. */
static u64 memory_room(struct mc_device *device)
{
	return device ? (u64)READ_ONCE(device->pool.free) << MC_CHUNK_SHIFT :
			(u64)totalram_pages() << PAGE_SHIFT;
}

/*
 * No user is left, so no mapping shows the memory, as mappings are users until they are zapped:
 * only its bindings do. Once they are undone no page table has the chunks that go back here.
 */
static void memory_end(struct mc_object *object)
{
	struct mc_memory *memory = mc_memory(object);

	BUILD_BUG_ON(offsetof(struct mc_memory, object));
	mc_fabric_forget(object);
	mc_bindings_undo_memory(memory);
	VM_WARN_ON_ONCE(!RB_EMPTY_ROOT(&memory->bindings));
	if (memory->object.bytes >= MC_CHUNK_SIZE)
		mc_wait_for_counts();
	memory->ops->give_back(memory);
	atomic_long_dec(&mc_stats.memories);
}

static const struct mc_object_ops memory_ops = {
	.type = MEMCAST_TYPE_MEMORY,
	.end = memory_end,
};

/* Return: a memory with room for so many chunks, and one user, the caller; or NULL. */
struct mc_memory *mc_memory_alloc(struct mc_call *call, const struct mc_memory_ops *ops,
				  u64 bytes, unsigned long chunks, u32 granularity,
				  u32 handle_types)
{
	struct mc_object *object;
	struct mc_memory *memory;

	object = mc_object_alloc(call, struct_size(memory, chunk, chunks));
	if (!object)
		return NULL;
	memory = mc_memory(object);
	mc_object_init(&memory->object, &memory_ops, bytes, granularity, handle_types);
	memory->ops = ops;
	memory->chunks = chunks;
	spin_lock_init(&memory->lock);
	memory->bindings = RB_ROOT;
	return memory;
}

/*
 * Makes a memory as @create asks for, on a device or (NULL) the host, filled with zeros.
 * Return: the memory, with one user, the caller; or an error. Without locks.
 */
struct mc_memory *mc_memory_new(struct mc_call *call, struct mc_device *device,
				const struct memcast_memory_create *create,
				u64 bytes)
{
	struct mc_memory *memory;
	u64 tail;
	int ret;

	if (bytes > memory_room(device))
		goto no_room;
	memory = mc_memory_alloc(call, device ? &pool_ops : &host_ops, bytes,
				 DIV_ROUND_UP_ULL(bytes, MC_CHUNK_SIZE),
				 device ? MC_CHUNK_SIZE : PAGE_SIZE, create->handle_types);
	if (!memory)
		return ERR_PTR(-ENOMEM);
	memory->shift = MC_CHUNK_SHIFT;
	memory->device = device;
	memory->location = create->location;
	memory->location_id = device ? device->id : create->location_id;
	memory->flags = create->flags;
	ret = mc_object_enter(call, &memory->object, device ? device->host : call->client->host);
	if (ret) {
		mc_object_forget(&memory->object);
		return ERR_PTR(ret);
	}
	tail = bytes % MC_CHUNK_SIZE;
	/*
	 * Not a single page: it has no references, so that it would look free to memory hotplug,
	 * which would try for ever to have it back. A compound page counts as one that stays.
	 */
	memory->last_order = tail ? max(get_order(tail), 1) : MC_CHUNK_ORDER;

	ret = device ? mc_pool_take(&device->pool, memory->chunk, memory->chunks,
				    &call->client->zero_enough) :
		       host_take(call, memory);
	if (ret) {
		mc_object_forget(&memory->object);
		if (ret != -ENOMEM || call->reason[0])
			return ERR_PTR(ret);
		goto no_room;
	}
	atomic_long_inc(&mc_stats.memories);
	return memory;

no_room:
	if (!device)
		return ERR_PTR(mc_fail(call, -ENOMEM,
				       "the host has not %llu bytes to give",
				       bytes));
	return ERR_PTR(mc_fail(call, -ENOMEM,
			       "%llu bytes are more than the %llu free on device %u",
			       bytes, memory_room(device),
			       mc_device_ordinal(call->client, device->id)));
}

/**
 * mc_memory_touch() - populate an offset: take a chunk for it, unless there is one
 * @memory: the caller is a user of it, and holds no lock but that of a team's dma-buf
 * @offset: bytes
 *
 * Once there is a chunk it stays until the memory ends.
 *
 * Return: 0, or -ENOMEM: the limits of lazy pools, or the caller's cgroup, allow no more.
 */
int mc_memory_touch(struct mc_memory *memory, unsigned long offset)
{
	struct mc_pool *pool;
	struct page *chunk;

	if (!mc_memory_lacks(memory, offset))
		return 0;
	pool = &memory->device->pool;
	chunk = mc_lazy_take(pool, memory->object.account);
	if (!chunk)
		/* another thread may have taken the last chunk, for the same offset */
		return mc_memory_lacks(memory, offset) ? -ENOMEM : 0;
	/* orders the zeros before the pointer; of several threads the first one wins */
	if (cmpxchg(&memory->chunk[offset >> memory->shift], NULL, chunk))
		mc_lazy_give(pool, memory->object.account, chunk);
	return 0;
}

/**
 * mc_lacks_add() - count the chunk that an offset needs, if it is not populated
 * @lacks: the count
 * @memory: the caller is a user of it, and holds no lock
 * @offset: bytes
 *
 * Return: 0, or -ENOMEM: the pools cannot give that many chunks, so the caller can stop counting.
 */
int mc_lacks_add(struct mc_lacks *lacks, const struct mc_memory *memory, unsigned long offset)
{
	struct page *const *place = &memory->chunk[offset >> memory->shift];
	int ret;

	if (!mc_memory_lacks(memory, offset))
		return 0;
	ret = xa_insert(&lacks->places, (unsigned long)place / sizeof(*place), xa_mk_value(0),
			GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (ret)
		return ret == -EBUSY ? 0 : -ENOMEM;
	lacks->account = memory->object.account;
	return mc_lazy_has_room(lacks->account, ++lacks->chunks) ? 0 : -ENOMEM;
}

/*
 * As mc_memory_extent(), of a memory in pages (foreign memory). The bytes are in one allocation
 * of pages.
 */
unsigned long mc_memory_pages_extent(const struct mc_memory *memory, unsigned long offset)
{
	unsigned long i = offset >> PAGE_SHIFT, pfn;
	unsigned long end = min(ALIGN(i + 1, BIT(MC_CHUNK_ORDER)), memory->chunks);
	struct page *first, *page;

	if (memory->ops->extent)
		return memory->ops->extent(memory, offset, &pfn);
	first = memory->chunk[i];
	while (++i < end) {
		page = memory->chunk[i];
		if (page_to_pfn(page) != page_to_pfn(memory->chunk[i - 1]) + 1)
			break;
		/* for CONFIG_HARDENED_USERCOPY a copy must not leave a compound page */
		if (compound_head(page) != compound_head(first) &&
		    (PageCompound(page) || PageCompound(first)))
			break;
	}
	return (i << PAGE_SHIFT) - offset;
}

/*
 * Can one PMD entry show the 2 MiB around an offset, all of which the memory has? For memory
 * in pages (foreign memory).
 */
bool mc_memory_has_chunk(const struct mc_memory *memory, unsigned long offset)
{
	unsigned long start = ALIGN_DOWN(offset, MC_CHUNK_SIZE);
	struct page *const *page = memory->chunk + (start >> PAGE_SHIFT);
	unsigned long pfn = mc_memory_pfn(memory, start);
	unsigned long i;

	if (!IS_ALIGNED(pfn, BIT(MC_CHUNK_ORDER)))
		return false;
	if (memory->ops->extent)
		return mc_memory_pages_extent(memory, start) >= MC_CHUNK_SIZE;
	for (i = 1; i < BIT(MC_CHUNK_ORDER); i++)
		if (page_to_pfn(page[i]) != pfn + i)
			return false;
	return true;
}

/* Return: the device that @create names; NULL: the host; or an error, with the reason. */
struct mc_device *mc_memory_find_device(struct mc_call *call,
					const struct memcast_memory_create *create)
{
	switch (create->location) {
	case MEMCAST_LOCATION_DEVICE:
		return mc_find_device(call, create->location_id);
	case MEMCAST_LOCATION_HOST:
		if (!create->handle_types)
			return NULL;
		return ERR_PTR(mc_fail(call, -EINVAL,
				       "only host memory of a NUMA node can be shared"));
	case MEMCAST_LOCATION_HOST_NUMA:
		if (create->location_id < MAX_NUMNODES &&
		    node_state(create->location_id, N_MEMORY))
			return NULL;
		return ERR_PTR(mc_fail(call, -EINVAL,
				       "no NUMA node %u with memory",
				       create->location_id));
	default:
		return ERR_PTR(mc_fail(call, -EINVAL, "unknown location type %u",
				       create->location));
	}
}

/* MEMCAST_MEMORY_CREATE: a memory, on a device or on the host. */
int mc_memory_create(struct mc_call *call)
{
	struct memcast_memory_create *create = call->arg;
	struct mc_device *device;
	struct mc_memory *memory;
	int channel, ret;

	if (create->flags & ~(MEMCAST_MEMORY_RDMA | MEMCAST_MEMORY_COMPRESSIBLE |
			      MEMCAST_MEMORY_TILES) || create->reserved)
		return mc_fail(call, -EINVAL, "unknown flags or reserved fields");
	if (create->handle_types & ~(MEMCAST_HANDLE_FD | MEMCAST_HANDLE_FABRIC))
		return mc_fail(call, -EINVAL, "unknown handle types %#x",
			       create->handle_types);
	device = mc_memory_find_device(call, create);
	if (IS_ERR(device))
		return PTR_ERR(device);
	ret = mc_check_range(call, "memory", 0, create->bytes, U64_MAX,
			     device ? MC_CHUNK_SIZE : PAGE_SIZE);
	if (ret)
		return ret;
	channel = mc_fabric_channel(call, create->handle_types);
	if (channel < 0)
		return channel;

	memory = mc_memory_new(call, device, create, create->bytes);
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	memory->object.channel = channel;
	if (create->location == MEMCAST_LOCATION_HOST) {
		memory->location = MEMCAST_LOCATION_HOST_NUMA;
		memory->location_id = page_to_nid(memory->chunk[0]);
	}
	return mc_handle_answer(call, &memory->object, &create->out_handle);
}
