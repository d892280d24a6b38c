// SPDX-License-Identifier: MIT
/* Calls that make sense in the state that the model is in. */
#include <string.h>

#include "model_choice.h"

uint64_t some_handle(unsigned int worker, int team)
{
	struct handle *h = PICK(h, the_model->handle[worker],
				h->object && (team < 0 || h->object->team == team));

	if (h && percent(10))
		the_model->old_handle[worker] = h->value;
	return h ? h->value : percent(50) ? the_model->old_handle[worker] : any(3) * 0x7fffULL;
}

/* Prefers the workers that make calls, so that their objects come together. */
unsigned int busy_worker(void)
{
	return (the_model->first_worker + any(the_model->busy_workers)) % WORKERS;
}

static int some_device(unsigned int worker)
{
	return percent(40) ? worker : percent(80) ? busy_worker() : any(DEVICES);
}

static struct mapping *some_mapping(unsigned int worker, bool memory_only)
{
	return PICK(p, the_model->mapping, p->object && p->worker == worker &&
		    (!memory_only || !p->object->team));
}

struct reservation *some_reservation(unsigned int worker)
{
	return PICK(r, the_model->reservation[worker], r->bytes);
}

static uint64_t chunks_below(uint64_t bytes)
{
	return bytes < CHUNK_BYTES ? 0 : any(bytes / CHUNK_BYTES) * CHUNK_BYTES;
}

static unsigned int chunks_of(uint64_t handle, unsigned int worker)
{
	struct object *o = model_object(the_model, worker, handle);

	return o ? o->chunks : 2;
}

/* A word at the start or the end of a chunk, or the two words at a border of chunks */
static uint64_t some_words(struct call *c, uint64_t *bytes)
{
	struct mapping *p = some_mapping(c->worker, false);
	uint64_t chunk = p ? p->address + chunks_below(p->bytes) : CHUNK_BYTES;
	unsigned int where = any(10);

	*bytes = where < 8 ? 4 : 8;
	return where < 5 ? chunk : chunk + CHUNK_BYTES - 4;
}

static void propose_range(struct call *c)
{
	struct mapping *p = some_mapping(c->worker, false);
	struct mapping *next;

	if (!p)
		return;
	c->address = p->address;
	c->bytes = p->bytes;
	next = model_mapping(the_model, c->worker, p->address + p->bytes);
	if (next && percent(50))
		c->bytes += next->bytes;
}

static void propose_map(struct call *c)
{
	struct reservation *r = some_reservation(c->worker);
	struct object *team;
	uint64_t end;

	c->handle = some_handle(c->worker, percent(50) ? -1 : percent(50));
	c->bytes = chunks_of(c->handle, c->worker) * CHUNK_BYTES;
	team = model_object(the_model, c->worker, c->handle);
	if (percent(30) && team && team->team)
		c->bytes = CHUNK_BYTES + chunks_below(c->bytes);
	if (!r)
		return;
	end = r->address + r->bytes / CHUNK_BYTES * CHUNK_BYTES;
	/* the first place without a mapping, so that mappings come to lie side by side */
	for (c->address = r->address; percent(85) && c->address < end; c->address += CHUNK_BYTES)
		if (!model_mapping(the_model, c->worker, c->address))
			break;
	if (percent(20))
		c->address = r->address + chunks_below(r->bytes);
}

