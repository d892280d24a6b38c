// SPDX-License-Identifier: MIT
/*
 * The answer that each call should give. Checks come in this order: flags, handles, devices,
 * alignment, range, state, resources. Membership is state as long as a team is not complete. If a
 * call is wrong in both membership and range, the API does not say which error comes first, and the
 * test does not make the call.
 */
#include "model_rules.h"
#include "processor.h"

#define FD		CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define WINDOWS		(CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT)
#define FABRIC		CU_MEM_HANDLE_TYPE_FABRIC

/* ACROSS: more than one reservation; HOLES: whole mappings, and places without one */
enum span { WHOLE, HOLES, PARTLY, ACROSS };

/* Return: does a range consist of whole mappings? */
static enum span span_of(struct model *m, const struct call *c)
{
	uint64_t at = c->address, end = c->address + c->bytes;
	struct reservation *r = model_reservation(m, c->worker, at);
	bool holes = false, parts = false, across = false;

	if (!r || end < at || c->bytes > 1UL << 40)
		return PARTLY;
	while (at < end) {
		struct mapping *p = model_mapping(m, c->worker, at);

		across |= model_reservation(m, c->worker, at) != r;
		holes |= !p;
		parts |= p && (p->address != at || p->bytes > end - at);
		at = p ? p->address + p->bytes : at + CHUNK_BYTES;
	}
	if (across)
		return holes || parts ? PARTLY : ACROSS;
	return parts ? PARTLY : holes ? HOLES : WHOLE;
}

/* Return: may the copy engine access the range for the worker's device? */
static int reachable(struct model *m, unsigned int worker, uint64_t address, uint64_t bytes,
		     unsigned int access)
{
	struct reservation *r = model_reservation(m, worker, address);
	uint64_t at = address / CHUNK_BYTES * CHUNK_BYTES;
	bool across = false;

	for (; at < address + bytes; at += CHUNK_BYTES) {
		struct mapping *p = model_mapping(m, worker, at);
		uint32_t *words[DEVICES];

		if (!p || (p->access[worker] & access) != access || !model_words(m, p, at, words))
			return INVALID;
		across |= model_reservation(m, worker, at) != r;
	}
	return across ? UNSAID : OK;
}

/* ---- the answers that calls should give */

static int expect_types(const struct model *m, uint64_t types)
{
	if (types & ~(uint64_t)(FD | WINDOWS | FABRIC))
		return INVALID;
	if (types & WINDOWS)
		return INVALID;
	if (types & FABRIC)
		return m->channels ? UNSAID : CUDA_ERROR_NOT_PERMITTED;
	return OK;
}

static int expect_create(struct model *m, const struct call *c)
{
	/* the API ignores other bits */
	int types = expect_types(m, c->types & (FD | WINDOWS | FABRIC));

	if (c->flags || c->kind != CU_MEM_ALLOCATION_TYPE_PINNED)
		return INVALID;
	if (types == INVALID)
		return types;
	if (c->host && (c->compression || c->rdma))
		return INVALID;
	if (c->device < 0 || c->device >= (c->host ? 1 : DEVICES))
		return c->host ? INVALID : NO_DEVICE;
	/* the model follows only as much of the host's memory as of a device's */
	if (c->host && c->bytes / CHUNK_BYTES > MOST_CHUNKS && !misaligned(c->bytes))
		return UNSAID;
	if (!c->bytes || misaligned(c->bytes))
		return INVALID;
	if (types)
		return types;
	if (!c->host && c->bytes / CHUNK_BYTES > model_free_chunks(m, c->device))
		return CUDA_ERROR_OUT_OF_MEMORY;
	return c->bytes / CHUNK_BYTES > MOST_CHUNKS ? UNSAID : OK;
}

static int expect_team_create(struct model *m, const struct call *c)
{
	int types = expect_types(m, c->types);

	if (c->flags || types == INVALID)
		return INVALID;
	if (c->device < 2 || c->device > DEVICES || !c->bytes || misaligned(c->bytes))
		return INVALID;
	if (types)
		return types;
	return c->bytes / CHUNK_BYTES > MOST_CHUNKS ? UNSAID : OK;
}

