// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects: what memories and teams have in common.
 *
 * Users keep an object alive: handles, mappings, exported fds, calls under way.
 * When the last user goes the object ends: its bindings are undone and its chunks
 * go back. The struct stays as long as it is held (kref): by bindings, segments and shares.
 */
#include <linux/slab.h>
#include "object.h"

DEFINE_SRCU(mc_loss_srcu);

static atomic64_t last_number;

/* Return: a number that no other object, mapping, block or client has. */
u64 mc_object_number(void)
{
	return atomic64_inc_return(&last_number);
}

/* Return: a zeroed struct for a memory or a team, charged to the client's user; or NULL. */
struct mc_object *mc_object_alloc(struct mc_call *call, unsigned long struct_bytes)
{
	struct mc_object *object = mc_alloc_large(call, struct_bytes);

	if (object) {
		object->account = call->client->account;
		object->host = call->client->host;
		object->struct_bytes = struct_bytes;
	}
	return object;
}

/* Fills in what memories and teams have in common; the caller is the first user. */
void mc_object_init(struct mc_object *object, const struct mc_object_ops *ops,
		    u64 bytes, u32 granularity, u32 handle_types)
{
	object->ops = ops;
	object->type = ops->type;
	object->bytes = bytes;
	object->granularity = granularity;
	object->handle_types = handle_types;
	object->number = mc_object_number();
	dma_resv_init(&object->resv);
	refcount_set(&object->users, 1);
	kref_init(&object->kref);
}

/**
 * mc_object_enter() - an object is lost with a host from now on
 * @call: the call that makes it
 * @object: new, in no table yet; it stays in the host's lists until its struct is freed
 * @place: the host
 *
 * Return: 0, or as mc_fail_lost_host(): the host, or the caller's, was lost already.
 */
int mc_object_enter(struct mc_call *call, struct mc_object *object, struct mc_host *place)
{
	const struct mc_client *client = call->client;
	bool lost;

	spin_lock(&place->objects_lock);
	lost = READ_ONCE(client->lost) || READ_ONCE(place->lost);
	if (!lost) {
		object->place = place;
		list_add_tail(&object->of_place, &place->objects);
	}
	spin_unlock(&place->objects_lock);
	return lost ? mc_fail_lost_host(call, place) : 0;
}

/* Takes an object whose struct is being freed off its host's list. */
static void object_leave(struct mc_object *object)
{
	if (!object->place)
		return;
	spin_lock(&object->place->objects_lock);
	list_del(&object->of_place);
	spin_unlock(&object->place->objects_lock);
}

/* Return: -ENOENT, with the reason that the object was lost with its host. */
int mc_object_fail_lost(struct mc_call *call, const struct mc_object *object)
{
	char words[MC_WORDS];

	return mc_fail(call, -ENOENT, "%s %llu was of %s, which was lost",
		       object->type == MEMCAST_TYPE_TEAM ? "team" : "memory", object->number,
		       mc_host_words(object->place, words));
}

/* Adds a user to an object. The caller is a user itself, or holds a lock that keeps one. */
struct mc_object *mc_object_get(struct mc_object *object)
{
	refcount_inc(&object->users);
	return object;
}

/* As mc_object_get(), for a caller that only holds the struct; NULL if the object has ended. */
struct mc_object *mc_object_tryget(struct mc_object *object)
{
	return refcount_inc_not_zero(&object->users) ? object : NULL;
}

/* Gives up a user of an object, which ends with the last one. That may take a team's lock. */
void mc_object_put(struct mc_object *object)
{
	if (!refcount_dec_and_test(&object->users))
		return;
	object->ops->end(object);
	mc_object_forget(object);
}

/*
 * As mc_object_put(), but what this was the last user of goes to @ended, and ends with
 * mc_objects_end(). With any lock.
 */
void mc_object_put_later(struct mc_object *object, struct list_head *ended)
{
	if (refcount_dec_and_test(&object->users))
		list_add_tail(&object->ended, ended);
}

static void object_free(struct kref *kref)
{
	struct mc_object *object = container_of(kref, struct mc_object, kref);

	object_leave(object);
	if (object->ops->free)
		object->ops->free(object);
	dma_resv_fini(&object->resv);
	mc_free_large(object->account, object, object->struct_bytes);
}

/* Lets go of an object's struct, as held with kref_get(); frees it if it was the last hold. */
void mc_object_forget(struct mc_object *object)
{
	kref_put(&object->kref, object_free);
}
