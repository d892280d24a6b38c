// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fabric handles: 64 bytes that name an object to any process that may open the IMEX
 * channel it was created with.
 */
#include <linux/random.h>
#include <linux/rhashtable.h>
#include "object.h"

/* The bytes of a fabric handle */
struct fabric_handle {
	u8 magic[8];
	u8 key[MC_KEY_SIZE];
	u8 zero[MEMCAST_FABRIC_HANDLE_SIZE - 8 - MC_KEY_SIZE];
};

static const u8 fabric_magic[8] = "memcast";

static const struct rhashtable_params by_key = {
	.head_offset = offsetof(struct mc_object, by_key),
	.key_offset = offsetof(struct mc_object, key),
	.key_len = MC_KEY_SIZE,
	.automatic_shrinking = true,
};

/* Protects the table and mc_object.exported; nothing is taken under it. */
static DEFINE_MUTEX(fabric_lock);
static struct rhashtable fabric_objects;

/* Makes the table of fabric handles. Return: 0 or -ENOMEM. */
int mc_fabric_init(void)
{
	return rhashtable_init(&fabric_objects, &by_key);
}

/* Frees the table, which is empty: an object in it would keep the module. */
void mc_fabric_exit(void)
{
	rhashtable_destroy(&fabric_objects);
}

/*
 * Return: the number of the IMEX channel that a new object with these handle types belongs to;
 * 0 without MEMCAST_HANDLE_FABRIC; or -EPERM, with the reason: the client has opened none.
 */
int mc_fabric_channel(struct mc_call *call, u32 handle_types)
{
	u64 channels = READ_ONCE(call->client->channels);

	if (!(handle_types & MEMCAST_HANDLE_FABRIC))
		return 0;
	if (!channels)
		return mc_fail(call, -EPERM,
			       "fabric handles need an IMEX channel: no node in /dev/memcast-imex can be opened (parameter imex_channels)");
	return __ffs64(channels);
}

/* Return: the device whose link an export or import of the object uses, or NULL. */
static const struct mc_device *object_device(struct mc_object *object)
{
	return object->type == MEMCAST_TYPE_MEMORY ? mc_memory(object)->device : NULL;
}

/* Answers MEMCAST_EXPORT with an object's fabric handle, the same every time. Takes fabric_lock. */
int mc_fabric_export(struct mc_call *call, struct mc_object *object)
{
	struct memcast_export *export = call->arg;
	struct fabric_handle handle = {};
	int ret;

	BUILD_BUG_ON(sizeof(handle) != sizeof(export->out_fabric));
	ret = mc_fabric_check(call, object_device(object));
	if (ret)
		return ret;
	mutex_lock(&fabric_lock);
	if (!object->exported) {
		get_random_bytes(object->key, sizeof(object->key));
		ret = rhashtable_insert_fast(&fabric_objects, &object->by_key,
					     by_key);
		object->exported = !ret;
	}
	mutex_unlock(&fabric_lock);
	if (ret)
		return mc_fail(call, -ENOMEM, "the fabric handle cannot be registered");

	memcpy(handle.magic, fabric_magic, sizeof(handle.magic));
	memcpy(handle.key, object->key, sizeof(handle.key));
	memcpy(export->out_fabric, &handle, sizeof(handle));
	export->out_fd = -1;
	return mc_respond(call);
}

/* Takes an object that has ended out of the table: no process can import it any more. */
void mc_fabric_forget(struct mc_object *object)
{
	if (!(object->handle_types & MEMCAST_HANDLE_FABRIC))
		return;
	mutex_lock(&fabric_lock);
	if (object->exported)
		rhashtable_remove_fast(&fabric_objects, &object->by_key, by_key);
	mutex_unlock(&fabric_lock);
}

/* Return: the object of MEMCAST_IMPORT's fabric handle, with a user for the caller; or an error. */
struct mc_object *mc_fabric_import(struct mc_call *call)
{
	struct memcast_import *import = call->arg;
	struct fabric_handle handle;
	struct mc_object *object;
	int ret;

	if (!READ_ONCE(call->client->channels)) {
		ret = mc_fail(call, -EOPNOTSUPP,
			      "fabric handles need an IMEX channel, and none is open (parameter imex_channels)");
		return ERR_PTR(ret);
	}
	memcpy(&handle, import->fabric, sizeof(handle));
	if (memcmp(handle.magic, fabric_magic, sizeof(handle.magic)) ||
	    memchr_inv(handle.zero, 0, sizeof(handle.zero)))
		return ERR_PTR(mc_fail(call, -EINVAL, "not a fabric handle"));

	mutex_lock(&fabric_lock);
	object = rhashtable_lookup_fast(&fabric_objects, handle.key, by_key);
	if (object)
		object = mc_object_tryget(object);
	mutex_unlock(&fabric_lock);
	if (!object)
		return ERR_PTR(mc_fail(call, -EINVAL,
				       "the fabric handle's object is unknown or gone"));

	if (!(READ_ONCE(call->client->channels) & BIT_ULL(object->channel))) {
		u32 channel = object->channel;

		mc_object_put(object);
		return ERR_PTR(mc_fail(call, -EPERM,
				       "the fabric handle is of IMEX channel %u, which this process has not opened",
				       channel));
	}
	ret = mc_fabric_check(call, object_device(object));
	if (ret) {
		mc_object_put(object);
		return ERR_PTR(ret);
	}
	return object;
}
