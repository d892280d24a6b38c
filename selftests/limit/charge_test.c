// SPDX-License-Identifier: MIT
/*
 * All memory that a command takes is charged to the memory cgroup of the caller: the test compares
 * the charge of a cgroup with what the whole machine lost.
 */
#include <unistd.h>
#include "cgroup.h"
#include "memcast_test.h"
#include "takes.h"

/* Pages that the kernel keeps in reserve for each processor, or adds by rounding up */
#define NOISE_PAGES	256

FIXTURE(charge)
{
	struct cgroup cgroup;
};

FIXTURE_SETUP(charge)
{
	if (!cgroup_make(&self->cgroup, "+memory"))
		SKIP(return, "needs root, and cgroups of version 2 with the memory controller");
	if (!access("/sys/kernel/debug/kmemleak", F_OK))
		SKIP(return, "kmemleak takes memory for each allocation");
}

FIXTURE_TEARDOWN_PARENT(charge)
{
	EXPECT_TRUE(cgroup_end(&self->cgroup, 0));
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

static long number_in(const char *path, const char *format)
{
	FILE *file = fopen(path, "re");
	char line[160];
	long value, sum = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, format, &value) == 1)
			sum += value;
	if (file)
		fclose(file);
	return sum;
}

/* Return: free pages of the machine, with those that each processor keeps for itself */
static long machine_free(void)
{
	return number_in("/proc/zoneinfo", " nr_free_pages %ld") +
	       number_in("/proc/zoneinfo", " count: %ld");
}

static long charged(const char *group)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/memory.current", group);
	return number_in(path, "%ld") / (long)TAKE_PAGE;
}

/* The process in the cgroup; it stops before and after the memory is taken, to be measured. */
static void child(struct __test_metadata *_metadata, const struct take *take,
		  const char *group, int link)
{
	unsigned int i, warm = take->count / 10;
	int error;

	ASSERT_EQ(0, write_in(group, "cgroup.procs", "0"));
	error = take->prepare();
	for (i = 0; i < warm && !error; i++)
		error = take->once(i);
	send_number(link, error);
	receive_number(link);
	for (; i < take->count && !error; i++)
		error = take->once(i);
	send_number(link, error);
	receive_number(link);
	_exit(0);
}

/* Return: is as much charged as is used, except for noise? */
static bool compare(struct __test_metadata *_metadata, const struct take *take,
		    const char *group)
{
	long used, counted, unseen = take->count * take->core / (long)TAKE_PAGE, error;
	bool charged_all = true;
	pid_t pid;
	int link;

	pid = peer_fork(&link);
	if (!pid)
		child(_metadata, take, group, link);
	error = receive_number(link);
	if (!error) {
		used = machine_free();
		counted = charged(group);
		send_number(link, 0);
		EXPECT_EQ(0, receive_number(link));
		used -= machine_free();
		counted = charged(group) - counted;
		TH_LOG("%s: %ld KiB used, %ld charged", take->name, used * 4, counted * 4);
		/* slabs have spare room, and the kernel has trees of VMAs */
		charged_all = used - unseen <= counted + counted / 4 + NOISE_PAGES;
	} else {
		TH_LOG("%s: errno %ld", take->name, error);
		EXPECT_EQ(ENOTSUP, error);
	}
	kill(pid, SIGKILL);
	reap_child(pid);
	peer_close(link);
	return charged_all;
}

TEST_F(charge, all_that_is_taken)
{
	const struct take *take;
	unsigned int i, tries;

	/*
	 * Other programs take memory at times. What a command leaves uncharged shows in each try.
	 */
	for (i = 0; (take = take_at(i)); i++) {
		for (tries = 0; tries < 3 && !compare(_metadata, take, self->cgroup.path); tries++)
			;
		EXPECT_LT(tries, 3);
	}
}

TEST_HARNESS_MAIN
