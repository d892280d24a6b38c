// SPDX-License-Identifier: MIT
/* Bulk functions: each type and operator, calls by several threads, and refused arguments */
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include <memcast/multimem.h>

#include "bulk_fixture.h"
#include "processor.h"

static bool has_op(const struct type *type, enum memcast_op op)
{
	return !type->is_float || op <= MEMCAST_MAX;
}

TEST_F(bulk, every_type_and_operator)
{
	const unsigned int counts[] = { 1, 2, 3, 8 };
	unsigned int t, n;
	enum memcast_op op;

	for (n = 0; n < ARRAY_SIZE(counts); n++) {
		new_replicas(counts[n], 4096, 0);
		for (t = 0; t < ARRAY_SIZE(types); t++)
			for (op = MEMCAST_ADD; op <= MEMCAST_XOR; op++)
				if (has_op(&types[t], op))
					check_reductions(&types[t], op, 24, 3048, 8);
	}
}

/* Every 16-bit float, with others of all kinds; sums of three round in f32. */
TEST_F(bulk, every_half)
{
	const size_t bytes = 65536 * 2;
	unsigned int t, round, n, k;
	enum memcast_op op;

	for (n = 2; n <= 3; n++) {
		new_replicas(n, bytes, 0);
		for (t = 0; t < ARRAY_SIZE(types); t++)
			for (round = 0; types[t].width == 2 && round < 4; round++)
				for (op = MEMCAST_ADD; op <= MEMCAST_MAX; op++) {
					unsigned char *all;

					fill_places(self, &types[t], 0, bytes);
					for (k = 0; k < 65536; k++)
						((uint16_t *)self->view.replica[round % n])[k] = k;
					all = expected(self, &types[t], op, 0, bytes);
					EXPECT_OK(memcastReduceLoad(&self->view, 0, self->buffer.at,
								    65536, types[t].element, op));
					EXPECT_SAME(all, self->buffer.at, bytes) {
						TH_LOG("%s %s", types[t].name, op_names[op]);
					}
					free(all);
				}
	}
}

