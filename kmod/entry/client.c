// SPDX-License-Identifier: GPL-2.0-only
/* Clients: one open of /dev/memcast, from open() to the end of its process. */
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include "compat.h"
#include "entry.h"
#include "heap.h"

/* A client of the current process, whose addresses its calls are going to mean; or NULL. */
struct mc_client *mc_client_create(struct inode *inode)
{
	struct mc_account *account;
	struct mc_client *client;

	/* its calls mean the addresses of the process that opened it */
	if (!current->mm)
		return NULL;
	account = mc_account_get();
	client = account ? mc_alloc(NULL, account, sizeof(*client)) : NULL;
	if (!client)
		return NULL;
	client->account = account;
	address_space_init_once(&client->mapping);
	init_rwsem(&client->mapping.invalidate_lock);
	client->mapping.host = inode;
	client->mapping.a_ops = &empty_aops;
	mutex_init(&client->heap_lock);
	mutex_init(&client->wait_lock);
	INIT_LIST_HEAD(&client->waits);
	xa_init_flags(&client->heaps, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	client->blocks = RB_ROOT_CACHED;
	client->mm = current->mm;
	mmgrab(client->mm);
	client->process = get_pid(task_tgid(current));
	xa_init_flags(&client->handles, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	client->number = mc_object_number();
	atomic_long_inc(&mc_stats.clients);
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

/* Somebody closes an fd, or exits with one. */
void mc_client_closed(struct mc_client *client)
{
	if (process_leaves(client))
		mc_client_end(client);
}

/* The file is gone, and with it every VMA: only handles and heaps are left. */
void mc_client_destroy(struct mc_client *client)
{
	struct mc_account *account = client->account;

	mc_handles_destroy(client);
	mc_heaps_destroy(client);
	put_pid(client->process);
	mmdrop(client->mm);
	mc_free(account, client, sizeof(*client));
	mc_uncharge_more(account, 0);
	atomic_long_dec(&mc_stats.clients);
}
