// SPDX-License-Identifier: GPL-2.0-only
/* Handles: a client's table of the memories and teams that it has. */
#include <linux/slab.h>
#include "object.h"

#define HANDLE_LIMIT	XA_LIMIT(1, INT_MAX)
#define HANDLES_FEW	4096	/* numbers come round after so many, and 4 for each handle */

static void handle_free(struct mc_client *client, struct mc_handle *handle)
{
	mc_object_put(handle->object);
	mc_free(client->account, handle, sizeof(*handle));
}

/*
 * Numbers come round late: a call with a stale handle should fail, not hit another object. But the
 * table's nodes of 64 numbers are not charged, so a client must not have one for each handle.
 */
static int handle_reserve(struct mc_client *client, struct mc_handle *handle)
{
	int ret;

	xa_lock(&client->handles);
	if (client->next > HANDLES_FEW + 4 * client->handle_count)
		client->next = 0;
	ret = __xa_alloc_cyclic(&client->handles, &handle->id, NULL, HANDLE_LIMIT, &client->next,
				GFP_KERNEL_ACCOUNT);
	xa_unlock(&client->handles);
	return ret < 0 ? ret : 0;
}

static void handle_publish(struct mc_client *client, struct mc_handle *handle)
{
	bool ended;

	xa_lock(&client->handles);
	ended = client->ended;
	/* the place is reserved: this allocates nothing */
	__xa_store(&client->handles, handle->id, ended ? NULL : handle, GFP_KERNEL);
	if (!ended)
		WRITE_ONCE(client->handle_count, client->handle_count + 1);
	xa_unlock(&client->handles);
	if (ended)
		handle_free(client, handle);
}

/**
 * mc_handle_answer_as() - answer a call with a new handle
 * @call: the call
 * @object: of the handle, which takes over the caller's user, also if this fails
 * @imported: the object is a memory that another client has created
 * @out_handle: where the call's argument has the handle
 *
 * It reserves a place in the table, where no lookup finds a handle; and publishes the
 * handle there when nothing can fail any more.
 *
 * Return: 0, or an error.
 */
