// SPDX-License-Identifier: MIT
/* The streams of each context, and the stream that a CUstream stands for. */
#include <limits.h>
#include <stdlib.h>

#include "capture.h"
#include "context/context.h"
#include "stream.h"
#include "table/table.h"

static pthread_mutex_t sets_lock = PTHREAD_MUTEX_INITIALIZER;
static struct stream_set *sets[SLOTS];	/* a list per slot: a set may outlive its context */
static atomic_uint sets_all, sets_of[MEMCAST_MAX_DEVICES];	/* how many, of each device */

/* A thread's per-thread default streams, one for each context in which it used one */
struct own {
	struct own *next;
	struct stream *stream;
};

static __thread struct own *own_streams;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;
static pthread_key_t own_key = PTHREAD_KEYS_MAX;	/* if none is left: key 0 is the program's */

static struct table streams_table = TABLE(stream_reference);

void set_lock(void)
{
	pthread_mutex_lock(&sets_lock);
}

void set_unlock(void)
{
	pthread_mutex_unlock(&sets_lock);
}

void set_put(struct stream_set *set)
{
	if (!--set->references)
		free(set);
}

/* With sets_lock held. Return: the link to the context's set, which is NULL if there is none */
static struct stream_set **set_link(CUcontext context)
{
	struct stream_set **link = &sets[context_slot(context) - slots];

	while (*link && (*link)->context != context)
		link = &(*link)->next;
	return link;
}

/* Return: the set of a context that may have ended, with a reference; or NULL */
struct stream_set *set_existing(CUcontext context)
{
	struct stream_set *set;

	set_lock();
	set = *set_link(context);
	if (set)
		set->references++;
	set_unlock();
	return set;
}

/* Finds or makes the set of streams of a context; NULL: of the current one. */
CUresult set_find(CUcontext context, struct stream_set **found)
{
	struct stream_set *set;
	struct slot *slot;
	CUresult result = context_find(context, &slot);

	if (result != CUDA_SUCCESS)
		return result;
	context = context_value(slot);
	set_lock();
	set = *set_link(context);
	if (!set) {
		set = calloc(1, sizeof(*set));
		if (set) {
			set->context = context;
			set->device = slot->device;
			set->references = 1;
			set->progress = 1;
			/*
			 * a device's fault may have come before the set existed: sets_fail()
			 * missed it
			 */
			set->error = device_working(slot->device);
			set->next = sets[slot - slots];
			sets[slot - slots] = set;
			sets_all++;
			sets_of[set->device]++;
		}
	}
	if (set)
		set->references++;
	set_unlock();
	*found = set;
	return set ? CUDA_SUCCESS : fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for streams");
}

/* A set keeps its first failure. */
CUresult set_fail(struct stream_set *set, CUresult error)
{
	CUresult before = CUDA_SUCCESS;

	return atomic_compare_exchange_strong(&set->error, &before, error) ? error : before;
}

/* Fails all streams of a device. */
static void sets_fail(uint32_t device, CUresult error)
{
	struct stream_set *set;

	set_lock();
	for (unsigned int i = 0; i < SLOTS; i++)
		for (set = sets[i]; set; set = set->next)
			if (set->device == device)
				set_fail(set, error);
	set_unlock();
}

static void add_locked(struct stream *stream)
{
	struct stream_set *set = stream->set;

	stream_reference(stream);
	stream->next = set->streams;
	stream->link = &set->streams;
	if (stream->next)
		stream->next->link = &stream->next;
	set->streams = stream;
}

static void set_add(struct stream *stream)
{
	set_lock();
	add_locked(stream);
	set_unlock();
}

/* With sets_lock and the stream's lock held */
void busy_add(struct stream *stream)
{
	struct stream_set *set = stream->set;

	stream->busy = true;
	stream->next_busy = set->busy;
	stream->link_busy = &set->busy;
	if (stream->next_busy)
		stream->next_busy->link_busy = &stream->next_busy;
	set->busy = stream;
}

static void busy_remove(struct stream *stream)
{
	stream->busy = false;
	*stream->link_busy = stream->next_busy;
	if (stream->next_busy)
		stream->next_busy->link_busy = stream->link_busy;
}

