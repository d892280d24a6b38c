// SPDX-License-Identifier: MIT
/* The effects of each call on the model. A sentence tells what is wrong with an answer. */
#include <stdio.h>
#include <string.h>

#include "model.h"

static const char *new_handle(struct model *m, const struct call *c, uint64_t value,
			      struct object *o)
{
	struct handle *h = model_handle(m, c->worker, value);

	if (value == 0 || value == UNTOUCHED)
		return "no handle came out";
	if (c->function == RETAIN) {
		if (value != model_mapping(m, c->worker, c->address)->handle)
			return "another handle than the one that it was mapped by";
		h->references++;
		return NULL;
	}
	if (h)
		return "this handle is in use";
	for_each(unused, m->handle[c->worker]) {
		if (unused->object)
			continue;
		*unused = (struct handle) { value, 1, o, c->function == IMPORT && !o->team };
		return NULL;
	}
	return "no room in the model";
}

static const char *new_object(struct model *m, const struct call *c, uint64_t handle)
{
	if (model_handle(m, c->worker, handle))
		return "this handle is another object's";
	for_each(o, m->object) {
		if (o->alive)
			continue;
		*o = (struct object) {
			.alive = true, .team = c->function == TEAM_CREATE,
			.types = c->types & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
			.chunks = c->bytes / CHUNK_BYTES, .device = c->host ? ON_HOST : c->device,
			.rdma = c->rdma, .compression = c->compression && !c->rdma,
		};
		return new_handle(m, c, handle, o);
	}
	return "no room in the model";
}

static const char *new_reservation(struct model *m, const struct call *c, uint64_t address,
				   uint64_t bytes, uint64_t alignment)
{
	if (address == UNTOUCHED || address % CHUNK_BYTES || (alignment && address % alignment))
		return "the address is not aligned";
	for_each(r, m->reservation[c->worker])
		if (r->bytes && address < r->address + r->bytes && r->address < address + bytes)
			return "it overlaps another reservation";
	for_each(v, m->view)
		for (int i = 0; v->object && v->worker == c->worker &&
		     i < v->object->joined_count; i++)
			if (address < v->replica[i] + v->bytes && v->replica[i] < address + bytes)
				return "it overlaps a view";
	if (c->function == VIEW_CREATE)
		return NULL;
	for_each(r, m->reservation[c->worker]) {
		if (r->bytes)
			continue;
		*r = (struct reservation) { address, bytes };
		return NULL;
	}
	return "no room in the model";
}

static const char *new_view(struct model *m, const struct call *c, const struct answer *a)
{
	struct object *team = model_object(m, c->worker, c->handle);
	int i;

	if (a->replicas != (unsigned int)team->joined_count || a->out != c->bytes)
		return "the view has another size";
	for (i = 0; i < team->joined_count; i++) {
		const char *wrong = new_reservation(m, c, a->replica[i], c->bytes, 0);

		if (wrong)
			return wrong;
	}
	for_each(v, m->view) {
		if (v->object)
			continue;
		*v = (struct view) { team, c->handle, c->worker, c->offset, c->bytes, {} };
		memcpy(v->replica, a->replica, sizeof(v->replica));
		return NULL;
	}
	return "no room in the model";
}

static void new_mapping(struct model *m, const struct call *c)
{
	for_each(p, m->mapping) {
		if (p->object)
			continue;
		*p = (struct mapping) { model_object(m, c->worker, c->handle), c->handle,
					c->worker, c->address, c->bytes, {} };
		return;
	}
}

static void new_bindings(struct model *m, const struct call *c)
{
	struct object *team = model_object(m, c->worker, c->handle);
	unsigned int at = c->offset / CHUNK_BYTES;
	struct piece pieces[MOST_CHUNKS];
	int i, count = model_pieces(m, c, pieces);
	struct binding *b = m->binding;

	m->binds++;
	for (i = 0; i < count; i++) {
		while (b->team)
			b++;
		*b = (struct binding) { team, pieces[i].memory,
					model_bind_device(c, pieces[i].memory), at,
					pieces[i].from, pieces[i].chunks, m->binds };
		at += pieces[i].chunks;
	}
}

