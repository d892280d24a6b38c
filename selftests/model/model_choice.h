/* SPDX-License-Identifier: MIT */
/* What is chosen from, for model_choice.c and model_propose.c. */
#ifndef MODEL_CHOICE_H
#define MODEL_CHOICE_H

#include "model.h"

/* What a call is chosen for, and the random numbers that it is chosen by */
extern struct model *the_model;
extern uint64_t *the_random;

static inline uint32_t any(uint32_t below)
{
	return choice_random(the_random, below);
}

static inline bool percent(uint32_t chance)
{
	return any(100) < chance;
}

/* One of what @condition holds for, or NULL */
#define PICK(thing, array, condition)					\
({									\
	typeof(&(array)[0]) picked = NULL;				\
	unsigned int seen = 0;						\
									\
	for_each(thing, array)						\
		if ((condition) && !any(++seen))			\
			picked = thing;					\
	picked;								\
})

/* model_propose.c: a call that makes sense; parts of one, for a worker */
void propose(struct call *c);
uint64_t some_handle(unsigned int worker, int team);
unsigned int busy_worker(void);
struct reservation *some_reservation(unsigned int worker);

#endif /* MODEL_CHOICE_H */
