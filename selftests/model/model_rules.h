/* SPDX-License-Identifier: MIT */
/* Shared by the rules of the model. */
#ifndef MODEL_RULES_H
#define MODEL_RULES_H

#include "model.h"

#define OK		CUDA_SUCCESS
#define INVALID		CUDA_ERROR_INVALID_VALUE
#define NO_DEVICE	CUDA_ERROR_INVALID_DEVICE

static inline struct object *team_of(struct model *m, const struct call *c)
{
	struct object *o = model_object(m, c->worker, c->handle);

	return o && o->team ? o : NULL;
}

static inline bool misaligned(uint64_t number)
{
	return number % CHUNK_BYTES;
}

static inline bool outside(uint64_t offset, uint64_t bytes, unsigned int chunks)
{
	return offset > chunks * CHUNK_BYTES || bytes > chunks * CHUNK_BYTES - offset;
}

/* model_rules_bind.c */
int expect_bind_memory(struct model *m, const struct call *c);
int expect_bind_address(struct model *m, const struct call *c);
int expect_unbind(struct model *m, const struct call *c);

#endif /* MODEL_RULES_H */
