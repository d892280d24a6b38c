// SPDX-License-Identifier: MIT
/*
 * An all-reduce of two processes, in their own shared memory: no device, no module.
 *
 *	make && build/examples/two-ranks
 *
 * On devices all is the same but for the view: memcastViewCreate() makes one of a
 * team that each process has imported.
 */
#define _GNU_SOURCE
#include <memcast/group.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANKS	2
#define COUNT	(1 << 16)
#define FLAGS	(COUNT * sizeof(float))	/* behind the array, and zero at first */

int main(void)
{
	struct memcast_view view = {
		.replicas = RANKS,
		.bytes = FLAGS + MEMCAST_GROUP_BYTES(RANKS),
	};
	unsigned int rank, i, wrong = 0;
	struct memcast_group group;
	pid_t child;
	float *mine;
	int status;

	for (i = 0; i < RANKS; i++) {
		view.replica[i] = mmap(NULL, view.bytes, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (view.replica[i] == MAP_FAILED)
			return perror("mmap"), 1;
	}
	child = fork();
	if (child < 0)
		return perror("fork"), 1;
	rank = !child;

	mine = (float *)view.replica[rank];
	for (i = 0; i < COUNT; i++)
		mine[i] = rank + i;
	if (memcastGroupInit(&group, &view, FLAGS, rank, RANKS) ||
	    memcastAllReduce(&group, 0, COUNT, MEMCAST_F32, MEMCAST_ADD))
		return fputs("failed: CUDA_LOG_FILE=stderr says why\n", stderr), 1;
	for (i = 0; i < COUNT; i++)
		wrong += mine[i] != 2 * i + 1;
	printf("rank %u: %u of %u sums are wrong\n", rank, wrong, COUNT);
	if (child && (wait(&status) < 0 || status))
		return 1;
	return wrong != 0;
}