static int expect_map(struct model *m, const struct call *c)
{
	struct object *o = model_object(m, c->worker, c->handle);
	struct reservation *r = model_reservation(m, c->worker, c->address);
	uint64_t at;

	if (c->flags || !o || !c->bytes)
		return INVALID;
	/* if the address is wrong as well, the API does not say which error comes first */
	if (!o->team && (c->offset || c->bytes != o->chunks * CHUNK_BYTES))
		return !r || misaligned(c->address) ? UNSAID : CUDA_ERROR_NOT_SUPPORTED;
	if (c->offset || misaligned(c->address | c->bytes) ||
	    outside(0, c->bytes, o->chunks))
		return INVALID;
	if (!r)
		return INVALID;
	/* tail_test makes mappings that reach over the end; the model has none */
	if (c->bytes > r->address + r->bytes - c->address)
		return UNSAID;
	for (at = c->address; at < c->address + c->bytes; at += CHUNK_BYTES)
		if (model_mapping(m, c->worker, at))
			return o->team && !model_complete(o) ? UNSAID : INVALID;
	return o->team && !model_complete(o) ? WAITS : OK;
}

static int expect_set_access(struct model *m, const struct call *c)
{
	enum span span;
	unsigned int i;
	uint64_t at;

	for (i = 0; i < c->count; i++)
		if (c->access[i].flags > 3 || c->access[i].flags == 2 ||
		    c->access[i].device < 0 || c->access[i].device >= DEVICES)
			return INVALID;
	if (!c->count || !c->bytes || misaligned(c->address | c->bytes))
		return INVALID;
	span = span_of(m, c);
	if (span != WHOLE)
		return span == ACROSS ? UNSAID : INVALID;
	for (at = c->address; at < c->address + c->bytes; at += CHUNK_BYTES)
		for (i = 0; i < c->count; i++) {
			struct object *o = model_mapping(m, c->worker, at)->object;

			if (o->team && !model_member(o, c->access[i].device))
				return NO_DEVICE;
		}
	return OK;
}

static int expect_unmap(struct model *m, const struct call *c)
{
	struct call chunks = *c;
	uint64_t end = c->address + c->bytes;
	enum span span;

	if (!c->bytes || misaligned(c->address))
		return INVALID;
	/* an incomplete chunk at the end counts as a whole one */
	if (misaligned(c->bytes)) {
		if (end < c->address || !model_reservation(m, c->worker, end))
			return INVALID;
		if (model_reservation(m, c->worker, end) !=
		    model_reservation(m, c->worker, c->address))
			return UNSAID;
		chunks.bytes = (c->bytes / CHUNK_BYTES + 1) * CHUNK_BYTES;
	}
	span = span_of(m, &chunks);
	return span == WHOLE || span == HOLES ? OK : span == ACROSS ? UNSAID : INVALID;
}

static int expect_add(struct model *m, const struct call *c)
{
	struct object *team = team_of(m, c);

	if (!team)
		return INVALID;
	if (c->device < 0 || c->device >= DEVICES)
		return NO_DEVICE;
	if (model_member(team, c->device))
		return CUDA_ERROR_UNKNOWN;
	return model_complete(team) ? INVALID : OK;
}

static int expect_copy(struct model *m, const struct call *c)
{
	int to = OK, from = OK;

	if (c->function == FILL && c->address % c->width)
		return INVALID;
	if (c->function != COPY_OUT)
		to = reachable(m, c->worker, c->address, c->bytes, 3);
	if (c->function == COPY || c->function == COPY_OUT)
		from = reachable(m, c->worker, c->from, c->bytes, 1);
	if (to == INVALID || from == INVALID)
		return INVALID;
	return to == UNSAID || from == UNSAID ? UNSAID : OK;
}

static bool full(struct model *m, const struct call *c)
{
	unsigned int objects = 0, handles = 0, reservations = 0, mappings = 0, bindings = 0;
	unsigned int fds = 0, views = 0;

	for_each(o, m->object)
		objects += o->alive;
	for_each(h, m->handle[c->worker])
		handles += h->object != NULL;
	for_each(r, m->reservation[c->worker])
		reservations += r->bytes != 0;
	for_each(p, m->mapping)
		mappings += p->object != NULL;
	for_each(b, m->binding)
		bindings += b->team != NULL;
	for_each(f, m->fd)
		fds += f->object != NULL;
	for_each(v, m->view)
		views += v->object != NULL;
	switch (c->function) {
	case CREATE:
	case TEAM_CREATE:
		return objects == OBJECTS || handles == HANDLES;
	case RETAIN:
	case IMPORT:
		return handles == HANDLES;
	case RESERVE:
		return reservations == RESERVATIONS;
	case MAP:
		return mappings == MAPPINGS;
	case EXPORT:
		return fds == FDS;
	case VIEW_CREATE:
		return views == VIEWS;
	default:
		return bindings > BINDINGS - MOST_CHUNKS;
	}
}

