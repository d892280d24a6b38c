// SPDX-License-Identifier: MIT
/* Team slots of the fabric: one user leaves some to the next, whoever makes teams first. */
#include <stdlib.h>
#include "limit_fixture.h"
#include "peers.h"

#define USER	1000U
#define OTHER	1001U
#define THIRD	1002U

FIXTURE(slots)
{
	char reason[160];
	int device;
};

FIXTURE_SETUP(slots)
{
	if (geteuid() || stat_of("charged_bytes") < 0)
		SKIP(return, "parameters are root's");
	ASSERT_STREQ("", left_over());
	ASSERT_EQ(0, set_limit("team_slots", 8));
	ASSERT_EQ(0, take_open(&self->device));
}

FIXTURE_TEARDOWN_PARENT(slots)
{
	set_limit("team_slots", 1024);
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

/* Makes a team and binds memory in it. Return: 0, or the errno of the bind; @team: the handle */
#define bind_team(device, team)	bind_team_(_metadata, self, device, team)
static int bind_team_(struct __test_metadata *_metadata, FIXTURE_DATA(slots) *self, int device,
		      uint32_t *team)
{
	struct memcast_memory_create memory = {
		.location = MEMCAST_LOCATION_DEVICE, .bytes = TAKE_CHUNK,
	};
	struct memcast_team_create create = { .bytes = TAKE_CHUNK, .devices = 2 };
	struct memcast_team_add add = {};
	struct memcast_bind_memory bind = {
		.header = { .reason = (uintptr_t)self->reason,
			    .reason_size = sizeof(self->reason) },
		.bytes = TAKE_CHUNK,
	};
	struct memcast_handle_release release = {};
	int error;

	ASSERT_EQ(0, RAW(device, MEMORY_CREATE, memory));
	ASSERT_EQ(0, RAW(device, TEAM_CREATE, create));
	add.team = create.out_handle;
	for (; add.device < 2; add.device++)
		ASSERT_EQ(0, RAW(device, TEAM_ADD, add));
	bind.team = create.out_handle;
	bind.memory = memory.out_handle;
	error = RAW(device, BIND_MEMORY, bind);
	*team = create.out_handle;
	if (error) {
		release.handle = create.out_handle;
		ASSERT_EQ(0, RAW(device, HANDLE_RELEASE, release));
	}
	release.handle = memory.out_handle;
	ASSERT_EQ(0, RAW(device, HANDLE_RELEASE, release));
	return error;
}

/* Return: in how many new teams the client can bind, which all stay; self->reason has why no more */
#define bind_all(device)	bind_all_(_metadata, self, device)
static int bind_all_(struct __test_metadata *_metadata, FIXTURE_DATA(slots) *self, int device)
{
	uint32_t team;
	int n = 0, error;

	while (!(error = bind_team(device, &team)))
		n++;
	EXPECT_EQ(ENOMEM, error);
	return n;
}

/* Forks a process of a user that binds in all teams that it can, and then lives until it is told */
#define taker(user, link)	taker_(_metadata, self, user, link)
static pid_t taker_(struct __test_metadata *_metadata, FIXTURE_DATA(slots) *self,
		    unsigned int user, int *link)
{
	pid_t pid = user_fork(user, link);
	int device, n;

	if (pid)
		return pid;
	ASSERT_EQ(0, take_open(&device));
	n = bind_all(device);
	/* before the next program writes there: the fixture is shared */
	EXPECT_SAYS(self->reason, "of the fabric's 8 team slots: half of what other users leave");
	send_number(*link, n);
	receive_number(*link);
	exit(_metadata->exit_code);
}

static const unsigned int users[] = { USER, USER, OTHER, THIRD };

/* Each user gets half of what is left, and two programs of a user have one share; root gets all. */
TEST_F(slots, share_of_a_user)
{
	/* memories end at once, but the teams and their slots stay */
	static const int expected[] = { 4, 0, 2, 1 };
	int links[4], i;
	pid_t pids[4];
	uint32_t team;

	for (i = 0; i < 4; i++) {
		pids[i] = taker(users[i], &links[i]);
		EXPECT_EQ(expected[i], receive_number(links[i])) TH_LOG("taker %d", i);
	}
	EXPECT_EQ(1, bind_all(self->device));
	EXPECT_SAYS(self->reason, "all 8 team slots of the fabric are taken");
	/* fewer slots than are taken: nobody gets one, and those that are taken stay */
	ASSERT_EQ(0, set_limit("team_slots", 2));
	EXPECT_EQ(ENOMEM, bind_team(self->device, &team));
	ASSERT_EQ(0, set_limit("team_slots", 8));

	/* slots come back with the process that made the teams */
	end_peer(links[0], pids[0]);
	EXPECT_EQ(4, bind_all(self->device));
	for (i = 1; i < 4; i++) {
		end_peer(links[i], pids[i]);
	}
}

/* A team's slot counts for the user who made the team, whoever binds in it first. */
TEST_F(slots, of_the_maker)
{
	struct memcast_team_create create = {
		.bytes = TAKE_CHUNK, .devices = 2, .handle_types = MEMCAST_HANDLE_FD,
	};
	struct memcast_memory_create memory = {
		.location = MEMCAST_LOCATION_DEVICE, .bytes = TAKE_CHUNK,
		.handle_types = MEMCAST_HANDLE_FD,
	};
	struct memcast_export export = { .handle_type = MEMCAST_HANDLE_FD };
	struct memcast_import import = { .handle_type = MEMCAST_HANDLE_FD };
	struct memcast_team_add add = {};
	struct memcast_bind_memory bind = { .bytes = TAKE_CHUNK };
	int link, device;
	pid_t pid;

	ASSERT_EQ(0, set_limit("team_slots", 2));
	pid = user_fork(USER, &link);
	if (!pid) {
		ASSERT_EQ(0, take_open(&device));
		ASSERT_EQ(0, RAW(device, TEAM_CREATE, create));
		add.team = create.out_handle;
		for (; add.device < 2; add.device++)
			ASSERT_EQ(0, RAW(device, TEAM_ADD, add));
		export.handle = create.out_handle;
		ASSERT_EQ(0, RAW(device, EXPORT, export));
		send_fd(link, export.out_fd);
		receive_number(link);
		/* this user has the slot that root's bind took, and gets no other */
		EXPECT_EQ(0, bind_all(device));
		EXPECT_SAYS(self->reason, "this user's teams have 1 of the fabric's 2 team slots");
		exit(_metadata->exit_code);
	}
	import.fd = receive_fd(link);
	ASSERT_EQ(0, RAW(self->device, IMPORT, import));
	ASSERT_EQ(0, RAW(self->device, MEMORY_CREATE, memory));
	bind.team = import.out_handle;
	bind.memory = memory.out_handle;
	ASSERT_EQ(0, RAW(self->device, BIND_MEMORY, bind));
	end_peer(link, pid);
	close(import.fd);
}

TEST_HARNESS_MAIN
