// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients: one open of /dev/memcast, or of a host's file, from open() to the end of its process.
 *
 * A process that exits closes its files, and so ends its clients. If another process has the same
 * table of files (CLONE_FILES), nobody closes them: then the kernel's queue of those who wait for
 * the process tells of its end, as it does to a pidfd's poll(). If another process has the same
 * address space (CLONE_VM), the mappings do not go with the process: the client removes them.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include "core/compat.h"
#include "entry.h"
#include "heap/heap.h"
#include "device/host.h"
#include "map/map.h"

static void client_free(struct kref *kref)
{
	struct mc_client *client = container_of(kref, struct mc_client, kref);
	struct mc_account *account = client->account;

	put_pid(client->process);
	mmdrop(client->mm);
	mc_free(account, client, sizeof(*client));
	mc_uncharge_more(account, 0);
	atomic_long_dec(&mc_stats.clients);
}

/* Drops a reference to the struct: the file's, or that of mc_host_next_client(). */
void mc_client_put(struct mc_client *client)
{
	kref_put(&client->kref, client_free);
}

/*
 * Takes a client's handles, then its mappings, whoever has the file or the addresses: its process
 * goes, or (@host_lost) its host. mapping_link() says why in this order.
 */
void mc_client_leave(struct mc_client *client, bool host_lost)
{
	mc_client_end(client);
	mc_client_unmap(client, host_lost);
	/* what was mapped */
	mc_client_end(client);
}

/* The process has ended, or the first of its threads, or a debugger has looked. */
static void process_woke(struct work_struct *work)
{
	struct mc_client *client = container_of(work, struct mc_client, outlived);
	const struct mc_process process = { .pid = client->process };

	if (mc_process_has_ended(&process))
		mc_client_leave(client, false);
}

/* With locks of the kernel, and interrupts off: so the work does the rest. */
static int wake_client(struct wait_queue_entry *entry, unsigned int mode, int sync, void *key)
{
	struct mc_client *client = container_of(entry, struct mc_client, process_ends);

	/* mostly the process has closed the file before; a loss leaves what lasts to its end */
	if (!READ_ONCE(client->ended) || READ_ONCE(client->lost))
		queue_work(system_unbound_wq, &client->outlived);
	return 0;
}

/*
 * Return: a new client of the current process, on the host of the file, with one reference; or an
 * error.
 */
struct mc_client *mc_client_create(struct inode *inode)
{
	struct mc_account *account;
	struct mc_client *client;
	int ret;

	/* its calls mean the addresses of the process that opened it */
	if (!current->mm)
		return ERR_PTR(-ENOMEM);
	account = mc_account_get();
	client = account ? mc_alloc(NULL, account, sizeof(*client)) : NULL;
	if (!client)
		return ERR_PTR(-ENOMEM);
	kref_init(&client->kref);
	client->account = account;
	address_space_init_once(&client->mapping);
	init_rwsem(&client->mapping.invalidate_lock);
	client->mapping.host = inode;
	client->mapping.a_ops = &empty_aops;
	mutex_init(&client->heap_lock);
	INIT_LIST_HEAD(&client->ended_objects);
	INIT_LIST_HEAD(&client->freed);
	INIT_LIST_HEAD(&client->registered_ended);
	mutex_init(&client->wait_lock);
	INIT_LIST_HEAD(&client->waits);
	xa_init_flags(&client->heaps, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	client->blocks = RB_ROOT_CACHED;
	spin_lock_init(&client->reservations_lock);
	client->reservations = RB_ROOT;
	client->mm = current->mm;
	mmgrab(client->mm);
	client->process = get_pid(task_tgid(current));
	xa_init_flags(&client->handles, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	client->number = mc_object_number();
	client->key = get_random_u64();
	atomic_long_inc(&mc_stats.clients);
	ret = mc_host_enter(mc_host_of_file(inode), client);
	if (ret) {
		mc_client_put(client);
		return ERR_PTR(ret);
	}
	INIT_WORK(&client->outlived, process_woke);
	init_waitqueue_func_entry(&client->process_ends, wake_client);
	add_wait_queue(&client->process->wait_pidfd, &client->process_ends);
	return client;
}

/* Is the current task the last of the process, exiting, or does it call exec()? */
static bool process_leaves(const struct mc_client *client)
{
	if (task_tgid(current) != client->process)
		return false;
	if (!current->mm)
		return !atomic_read(&current->signal->live);
	return current->mm != client->mm || mc_in_exec();
}

/* A task closes an fd, or exits with one: if its process goes, so do handles and mappings. */
void mc_client_closed(struct mc_client *client)
{
	if (process_leaves(client))
		mc_client_leave(client, false);
}

/* Ends a client whose file is gone, and with it every VMA: only handles and heaps are left. */
void mc_client_destroy(struct mc_client *client)
{
	remove_wait_queue(&client->process->wait_pidfd, &client->process_ends);
	cancel_work_sync(&client->outlived);
	mc_host_leave(client);
	mc_handles_destroy(client);
	mc_heaps_destroy(client);
	mc_client_put(client);
}

/*
 * A process that was sent the fd finds it in its own /proc/self/fdinfo/. Only the user
 * who opened the file, and tracers of other users' processes, see what the client holds.
 */
static bool may_look(const struct seq_file *out, const struct file *file)
{
	const struct cred *reader = out->file->f_cred, *opener = file->f_cred;

	return (uid_eq(reader->euid, opener->euid) && uid_eq(reader->euid, opener->uid)) ||
	       file_ns_capable(out->file, opener->user_ns, CAP_SYS_PTRACE);
}

/*
 * The file's show_fdinfo(): how much the client holds, in /proc/PID/fdinfo/FD, for readers who may
 * know. The format is a part of the interface: include/uapi/memcast.h. The text is short whatever
 * the client holds: the kernel keeps all of it as long as a reader has the file open. list.c lists
 * what the client holds.
 */
void mc_client_show(struct seq_file *out, struct file *file)
{
	struct mc_client *client = file->private_data;

	seq_printf(out, "memcast-client:\t%llu\n", client->number);
	if (!may_look(out, file))
		return;
	/* devices have the host's numbers; those of a client of the machine have the machine's */
	if (client->host != &mc_machine)
		seq_printf(out, "memcast-host:\t%u first %u of %u\n", client->host->number,
			   client->host->first, mc_machine.devices);
	seq_printf(out, "memcast-key:\t%llu\n", client->key);
	seq_printf(out, "memcast-handles:\t%lu\n", READ_ONCE(client->handle_count));
	seq_printf(out, "memcast-mappings:\t%ld\n", atomic_long_read(&client->mapping_count));
	seq_printf(out, "memcast-waits:\t%u\n", READ_ONCE(client->wait_count));
}