#define AS_MULTIMEM(element, op, T, multimem_op)					\
do {										\
	const struct type *type_ = &types[MEMCAST_##element];			\
	size_t at_, bad_ = 0;							\
										\
	fill_places(self, type_, 0, 4096);					\
	EXPECT_OK(memcastReduceLoad(&self->view, 0, self->buffer.at, 4096 / type_->width, \
				    MEMCAST_##element, MEMCAST_##op));		\
	for (at_ = 0; at_ < 4096; at_ += sizeof(T)) {				\
		T one_ = multimem_ld_reduce_##multimem_op(&self->view, at_);	\
		uint64_t bits_ = 0;						\
										\
		memcpy(&bits_, &one_, sizeof(T));				\
		/* multimem.h leaves open which NaN a sum gives */		\
		if (MEMCAST_##element == MEMCAST_F32)				\
			bits_ = bits_of_f32((float)value_of(MEMCAST_F32, bits_)); \
		if (MEMCAST_##element == MEMCAST_F64)				\
			bits_ = bits_of_f64(value_of(MEMCAST_F64, bits_));	\
		bad_ += !!memcmp(&bits_, self->buffer.at + at_, sizeof(T));	\
	}									\
	EXPECT_EQ(0, bad_) {							\
		TH_LOG(#element " " #op);						\
	}									\
} while (0)

/* The operations of multimem.h give the same bits. */
TEST_F(bulk, as_multimem)
{
	unsigned int n, round;

	for (n = 2; n <= 4; n++) {
		new_replicas(n, 4096, 0);
		for (round = 0; round < 10; round++) {
			AS_MULTIMEM(U32, ADD, uint32_t, add_u32);
			AS_MULTIMEM(U32, MIN, uint32_t, min_u32);
			AS_MULTIMEM(S32, MAX, int32_t, max_s32);
			AS_MULTIMEM(U64, ADD, uint64_t, add_u64);
			AS_MULTIMEM(U64, MAX, uint64_t, max_u64);
			AS_MULTIMEM(S64, MIN, int64_t, min_s64);
			AS_MULTIMEM(U32, XOR, uint32_t, xor_b32);
			AS_MULTIMEM(U64, AND, uint64_t, and_b64);
			AS_MULTIMEM(F32, ADD, float, add_f32);
			AS_MULTIMEM(F64, ADD, double, add_f64);
			AS_MULTIMEM(F16, ADD, uint32_t, add_acc_f32_f16x2);
			AS_MULTIMEM(F16, MIN, uint32_t, min_f16x2);
			AS_MULTIMEM(F16, MAX, uint32_t, max_f16x2);
			AS_MULTIMEM(BF16, ADD, uint32_t, add_acc_f32_bf16x2);
			AS_MULTIMEM(BF16, MIN, uint32_t, min_bf16x2);
			AS_MULTIMEM(BF16, MAX, uint32_t, max_bf16x2);
		}
	}
}

/*
 * Bulk functions neither obey nor change the calling thread's setting: subnormals as zeros, as
 * -ffast-math has it; rounding upwards and towards zero; a signal for every exception.
 */
TEST_F(bulk, arithmetic_of_others)
{
	const unsigned int controls[] = {
		CONTROL_NO_SUBNORMALS, CONTROL_UP, CONTROL_TO_ZERO, CONTROL_ODD,
	}, initial = control_get();
	const size_t bytes = 2048;
	unsigned int t, c, i;
	enum memcast_op op;
	size_t k;

	new_replicas(3, bytes, 0);
	for (t = 0; t < ARRAY_SIZE(types) * ARRAY_SIZE(controls); t++)
		for (op = MEMCAST_ADD; op <= MEMCAST_MAX; op++) {
			const struct type *type = &types[t % ARRAY_SIZE(types)];
			unsigned int control = controls[t / ARRAY_SIZE(types)], after[3];
			unsigned char *all, *stored[3];
			size_t count = bytes / type->width;

			fill_places(self, type, 0, bytes);
			all = expected(self, type, op, 0, bytes);
			for (i = 0; i < 3; i++) {
				unsigned char *pair[2] = { all, self->view.replica[i] };

				stored[i] = malloc(bytes);
				for (k = 0; k < bytes; k += type->width) {
					uint64_t bits = reduce(type, op, pair, 2, k);

					memcpy(stored[i] + k, &bits, type->width);
				}
			}
			for (c = 0; c < 3; c++) {
				control_set(control);
				if (c == 0)
					memcastReduceLoad(&self->view, 0, self->buffer.at, count,
							  type->element, op);
				else if (c == 1)
					memcastReduceStore(&self->view, 0, self->buffer.at, count,
							   type->element, op);
				else
					memcastReduceBroadcast(&self->view, 0, count, type->element,
							       op);
				after[c] = control_get() & ~CONTROL_FLAGS;
				control_set(initial);
				EXPECT_EQ(control, after[c]);
				if (c == 0) {
					EXPECT_SAME(all, self->buffer.at, bytes) {
						TH_LOG("ReduceLoad: %s %s, %#x", type->name,
						       op_names[op], control);
					}
					continue;
				}
				for (i = 0; i < 3; i++)
					EXPECT_SAME(c == 1 ? stored[i] : all, self->view.replica[i],
						    bytes) {
						TH_LOG("%s: %s %s, %#x", c == 1 ? "ReduceStore" :
						       "ReduceBroadcast", type->name, op_names[op],
						       control);
					}
				free(all);
				all = expected(self, type, op, 0, bytes);
			}
			for (i = 0; i < 3; i++)
				free(stored[i]);
			free(all);
		}
}

/* ---- several threads at once */

#define THREADS		4
#define ROUNDS		400
#define ELEMENTS	600

struct adder {
	struct memcast_view *view;
	const struct type *type;
	const void *one;
};

static void *add_often(void *arg)
{
	const struct adder *adder = arg;
	int round;

	for (round = 0; round < ROUNDS; round++)
		memcastReduceStore(adder->view, 8, adder->one, ELEMENTS, adder->type->element,
				   MEMCAST_ADD);
	return NULL;
}

/* No update is lost. A half can count to 2048, and a bf16 to 256. */
TEST_F(bulk, atomic)
{
	const uint64_t ones[] = { 1, 1, 1, 1, 0x3f800000, 0x3ff0000000000000, 0x3c00, 0x3f80 };
	unsigned int t, i, k;

	new_replicas(2, 8192, 0);
	for (t = 0; t < ARRAY_SIZE(types) - 1; t++) {
		unsigned char one[ELEMENTS * 8];
		struct adder adder = { &self->view, &types[t], one };
		pthread_t thread[THREADS];

		for (k = 0; k < ELEMENTS; k++)
			memcpy(one + k * types[t].width, &ones[t], types[t].width);
		for (i = 0; i < 2; i++)
			memset(self->place[i].at, 0, 8192);
		for (i = 0; i < THREADS; i++)
			ASSERT_EQ(0, pthread_create(&thread[i], NULL, add_often, &adder));
		for (i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		for (i = 0; i < 2; i++)
			for (k = 0; k < ELEMENTS; k++) {
				uint64_t bits = element_at(&types[t], self->place[i].at + 8 +
							   k * types[t].width);

				ASSERT_EQ(THREADS * ROUNDS, types[t].is_float ?
					  (uint64_t)value_of(types[t].element, bits) : bits)
					TH_LOG("%s", types[t].name);
			}
	}
}

#define MESSAGES	20000

struct message {
	struct memcast_view *view;
	unsigned char *buffer;
	uint32_t sent, read, early;
};

static uint32_t *last_word(const struct message *message)
{
	const struct memcast_view *view = message->view;

	return (uint32_t *)(void *)(view->replica[view->replicas - 1] + view->bytes - 4);
}

static void *read_messages(void *arg)
{
	struct message *message = arg;
	uint32_t k, *data = last_word(message), *result;

	result = (uint32_t *)(void *)(message->buffer + message->view->bytes - 4);
	for (k = 1; k <= MESSAGES; k++) {
		while (__atomic_load_n(&message->sent, __ATOMIC_ACQUIRE) != k)
			sched_yield();
		message->early += (k % 2 ? *data : *result) != k;
		__atomic_store_n(&message->read, k, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* A plain release is enough after a call whose stores went past the caches. */
TEST_F(bulk, fenced)
{
	struct message message = { .view = &self->view };
	uint32_t k, i, word[256];
	pthread_t reader;

	ASSERT_EQ(0, setenv("MEMCAST_STREAM", "1", 1));
	new_replicas(2, sizeof(word), 64);
	message.buffer = self->buffer.at;
	memset(self->place[1].at, 0, sizeof(word));
	ASSERT_EQ(0, pthread_create(&reader, NULL, read_messages, &message));
	for (k = 1; k <= MESSAGES; k++) {
		for (i = 0; i < ARRAY_SIZE(word); i++)
			word[i] = k;
		if (k % 2)
			memcastBroadcast(&self->view, 0, word, sizeof(word));
		else {
			/* the OR of k and 0 is k */
			memcpy(self->place[0].at, word, sizeof(word));
			memset(self->place[1].at, 0, sizeof(word));
			memcastReduceLoad(&self->view, 0, self->buffer.at, ARRAY_SIZE(word),
					  MEMCAST_U32, MEMCAST_OR);
		}
		__atomic_store_n(&message.sent, k, __ATOMIC_RELEASE);
		while (__atomic_load_n(&message.read, __ATOMIC_ACQUIRE) != k)
			sched_yield();
	}
	pthread_join(reader, NULL);
	EXPECT_EQ(0, message.early);
}

/* ---- refusals */

#define OUTSIDE	"# elements of # bytes at # are not inside the view's # bytes"

TEST_F(bulk, refusals)
{
	struct memcast_view none = { .bytes = 64 }, many = {
		.replicas = MEMCAST_VIEW_MAX + 1, .bytes = 64,
	};
	struct memcast_view *view = &self->view;
	unsigned char from[64] = { 7 }, to[64] = {};

	new_replicas(2, 64, 0);
	EXPECT_REASON(memcastBroadcast(NULL, 0, from, 1), "NULL view");
	EXPECT_REASON(memcastBroadcast(&none, 0, from, 1), "a view of # replicas");
	EXPECT_REASON(memcastBroadcast(&many, 0, from, 1), "a view of # replicas");
	/* the most that a view can have: here all are the same memory */
	many.replicas = MEMCAST_VIEW_MAX;
	for (unsigned int i = 0; i < MEMCAST_VIEW_MAX; i++)
		many.replica[i] = to;
	EXPECT_OK(memcastBroadcast(&many, 0, from, 1));
	EXPECT_EQ(7, to[0]);
	EXPECT_OK(memcastReduceLoad(&many, 0, from, 1, MEMCAST_U32, MEMCAST_ADD));
	EXPECT_EQ((7 * MEMCAST_VIEW_MAX) & 0xff, from[0]);
	EXPECT_REASON(memcastBroadcast(view, 0, NULL, 1), "NULL buffer");
	EXPECT_REASON(memcastBroadcast(view, 0, from, 65), OUTSIDE);
	EXPECT_REASON(memcastBroadcast(view, 64, from, 1), OUTSIDE);
	EXPECT_REASON(memcastBroadcast(view, 65, from, 0), OUTSIDE);
	EXPECT_REASON(memcastBroadcast(view, SIZE_MAX, from, 2), OUTSIDE);
	EXPECT_REASON(memcastFill(view, 0, from, 3, 1), "elements of # bytes: #, #, #, # or #");
	EXPECT_REASON(memcastFill(view, 0, from, 0, 1), "elements of # bytes: #, #, #, # or #");
	EXPECT_REASON(memcastFill(view, 0, from, 32, 1), "elements of # bytes: #, #, #, # or #");
	EXPECT_REASON(memcastFill(view, 0, from, 16, 5), OUTSIDE);
	EXPECT_REASON(memcastFill(view, 0, from, 16, SIZE_MAX / 16 + 2), OUTSIDE);
	EXPECT_REASON(memcastFill(view, 0, NULL, 1, 1), "NULL buffer");
	EXPECT_REASON(memcastReduceLoad(view, 2, from, 1, MEMCAST_U32, MEMCAST_ADD),
		      "offset # is not a multiple of the type's # bytes");
	EXPECT_REASON(memcastReduceLoad(view, 60, from, 2, MEMCAST_U32, MEMCAST_ADD), OUTSIDE);
	EXPECT_REASON(memcastReduceLoad(view, 0, from, SIZE_MAX / 4 + 2, MEMCAST_U32, MEMCAST_ADD),
		      OUTSIDE);
	EXPECT_REASON(memcastReduceLoad(view, 0, NULL, 1, MEMCAST_U32, MEMCAST_ADD), "NULL buffer");
	EXPECT_REASON(memcastReduceLoad(view, 0, from, 1, MEMCAST_BF16 + 1, MEMCAST_ADD),
		      "no type has the number #");
	EXPECT_REASON(memcastReduceLoad(view, 0, from, 1, MEMCAST_U32, MEMCAST_XOR + 1),
		      "no operator has the number #");
	EXPECT_REASON(memcastReduceLoad(view, 0, from, 1, MEMCAST_F32, MEMCAST_AND),
		      "f32 has no operator 'and'");
	EXPECT_REASON(memcastReduceStore(view, 0, from, 1, MEMCAST_BF16, MEMCAST_XOR),
		      "bf16 has no operator 'xor'");
	EXPECT_REASON(memcastReduceStore(view, 1, from, 1, MEMCAST_BF16, MEMCAST_ADD),
		      "offset # is not a multiple of the type's # bytes");
	EXPECT_REASON(memcastReduceBroadcast(view, 4, 8, MEMCAST_U64, MEMCAST_ADD),
		      "offset # is not a multiple of the type's # bytes");
	EXPECT_REASON(memcastReduceBroadcast(view, 8, 8, MEMCAST_U64, MEMCAST_ADD), OUTSIDE);
	EXPECT_EQ(0, damage(&self->place[0], 0, 0));
	EXPECT_EQ(0, damage(&self->place[1], 0, 0));

	EXPECT_OK(memcastBroadcast(view, 64, NULL, 0));
	EXPECT_OK(memcastFill(view, 64, NULL, 16, 0));
	EXPECT_OK(memcastReduceLoad(view, 64, NULL, 0, MEMCAST_U64, MEMCAST_ADD));
	EXPECT_OK(memcastReduceStore(view, 64, NULL, 0, MEMCAST_U64, MEMCAST_ADD));
	EXPECT_OK(memcastReduceBroadcast(view, 64, 0, MEMCAST_U64, MEMCAST_ADD));
}

/* With invalid values of MEMCAST_CPU and MEMCAST_STREAM, the library chooses as without them. */
TEST(chosen)
{
	const char *names[] = { "", "sse3" };	/* no instruction set, and no number */
	float a[40], b[40], sum[40] = {};
	struct memcast_view view = {
		.replicas = 2, .bytes = sizeof(a),
		.replica = { (unsigned char *)a, (unsigned char *)b },
	};
	unsigned int n, k;

	for (k = 0; k < ARRAY_SIZE(a); k++) {
		a[k] = k;
		b[k] = 0.5f;
	}
	for (n = 0; n < ARRAY_SIZE(names); n++) {
		pid_t child;
		int status;

		ASSERT_EQ(0, setenv("MEMCAST_CPU", names[n], 1));
		ASSERT_EQ(0, setenv("MEMCAST_STREAM", names[n], 1));
		child = fork();
		ASSERT_LE(0, child);
		if (!child) {
			memcastReduceLoad(&view, 0, sum, ARRAY_SIZE(a), MEMCAST_F32, MEMCAST_ADD);
			for (k = 0; k < ARRAY_SIZE(a); k++)
				if (sum[k] != k + 0.5f)
					_exit(1);
			_exit(0);
		}
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_EQ(0, status);
	}
}

TEST_HARNESS_MAIN
