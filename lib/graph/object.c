// SPDX-License-Identifier: MIT
/*
 * User objects: objects of the program that graphs keep alive. The program's destructor runs in
 * a thread of its own, which is started when a destructor has to run and ends when none is
 * left.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

struct object {
	struct object *next;		/* in the list of objects that wait for their destructor */
	CUuserObject handle;
	CUhostFn destroy;
	void *data;
	unsigned int own;		/* references of the program */
	uint64_t references;		/* all references */
};

/* Protects all of this file's data. Only the table's lock is taken inside it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *ended, **ended_last = &ended;
static bool has_thread;

static void user_object_no_reference(void *object)
{
	(void)object;
}

static struct table table = TABLE(user_object_no_reference);

static void *destroyer(void *argument)
{
	struct object *object;

	thread_becomes_worker();
	for (;;) {
		pthread_mutex_lock(&lock);
		object = ended;
		if (object)
			ended = object->next;
		else
			has_thread = false;
		if (!ended)
			ended_last = &ended;
		pthread_mutex_unlock(&lock);
		/* not as the process ends; a lost host has no part in an object */
		if (!object || (library_ready() != CUDA_SUCCESS && !library_lost()))
			return argument;
		object->destroy(object->data);
		free(object);
	}
}

/* Starts the thread that runs destructors, with the lock held. */
static void start_destroyer(void)
{
	if (!has_thread)
		has_thread = !thread_start(destroyer, NULL);
}

/*
 * Puts references, with the lock held. If no thread can be started now, the next object that
 * ends tries again.
 */
static void put(struct object *object, unsigned int count)
{
	object->references -= count;
	if (object->references)
		return;
	table_remove(&table, object->handle);
	object->next = NULL;
	*ended_last = object;
	ended_last = &object->next;
	start_destroyer();
}

static CUresult object_of(CUuserObject handle, struct object **object)
{
	*object = handle ? table_find(&table, handle) : NULL;
	return *object ? CUDA_SUCCESS :
		fail(CUDA_ERROR_INVALID_VALUE, "%p is not a user object, or destroyed",
		     (void *)handle);
}

static CUresult check_count(unsigned int count)
{
	return count && count <= INT_MAX ? CUDA_SUCCESS :
		fail(CUDA_ERROR_INVALID_VALUE, "the number of references is not 1 to %d", INT_MAX);
}

static CUresult user_object_create(CUuserObject *handle, void *data, CUhostFn destroy,
				   unsigned int count, unsigned int flags)
{
	CUresult result = check_count(count);
	struct object *object;

	if (result != CUDA_SUCCESS)
		return result;
	if (!handle || !destroy)
		return fail(CUDA_ERROR_INVALID_VALUE, "NULL pointer");
	if (flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
		return fail(CUDA_ERROR_INVALID_VALUE, "flags must be NO_DESTRUCTOR_SYNC");
	object = calloc(1, sizeof(*object));
	if (!object)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for an object");
	*object = (struct object) { .destroy = destroy, .data = data, .own = count,
				    .references = count };
	pthread_mutex_lock(&lock);
	object->handle = (CUuserObject)table_add(&table, object);
	if (object->handle)
		*handle = object->handle;
	pthread_mutex_unlock(&lock);
	if (object->handle)
		return CUDA_SUCCESS;
	free(object);
	return fail(CUDA_ERROR_OUT_OF_MEMORY, "too many objects");
}

CUresult cuUserObjectCreate(CUuserObject *object, void *data, CUhostFn destroy,
			    unsigned int count, unsigned int flags)
{
	return WHOLE_CALL(user_object_create(object, data, destroy, count, flags),
			  object, data, destroy, count, flags);
}

/* Changes the number of the program's own references. */
static CUresult change_own(CUuserObject handle, unsigned int count, bool more)
{
	CUresult result = check_count(count);
	struct object *object;

	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&lock);
	result = object_of(handle, &object);
	if (result == CUDA_SUCCESS && count > (more ? INT_MAX - object->own : object->own))
		result = fail(CUDA_ERROR_INVALID_VALUE, "the program has %u references",
			      object->own);
	if (result == CUDA_SUCCESS && more) {
		object->own += count;
		object->references += count;
	} else if (result == CUDA_SUCCESS) {
		object->own -= count;
		put(object, count);
	}
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count)
{
	return WHOLE_CALL(change_own(object, count, true), object, count);
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count)
{
	return WHOLE_CALL(change_own(object, count, false), object, count);
}