static int expect(struct model *m, const struct call *c)
{
	struct object *o = model_object(m, c->worker, c->handle);
	struct reservation *r = model_reservation(m, c->worker, c->address);

	switch (c->function) {
	case CREATE:
		return expect_create(m, c);
	case RELEASE:
		return o && model_handle(m, c->worker, c->handle)->references ? OK : INVALID;
	case RETAIN:
		return model_mapping(m, c->worker, c->address) ? OK : INVALID;
	case PROPERTIES:
		return o && !o->team ? OK : INVALID;
	case GRANULARITY:
	case TEAM_GRANULARITY:
		return c->kind == 0 || c->kind == 1 ? OK : INVALID;
	case EXPORT:
		return !c->flags && o && c->types == FD && (o->types & FD) &&
		       !model_handle(m, c->worker, c->handle)->imported ? OK : INVALID;
	case IMPORT:
		/* a fabric handle would be a pointer */
		if (c->types == FABRIC)
			return UNSAID;
		if (c->types != FD)
			return INVALID;
		return c->fd >= 0 ? OK : CUDA_ERROR_UNKNOWN;
	case RESERVE:
		if (c->flags || !c->bytes || misaligned(c->bytes | c->address) ||
		    (c->offset & (c->offset - 1)) || c->offset >> ADDRESS_BITS)
			return INVALID;
		return c->address >> ADDRESS_BITS ? CUDA_ERROR_OUT_OF_MEMORY : OK;
	case FREE:
		if (!r || r->address != c->address || r->bytes != c->bytes)
			return INVALID;
		for_each(p, m->mapping)
			if (p->object && p->worker == c->worker && p->address >= r->address &&
			    p->address - r->address < r->bytes)
				return INVALID;
		return OK;
	case MAP:
		return expect_map(m, c);
	case UNMAP:
		return expect_unmap(m, c);
	case SET_ACCESS:
		return expect_set_access(m, c);
	case GET_ACCESS:
		if (c->device < 0 || c->device >= DEVICES)
			return NO_DEVICE;
		return model_mapping(m, c->worker, c->address) ? OK : INVALID;
	case TEAM_CREATE:
		return expect_team_create(m, c);
	case TEAM_ADD:
		return expect_add(m, c);
	case BIND_MEMORY:
	case BIND_MEMORY_V2:
		return expect_bind_memory(m, c);
	case BIND_ADDRESS:
	case BIND_ADDRESS_V2:
		return expect_bind_address(m, c);
	case UNBIND:
		return expect_unbind(m, c);
	case FILL:
	case COPY_IN:
	case COPY_OUT:
	case COPY:
		return expect_copy(m, c);
	case VIEW_CREATE:
		if (!o || !o->team || !c->bytes || misaligned(c->bytes | c->offset) ||
		    outside(c->offset, c->bytes, o->chunks))
			return INVALID;
		return model_complete(o) ? OK : WAITS;
	default:
		return OK;
	}
}

/* The API does not say which mappings a view is made of, nor what calls on their addresses do. */
static bool in_view(const struct model *m, unsigned int worker, uint64_t start, uint64_t end)
{
	int i;

	for_each(v, m->view)
		for (i = 0; v->object && v->worker == worker && i < v->object->joined_count; i++)
			if (start < v->replica[i] + v->bytes && v->replica[i] < end)
				return true;
	return false;
}

int model_expect(struct model *m, const struct call *c)
{
	int result = expect(m, c);

	if (c->function != RESERVE && c->function != STORE && c->function != LOOK &&
	    (in_view(m, c->worker, c->address, c->address + CHUNK_BYTES) ||
	     in_view(m, c->worker, c->address, c->address + c->bytes) ||
	     in_view(m, c->worker, c->from, c->from + c->bytes)))
		return UNSAID;
	return (result == OK || result == WAITS) && full(m, c) ? UNSAID : result;
}
