// SPDX-License-Identifier: MIT
/* The model's state, in arrays: plain enough to be checked by reading. */
#include <signal.h>
#include <string.h>

#include "model.h"

/* ---- objects, handles, mappings, bindings */

struct handle *model_handle(struct model *m, unsigned int worker, uint64_t value)
{
	for_each(h, m->handle[worker])
		if (h->object && h->value == value)
			return h;
	return NULL;
}

struct object *model_object(struct model *m, unsigned int worker, uint64_t value)
{
	struct handle *h = model_handle(m, worker, value);

	return h ? h->object : NULL;
}

struct reservation *model_reservation(struct model *m, unsigned int worker, uint64_t address)
{
	for_each(r, m->reservation[worker])
		if (address >= r->address && address - r->address < r->bytes)
			return r;
	return NULL;
}

struct mapping *model_mapping(struct model *m, unsigned int worker, uint64_t address)
{
	for_each(p, m->mapping)
		if (p->object && p->worker == worker &&
		    address >= p->address && address - p->address < p->bytes)
			return p;
	return NULL;
}

bool model_complete(const struct object *o)
{
	return o->joined_count == o->device;
}

bool model_member(const struct object *team, int device)
{
	int i;

	for (i = 0; i < team->joined_count; i++)
		if (team->joined[i] == device)
			return true;
	return false;
}

struct binding *model_binding(struct model *m, const struct object *team, int device,
				  unsigned int chunk)
{
	for_each(b, m->binding)
		if (b->team == team && b->device == device &&
		    chunk >= b->at && chunk - b->at < b->chunks)
			return b;
	return NULL;
}

unsigned int model_free_chunks(const struct model *m, int device)
{
	unsigned int left = m->pool_chunks[device];

	for_each(o, m->object)
		if (o->alive && !o->team && o->device == device)
			left -= o->chunks;
	return left;
}

/* A binding alone does not keep a memory alive. */
static bool used(const struct model *m, const struct object *o)
{
	unsigned int w;

	for (w = 0; w < WORKERS; w++)
		for_each(h, m->handle[w])
			if (h->object == o)
				return true;
	for_each(p, m->mapping)
		if (p->object == o)
			return true;
	for_each(v, m->view)
		if (v->object == o)
			return true;
	for (w = 0; w < FDS; w++)
		if (m->fd[w].object == o)
			return true;
	return false;
}

static bool keeps(const struct model *m, unsigned int worker, uint64_t handle)
{
	for_each(p, m->mapping)
		if (p->object && p->worker == worker && p->handle == handle)
			return true;
	for_each(v, m->view)
		if (v->object && v->worker == worker && v->handle == handle)
			return true;
	return false;
}

void model_end_unused(struct model *m)
{
	unsigned int w;

	for (w = 0; w < WORKERS; w++)
		for_each(h, m->handle[w])
			if (h->object && !h->references && !keeps(m, w, h->value))
				h->object = NULL;
	for_each(o, m->object)
		if (o->alive && !used(m, o))
			o->alive = false;
	for_each(b, m->binding)
		if (b->team && (!b->team->alive || !b->memory->alive))
			b->team = NULL;
}

/* ---- the contents of addresses */

static uint32_t *replica_word(struct model *m, const struct object *team, int device,
			      unsigned int chunk, enum place place)
{
	struct binding *b = model_binding(m, team, device, chunk);

	return b ? &b->memory->word[b->from + chunk - b->at][place] : NULL;
}

/* Finds the words that a store to all replicas reaches; a load reads the first of them. */
unsigned int model_words(struct model *m, const struct mapping *p, uint64_t address,
			     uint32_t *words[DEVICES])
{
	unsigned int chunk = (address - p->address) / CHUNK_BYTES, count = 0;
	enum place place = address % CHUNK_BYTES ? TAIL : HEAD;
	int i;

	if (!p->object->team) {
		words[0] = &p->object->word[chunk][place];
		return 1;
	}
	for (i = 0; i < p->object->joined_count; i++) {
		words[count] = replica_word(m, p->object, p->object->joined[i], chunk, place);
		count += words[count] != NULL;
	}
	return count;
}

int model_touch(struct model *m, unsigned int worker, uint64_t address, bool store,
		 uint32_t **word)
{
	struct mapping *p = model_mapping(m, worker, address);
	uint32_t *words[DEVICES];
	unsigned int access = 0;
	int i;

	for_each(v, m->view) {
		if (!v->object || v->worker != worker)
			continue;
		for (i = 0; i < v->object->joined_count; i++) {
			uint64_t at = address - v->replica[i];

			if (address < v->replica[i] || at >= v->bytes)
				continue;
			*word = replica_word(m, v->object, v->object->joined[i],
					     (v->offset + at) / CHUNK_BYTES,
					     at % CHUNK_BYTES ? TAIL : HEAD);
			return *word ? 0 : SIGBUS;
		}
	}
	if (!p)
		return SIGSEGV;
	for (i = 0; i < DEVICES; i++)
		access |= p->access[i];
	if (!access || (store && (p->object->team || access != 3)))
		return SIGSEGV;
	if (!model_words(m, p, address, words))
		return SIGBUS;
	*word = words[0];
	return 0;
}

void model_kill(struct model *m, unsigned int worker)
{
	memset(m->handle[worker], 0, sizeof(m->handle[worker]));
	memset(m->reservation[worker], 0, sizeof(m->reservation[worker]));
	for_each(p, m->mapping)
		if (p->worker == worker)
			p->object = NULL;
	for_each(v, m->view)
		if (v->worker == worker)
			v->object = NULL;
	model_end_unused(m);
}
