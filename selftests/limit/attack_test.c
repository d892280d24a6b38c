// SPDX-License-Identifier: MIT
/*
 * An ordinary user takes as much as possible, in every way: another program goes on, the kernel
 * kills no process, and all memory is back when the user's programs have gone.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "limit_fixture.h"

#define USER		1000U
/*
 * The user's limit for structs, low enough to be reached soon: on a debug kernel, each mmap()
 * looks at all VMAs of the process.
 */
#define STRUCTS_MIB	1
/* The bystander allocates so much, again and again. */
#define NEEDED		(16UL * MIB)

FIXTURE(attack)
{
	pid_t bystander;
	uint32_t rounds, stop;
	long killed;
};

static long vmstat(const char *name)
{
	FILE *file = fopen("/proc/vmstat", "re");
	char word[48];
	long value, found = -1;

	while (file && fscanf(file, "%47s %ld", word, &value) == 2)
		if (!strcmp(word, name))
			found = value;
	if (file)
		fclose(file);
	return found;
}

/* The bystander: of all programs, the one that the kernel would kill first */
static void live(uint32_t *rounds, const uint32_t *stop)
{
	FILE *file = fopen("/proc/self/oom_score_adj", "we");

	if (!file || fputs("1000", file) < 0 || fclose(file))
		_exit(1);
	while (!__atomic_load_n(stop, __ATOMIC_SEQ_CST)) {
		char *memory = mmap(NULL, NEEDED, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		if (memory == MAP_FAILED)
			_exit(2);
		munmap(memory, NEEDED);
		__atomic_fetch_add(rounds, 1, __ATOMIC_SEQ_CST);
	}
	_exit(0);
}

FIXTURE_SETUP(attack)
{
	pid_t pid;
	int link;

	if (geteuid() || stat_of("charged_bytes") < 0)
		SKIP(return, "parameters are root's");
	ASSERT_STREQ("", left_over());
	/* -1 where the kernel does not count its kills: then only the bystander's end shows one */
	self->killed = vmstat("oom_kill");
	pid = peer_fork(&link);
	if (!pid)
		live(&self->rounds, &self->stop);
	/* the bystander sees the fixture, as it shares its memory */
	self->bystander = pid;
}

/* The bystander still gets the memory that it needs. */
static void expect_alive(struct __test_metadata *_metadata, FIXTURE_DATA(attack) *self)
{
	uint32_t rounds = __atomic_load_n(&self->rounds, __ATOMIC_SEQ_CST);
	int status;

	/* three rounds, of which two began after this; run.sh ends a test that waits for ever */
	while (__atomic_load_n(&self->rounds, __ATOMIC_SEQ_CST) - rounds < 3) {
		ASSERT_EQ(0, waitpid(self->bystander, &status, WNOHANG));
		usleep(10000);
	}
	EXPECT_EQ(self->killed, vmstat("oom_kill"));
}

FIXTURE_TEARDOWN_PARENT(attack)
{
	set_limit("host_user_mib", 0);
	if (!self->bystander || _metadata->aborted)
		return;
	EXPECT_STREQ("", left_over());
	EXPECT_EQ(self->killed, vmstat("oom_kill"));
}

static void stop(struct __test_metadata *_metadata, FIXTURE_DATA(attack) *self)
{
	expect_alive(_metadata, self);
	__atomic_store_n(&self->stop, 1, __ATOMIC_SEQ_CST);
	EXPECT_EQ(0, reap_child(self->bystander));
}

/* Two programs of one user take all that they get of one kind, and are killed then. */
static void attack(struct __test_metadata *_metadata, FIXTURE_DATA(attack) *self,
		   const struct take *what)
{
	int links[2], i, error;
	unsigned int n;
	pid_t pids[2];

	for (i = 0; i < 2; i++) {
		pids[i] = user_fork(USER, &links[i]);
		if (pids[i])
			continue;
		error = what->prepare();
		for (n = 0; !error; n++)
			error = what->once(n);
		send_number(links[i], error);
		receive_number(links[i]);
		exit(0);
	}
	for (i = 0; i < 2; i++) {
		error = receive_number(links[i]);
		/*
		 * EFAULT: the kernel read a page for which there was no room; EMFILE: files have a
		 * limit as well
		 */
		EXPECT_TRUE(error == ENOMEM || error == EFAULT || error == EMFILE ||
			    error == ENOTSUP) {
			TH_LOG("%s: errno %d", what->name, error);
		}
	}
	TH_LOG("%s: %ld MiB", what->name, taken_by(USER) / MIB);
	expect_alive(_metadata, self);
	for (i = 0; i < 2; i++) {
		kill(pids[i], SIGKILL);
		reap_child(pids[i]);
		peer_close(links[i]);
	}
	EXPECT_TRUE(gone(USER));
}

static const struct take *take_named(const char *name)
{
	unsigned int i;

	for (i = 0; take_at(i) && strcmp(take_at(i)->name, name); i++)
		;
	return take_at(i);
}

TEST_F(attack, host_memory)
{
	attack(_metadata, self, take_named("chunk"));
	stop(_metadata, self);
}

TEST_F(attack, staging_pages)
{
	attack(_metadata, self, take_named("staging"));
	stop(_metadata, self);
}

/* If other programs have most of the machine, a user's share alone is more than is left. */
TEST_F(attack, of_what_is_left)
{
	long total = sysconf(_SC_PHYS_PAGES) * TAKE_PAGE;
	long spare = total / 16 + total / 32 + 4 * NEEDED, bytes;
	void *others;

	bytes = sysconf(_SC_AVPHYS_PAGES) * TAKE_PAGE - spare;
	ASSERT_LT(0, bytes);
	others = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, others);
	attack(_metadata, self, take_named("chunk"));
	attack(_metadata, self, take_named("staging"));
	ASSERT_EQ(0, munmap(others, bytes));
	stop(_metadata, self);
}

/* Files, handles, mappings, imports and all else: the structs behind them are counted. */
TEST_F(attack, structs)
{
	const struct take *what;
	unsigned int i;

	ASSERT_EQ(0, set_limit("host_user_mib", STRUCTS_MIB));
	for (i = 0; (what = take_at(i)); i++)
		attack(_metadata, self, what);
	stop(_metadata, self);
}

TEST_HARNESS_MAIN