/* Return: an object's entry in @uses; with @add, a new one if needed; or NULL. Needs both locks. */
static struct use *use_of(struct uses *uses, struct object *object, bool add)
{
	struct use *at;

	for (unsigned int i = 0; i < uses->count; i++)
		if (uses->at[i].object == object)
			return &uses->at[i];
	at = add ? realloc(uses->at, (uses->count + 1) * sizeof(*at)) : NULL;
	if (!at)
		return NULL;
	uses->at = at;
	at[uses->count] = (struct use) { object, 0 };
	return &at[uses->count++];
}

static CUresult user_object_retain(struct uses *uses, CUuserObject handle, unsigned int count,
				   bool move)
{
	struct object *object;
	struct use *use;
	CUresult result = object_of(handle, &object);

	if (result != CUDA_SUCCESS)
		return result;
	if (move && count > object->own)
		return fail(CUDA_ERROR_INVALID_VALUE, "the program has %u references",
			    object->own);
	use = use_of(uses, object, true);
	if (!use)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a reference");
	if (count > UINT_MAX - use->references)
		return fail(CUDA_ERROR_INVALID_VALUE, "the graph has %u references",
			    use->references);
	use->references += count;
	if (move)
		object->own -= count;
	else
		object->references += count;
	return CUDA_SUCCESS;
}

static CUresult user_object_release(struct uses *uses, CUuserObject handle, unsigned int count)
{
	struct object *object;
	struct use *use;
	CUresult result = object_of(handle, &object);

	if (result != CUDA_SUCCESS)
		return result;
	use = use_of(uses, object, false);
	if (!use || count > use->references)
		return fail(CUDA_ERROR_INVALID_VALUE, "the graph has %u references",
			    use ? use->references : 0);
	use->references -= count;
	if (!use->references)
		*use = uses->at[--uses->count];
	put(object, count);
	return CUDA_SUCCESS;
}

static CUresult change_graph(CUgraph handle, CUuserObject object, unsigned int count,
			     unsigned int flags, bool more)
{
	CUresult result = check_count(count);
	struct graph *graph;

	if (result != CUDA_SUCCESS)
		return result;
	if (flags & ~CU_GRAPH_USER_OBJECT_MOVE)
		return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
	graphs_lock();
	result = graph_of(handle, &graph);
	if (result == CUDA_SUCCESS) {
		pthread_mutex_lock(&lock);
		result = more ? user_object_retain(&graph->objects, object, count, flags) :
				user_object_release(&graph->objects, object, count);
		pthread_mutex_unlock(&lock);
	}
	graphs_unlock();
	return result;
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
				 unsigned int flags)
{
	return WHOLE_CALL(change_graph(graph, object, count, flags, true),
			  graph, object, count, flags);
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count)
{
	return WHOLE_CALL(change_graph(graph, object, count, 0, false), graph, object, count);
}

/* @from is a graph's, with graphs_lock held, or a plan's; @to: output */
CUresult uses_copy(struct uses *to, const struct uses *from)
{
	*to = (struct uses) {};
	if (!from->count)
		return CUDA_SUCCESS;
	to->at = malloc(from->count * sizeof(*to->at));
	if (!to->at)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for references");
	memcpy(to->at, from->at, from->count * sizeof(*to->at));
	to->count = from->count;
	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < to->count; i++)
		to->at[i].object->references += to->at[i].references;
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

void uses_free(struct uses *uses)
{
	if (uses->count)
		pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < uses->count; i++)
		put(uses->at[i].object, uses->at[i].references);
	if (uses->count)
		pthread_mutex_unlock(&lock);
	free(uses->at);
	*uses = (struct uses) {};
}