static void propose_bind(struct call *c)
{
	bool by_address = c->function == BIND_ADDRESS || c->function == BIND_ADDRESS_V2;
	struct handle *team = PICK(h, the_model->handle[c->worker], h->object && h->object->team &&
				   (model_complete(h->object) || percent(20)));
	struct handle *own = !team ? NULL :
		PICK(h, the_model->handle[c->worker], h->object && !h->object->team &&
		     (model_member(team->object, h->object->device) ||
		      h->object->device == ON_HOST || percent(10)));
	struct mapping *p = !team ? NULL :
		PICK(p, the_model->mapping, p->object && p->worker == c->worker &&
		     ((!p->object->team && (model_member(team->object, p->object->device) ||
					     p->object->device == ON_HOST)) || percent(10)));
	struct object *memory = by_address ? p ? p->object : NULL : own ? own->object : NULL;
	unsigned int chunks, of_team;
	struct binding *other;

	c->handle = team ? team->value : some_handle(c->worker, percent(50));
	c->memory = own ? own->value : some_handle(c->worker, percent(20));
	c->device = memory && memory->device != ON_HOST && percent(90) ? memory->device :
		    team && team->object->joined_count && percent(80) ?
		    team->object->joined[any(team->object->joined_count)] : (int)any(DEVICES);
	of_team = chunks_of(c->handle, c->worker);
	chunks = memory ? memory->chunks : 1;
	c->bytes = CHUNK_BYTES * (1 + any(chunks < of_team ? chunks : of_team));
	c->offset = any(of_team - c->bytes / CHUNK_BYTES + 1) * CHUNK_BYTES;
	/*
	 * at a place that another member has bound, so that loads fall back from one member to the
	 * next
	 */
	other = !team ? NULL :
		PICK(b, the_model->binding, b->team == team->object && b->device != c->device);
	if (other && percent(70)) {
		c->offset = other->at * CHUNK_BYTES;
		c->bytes = CHUNK_BYTES * (other->chunks < chunks ? other->chunks : chunks);
	}
	if (by_address && p)
		c->address = p->address + (percent(50) ? 0 : chunks_below(p->bytes));
	else if (c->bytes <= chunks * CHUNK_BYTES)
		c->memory_offset = any(chunks - c->bytes / CHUNK_BYTES + 1) * CHUNK_BYTES;
}

static void propose_unbind(struct call *c)
{
	struct handle *h = PICK(h, the_model->handle[c->worker], h->object && h->object->team);
	struct binding *b = h ? PICK(b, the_model->binding, b->team == h->object) : NULL;
	struct binding *next;

	c->handle = h ? h->value : some_handle(c->worker, true);
	c->device = b ? b->device : (int)any(DEVICES);
	c->offset = b ? b->at * CHUNK_BYTES : 0;
	c->bytes = b ? b->chunks * CHUNK_BYTES : CHUNK_BYTES;
	next = b ? model_binding(the_model, b->team, b->device, b->at + b->chunks) : NULL;
	if (next && percent(50))
		c->bytes += next->chunks * CHUNK_BYTES;
}

static void propose_team_add(struct call *c)
{
	struct handle *h = PICK(h, the_model->handle[c->worker],
				h->object && h->object->team && !model_complete(h->object));

	c->handle = h && percent(90) ? h->value : some_handle(c->worker, percent(90));
	c->device = some_device(c->worker);
}

static void propose_access(struct call *c)
{
	static const unsigned int flags[] = { 0, 1, 3, 3, 3 };
	unsigned int i, first = any(DEVICES);

	propose_range(c);
	c->count = 1 + any(3);
	for (i = 0; i < c->count; i++) {
		c->access[i].device = (first + i) % DEVICES;
		c->access[i].flags = flags[any(5)];
	}
	if (percent(60))
		c->access[0].device = c->worker;
	for (i = 1; i < c->count; i++)
		if (c->access[i].device == c->access[0].device)
			c->count = i;
}

static void propose_data(struct call *c)
{
	uint64_t bytes;

	c->value = any(0xffffff) + 1;
	c->address = some_words(c, &c->bytes);
	if (c->function == COPY || c->function == COPY_OUT)
		c->from = some_words(c, &bytes);
	if (c->function == COPY && bytes < c->bytes)
		c->bytes = bytes;
	if (c->function == COPY_OUT)
		c->bytes = bytes;
	if (c->function != FILL)
		return;
	c->width = 1 << any(3);
	if (percent(5)) {
		c->address -= c->address % CHUNK_BYTES;
		c->bytes = CHUNK_BYTES * (1 + any(2));
	}
}

