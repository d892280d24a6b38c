/* SPDX-License-Identifier: MIT */
/* Shared by model_choice.c and model_propose.c: state and random numbers to choose from. */
#ifndef MODEL_CHOICE_H
#define MODEL_CHOICE_H

#include "model.h"

/* The model for which a call is chosen, and the state of the random numbers */
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

/* Picks a random element of @array for which @condition holds, or NULL. */
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

/* model_propose.c: proposes a call that makes sense, or parts of a call of one worker */
void propose(struct call *c);
uint64_t some_handle(unsigned int worker, int team);
unsigned int busy_worker(void);
struct reservation *some_reservation(unsigned int worker);

#endif /* MODEL_CHOICE_H */
