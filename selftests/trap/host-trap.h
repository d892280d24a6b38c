/* SPDX-License-Identifier: MIT */
/*
 * lib/fault/ and lib/trap/ without the module, on the machine that builds. A window is a read-only
 * mapping of its first replica.
 */
#ifndef MEMCAST_HOST_TRAP_H
#define MEMCAST_HOST_TRAP_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/base/base.h"
#include "../lib/fault/fault.h"
#include "../lib/trap/x86/trap.h"
#include "trap_forms.h"
#include "kselftest_harness.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 86400	/* run-selftests and run.sh notice a stuck test */

#define REPLICAS	4

/* Side by side: ordinary memory, a window of two chunks, a window of one chunk, nothing */
static struct area all;
static const struct {
	size_t start, bytes;
} windows[] = { { CHUNK, 2 * CHUNK }, { 3 * CHUNK, CHUNK } };

/*
 * Called in the middle of a store over the edge at @edge_at, before what is behind it is looked up
 */
static void (*volatile in_between)(void);
static volatile uintptr_t edge_at;

bool fault_near(uintptr_t address)
{
	(void)address;
	return true;
}

bool fault_window_at(uintptr_t address, struct trap_window *window)
{
	static unsigned char *replica[2][REPLICAS];
	size_t offset = address - (uintptr_t)all.window;

	if (in_between && edge_at == address)
		in_between();
	for (unsigned int i = 0; i < 2; i++) {
		if (offset - windows[i].start >= windows[i].bytes)
			continue;
		for (unsigned int j = 0; j < REPLICAS; j++)
			replica[i][j] = all.replica[j] + windows[i].start;
		*window = (struct trap_window) {
			.start = (uintptr_t)all.window + windows[i].start,
			.bytes = windows[i].bytes,
			.replicas = REPLICAS,
			.replica = replica[i],
		};
		return true;
	}
	return false;
}

unsigned int host_access_key;

bool fault_memory_at(uintptr_t address, struct fault_memory *memory)
{
	(void)address;
	(void)memory;
	return false;
}

bool fault_place_at(uintptr_t address, struct fault_place *where)
{
	(void)address;
	(void)where;
	return false;
}

bool fault_reason(uintptr_t address, bool store, char *text, size_t size)
{
	(void)address;
	snprintf(text, size, "it is a %s", store ? "store" : "load");
	return true;
}

/* Low in the address space, for 32-bit addresses */
static inline void make_area(struct __test_metadata *_metadata)
{
	unsigned char *place = mmap(NULL, 6 * CHUNK, PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	ASSERT_NE(MAP_FAILED, (void *)place);
	place += -(uintptr_t)place % CHUNK;
	all = (struct area) { place, 4 * CHUNK, CHUNK, REPLICAS, {} };
	for (unsigned int i = 0; i < REPLICAS; i++) {
		int fd = memfd_create("replica", MFD_CLOEXEC);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, ftruncate(fd, 4 * CHUNK));
		all.replica[i] = mmap(NULL, 4 * CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED,
				      fd, 0);
		ASSERT_NE(MAP_FAILED, (void *)all.replica[i]);
		if (!i)
			ASSERT_EQ(place, mmap(place, 4 * CHUNK, PROT_READ,
					      MAP_SHARED | MAP_FIXED, fd, 0));
		close(fd);
	}
	ASSERT_EQ(0, mprotect(place, CHUNK, PROT_READ | PROT_WRITE));
}

FIXTURE(trap)
{
};

FIXTURE_SETUP(trap)
{
	make_area(_metadata);
	fault_install();
	ASSERT_TRUE(fault_attach(&memcast_trap_object));
}

FIXTURE_TEARDOWN(trap)
{
}

/* Return: how a child that calls @run ends: its exit status, or the negative signal */
static inline int end_of(void (*run)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		/* a child may not run in its parent's cells */
		trap_run_init();
		run();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

#endif /* MEMCAST_HOST_TRAP_H */
