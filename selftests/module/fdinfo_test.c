// SPDX-License-Identifier: MIT
/*
 * What stands in /proc/PID/fdinfo/ of where things lie: the bindings of members, in lines that
 * have an end however many bindings there are.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "memcast_test.h"
#include "raw.h"

#define BINDINGS	64	/* in a line */

FIXTURE(fdinfo)
{
	char text[1 << 16], wanted[256];
};
FIXTURE_SETUP(fdinfo)
{
	cuda_start(0);
}
NOTHING_LEFT(fdinfo)

/* All of the library's file, anew */
static const char *look(struct __test_metadata *_metadata, FIXTURE_DATA(fdinfo) *self)
{
	size_t length;
	char path[40];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", raw_library_fd());
	file = fopen(path, "re");
	ASSERT_NE(NULL, file);
	length = fread(self->text, 1, sizeof(self->text) - 1, file);
	self->text[length] = '\0';
	ASSERT_EQ(0, fclose(file));
	return self->text;
}

/* How often a text stands in another */
static unsigned int times(const char *text, const char *part)
{
	unsigned int found = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		found++;
	}
	return found;
}

/* The number of the last memory or team in a line of handles or mappings */
static uint64_t number_of(const char *text, const char *how)
{
	uint64_t number = 0;

	while ((text = strstr(text, how))) {
		text += strlen(how);
		sscanf(text, "%" SCNu64, &number);
	}
	return number;
}

#define TEAM	"memcast-handle:\tteam "
#define MEMORY	"memcast-handle:\tmemory "

TEST_F(fdinfo, bindings)
{
	CUmemGenericAllocationHandle team = complete_team(2, 8 * CHUNK), own = new_memory(1, 4 * CHUNK);
	uint64_t number, memory;
	volatile uint32_t *window;

	look(_metadata, self);
	EXPECT_EQ(NULL, strstr(self->text, "memcast-bindings:"));
	number = number_of(self->text, TEAM);
	memory = number_of(self->text, MEMORY);
	ASSERT_OK(cuMulticastBindMem(team, 5 * CHUNK, own, 0, CHUNK, 0));
	ASSERT_OK(cuMulticastBindMem(team, CHUNK, own, 2 * CHUNK, 2 * CHUNK, 0));
	snprintf(self->wanted, sizeof(self->wanted), "\nmemcast-bindings:\tteam %" PRIu64 " device 1 "
		 "%lu:%" PRIu64 ":%lu:%lu %lu:%" PRIu64 ":0:%lu\n", number, CHUNK, memory, 2 * CHUNK,
		 2 * CHUNK, 5 * CHUNK, memory, CHUNK);
	EXPECT_EQ(1, times(look(_metadata, self), self->wanted)) TH_LOG("%s", self->text);
	EXPECT_EQ(1, times(self->text, "memcast-bindings:"));

	/* what has no handle any more, but a mapping, tells of them as well */
	window = mapped(team, 8 * CHUNK, 0);
	ASSERT_OK(cuMemRelease(team));
	EXPECT_EQ(1, times(look(_metadata, self), self->wanted)) TH_LOG("%s", self->text);
	EXPECT_EQ(NULL, strstr(self->text, TEAM));

	/* a binding goes with its memory */
	ASSERT_OK(cuMemRelease(own));
	EXPECT_EQ(NULL, strstr(look(_metadata, self), "memcast-bindings:"));
	ASSERT_OK(cuMemUnmap(ADDRESS(window), 8 * CHUNK));
}

TEST_F(fdinfo, more_bindings_than_a_line_has)
{
	enum { ALL = BINDINGS + 3 };
	CUmemGenericAllocationHandle team = complete_team(2, ALL * CHUNK), own = new_memory(0, CHUNK);
	unsigned int i;

	for (i = 0; i < BINDINGS; i++)
		ASSERT_OK(cuMulticastBindMem(team, i * CHUNK, own, 0, CHUNK, 0));
	snprintf(self->wanted, sizeof(self->wanted), ":%" PRIu64 ":0:2097152",
		 number_of(look(_metadata, self), MEMORY));
	EXPECT_EQ(BINDINGS, times(self->text, self->wanted));
	EXPECT_EQ(NULL, strstr(self->text, " more "));
	for (; i < ALL; i++)
		ASSERT_OK(cuMulticastBindMem(team, i * CHUNK, own, 0, CHUNK, 0));
	EXPECT_EQ(BINDINGS, times(look(_metadata, self), self->wanted));
	EXPECT_EQ(1, times(self->text, " more 6291456\n"));
}

/* Handles to one team that are next to each other: its bindings stand there once. */
TEST_F(fdinfo, bindings_once)
{
	CUmemGenericAllocationHandle own = new_memory(0, CHUNK), team = complete_team(2, CHUNK), again;
	unsigned int i;
	int fd;

	ASSERT_OK(cuMulticastBindMem(team, 0, own, 0, CHUNK, 0));
	ASSERT_OK(cuMemExportToShareableHandle(&fd, team, SHAREABLE, 0));
	for (i = 0; i < 3; i++)
		ASSERT_OK(cuMemImportFromShareableHandle(&again, (void *)(intptr_t)fd, SHAREABLE));
	ASSERT_EQ(0, close(fd));
	EXPECT_EQ(4, times(look(_metadata, self), TEAM));
	EXPECT_EQ(1, times(self->text, "memcast-bindings:"));
}

TEST_HARNESS_MAIN