static void set_access(struct model *m, const struct call *c)
{
	unsigned int i;

	for_each(p, m->mapping)
		for (i = 0; p->object && p->worker == c->worker && p->address >= c->address &&
		     p->address - c->address < c->bytes && i < c->count; i++)
			p->access[c->access[i].device] = c->access[i].flags;
}

/* Finds the tracked words of a range, at the start and end of each chunk, in order of address. */
static unsigned int tracked(uint64_t start, uint64_t bytes, uint64_t words[2 * MOST_CHUNKS])
{
	uint64_t chunk = start / CHUNK_BYTES * CHUNK_BYTES;
	unsigned int count = 0;

	for (; chunk < start + bytes; chunk += CHUNK_BYTES) {
		if (chunk >= start)
			words[count++] = chunk;
		if (chunk + CHUNK_BYTES - 4 >= start && chunk + CHUNK_BYTES <= start + bytes)
			words[count++] = chunk + CHUNK_BYTES - 4;
	}
	return count;
}

static void write_word(struct model *m, unsigned int worker, uint64_t address, uint32_t value)
{
	struct mapping *p = model_mapping(m, worker, address);
	uint32_t *words[DEVICES];
	unsigned int count = model_words(m, p, address, words);

	while (count--)
		*words[count] = value;
}

static uint32_t read_word(struct model *m, unsigned int worker, uint64_t address)
{
	uint32_t *words[DEVICES];

	model_words(m, model_mapping(m, worker, address), address, words);
	return *words[0];
}

static uint32_t fill_word(const struct call *c)
{
	return c->width == 1 ? (c->value & 0xff) * 0x01010101U :
	       c->width == 2 ? (c->value & 0xffff) * 0x00010001U : c->value;
}

static const char *move_data(struct model *m, const struct call *c, const struct answer *a)
{
	uint64_t to[2 * MOST_CHUNKS], from[2 * MOST_CHUNKS];
	unsigned int i, count = tracked(c->address, c->bytes, to);
	uint32_t values[2 * MOST_CHUNKS];

	if (c->function == COPY || c->function == COPY_OUT)
		count = tracked(c->from, c->bytes, from);
	for (i = 0; i < count; i++)
		values[i] = c->function == FILL ? fill_word(c) :
			    c->function == COPY_IN ? c->value + i :
						     read_word(m, c->worker, from[i]);
	for (i = 0; i < count; i++) {
		if (c->function != COPY_OUT)
			write_word(m, c->worker, to[i], values[i]);
		else if (a->words[i] != values[i])
			return "another value was read";
	}
	return NULL;
}

static const char *look(struct model *m, const struct call *c, const struct answer *a)
{
	unsigned int i;

	for (i = 0; i < c->count; i++) {
		uint32_t *word = NULL;
		int number = model_touch(m, c->worker, c->look[i], false, &word);

		if (number != a->seen[i].signal || (!number && *word != a->seen[i].value)) {
			static char wrong[160];

			snprintf(wrong, sizeof(wrong),
				 "at %#lx: expected signal %d, value %#x; got signal %d, value %#x",
				 c->look[i], number, number ? 0 : *word, a->seen[i].signal,
				 a->seen[i].value);
			return wrong;
		}
	}
	return NULL;
}

static const char *same_properties(const struct handle *h, const CUmemAllocationProp *prop)
{
	const struct object *o = h->object;
	CUmemAllocationProp expected = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = h->imported ? 0 : o->types,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, o->device },
		.allocFlags.compressionType = o->compression,
		.allocFlags.gpuDirectRDMACapable = o->rdma && !h->imported,
	};

	if (o->device == ON_HOST)
		expected.location = (CUmemLocation) { CU_MEM_LOCATION_TYPE_HOST_NUMA, 0 };
	return memcmp(&expected, prop, sizeof(expected)) ? "other properties" : NULL;
}

