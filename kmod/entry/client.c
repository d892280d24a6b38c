// SPDX-License-Identifier: GPL-2.0-only
/* Clients: one open of /dev/memcast, and its table of handles. */
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include "compat.h"
#include "heap.h"

#define HANDLE_LIMIT	XA_LIMIT(1, INT_MAX)

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

static void handle_free(struct mc_client *client, struct mc_handle *handle)
{
	mc_object_put(handle->object);
	mc_free(client->account, handle, sizeof(*handle));
}

static int handle_reserve(struct mc_client *client, struct mc_handle *handle)
{
	int ret = xa_alloc_cyclic(&client->handles, &handle->id, NULL, HANDLE_LIMIT,
				  &client->next, GFP_KERNEL_ACCOUNT);

	return ret < 0 ? ret : 0;
}

static void handle_publish(struct mc_client *client, struct mc_handle *handle)
{
	bool ended;

	xa_lock(&client->handles);
	ended = client->ended;
	/* the place is reserved: this allocates nothing */
	__xa_store(&client->handles, handle->id, ended ? NULL : handle, GFP_KERNEL);
	xa_unlock(&client->handles);
	if (ended)
		handle_free(client, handle);
}

/**
 * mc_handle_answer_as() - answer a call with a new handle
 * @call: the call
 * @object: what for; takes over the caller's user of it, and fails without
 * @imported: it is a memory that another handle was created for
 * @out_handle: where in the call's argument
 *
 * First a place in the table, which nobody can find anything at; then, when
 * nothing can fail any more, publish. Values come round late: a stale handle
 * should be found out, not hit somebody else's object.
 */
int mc_handle_answer_as(struct mc_call *call, struct mc_object *object, bool imported,
			u32 *out_handle)
{
	struct mc_client *client = call->client;
	struct mc_handle *handle;
	int ret = -ENOMEM;

	handle = mc_alloc(call, client->account, sizeof(*handle));
	if (!handle) {
		mc_object_put(object);
		return ret;
	}
	handle->object = object;
	handle->refs = 1;
	handle->imported = imported;
	ret = handle_reserve(client, handle);
	if (ret)
		goto free_handle;
	*out_handle = handle->id;
	ret = mc_respond(call);
	if (ret)
		goto release_place;
	handle_publish(client, handle);
	return 0;

release_place:
	xa_release(&client->handles, handle->id);
free_handle:
	handle_free(client, handle);
	return ret;
}

/* Return: the object, with a user for the caller, or NULL. */
struct mc_object *mc_handle_find(struct mc_client *client, u32 id, bool *imported)
{
	struct mc_object *object = NULL;
	struct mc_handle *handle;

	xa_lock(&client->handles);
	handle = xa_load(&client->handles, id);
	if (handle) {
		object = mc_object_get(handle->object);
		*imported = handle->imported;
	}
	xa_unlock(&client->handles);
	return object;
}

struct mc_object *mc_handle_object(struct mc_client *client, u32 id)
{
	bool imported;

	return mc_handle_find(client, id, &imported);
}

/*
 * The same for a mapping, until it is undone: so long the handle stays good, as with
 * hardware's driver, though it may have been released.
 */
struct mc_object *mc_handle_mapped(struct mc_client *client, u32 id)
{
	struct mc_object *object = NULL;
	struct mc_handle *handle;

	xa_lock(&client->handles);
	handle = xa_load(&client->handles, id);
	if (handle) {
		object = mc_object_get(handle->object);
		handle->maps++;
	}
	xa_unlock(&client->handles);
	return object;
}

/* Takes it out of the table if nobody needs it. Return: it, to be dropped, or NULL. */
static struct mc_handle *handle_unused(struct mc_client *client, struct mc_handle *handle)
{
	lockdep_assert_held(&client->handles.xa_lock);
	if (handle->refs || handle->maps)
		return NULL;
	return __xa_erase(&client->handles, handle->id);
}

/* A mapping of a heap has none; of a process that has ended they are all gone. */
void mc_handle_unmapped(struct mc_client *client, u32 id)
{
	struct mc_handle *handle, *last = NULL;

	if (!id)
		return;
	xa_lock(&client->handles);
	handle = xa_load(&client->handles, id);
	if (handle) {
		handle->maps--;
		last = handle_unused(client, handle);
	}
	xa_unlock(&client->handles);
	if (last)
		handle_free(client, last);
}

