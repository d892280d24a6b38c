// SPDX-License-Identifier: MIT
/*
 * When all threads that a runner has wait for something outside: the runner gives its processor
 * away, and, after a second, says each second where its threads wait.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "inside.h"

#define YIELDS		64		/* rounds without news before the clock is read */
#define AWAKE_NS	2000000UL	/* so long, the runner only yields */
#define SLEEP_NS	50000UL
#define SLEEP_MOST_NS	50000000UL
#define TELL_NS		1000000000UL
#define DELAY_NS	50000UL		/* about as long as the shortest sleep takes */
#define SLEEPS		8		/* so many in a row are of no loop that looks at a word */
#define BLIND_POLLS	4		/* likewise: a loop that waits may have a short one within */
#define GROUPS		6

/* Threads that wait for the same */
struct group {
	enum waits_for { POLLS, AT_BARRIER, AT_CLUSTER, WITH_LANES } kind;
	uint64_t what;			/* the address, or the barrier's number */
	uint32_t count;
	const struct fiber *first;
};

struct groups {
	struct group at[GROUPS];
	uint32_t count, left_out;
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000UL + time.tv_nsec;
}

/* Return: the word that a thread has looked at last, with its size; 0: none */
static uint64_t looked_at(const struct fiber *fiber)
{
	return fiber->at.looked_at & ~(PTX_LOOKED_BEFORE | PTX_LOOKED_POLLED);
}

static void add(struct groups *groups, enum waits_for kind, uint64_t what,
		const struct fiber *fiber)
{
	for (uint32_t i = 0; i < groups->count; i++) {
		struct group *group = &groups->at[i];

		if (group->kind == kind && group->what == what) {
			group->count++;
			return;
		}
	}
	if (groups->count == GROUPS)
		groups->left_out++;
	else
		groups->at[groups->count++] = (struct group) { kind, what, 1, fiber };
}

static void look_at_block(struct groups *groups, const struct ptx_block *block)
{
	for (uint32_t id = 0; id < PTX_BARRIERS; id++)
		for (const struct fiber *fiber = block->barriers >> id & 1 ?
						 block->barrier[id].waiting.first : NULL;
		     fiber; fiber = fiber->next)
			add(groups, AT_BARRIER, id, fiber);
	for (uint32_t i = 0; i < block->threads; i++) {
		const struct fiber *fiber = &block->fibers[i];

		if (fiber->state == FIBER_READY)
			add(groups, POLLS, looked_at(fiber), fiber);
		else if (fiber->state == FIBER_WAITS &&
			 block->warps[fiber->at.warpid].waiting >> fiber->at.laneid & 1)
			add(groups, WITH_LANES, 0, fiber);
	}
}

static uint64_t load_word(uint64_t looked_at)
{
	const void *address = (void *)(looked_at & PTX_LOOKED_ADDRESS);

	switch (looked_at >> PTX_LOOKED_SHIFT) {
	case 1:
		return *(const volatile uint8_t *)address;
	case 2:
		return *(const volatile uint16_t *)address;
	case 4:
		return *(const volatile uint32_t *)address;
	default:
		return *(const volatile uint64_t *)address;
	}
}

/*
 * Reads the word that a thread has looked at last. Its memory may have been unmapped since: then it
 * is forgotten. Return: the word, or 0.
 */
static uint64_t word_at(struct runner *runner, struct ptx_thread *thread)
{
	uint64_t word;

	if (!thread->looked_at)
		return 0;
	if (sigsetjmp(runner->peek_back, 0)) {
		runner->peeks = false;
		thread->looked_at = 0;
		return 0;
	}
	runner->peeks = true;
	word = load_word(looked_at(fiber_of(thread)));
	runner->peeks = false;
	return word;
}

static void describe_address(const struct runner *runner, const struct fiber *fiber, char *text,
			     size_t size)
{
	const struct ptx_run_host *host = runner->grid->launch->host;
	uint64_t address = looked_at(fiber) & PTX_LOOKED_ADDRESS;
	uint64_t offset = address - (uintptr_t)fiber->at.block->cluster->shared;
	char memory[96] = "";

	if (!fiber->at.looked_at) {
		snprintf(text, size, "in a loop");
		return;
	}
	if (offset < (uint64_t)fiber->at.cluster_nctarank * PTX_SHARED_WINDOW) {
		snprintf(text, size, "for byte %" PRIu64 " of shared memory, which is %#" PRIx64,
			 offset % PTX_SHARED_WINDOW - PTX_SHARED_FIRST, fiber->last_word);
		return;
	}
	if (host->memory)
		host->memory(address, memory, sizeof(memory));
	snprintf(text, size, "for the word at %#" PRIx64 "%s%s, which is %#" PRIx64, address,
		 *memory ? ", " : "", memory, fiber->last_word);
}

static int describe_group(const struct runner *runner, const struct group *group, char *text,
			  size_t size)
{
	const struct ptx_thread *at = &group->first->at;
	char line[120], what[240] = "", more[40] = "";

	line_of_waiting(group->first, line, sizeof(line));
	if (group->kind == POLLS)
		describe_address(runner, group->first, what, sizeof(what));
	else if (group->kind == AT_BARRIER)
		snprintf(what, sizeof(what), "at barrier %" PRIu64, group->what);
	else
		strcpy(what, group->kind == AT_CLUSTER ? "at the cluster's barrier" :
		       "for lanes of its warp");
	if (group->count > 1)
		snprintf(more, sizeof(more), " and %u more", group->count - 1);
	return snprintf(text, size, "block (%u, %u, %u), thread (%u, %u, %u)%s, %s: wait%s %s",
			at->ctaid[0], at->ctaid[1], at->ctaid[2], at->tid[0], at->tid[1],
			at->tid[2], more, *line ? line : "line not known",
			group->count > 1 ? "" : "s", what);
}

