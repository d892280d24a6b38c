/* SPDX-License-Identifier: MIT */
/* Fixture of groups: a process per rank, on replicas in shared memory */
#ifndef GROUP_FIXTURE_H
#define GROUP_FIXTURE_H

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cuda.h>
#include <memcast/group.h>

#include "kselftest_harness.h"
#include "reason.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 86400	/* run-selftests and run.sh see when one is stuck */

#define EXPECT_CU(result, call)	EXPECT_EQ((int)(result), (int)(call))

#define DATA_BYTES	(1 << 20)
#define RANKS_MAX	6

FIXTURE(group)
{
	struct memcast_view view;
	uint32_t *count;	/* shared by all ranks, for their body */
	unsigned char *memory;
	size_t bytes;
};

FIXTURE_VARIANT(group)
{
	unsigned int ranks, replicas;
};

#define GROUP_OF(name, of_ranks, of_replicas)	\
	FIXTURE_VARIANT_ADD(group, name) { .ranks = of_ranks, .replicas = of_replicas }

GROUP_OF(one, 1, 1);
GROUP_OF(two, 2, 2);
GROUP_OF(three, 3, 3);
GROUP_OF(six, 6, 6);		/* more ranks than most machines that run this have processors */
GROUP_OF(two_for_three, 2, 3);
GROUP_OF(five_for_two, 5, 2);

FIXTURE_SETUP(group)
{
	const size_t flags = MEMCAST_GROUP_BYTES(variant->ranks) + 128;
	unsigned int i;

	self->view.replicas = variant->replicas;
	self->view.bytes = DATA_BYTES + flags;
	self->bytes = 4096 + variant->replicas * self->view.bytes;
	self->memory = mmap(NULL, self->bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->memory);
	self->count = (uint32_t *)self->memory;
	for (i = 0; i < variant->replicas; i++)
		self->view.replica[i] = self->memory + 4096 + i * self->view.bytes;
}

FIXTURE_TEARDOWN(group)
{
	munmap(self->memory, self->bytes);
}

/*
 * Runs @body for every rank, each in a process of its own. Return: how many ranks failed. When one
 * fails, the others are killed, as they might wait for it.
 */
static inline unsigned int run(const struct memcast_view *view, unsigned int ranks, uint32_t *count,
			int (*body)(struct memcast_group *group, uint32_t *count))
{
	unsigned int rank, k, wrong = 0;
	pid_t child[RANKS_MAX];
	int status;

	for (rank = 0; rank < ranks; rank++) {
		struct memcast_group group;

		child[rank] = fork();
		if (child[rank])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (memcastGroupInit(&group, view, DATA_BYTES, rank, ranks))
			_exit(1);
		_exit(body(&group, count));
	}
	for (rank = 0; rank < ranks; rank++) {
		pid_t ended = wait(&status);

		for (k = 0; k < ranks; k++) {
			if (child[k] == ended)
				child[k] = 0;
			else if (status && child[k])
				kill(child[k], SIGKILL);
		}
		wrong += !!status;
	}
	return wrong;
}

#endif /* GROUP_FIXTURE_H */