int mc_handle_answer_as(struct mc_call *call, struct mc_object *object, bool imported,
			u32 *out_handle)
{
	struct mc_client *client = call->client;
	struct mc_handle *handle;
	int ret = mc_object_check(call, object);

	handle = ret ? NULL : mc_alloc(call, client->account, sizeof(*handle));
	if (!handle) {
		mc_object_put(object);
		return ret ?: -ENOMEM;
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

/* Return: the object of a handle, with a user for the caller, or NULL. @imported may be NULL. */
struct mc_object *mc_handle_find(struct mc_client *client, u32 id, bool *imported)
{
	struct mc_object *object = NULL;
	struct mc_handle *handle;

	xa_lock(&client->handles);
	handle = xa_load(&client->handles, id);
	if (handle) {
		object = mc_object_get(handle->object);
		if (imported)
			*imported = handle->imported;
	}
	xa_unlock(&client->handles);
	return object;
}

/*
 * As mc_handle_find(), for a mapping: until mc_handle_unmapped() the handle stays good, though
 * it may be released, as with NVIDIA's driver.
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

/* Takes a handle out of the table. Return: the handle, or NULL: another thread has. */
static struct mc_handle *handle_erase(struct mc_client *client, unsigned long id)
{
	struct mc_handle *handle;

	lockdep_assert_held(&client->handles.xa_lock);
	handle = __xa_erase(&client->handles, id);
	if (handle)
		WRITE_ONCE(client->handle_count, client->handle_count - 1);
	return handle;
}

/* Takes a handle out of the table if it is unused. Return: the handle, to be freed; or NULL. */
static struct mc_handle *handle_unused(struct mc_client *client, struct mc_handle *handle)
{
	lockdep_assert_held(&client->handles.xa_lock);
	if (handle->refs || handle->maps)
		return NULL;
	return handle_erase(client, handle->id);
}

/*
 * A mapping was undone: its handle ends if it is unused. A heap's mapping has none (@id 0), and
 * those of a process that has ended are gone. Without locks: the object may end here.
 */
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

/* Adds a reference to a handle. Return: is there such a handle? */
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

/* Gives up a reference to a handle. Return: 0, or -ENOENT: there was none. Without locks. */
int mc_handle_drop(struct mc_client *client, u32 id)
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
	LIST_HEAD(ended);
	unsigned long id;

	xa_for_each(&client->handles, id, handle) {
		xa_lock(&client->handles);
		/* unless another thread is just releasing it */
		handle = handle_erase(client, id);
		xa_unlock(&client->handles);
		if (handle) {
			mc_object_put_later(handle->object, &ended);
			mc_free(client->account, handle, sizeof(*handle));
		}
		cond_resched();
	}
	xa_lock(&client->handles);
	list_splice_tail_init(&client->ended_objects, &ended);
	xa_unlock(&client->handles);
	mc_objects_end(&ended);
}

/*
 * Frees the handles of a client whose process has gone, or whose host was lost. Other processes
 * may have fds of the file, after fork() or because they were passed on, but cannot use handles.
 */
void mc_client_end(struct mc_client *client)
{
	xa_lock(&client->handles);
	WRITE_ONCE(client->ended, true);
	xa_unlock(&client->handles);
	release_handles(client);
}

/* Leaves objects without users to mc_client_end(), which is sure to come: all end at once. */
void mc_client_end_objects(struct mc_client *client, struct list_head *ended)
{
	xa_lock(&client->handles);
	list_splice_tail_init(ended, &client->ended_objects);
	xa_unlock(&client->handles);
}

/* Return: -ENOENT, with the reason that there is no such handle. */
int mc_no_handle(struct mc_call *call, u32 handle)
{
	return mc_fail(call, -ENOENT, "no handle %u: never given out, or released",
		       handle);
}

static struct mc_object *find_object(struct mc_call *call, u32 handle,
				     enum memcast_type type)
{
	struct mc_object *object = mc_handle_find(call->client, handle, NULL);

	if (!object)
		return ERR_PTR(mc_no_handle(call, handle));
	if (object->type == type)
		return object;
	mc_object_put(object);
	return ERR_PTR(mc_fail(call, -ENOENT, "%u is the handle of a %s, not of a %s",
			       handle, type == MEMCAST_TYPE_TEAM ? "memory" : "team",
			       type == MEMCAST_TYPE_TEAM ? "team" : "memory"));
}

/* Return: the memory that a handle is of, with a user for the caller; or an error. */
struct mc_memory *mc_find_memory(struct mc_call *call, u32 handle)
{
	struct mc_object *object = find_object(call, handle, MEMCAST_TYPE_MEMORY);

	return IS_ERR(object) ? ERR_CAST(object) : mc_memory(object);
}

/* Return: the team that a handle is of, with a user for the caller; or an error. */
struct mc_team *mc_find_team(struct mc_call *call, u32 handle)
{
	struct mc_object *object = find_object(call, handle, MEMCAST_TYPE_TEAM);

	return IS_ERR(object) ? ERR_CAST(object) : mc_team(object);
}

/* Frees a client's handles and their table. The file is gone: no call can come any more. */
void mc_handles_destroy(struct mc_client *client)
{
	release_handles(client);
	xa_destroy(&client->handles);
}

/* MEMCAST_HANDLE_RELEASE: give up one reference to a handle. */
int mc_handle_release(struct mc_call *call)
{
	struct memcast_handle_release *release = call->arg;

	if (release->reserved)
		return mc_fail(call, -EINVAL, "reserved field is not zero");
	if (mc_handle_drop(call->client, release->handle))
		return mc_no_handle(call, release->handle);
	return 0;
}

/* MEMCAST_HANDLE_RETAIN of a call that names a handle, and no address. */
int mc_handle_hold_named(struct mc_call *call)
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
		mc_handle_drop(call->client, retain->handle);
	return ret;
}

/* MEMCAST_HANDLE_INFO: the type, size, flags and place of a handle's object. */
int mc_handle_info(struct mc_call *call)
{
	struct memcast_handle_info *info = call->arg;
	bool imported = false;
	struct mc_object *object = mc_handle_find(call->client, info->handle, &imported);
	struct mc_memory *memory;
	struct mc_team *team;
	int ret;

	if (!object)
		return mc_no_handle(call, info->handle);

	info->out_type = object->type;
	info->out_bytes = object->bytes;
	info->out_handle_types = imported ? 0 : object->handle_types;
	info->out_flags = 0;
	info->out_location = 0;
	info->out_location_id = 0;
	info->out_devices = 0;
	info->out_joined = 0;

	if (object->type == MEMCAST_TYPE_MEMORY) {
		memory = mc_memory(object);
		info->out_flags = memory->flags & ~(imported ? MEMCAST_MEMORY_RDMA : 0);
		mc_memory_tell_location(call->client, memory, &info->out_location,
					&info->out_location_id);
	} else {
		team = mc_team(object);
		down_read(&team->lock);
		info->out_devices = team->devices;
		info->out_joined = team->joined;
		up_read(&team->lock);
	}
	ret = mc_respond(call);
	mc_object_put(object);
	return ret;
}