static void propose_other(struct call *c)
{
	struct mapping *p = some_mapping(c->worker, false);
	struct reservation *r = some_reservation(c->worker);
	unsigned int i;
	struct view *v = PICK(v, the_model->view, v->object && v->worker == c->worker);

	switch (c->function) {
	case CREATE:
		c->device = some_device(c->worker);
		c->bytes = (1 + any(4)) * CHUNK_BYTES;
		if (percent(5))
			c->bytes = (model_free_chunks(the_model, c->device) + 1) * CHUNK_BYTES;
		c->types = percent(80);
		c->host = !the_model->nodes && percent(15);
		if (c->host)
			c->device = 0;
		c->kind = CU_MEM_ALLOCATION_TYPE_PINNED;
		c->rdma = !c->host && any(2);
		break;
	case TEAM_CREATE:
		c->device = 2 + any(percent(85) ? 2 : DEVICES - 1);
		c->bytes = (1 + any(MOST_CHUNKS)) * CHUNK_BYTES;
		c->types = percent(85);
		break;
	case RETAIN:
	case GET_ACCESS:
	case STORE:
		c->address = p ? p->address + chunks_below(p->bytes) :
			     r ? r->address + chunks_below(r->bytes) : CHUNK_BYTES;
		if (c->function == STORE && percent(50))
			c->address += CHUNK_BYTES - 4;
		if (c->function == RETAIN)
			c->address += any(CHUNK_BYTES);
		c->device = any(DEVICES);
		c->value = any(0xffffff) + 1;
		if (c->function == STORE && v && percent(30))
			c->address = v->replica[any(v->object->joined_count)] +
				     chunks_below(v->bytes);
		break;
	case GRANULARITY:
	case TEAM_GRANULARITY:
		c->kind = any(2);
		break;
	case EXPORT:
		c->handle = some_handle(c->worker, percent(70));
		c->types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
		break;
	case IMPORT:
		c->types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
		c->fd = FOREIGN_FD;
		for (i = any(FDS); i < FDS && c->fd < 0; i++)
			if (the_model->fd[i].object)
				c->fd = i;
		break;
	case RESERVE:
		c->bytes = (2 + any(8)) * CHUNK_BYTES;
		if (percent(10))
			c->bytes += 4096 * any(512);
		c->offset = percent(60) ? 0 : 1UL << any(25);
		if (percent(30) && r)
			c->address = r->address + any(16) * CHUNK_BYTES;
		break;
	case FREE:
		c->address = r ? r->address : CHUNK_BYTES;
		c->bytes = r ? r->bytes : CHUNK_BYTES;
		break;
	case VIEW_CREATE:
		c->handle = some_handle(c->worker, percent(95));
		c->offset = any(chunks_of(c->handle, c->worker)) * CHUNK_BYTES;
		c->bytes = (1 + any(chunks_of(c->handle, c->worker))) * CHUNK_BYTES;
		for (c->view = 0; c->view < VIEWS - 1 && the_model->view[c->view].object; c->view++)
			;
		break;
	default:
		c->handle = some_handle(c->worker, -1);
	}
}

void propose(struct call *c)
{
	switch (c->function) {
	case MAP:
		return propose_map(c);
	case UNMAP:
		return propose_range(c);
	case SET_ACCESS:
		return propose_access(c);
	case BIND_MEMORY:
	case BIND_MEMORY_V2:
	case BIND_ADDRESS:
	case BIND_ADDRESS_V2:
		return propose_bind(c);
	case UNBIND:
		return propose_unbind(c);
	case TEAM_ADD:
		return propose_team_add(c);
	case FILL:
	case COPY_IN:
	case COPY_OUT:
	case COPY:
		return propose_data(c);
	default:
		return propose_other(c);
	}
}
