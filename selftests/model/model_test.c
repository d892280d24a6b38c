// SPDX-License-Identifier: MIT
/*
 * Eight processes with eight devices make random sequences of calls, right and wrong ones. The test
 * compares each answer with that of a model of the API: results, outputs, contents of memory, and
 * free chunks. model.h lists what the files do.
 *
 * MEMCAST_TEST_SEED=N MEMCAST_TEST_SEQUENCES=1 repeats the sequence that a difference names;
 * MEMCAST_TEST_TRACE=1 prints every call.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "memcast_test.h"
#include "model.h"

#define SEQUENCES	1000
#define MOST_STEPS	4096
#define PATIENCE	50000		/* milliseconds until a call counts as stuck */

struct step {
	struct call call;
	int result;
};

struct session {
	struct model model;
	int link[WORKERS];
	pid_t pid[WORKERS];
	uint64_t random;
	int foreign;			/* an fd of another kind of file */
	int free_bytes[DEVICES];	/* attributes, kept open as they are read often */
	unsigned int free_chunks[DEVICES], steps, calls, sequence;
	struct step step[MOST_STEPS];
};

static struct session session;

FIXTURE(model)
{
};

FIXTURE_SETUP(model) { }
NOTHING_LEFT(model)

static uint32_t any(struct session *s, uint32_t below)
{
	return choice_random(&s->random, below);
}

/* ---- workers */

static bool answered(struct session *s, unsigned int worker, int milliseconds)
{
	struct pollfd wait = { .fd = s->link[worker], .events = POLLIN };

	return poll(&wait, 1, milliseconds) == 1;
}

static bool receive(struct session *s, unsigned int worker, struct answer *answer)
{
	int fd = -1;

	if (!answered(s, worker, PATIENCE))
		return false;
	/* an exported fd comes before the answer */
	if (recv(s->link[worker], answer, sizeof(*answer), MSG_PEEK) == sizeof(long) &&
	    peer_receive(s->link[worker], NULL, &fd))
		return false;
	if (recv(s->link[worker], answer, sizeof(*answer), 0) != sizeof(*answer))
		return false;
	if (fd >= 0)
		answer->out = fd;
	return true;
}

static bool start_worker(struct session *s, unsigned int worker)
{
	struct answer hello;

	s->pid[worker] = (peer_fork)(&s->link[worker]);
	if (s->pid[worker])
		return s->pid[worker] > 0 && receive(s, worker, &hello);
	for_each(f, s->model.fd)
		if (f->object)
			close(f->fd);
	work(worker, s->link[worker]);
	_exit(0);
}

static void kill_worker(struct session *s, unsigned int worker)
{
	kill(s->pid[worker], SIGKILL);
	waitpid(s->pid[worker], NULL, 0);
	peer_close(s->link[worker]);
	model_kill(&s->model, worker);
}

/* ---- steps; each returns whether memcast did as the model says */

static bool different(struct session *s, const char *what)
{
	printf("# What was done:\n");
	for (unsigned int i = 0; i < s->steps; i++)
		printf("# %4u %s: %s\n", i + 1, call_in_words(&s->step[i].call),
		       result_in_words(s->step[i].result));
	/* This comes last, as the summary of a whole run shows the last lines of a test. */
	printf("# MEMCAST_TEST_SEED=%u MEMCAST_TEST_SEQUENCES=1: %s\n", s->sequence, what);
	fflush(stdout);
	return false;
}

static bool remember(struct session *s, const struct call *c, int result)
{
	if (s->steps == MOST_STEPS)
		return different(s, "too many steps");
	s->step[s->steps].call = *c;
	s->step[s->steps++].result = result;
	if (getenv("MEMCAST_TEST_TRACE"))
		printf("# %u.%u %s: %s\n", s->sequence, s->steps, call_in_words(c),
		       result_in_words(result));
	return true;
}

/* Compares the free chunks of devices where they changed, and of one more device in turn. */
static bool same_pools(struct session *s, bool all)
{
	unsigned int i, expected;
	char what[100], text[24] = "";
	long chunks;

	for (i = 0; i < DEVICES; i++) {
		expected = model_free_chunks(&s->model, i);
		if (!all && expected == s->free_chunks[i] && i != s->steps % DEVICES)
			continue;
		s->free_chunks[i] = expected;
		if (pread(s->free_bytes[i], text, sizeof(text) - 1, 0) <= 0)
			return different(s, "free_bytes cannot be read");
		chunks = strtol(text, NULL, 10) / (long)CHUNK;
		if (chunks == expected)
			continue;
		snprintf(what, sizeof(what), "device %u: expected %u free chunks, got %ld", i,
			 expected, chunks);
		return different(s, what);
	}
	return true;
}