/*
 * With sets_lock held: takes a stream without work left off its set's list of busy streams.
 * Streams come into that list as work is queued, and leave it as the list is walked, so each
 * walk is paid for by the work that was queued before it. Return: was the stream idle?
 */
bool busy_drop_idle(struct stream *stream)
{
	bool idle;

	pthread_mutex_lock(&stream->lock);
	idle = stream->done == stream->queued;
	if (idle)
		busy_remove(stream);
	pthread_mutex_unlock(&stream->lock);
	return idle;
}

/*
 * With the stream's lock held: waits while a stream has as much work as it may, so that a thread
 * that queues faster than the stream works does not take all memory. Hardware makes it wait from
 * about 1,024 launches on. The limit is soft: several threads may come together.
 */
static void wait_room_locked(struct stream *stream)
{
	while (stream->queued - stream->done >= QUEUE_MOST && !stream->ended &&
	       stream->set->error == CUDA_SUCCESS)
		pthread_cond_wait(&stream->changed, &stream->lock);
}

/* For a caller that takes a lock before it queues work, which others must not wait for so long */
void stream_wait_room(struct stream *stream)
{
	pthread_mutex_lock(&stream->lock);
	wait_room_locked(stream);
	pthread_mutex_unlock(&stream->lock);
}

/* Takes the lock of a stream that is to get work, and lists the stream as busy. */
void stream_lock_busy(struct stream *stream)
{
	pthread_mutex_lock(&stream->lock);
	wait_room_locked(stream);
	if (stream->busy || stream->ended)
		return;
	pthread_mutex_unlock(&stream->lock);
	set_lock();
	pthread_mutex_lock(&stream->lock);
	if (!stream->busy && !stream->ended)
		busy_add(stream);
	set_unlock();
}

void set_remove(struct stream *stream)
{
	set_lock();
	pthread_mutex_lock(&stream->lock);
	if (stream->busy)
		busy_remove(stream);
	pthread_mutex_unlock(&stream->lock);
	*stream->link = stream->next;
	if (stream->next)
		stream->next->link = stream->link;
	set_unlock();
	stream_put(stream);
}

static CUresult get_legacy(struct stream_set *set, struct stream **stream)
{
	CUresult result = capture_legacy(set);

	if (result != CUDA_SUCCESS)
		return result;
	set_lock();
	if (set->error == CUDA_ERROR_CONTEXT_IS_DESTROYED) {
		result = fail(set->error, "the context has just ended");
	} else if (!set->legacy) {
		set->legacy = stream_alloc(set, CU_STREAM_DEFAULT);
		if (set->legacy) {
			set->legacy->is_legacy = true;
			add_locked(set->legacy);
		} else {
			result = fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a stream");
		}
	}
	*stream = set->legacy;
	if (*stream)
		stream_reference(*stream);
	set_unlock();
	return result;
}

static void own_drop(struct own **link)
{
	struct own *own = *link;

	*link = own->next;
	stream_end(own->stream);
	stream_put(own->stream);
	free(own);
}

/*
 * Ends the per-thread streams of a thread that ends, after their work. The key's value is
 * ignored: the stream that it points to may have gone with its context.
 */
static void own_end(void *key)
{
	(void)key;
	while (own_streams && library_ready() == CUDA_SUCCESS)
		own_drop(&own_streams);
}

static void own_init(void)
{
	pthread_key_create(&own_key, own_end);
}

static CUresult get_own(struct stream_set *set, struct stream **stream)
{
	struct own *own, **link = &own_streams;

	while (*link && (*link)->stream->set != set) {
		if ((*link)->stream->set->error == CUDA_ERROR_CONTEXT_IS_DESTROYED)
			own_drop(link);
		else
			link = &(*link)->next;
	}
	own = *link;
	if (!own) {
		own = calloc(1, sizeof(*own));
		if (own)
			own->stream = stream_alloc(set, CU_STREAM_DEFAULT);
		if (!own || !own->stream) {
			free(own);
			return fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a stream");
		}
		*link = own;
		set_add(own->stream);
	}
	pthread_once(&own_once, own_init);
	pthread_setspecific(own_key, own_streams);
	*stream = own->stream;
	stream_reference(*stream);
	return CUDA_SUCCESS;
}

