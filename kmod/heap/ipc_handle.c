// SPDX-License-Identifier: GPL-2.0-only
/*
 * IPC handles: numbers by which other processes open a block. Nobody can guess one, and it
 * is good only on the exporter's host, for processes of its user and user namespace: a handle that
 * leaks opens no memory elsewhere. It ends with its block, and so with the exporter; memory that
 * was opened until then stays, as with fds.
 *
 * Processes in other PID namespaces may open it, as on hardware, where containers share memory so.
 * NVIDIA's driver tells processes apart by their numbers: one with the exporter's number counts as
 * the exporter, and is refused. So it is here, as programs have to find that out.
 */
#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/random.h>
#include <linux/rbtree.h>
#include "heap.h"

struct mc_ipc {
	struct rb_node by_key;
	u8 key[MEMCAST_IPC_KEY_SIZE];
	const struct cred *cred;	/* the exporter's */
	struct pid_namespace *pids;	/* the exporter's, held */
	pid_t number;			/* the exporter's, in that namespace */
	struct mc_client *client;	/* the exporter, which outlives its blocks */
	struct mc_memory *memory;	/* holds the struct */
	u64 offset, bytes;
};

/* Protects ipcs. Taken under a client's heap_lock, and outside all other locks. */
static DEFINE_MUTEX(ipc_lock);
static struct rb_root ipcs = RB_ROOT;	/* by key */

static int compare_key(const void *key, const struct rb_node *node)
{
	return memcmp(key, rb_entry(node, struct mc_ipc, by_key)->key,
		      MEMCAST_IPC_KEY_SIZE);
}

static bool is_before(struct rb_node *node, const struct rb_node *other)
{
	return compare_key(rb_entry(node, struct mc_ipc, by_key)->key, other) < 0;
}

static bool may_open(const struct mc_call *call, const struct mc_ipc *ipc)
{
	return ipc->client->host == call->client->host &&
	       uid_eq(ipc->cred->euid, current_euid()) &&
	       ipc->cred->user_ns == current_user_ns();
}

/* Has the caller the exporter's number, in another namespace? */
static bool has_its_number(const struct mc_ipc *ipc)
{
	return ipc->pids != task_active_pid_ns(current) && ipc->number == task_tgid_vnr(current);
}

/* Makes a block's IPC handle. Its segment shows the memory from offset 0: see check_block(). */
static int ipc_new(struct mc_call *call, struct mc_block *block)
{
	struct mc_segment *segment = block->segment;
	struct mc_ipc *ipc = mc_alloc(call, call->client->account, sizeof(*ipc));

	lockdep_assert_held(&call->client->heap_lock);
	if (!ipc)
		return -ENOMEM;
	get_random_bytes(ipc->key, sizeof(ipc->key));
	ipc->cred = get_current_cred();
	ipc->pids = get_pid_ns(task_active_pid_ns(current));
	ipc->number = task_tgid_vnr(current);
	ipc->client = call->client;
	ipc->memory = segment->memory;
	kref_get(&ipc->memory->object.kref);
	ipc->offset = block->va.start - segment->start;
	ipc->bytes = mc_block_bytes(block);
	/* other processes may map all of the chunk: no later block comes there */
	WRITE_ONCE(ipc->memory->exposed, true);
	mutex_lock(&ipc_lock);
	rb_add(&ipc->by_key, &ipcs, is_before);
	mutex_unlock(&ipc_lock);
	block->ipc = ipc;
	return 0;
}

/* Ends a block's IPC handle: no process can open the block any more. The heap_lock is held. */
void mc_ipc_end(struct mc_client *client, struct mc_block *block)
{
	struct mc_ipc *ipc = block->ipc;

	lockdep_assert_held(&client->heap_lock);
	mutex_lock(&ipc_lock);
	rb_erase(&ipc->by_key, &ipcs);
	mutex_unlock(&ipc_lock);
	mc_object_forget(&ipc->memory->object);
	put_pid_ns(ipc->pids);
	put_cred(ipc->cred);
	mc_free(client->account, ipc, sizeof(*ipc));
}

static int check_block(struct mc_call *call, const struct mc_block *block)
{
	const struct memcast_ipc_export *export = call->arg;

	/* a segment that is alone shows a memory that this process was given, or a dma-buf */
	if (block && !block->freeing && block->segment && !block->segment->alone &&
	    !(block->segment->heap->flags & MEMCAST_HEAP_POOL))
		return 0;
	return mc_fail(call, -EINVAL, "%#llx is not in a block of this process, out of a pool",
		       export->address);
}

/* MEMCAST_IPC_EXPORT: a block's IPC handle. */
int mc_ipc_export(struct mc_call *call)
{
	struct memcast_ipc_export *export = call->arg;
	struct mc_client *client = call->client;
	struct mc_block *block;
	int ret;

	mutex_lock(&client->heap_lock);
	block = mc_block_find(client, export->address, export->address);
	ret = check_block(call, block);
	if (!ret && !block->ipc)
		ret = ipc_new(call, block);
	if (!ret)
		memcpy(export->out_key, block->ipc->key, sizeof(export->out_key));
	mutex_unlock(&client->heap_lock);
	return ret ?: mc_respond(call);
}

/* Return: the memory of an IPC handle, with a user for the caller, or an error. */
static struct mc_memory *find_memory(struct mc_call *call)
{
	struct memcast_ipc_open *open = call->arg;
	struct mc_memory *memory = NULL;
	struct rb_node *node;
	bool own, known, may, alike = false;
	struct mc_ipc *ipc;

	mutex_lock(&ipc_lock);
	node = rb_find(open->key, &ipcs, compare_key);
	ipc = node ? rb_entry(node, struct mc_ipc, by_key) : NULL;
	/* the exporter is told that the memory is its own, also after a change of its user */
	own = ipc && ipc->client == call->client;
	known = ipc && !own && !READ_ONCE(ipc->client->ended);
	may = known && may_open(call, ipc);
	if (may) {
		alike = has_its_number(ipc);
		if (!alike && mc_object_tryget(&ipc->memory->object))
			memory = ipc->memory;
		open->out_offset = ipc->offset;
		open->out_bytes = ipc->bytes;
	}
	mutex_unlock(&ipc_lock);
	if (own)
		return ERR_PTR(mc_fail(call, -EEXIST, "the memory is this process's own"));
	if (alike) {
		int ret = mc_fail(call, -EEXIST,
				  "the exporter has this process's number, %d, in another PID namespace: hardware takes it for this process (run them with one PID namespace, or export fds)",
				  task_tgid_vnr(current));

		return ERR_PTR(ret);
	}
	if (known && !may && open->flags & MEMCAST_IPC_ALIVE)
		return ERR_PTR(mc_fail(call, -EPERM, "the memory is another's"));
	/* else a process that may not open it is not told whether there is such a handle */
	return memory ?: ERR_PTR(mc_fail(call, -ENOENT,
				"no such handle: its memory was freed, or is another's"));
}

/* MEMCAST_IPC_OPEN: a handle of the memory that an IPC handle stands for. */
int mc_ipc_open(struct mc_call *call)
{
	struct memcast_ipc_open *open = call->arg;
	struct mc_memory *memory;

	if (open->flags & ~MEMCAST_IPC_ALIVE)
		return mc_fail(call, -EINVAL, "unknown flags");
	memory = find_memory(call);
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	return mc_handle_answer_as(call, &memory->object, true, &open->out_handle);
}