/* One more reference to this handle. Return: is there such a one? */
bool mc_handle_hold(struct mc_client *client, u32 id)
{
	struct mc_handle *handle;

	xa_lock(&client->handles);
	handle = xa_load(&client->handles, id);
	if (handle)
		handle->refs++;
	xa_unlock(&client->handles);
	return handle;
}

int mc_handle_release(struct mc_client *client, u32 id)
{
	struct mc_handle *handle, *last = NULL;
	bool owed;

	xa_lock(&client->handles);
	handle = xa_load(&client->handles, id);
	owed = handle && handle->refs;
	if (owed) {
		handle->refs--;
		last = handle_unused(client, handle);
	}
	xa_unlock(&client->handles);

	if (last)
		handle_free(client, last);
	return owed ? 0 : -ENOENT;
}

static void release_handles(struct mc_client *client)
{
	struct mc_handle *handle;
	unsigned long id;

	xa_for_each(&client->handles, id, handle) {
		xa_lock(&client->handles);
		/* unless somebody else is just releasing it */
		handle = __xa_erase(&client->handles, id);
		xa_unlock(&client->handles);
		if (handle)
			handle_free(client, handle);
		cond_resched();
	}
}

/*
 * The process has gone, but other processes may have fds of the file, after fork() or
 * because they were passed on. They can do nothing with the handles, so these go now.
 */
void mc_client_end(struct mc_client *client)
{
	xa_lock(&client->handles);
	WRITE_ONCE(client->ended, true);
	xa_unlock(&client->handles);
	release_handles(client);
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

	release_handles(client);
	xa_destroy(&client->handles);
	mc_heaps_destroy(client);
	put_pid(client->process);
	mmdrop(client->mm);
	mc_free(account, client, sizeof(*client));
	mc_uncharge_more(account, 0);
	atomic_long_dec(&mc_stats.clients);
}

int mc_release(struct mc_call *call)
{
	struct memcast_handle_release *release = call->arg;

	if (release->reserved)
		return mc_fail(call, -EINVAL, "reserved field is not zero");
	if (mc_handle_release(call->client, release->handle))
		return mc_no_handle(call, release->handle);
	return 0;
}

/* The handle that what is at an address was mapped by, with one more reference, or 0. */
static u32 hold_mapped(struct mc_client *client, struct mc_reservation *reservation,
		       u64 address)
{
	struct mc_mapping *mapping;
	u32 id = 0;

	down_read(&reservation->lock);
	mapping = mc_mapping_find(reservation, address);
	/* the mapping keeps it, unless the process is ending */
	if (mapping && mapping->handle && mc_handle_hold(client, mapping->handle))
		id = mapping->handle;
	up_read(&reservation->lock);
	return id;
}

static int retain_handle(struct mc_call *call)
{
	struct memcast_handle_retain *retain = call->arg;
	int ret;

	if (retain->address)
		return mc_fail(call, -EINVAL, "a handle or an address, not both");
	if (!mc_handle_hold(call->client, retain->handle))
		return mc_no_handle(call, retain->handle);
	retain->out_handle = retain->handle;
	ret = mc_respond(call);
	if (ret)
		mc_handle_release(call->client, retain->handle);
	return ret;
}

int mc_retain(struct mc_call *call)
{
	struct memcast_handle_retain *retain = call->arg;
	struct mc_reservation *reservation;
	int ret;

	if (retain->handle)
		return retain_handle(call);
	reservation = mc_reservation_find(call->client, retain->address);
	if (!reservation)
		return mc_fail(call, -EINVAL, "%#llx is not in a reservation",
			       retain->address);
	retain->out_handle = hold_mapped(call->client, reservation, retain->address);
	mc_reservation_put(reservation);
	if (!retain->out_handle)
		return mc_fail(call, -EINVAL, "no memory with a handle is mapped at %#llx",
			       retain->address);
	ret = mc_respond(call);
	if (ret)
		mc_handle_release(call->client, retain->out_handle);
	return ret;
}