/* Says where the threads of this runner's blocks wait. */
static void tell(const struct runner *runner, struct waiting *waiting, uint64_t waited)
{
	const struct ptx_launch *launch = runner->grid->launch;
	bool all = runner->grid->waiters == runner->grid->runners;
	struct groups groups = {};
	char text[760];
	size_t used = 0;

	waiting->known = true;
	for (const struct cluster *cluster = runner->active; cluster; cluster = cluster->next) {
		for (uint32_t i = 0; i < cluster->count; i++)
			if (cluster->blocks[i].live)
				look_at_block(&groups, &cluster->blocks[i]);
		for (const struct fiber *fiber = cluster->waiting.first; fiber; fiber = fiber->next)
			add(&groups, AT_CLUSTER, 0, fiber);
	}
	for (uint32_t i = 0; i < groups.count && used < sizeof(text); i++) {
		if (groups.at[i].kind == POLLS && !groups.at[i].what)
			waiting->known = false;
		if (i)
			used += snprintf(text + used, sizeof(text) - used, "; ");
		if (used < sizeof(text))
			used += describe_group(runner, &groups.at[i], text + used,
					       sizeof(text) - used);
	}
	if (groups.left_out && used < sizeof(text))
		snprintf(text + used, sizeof(text) - used, "; and %u more threads",
			 groups.left_out);
	launch->host->waits(launch->host_data, groups.count ? text : "for blocks elsewhere", waited,
			    all);
}

/*
 * Has a thread that polls again done anything since its last poll? It has seen another word, or
 * another value, or has stored what others may wait for.
 */
bool has_progressed(struct fiber *fiber)
{
	uint64_t word = word_at(fiber->at.block->runner, &fiber->at), looked = looked_at(fiber);
	bool same = looked == fiber->last_looked && word == fiber->last_word &&
		    fiber->at.deeds == fiber->last_deeds;

	fiber->last_looked = looked;
	fiber->last_word = word;
	fiber->last_deeds = fiber->at.deeds;
	return !same;
}

/*
 * Does a thread only compute that polls from a loop which looks at nothing itself? Neither functions
 * that it calls nor a loop around it have looked at a word for some polls.
 */
bool only_computes(struct fiber *fiber)
{
	uint64_t looked_at = fiber->at.looked_at;

	if (looked_at && !(looked_at & PTX_LOOKED_POLLED)) {
		fiber->at.looked_at = looked_at | PTX_LOOKED_POLLED;
		fiber->blind_polls = 0;
	} else if (fiber->blind_polls < BLIND_POLLS) {
		fiber->blind_polls++;
	}
	return fiber->blind_polls == BLIND_POLLS;
}

/*
 * Does a thread sleep for the time's sake, and wait for nobody? It has looked at no word for some
 * sleeps, and they are shorter than the shortest one of the machine's. After a second it is taken for
 * one that waits, for a word that nobody knows: it may hang.
 */
bool only_delays(struct fiber *fiber, uint32_t nanoseconds)
{
	uint64_t looked_at = fiber->at.looked_at;

	if (looked_at && !(looked_at & PTX_LOOKED_BEFORE)) {
		fiber->at.looked_at = looked_at | PTX_LOOKED_BEFORE;
		fiber->sleeps = 0;
		return false;
	}
	if (nanoseconds >= DELAY_NS)
		return false;
	if (fiber->sleeps < SLEEPS) {
		if (++fiber->sleeps < SLEEPS)
			return false;
		fiber->only_sleeps = now();
	}
	return now() - fiber->only_sleeps < TELL_NS;
}

/*
 * Until the waiting words are known, the runner sleeps for SLEEP_NS. Then it sleeps for a 64th of
 * the time waited, or for 30 times what a round takes if that is longer, and for SLEEP_MOST_NS at
 * most: memcast-vm takes a processor that is used more than that for one that works.
 */
void wait_outside(struct runner *runner, struct waiting *waiting)
{
	struct timespec nap = {};
	uint64_t time, waited, sleep, round;

	if (++waiting->rounds < YIELDS) {
		sched_yield();
		return;
	}
	time = now();
	if (waiting->rounds == YIELDS)
		waiting->since = waiting->told = waiting->ended = time;
	waited = time - waiting->since;
	round = time - waiting->ended;
	if (time - waiting->told > TELL_NS && runner->grid->launch->host->waits) {
		waiting->told = time;
		runner->grid->waiters += !waiting->said;
		waiting->said = true;
		tell(runner, waiting, waited);
	}
	sleep = SLEEP_NS;
	if (waiting->known)
		sleep = waited / 64 > 30 * round ? waited / 64 : 30 * round;
	nap.tv_nsec = sleep < SLEEP_MOST_NS ? sleep : SLEEP_MOST_NS;
	if (waited < AWAKE_NS)
		sched_yield();
	else
		nanosleep(&nap, NULL);
	waiting->ended = now();
}

/* A thread went on, or the launch has ended. */
void wait_over(const struct runner *runner, struct waiting *waiting)
{
	const struct ptx_launch *launch = runner->grid->launch;

	if (waiting->said) {
		runner->grid->waiters--;
		launch->host->waits(launch->host_data, "", 0, false);
	}
	*waiting = (struct waiting) {};
}