static bool begin(struct session *s, const struct call *c)
{
	int link = s->link[c->worker];

	if (send(link, c, sizeof(*c), MSG_NOSIGNAL) != sizeof(*c))
		return different(s, "a worker has ended");
	if (c->function == IMPORT && c->fd != NOT_AN_FD)
		peer_send(link, 0, c->fd < 0 ? s->foreign : s->model.fd[c->fd].fd);
	return true;
}

static bool finish(struct session *s, const struct call *c)
{
	int expected = model_expect(&s->model, c);
	struct answer answer;
	const char *wrong;
	char what[300];

	if (!receive(s, c->worker, &answer)) {
		remember(s, c, WAITS);
		snprintf(what, sizeof(what), "%s: expected %s, got no answer", call_in_words(c),
			 result_in_words(expected));
		return different(s, what);
	}
	if (c->function != LOOK && !remember(s, c, answer.result))
		return false;
	if ((int)answer.result != expected) {
		snprintf(what, sizeof(what), "%s: expected %s, got %s", call_in_words(c),
			 result_in_words(expected), result_in_words(answer.result));
		return different(s, what);
	}
	wrong = model_settle(&s->model, c, &answer);
	if (wrong) {
		snprintf(what, sizeof(what), "%s: %s", call_in_words(c), wrong);
		return different(s, what);
	}
	s->calls++;
	return c->function == LOOK || same_pools(s, false);
}

static bool do_call(struct session *s, const struct call *c)
{
	struct answer answer = { .out = 0 };

	if (c->function != CLOSE)
		return begin(s, c) && finish(s, c);
	if (close(s->model.fd[c->fd].fd) || model_settle(&s->model, c, &answer))
		return different(s, "close() failed");
	return remember(s, c, 0) && same_pools(s, false);
}

static bool look(struct session *s, struct call *c, uint64_t address, bool last)
{
	if (address)
		c->look[c->count++] = address;
	if (c->count == 0 || (c->count < LOOKS && !last))
		return true;
	if (!do_call(s, c))
		return false;
	c->count = 0;
	return true;
}

/* Looks at every chunk that a worker sees, and at one place that it may not see. */
static bool look_around(struct session *s, unsigned int worker)
{
	struct call c = { .function = LOOK, .worker = worker };
	uint64_t at;
	int i;

	for_each(p, s->model.mapping)
		for (at = p->address; p->object && p->worker == worker &&
		     at < p->address + p->bytes; at += CHUNK)
			if (!look(s, &c, at, false) || !look(s, &c, at + CHUNK - 4, false))
				return false;
	for_each(v, s->model.view)
		for (i = 0; v->object && v->worker == worker && i < v->object->joined_count; i++)
			for (at = v->replica[i]; at < v->replica[i] + v->bytes; at += CHUNK)
				if (!look(s, &c, at, false))
					return false;
	for_each(r, s->model.reservation[worker])
		if (r->bytes && !look(s, &c, r->address + any(s, r->bytes / CHUNK) * CHUNK, false))
			return false;
	return look(s, &c, 0, true);
}

static bool all_look_around(struct session *s)
{
	unsigned int i;

	for (i = 0; i < WORKERS; i++)
		if (!look_around(s, i))
			return false;
	return true;
}

/* Stores a value into each chunk that the processor may write, to tell memories apart. */
static bool mark(struct session *s, const struct call *access)
{
	struct call c = { .function = STORE, .worker = access->worker, .address = access->address };
	struct mapping *p = model_mapping(&s->model, c.worker, c.address);

	for (; !p->object->team && c.address < p->address + p->bytes; c.address += CHUNK) {
		c.value = 1 + any(s, 0xffffff);
		if (!do_call(s, &c))
			return false;
	}
	return true;
}

static bool kill_and_replace(struct session *s, unsigned int worker)
{
	struct call c = { .function = FUNCTIONS, .worker = worker };

	kill_worker(s, worker);
	return remember(s, &c, 0) &&
	       (stat_settled("clients", WORKERS - 1) == WORKERS - 1 ||
		different(s, "what a killed worker had is still there")) &&
	       same_pools(s, true) && start_worker(s, worker) && all_look_around(s);
}

