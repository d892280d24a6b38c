// SPDX-License-Identifier: MIT
/*
 * Chooses the next call: one that makes sense (model_propose.c), or such a call with one argument
 * spoilt. The rules decide whether it succeeds.
 */
#include <stdio.h>
#include <string.h>

#include "model_choice.h"

struct model *the_model;
uint64_t *the_random;

uint32_t choice_random(uint64_t *state, uint32_t below)
{
	/* splitmix64: every seed is good */
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (z ^ z >> 31) % below;
}

/* Makes one argument wrong, or at least different. */
static void spoil(struct call *c)
{
	static const uint64_t off[] = { 1, 4096, CHUNK_BYTES, CHUNK_BYTES, CHUNK_BYTES,
					-CHUNK_BYTES, 1UL << 40, 1UL << 63 };
	bool data = c->function == FILL || c->function == COPY || c->function == COPY_IN ||
		    c->function == COPY_OUT;
	uint64_t by = off[any(8)];

	switch (any(data ? 2 : 12)) {
	case 0:
		/* the model follows no other addresses */
		if (c->function == FILL && c->width > 1 && percent(50))
			c->address += 1;
		else
			c->address += percent(50) ? CHUNK_BYTES : -2 * CHUNK_BYTES;
		break;
	case 1:
		if (data)
			c->from += percent(50) ? CHUNK_BYTES : -CHUNK_BYTES;
		else
			c->address += by;
		break;
	case 2:
	case 3:
		c->bytes = percent(20) ? 0 : c->bytes + by;
		break;
	case 4:
		c->offset += by;
		break;
	case 5:
		c->memory_offset += by;
		break;
	case 6:
		c->flags = 1ULL << any(64);
		break;
	case 7:
		c->device = percent(30) ? -1 : percent(50) ? DEVICES + (int)any(100) :
			    (int)any(DEVICES);
		break;
	case 8:
		c->handle = some_handle(c->worker, -1) ^ (percent(50) ? 1ULL << any(64) : 0);
		c->memory = percent(50) ? c->handle : c->memory;
		break;
	case 9:
		c->types = 1ULL << any(6);
		break;
	case 10:
		if (percent(50))
			c->kind = 2 + any(2);
		else
			c->compression = 1;
		c->fd = percent(50) ? NOT_AN_FD : FOREIGN_FD;
		break;
	case 11:
		if (!c->count)
			break;
		c->access[any(c->count)].flags = percent(50) ? 2 : 4 + any(9);
		if (percent(60))
			c->access[any(c->count)].device = percent(50) ? -1 : DEVICES;
		break;
	}
}

static enum function some_function(void)
{
	/* The more calls it takes until such a call can succeed, the more often it is drawn. */
	static const unsigned char weight[FUNCTIONS] = {
		[CREATE] = 6, [RELEASE] = 3, [RETAIN] = 8, [PROPERTIES] = 2, [GRANULARITY] = 1,
		[EXPORT] = 8, [IMPORT] = 20, [RESERVE] = 5, [FREE] = 1, [MAP] = 40, [UNMAP] = 5,
		[SET_ACCESS] = 40, [GET_ACCESS] = 4, [TEAM_CREATE] = 4, [TEAM_GRANULARITY] = 1,
		[TEAM_ADD] = 60, [BIND_MEMORY] = 60, [BIND_MEMORY_V2] = 60, [BIND_ADDRESS] = 60,
		[BIND_ADDRESS_V2] = 60, [UNBIND] = 15, [FILL] = 25, [COPY_IN] = 25,
		[COPY_OUT] = 25, [COPY] = 25, [STORE] = 10, [VIEW_CREATE] = 15,
		[VIEW_DESTROY] = 1, [CLOSE] = 1,
	};
	unsigned int function, sum = 0, number;

	for (function = 0; function < FUNCTIONS; function++)
		sum += weight[function];
	number = any(sum);
	for (function = 0; number >= weight[function]; function++)
		number -= weight[function];
	return function;
}

/* Fills in the subject of calls that need an existing object. Return: false if there is none */
static bool find_subject(struct call *c)
{
	if (c->function == CLOSE) {
		c->fd = any(FDS);
		return the_model->fd[c->fd].object;
	}
	/* no more memory than the test takes */
	if (c->function == CREATE &&
	    PICK(h, the_model->handle[c->worker], h->object && !h->object->team) &&
	    percent(60))
		return false;
	if (c->function == RESERVE && some_reservation(c->worker) && percent(80))
		return false;
	if (c->function == TEAM_CREATE &&
	    PICK(h, the_model->handle[c->worker], h->object && h->object->team) && percent(85))
		return false;
	if (c->function == STORE && !model_mapping(the_model, c->worker, c->address) && percent(80))
		return false;
	if (c->function == VIEW_DESTROY) {
		c->view = any(VIEWS);
		c->worker = the_model->view[c->view].worker;
		return the_model->view[c->view].object;
	}
	return true;
}

void choose_call(struct model *model, uint64_t *random, bool valid, struct call *c)
{
	bool spoilt;
	int result;

	the_model = model;
	the_random = random;
	do {
		memset(c, 0, sizeof(*c));
		c->function = some_function();
		c->worker = percent(95) ? busy_worker() : any(WORKERS);
		propose(c);
		result = UNSAID;
		spoilt = !valid && percent(90);
		/* mostly calls that would succeed unspoilt */
		if (spoilt && model_expect(the_model, c) != CUDA_SUCCESS && percent(98))
			continue;
		if (spoilt)
			spoil(c);
		/* The model follows whole words of data only. */
		if (!find_subject(c) || ((c->function == FILL || c->function == COPY_IN) &&
					 spoilt && c->address % 4 && c->width < 2))
			continue;
		result = model_expect(the_model, c);
		if (result == WAITS && percent(75))
			result = UNSAID;
	} while (result == UNSAID || (result == CUDA_SUCCESS) != valid);
}

bool choose_clean_up(struct model *model, uint64_t *random, struct call *c)
{
	struct call one;
	unsigned int w, seen = 0;

#define CANDIDATE(...)							\
do {									\
	one = (struct call) { __VA_ARGS__ };				\
	if (model_expect(the_model, &one) == CUDA_SUCCESS && !any(++seen))	\
		*c = one;						\
} while (0)

	the_model = model;
	the_random = random;
	for (w = 0; w < WORKERS; w++) {
		for_each(h, the_model->handle[w])
			if (h->object)
				CANDIDATE(.function = RELEASE, .worker = w, .handle = h->value);
		for_each(r, the_model->reservation[w])
			if (r->bytes)
				CANDIDATE(.function = FREE, .worker = w, .address = r->address,
					  .bytes = r->bytes);
	}
	for_each(p, the_model->mapping)
		if (p->object)
			CANDIDATE(.function = UNMAP, .worker = p->worker, .address = p->address,
				  .bytes = p->bytes);
	for_each(v, the_model->view)
		if (v->object)
			CANDIDATE(.function = VIEW_DESTROY, .worker = v->worker,
				  .view = v - the_model->view);
	for (w = 0; w < FDS; w++)
		if (the_model->fd[w].object)
			CANDIDATE(.function = CLOSE, .fd = w);
	for_each(b, the_model->binding)
		for_each(h, the_model->handle[b->device])
			if (b->team && h->object == b->team)
				CANDIDATE(.function = UNBIND, .worker = b->device,
					  .handle = h->value, .device = b->device,
					  .offset = b->at * CHUNK_BYTES,
					  .bytes = b->chunks * CHUNK_BYTES);
	return seen;
}
