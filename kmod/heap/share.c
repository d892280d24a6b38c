// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shares: a heap's memories, for other processes. The exporter's heap keeps its memories
 * in the share, by number; a process with the fd can map them, each once for all blocks
 * in it.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include "heap.h"

/* Return: a share without memories, held by the caller; or NULL. */
struct mc_share *mc_share_new(struct mc_call *call,
			      const struct memcast_memory_create *create,
			      struct mc_device *device)
{
	struct mc_share *share = mc_alloc(call, call->client->account,
					     sizeof(*share));

	if (!share)
		return NULL;
	share->host = call->client->host;
	share->account = call->client->account;
	kref_init(&share->kref);
	share->create = *create;
	share->device = device;
	xa_init_flags(&share->memories, XA_FLAGS_ACCOUNT);
	return share;
}

/* Return: the share, held once more. */
struct mc_share *mc_share_get(struct mc_share *share)
{
	kref_get(&share->kref);
	return share;
}

/* The share is empty by now: a segment holds it as long as its memory is in it. */
static void share_free(struct kref *kref)
{
	struct mc_share *share = container_of(kref, struct mc_share, kref);

	xa_destroy(&share->memories);
	mc_free(share->account, share, sizeof(*share));
}

/* Lets go of a share; it ends with the last holder. */
void mc_share_put(struct mc_share *share)
{
	kref_put(&share->kref, share_free);
}

/* Adds a memory, which other processes can import from now on. Return: 0 or -ENOMEM. */
int mc_share_add(struct mc_share *share, struct mc_memory *memory)
{
	int ret = xa_insert(&share->memories, memory->object.number, memory,
			    GFP_KERNEL_ACCOUNT);

	if (!ret)
		kref_get(&memory->object.kref);
	return ret;
}

/* Removes the memory of this number, if the share has it: no process can import it any more. */
void mc_share_remove(struct mc_share *share, u64 object)
{
	struct mc_memory *memory = xa_erase(&share->memories, object);

	if (memory)
		mc_object_forget(&memory->object);
}

/* Return: the memory of this number, with a user for the caller; NULL if it has gone. */
struct mc_memory *mc_share_memory(struct mc_share *share, u64 object)
{
	struct mc_memory *memory;

	xa_lock(&share->memories);
	memory = xa_load(&share->memories, object);
	if (memory && !mc_object_tryget(&memory->object))
		memory = NULL;
	xa_unlock(&share->memories);
	return memory;
}

static int share_release(struct inode *inode, struct file *file)
{
	struct mc_share *share = file->private_data;

	mc_uncharge(share->account, MC_FILE_BYTES);
	mc_share_put(share);
	return 0;
}

static const struct file_operations share_fops = {
	.owner = THIS_MODULE,
	.release = share_release,
	.llseek = noop_llseek,
};

/* Answers a call with an fd that stands for, and holds, the share. Return: 0, or an error. */
int mc_share_export(struct mc_call *call, struct mc_share *share, s32 *out_fd)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);
	struct file *file;
	int ret;

	if (fd < 0)
		return mc_fail(call, -ENOMEM, "the process has no free fd (errno %d)", -fd);
	ret = mc_charge(call, share->account, MC_FILE_BYTES);
	if (ret)
		goto put_fd;
	file = anon_inode_getfile("memcast-heap", &share_fops, share, O_RDWR);
	if (IS_ERR(file)) {
		mc_uncharge(share->account, MC_FILE_BYTES);
		ret = mc_fail(call, -ENOMEM, "the machine has no free file (errno %ld)",
			      -PTR_ERR(file));
		goto put_fd;
	}
	mc_share_get(share);
	*out_fd = fd;
	ret = mc_respond(call);
	if (!ret) {
		fd_install(fd, file);
		return 0;
	}
	fput(file);
put_fd:
	put_unused_fd(fd);
	return ret;
}

/* Return: the share that an fd of this process stands for, held; or NULL. */
struct mc_share *mc_share_of_fd(int fd)
{
	struct mc_share *share = NULL;
	struct file *file = fget(fd);

	if (!file)
		return NULL;
	if (file->f_op == &share_fops)
		share = mc_share_get(file->private_data);
	fput(file);
	return share;
}
