// SPDX-License-Identifier: MIT
/*
 * mbarrier objects: 64 bits of shared memory. Their layout is opaque to programs; this one has
 * the number of arrivals that a phase expects, those that are pending, bytes that are to come,
 * and the phase.
 */
#include "ptx_math.h"

#define COUNT	0xfffffU

struct state {
	uint32_t expected, pending, phase;
	int32_t bytes;
};

static struct state unpack(uint64_t word)
{
	return (struct state) {
		.expected = word & COUNT, .pending = word >> 20 & COUNT,
		.bytes = (int32_t)((int64_t)(word << 1) >> 41), .phase = word >> 63,
	};
}

static uint64_t pack(struct state state)
{
	if (!state.pending && !state.bytes) {
		state.pending = state.expected;
		state.phase ^= 1;
	}
	return (uint64_t)state.phase << 63 | ((uint64_t)state.bytes & 0x7fffff) << 40 |
	       (uint64_t)state.pending << 20 | state.expected;
}

void ptx_math_mbarrier_init(void *at, uint32_t count)
{
	uint64_t word = (uint64_t)(count & COUNT) << 20 | (count & COUNT);

	__atomic_store_n((uint64_t *)at, word, __ATOMIC_RELEASE);
}

static uint64_t change(void *at, uint32_t arrivals, int32_t bytes, bool drop)
{
	uint64_t old = __atomic_load_n((uint64_t *)at, __ATOMIC_RELAXED), next;

	do {
		struct state state = unpack(old);

		state.bytes += bytes;
		state.pending = (state.pending - arrivals) & COUNT;
		if (drop)
			state.expected = (state.expected - arrivals) & COUNT;
		next = pack(state);
	} while (!__atomic_compare_exchange_n((uint64_t *)at, &old, next, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	return old;
}

/* @flags: ARRIVE_EXPECTS, ARRIVE_DROPS. Return: the state before it */
uint64_t ptx_math_mbarrier_arrive(void *at, uint32_t count, uint32_t flags)
{
	bool expects = flags & ARRIVE_EXPECTS;
	struct state state = unpack(change(at, expects ? 1 : count, expects ? (int32_t)count : 0,
					   flags & ARRIVE_DROPS));

	return (uint64_t)state.phase << 63 | (uint64_t)state.pending << 20 | state.expected;
}

/* @what: 0: expects bytes, 1: they have come */
void ptx_math_mbarrier_transactions(void *at, uint32_t bytes, uint32_t what)
{
	change(at, 0, what ? -(int32_t)bytes : (int32_t)bytes, false);
}

/* Return: has the phase of a state (@parity: of the parity @token) ended? */
uint32_t ptx_math_mbarrier_test(void *at, uint64_t token, uint32_t parity)
{
	uint64_t phase = __atomic_load_n((uint64_t *)at, __ATOMIC_ACQUIRE) >> 63;

	return parity ? phase != (token & 1) : phase != token >> 63;
}

uint32_t ptx_math_mbarrier_pending(uint64_t token)
{
	return token >> 20 & COUNT;
}