/* Makes a call that has to wait: other workers complete the team, or the caller is killed. */
static bool do_waiting(struct session *s, const struct call *c)
{
	struct object *team = model_object(&s->model, c->worker, c->handle);
	unsigned int w, helpers[WORKERS], count = 0;
	uint64_t handles[WORKERS];

	for (w = 0; w < WORKERS; w++)
		for_each(h, s->model.handle[w])
			if (w != c->worker && h->object == team) {
				handles[count] = h->value;
				helpers[count++] = w;
				break;
			}
	if (!count && any(s, 10))
		return true;
	if (!begin(s, c))
		return false;
	if (answered(s, c->worker, 2)) {
		remember(s, c, WAITS);
		return different(s, "the last one should wait, and does not");
	}
	while (count && any(s, 10) && !model_complete(team)) {
		unsigned int i = any(s, count);
		struct call add = { .function = TEAM_ADD, .worker = helpers[i],
				    .handle = handles[i], .device = any(s, DEVICES) };

		if (!do_call(s, &add))
			return false;
	}
	if (model_complete(team) && model_expect(&s->model, c) != UNSAID)
		return finish(s, c);
	return remember(s, c, WAITS) && kill_and_replace(s, c->worker);
}

static bool sequence(struct session *s)
{
	unsigned int i, steps = 45 + any(s, 21);
	struct call c;

	/* few busy workers get more entangled with each other */
	s->model.first_worker = any(s, WORKERS);
	s->model.busy_workers = 2 + any(s, any(s, 3) ? 2 : WORKERS - 1);
	for (i = 0; i < steps; i++) {
		if (!any(s, 150) && !kill_and_replace(s, any(s, WORKERS)))
			return false;
		/* calls that succeed are more frequent in the first half, to create objects */
		choose_call(&s->model, &s->random, any(s, 100) < (i < steps / 2 ? 85 : 45), &c);
		if (!(model_expect(&s->model, &c) == WAITS ? do_waiting(s, &c) : do_call(s, &c)))
			return false;
		if (c.function == SET_ACCESS && model_expect(&s->model, &c) == CUDA_SUCCESS &&
		    !mark(s, &c))
			return false;
		if (!any(s, 4) && !look_around(s, c.worker))
			return false;
	}
	if (!all_look_around(s))
		return false;
	for (i = any(s, 5) ? 0 : 1 + any(s, WORKERS); i; i--)
		if (!kill_and_replace(s, any(s, WORKERS)))
			return false;
	while (choose_clean_up(&s->model, &s->random, &c))
		if (!do_call(s, &c) || (!any(s, 8) && !look_around(s, c.worker)))
			return false;
	return same_pools(s, true);
}

static unsigned int number_of(const char *name, unsigned int otherwise)
{
	const char *given = getenv(name);

	return given ? strtoul(given, NULL, 0) : otherwise;
}

static long parameter(const char *name)
{
	char path[80], text[20] = "";
	int fd, got;

	snprintf(path, sizeof(path), "/sys/module/memcast/parameters/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	return got > 0 ? strtol(text, NULL, 0) : 0;
}

static bool more_to_do(unsigned int done, unsigned int count)
{
	return count ? done < count : another_round(done, SEQUENCES);
}

TEST_F(model, sequences)
{
	static const char * const left[] = {
		"memories", "teams", "bindings", "reservations", "mappings",
	};
	unsigned int i, first = number_of("MEMCAST_TEST_SEED", 1);
	unsigned int count = number_of("MEMCAST_TEST_SEQUENCES", 0);
	struct session *s = &session;
	bool same = true;
	char path[64];

	if (device_bytes(DEVICES - 1, "pool_bytes") < 0)
		SKIP(return, "it takes 8 devices: memcast-vm --devices 8");
	/* One worker at a time makes a call; on one processor the others need not be woken up. */
	run_on_cpu(0);
	s->foreign = open("/dev/null", O_RDWR | O_CLOEXEC);
	s->model.recommended = parameter("recommended_mib") << 20;
	s->model.channels = parameter("imex_channels");
	s->model.nodes = !access("/sys/devices/system/node/node1", F_OK);
	for (i = 0; i < DEVICES; i++) {
		snprintf(path, sizeof(path), "/sys/class/memcast/memcast%u/free_bytes", i);
		s->free_bytes[i] = open(path, O_RDONLY | O_CLOEXEC);
		s->model.pool_chunks[i] = device_bytes(i, "pool_bytes") / CHUNK;
		ASSERT_TRUE(start_worker(s, i));
	}
	for (s->sequence = first; same && more_to_do(s->sequence - first, count); s->sequence++) {
		s->random = s->sequence;
		s->steps = 0;
		memset(s->model.old_handle, 0, sizeof(s->model.old_handle));
		same = sequence(s);
		for (i = 0; same && i < ARRAY_SIZE(left); i++) {
			EXPECT_EQ(0, stat_of(left[i])) TH_LOG("%s after sequence %u", left[i],
							      s->sequence);
		}
		same &= !_metadata->exit_code;
	}
	EXPECT_TRUE(same);
	TH_LOG("%u sequences, %u calls", s->sequence - first, s->calls);
	for (i = 0; i < WORKERS; i++)
		kill_worker(s, i);
}

TEST_HARNESS_MAIN