/*
 * Finds the stream of a handle, for the calling thread and its current context; takes a
 * reference.
 */
CUresult stream_get(CUstream handle, struct stream **stream)
{
	struct stream_set *set;
	CUresult result;

	if (thread_is_worker())
		return fail(CUDA_ERROR_NOT_PERMITTED, "called from a host function");
	if (handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
		*stream = table_find(&streams_table, handle);
		return *stream ? CUDA_SUCCESS :
			fail(CUDA_ERROR_INVALID_HANDLE, "not a stream, or destroyed");
	}
	result = set_find(NULL, &set);
	if (result != CUDA_SUCCESS)
		return result;
	result = handle == CU_STREAM_PER_THREAD ? get_own(set, stream) :
						  get_legacy(set, stream);
	set_put(set);
	return result;
}

/* Waits for the work that a context's legacy stream would wait for. */
CUresult legacy_wait(CUcontext context)
{
	struct stream_set *set;
	struct stream *stream;
	CUresult result;

	if (thread_is_worker())
		return fail(CUDA_ERROR_NOT_PERMITTED, "called from a host function");
	result = set_find(context, &set);
	if (result != CUDA_SUCCESS)
		return result;
	result = get_legacy(set, &stream);
	set_put(set);
	if (result != CUDA_SUCCESS)
		return result;
	result = stream_wait(stream, WAIT_OWN | WAIT_BEFORE);
	stream_put(stream);
	return result;
}

/* Has a context of another device streams? */
bool other_device_streams(uint32_t device)
{
	return __builtin_expect(sets_all != sets_of[device], 0);
}

/*
 * Waits for the work of a context's blocking streams, as its legacy stream would, but makes none, nor
 * does it fail what is captured: that has nothing queued. @context: NULL: the device's primary context
 */
CUresult blocking_wait(CUcontext context, uint32_t device)
{
	struct stream_set *set = NULL;
	CUresult result;

	if (context) {
		set = set_existing(context);
	} else {
		set_lock();
		set = sets[device];	/* the first slots are the primary contexts */
		if (set)
			set->references++;
		set_unlock();
	}
	if (!set)
		return CUDA_SUCCESS;
	result = blocking_streams_wait(set);
	set_put(set);
	/* of a context that ends meanwhile there is nothing to wait for any more */
	return result == CUDA_ERROR_CONTEXT_IS_DESTROYED ? CUDA_SUCCESS : result;
}

/* Gives a new stream a handle; streams_wait() waits for the stream from now on. */
CUresult stream_publish(struct stream *stream)
{
	stream->handle = (CUstream)table_add(&streams_table, stream);
	if (!stream->handle)
		return fail(CUDA_ERROR_OUT_OF_MEMORY, "too many streams");
	set_add(stream);
	return CUDA_SUCCESS;
}

/* Ends a stream's handle. Return: the stream, with the handle's reference, or NULL. */
struct stream *stream_withdraw(CUstream handle)
{
	return table_remove(&streams_table, handle);
}

/* A context ends: so do its events, and its streams, without running the work in their queues. */
static void streams_end(CUcontext context)
{
	struct stream *stream, *ended = NULL;
	struct stream_set *set, **link;

	events_end(context);
	set_lock();
	link = set_link(context);
	set = *link;
	if (set) {
		*link = set->next;
		sets_all--;
		sets_of[set->device]--;
		set->error = CUDA_ERROR_CONTEXT_IS_DESTROYED;
		set->legacy = NULL;
		for (stream = set->streams; stream; stream = stream->next) {
			stream_reference(stream);
			stream->next_ended = ended;
			ended = stream;
		}
	}
	set_unlock();
	if (!set)
		return;
	while (ended) {
		stream = ended;
		ended = stream->next_ended;
		stream_end(stream);
		if (stream->handle && table_remove(&streams_table, stream->handle))
			stream_put(stream);
		if (stream->is_legacy)
			stream_put(stream);
		stream_put(stream);
	}
	set_put(set);
}

__attribute__((constructor))
static void context_streams_load(void)
{
	context_operations.end_streams = streams_end;
	context_operations.fail_streams = sets_fail;
}