static const char *settle(struct model *m, const struct call *c, const struct answer *a)
{
	struct handle *h = model_handle(m, c->worker, c->handle);
	struct reservation *r = model_reservation(m, c->worker, c->address);
	struct mapping *p = model_mapping(m, c->worker, c->address);
	uint32_t *word;
	int number;

	switch (c->function) {
	case CREATE:
	case TEAM_CREATE:
		return new_object(m, c, a->out);
	case RELEASE:
		h->references--;
		return NULL;
	case RETAIN:
		return new_handle(m, c, a->out, p->object);
	case PROPERTIES:
		return same_properties(h, &a->prop);
	case GRANULARITY:
		return a->out == CHUNK_BYTES ? NULL : "another granularity";
	case TEAM_GRANULARITY:
		return a->out == (c->kind ? m->recommended : CHUNK_BYTES) ? NULL :
		       "another granularity";
	case EXPORT:
		for_each(f, m->fd) {
			if (f->object)
				continue;
			f->object = h->object;
			f->fd = a->out;
			return !a->cloexec ? "not close-on-exec" : NULL;
		}
		return "no room in the model";
	case IMPORT:
		return new_handle(m, c, a->out, m->fd[c->fd].object);
	case RESERVE:
		return new_reservation(m, c, a->out, c->bytes, c->offset);
	case FREE:
		r->bytes = 0;
		return NULL;
	case MAP:
		new_mapping(m, c);
		return NULL;
	case UNMAP:
		for_each(gone, m->mapping)
			if (gone->worker == c->worker && gone->address >= c->address &&
			    gone->address - c->address < c->bytes)
				gone->object = NULL;
		return NULL;
	case SET_ACCESS:
		set_access(m, c);
		return NULL;
	case GET_ACCESS:
		return a->out == p->access[c->device] ? NULL : "another access";
	case TEAM_ADD:
		h->object->joined[h->object->joined_count++] = c->device;
		return NULL;
	case BIND_MEMORY:
	case BIND_MEMORY_V2:
	case BIND_ADDRESS:
	case BIND_ADDRESS_V2:
		new_bindings(m, c);
		return NULL;
	case UNBIND:
		for_each(b, m->binding)
			if (b->team == h->object && b->device == c->device &&
			    b->at >= c->offset / CHUNK_BYTES &&
			    b->at < (c->offset + c->bytes) / CHUNK_BYTES)
				b->team = NULL;
		return NULL;
	case FILL:
	case COPY_IN:
	case COPY_OUT:
	case COPY:
		return move_data(m, c, a);
	case LOOK:
		return look(m, c, a);
	case STORE:
		number = model_touch(m, c->worker, c->address, true, &word);
		if (number != a->signal)
			return number ? "another signal, or none" : "a signal";
		if (!number)
			*word = c->value;
		return NULL;
	case VIEW_CREATE:
		return new_view(m, c, a);
	case VIEW_DESTROY:
		m->view[c->view].object = NULL;
		return NULL;
	case CLOSE:
		m->fd[c->fd].object = NULL;
		return NULL;
	default:
		return "no such call";
	}
}

const char *model_settle(struct model *m, const struct call *c, const struct answer *a)
{
	const char *wrong;

	/* the call writes its output even though it fails, as NVIDIA's driver does */
	if (c->function == GET_ACCESS && a->result == CUDA_ERROR_INVALID_VALUE && c->address)
		return a->out ? "it failed and wrote an access" : NULL;
	if (a->result != CUDA_SUCCESS)
		return a->out == UNTOUCHED && a->words[0] == (uint32_t)UNTOUCHED &&
		       a->words[1] == (uint32_t)UNTOUCHED && a->prop.type == UNTOUCHED_TYPE ?
		       NULL : "it failed and wrote to its output";
	wrong = settle(m, c, a);
	model_end_unused(m);
	return wrong;
}

