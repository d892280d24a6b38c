// SPDX-License-Identifier: MIT
/* Bulk functions: sizes, offsets and alignments */
#include "bulk_fixture.h"

TEST_F(bulk, reductions_of_every_size)
{
	size_t bytes, at;

	new_replicas(3, 512, 0);
	for (bytes = 0; bytes <= 300; bytes += 2)
		for (at = 0; at < 70; at += 2) {
			const struct type *type = &types[6 + bytes / 2 % 2];

			/* the buffer need not be aligned */
			check_reductions(type, (enum memcast_op)(at / 2 % 3), at, bytes,
					 at + bytes / 2 % 3);
		}
}

TEST_F(bulk, broadcasts_of_every_size)
{
	size_t bytes, at;

	new_replicas(3, 512, 0);
	for (bytes = 0; bytes <= 300; bytes++)
		for (at = 0; at < 70; at += 3)
			check_broadcast(at, bytes, (at * 7 + bytes) % 66);
}

/*
 * Broadcasts that are longer than a few vectors, to replicas that are aligned alike or not: to
 * two, to so many that loops write them in groups, and to more than the library's own loops take
 */
TEST_F(bulk, broadcasts_to_more_and_fewer)
{
	const unsigned int counts[] = { 1, 2, 3, 4, 5, 8, 9, 12 };
	size_t n, bytes, skew;

	for (n = 0; n < ARRAY_SIZE(counts); n++)
		for (skew = 0; skew <= 7; skew += 7) {
			new_replicas(counts[n], 1200, skew);
			for (bytes = 60; bytes <= 1100; bytes += 1 + (n > 1) * 6)
				check_broadcast((bytes * 5 + n) % 66, bytes, bytes * 3 % 64);
		}
}

/* Sizes around those at which another loop, or the C library's memcpy(), takes over */
TEST_F(bulk, broadcasts_of_some_pages)
{
	const size_t around[] = { 512, 2048, 4096, 8192, 16384 };
	size_t n, bytes, at;

	for (at = 0; at < 64; at += 21) {
		new_replicas(3, 20000, at);
		for (n = 0; n < ARRAY_SIZE(around); n++)
			for (bytes = around[n] - 3; bytes <= around[n] + 3; bytes++) {
				check_broadcast(0, bytes, 0);
				check_broadcast(64, bytes, at);
				check_broadcast(at, bytes, 64 - at);
			}
	}
}

TEST_F(bulk, fills)
{
	unsigned char element[16];
	size_t width, count, at, k;
	unsigned int i;

	new_replicas(2, (1 << 20) + 4096, 5);
	for (width = 1; width <= 16; width *= 2)
		for (at = 0; at < 3; at++)
			for (count = 0; count <= (1 << 20) / width;
			     count = count * 5 + 1 + (count > 100) * 70000 / width) {
				for (k = 0; k < width; k++)
					element[k] = (unsigned char)random_bits(&self->random);
				EXPECT_OK(memcastFill(&self->view, at, element, width, count));
				for (i = 0; i < 2; i++) {
					unsigned char *got = self->view.replica[i] + at;
					size_t bad = 0;

					for (k = 0; k < count; k++)
						bad += !!memcmp(got + k * width, element, width);
					EXPECT_EQ(0, bad);
					EXPECT_EQ(0, damage(&self->place[i], at,
							    at + count * width));
					memset(self->place[i].at, GUARD, self->place[i].bytes);
				}
			}
}

/* Sizes around MEMCAST_STREAM, with replicas that are aligned alike or not */
TEST_F(bulk, around_the_caches)
{
	const size_t change = (1 << 20) / 2, third = (1 << 20) / 3 / 64 * 64;
	const long around[] = { -4096, -64, -8, 0, 8, 64, 72, 8192, 8256 };
	size_t skew, n;

	for (skew = 0; skew <= 8; skew += 8) {
		new_replicas(2, change + 16384, skew);
		for (n = 0; n < ARRAY_SIZE(around); n++) {
			check_broadcast(8 * n, change + around[n], n);
			check_broadcast(64, change + around[n] + 1, 0);
		}
		/* of a reduction into a buffer, the bytes that are read count, too */
		for (n = 0; n < ARRAY_SIZE(around); n++) {
			/* also to a buffer in which no element begins at the start of a line */
			check_reductions(&types[4], MEMCAST_ADD, 8 * n, third + around[n],
					 n % 2 * 2);
			check_reductions(&types[7], MEMCAST_ADD, 64 + 8 * n, third + around[n], 2);
		}
		/* with more replicas, loops take fewer vectors at a time */
		new_replicas(5, change + 16384, skew);
		for (n = 0; n < ARRAY_SIZE(around); n += 3) {
			check_reductions(&types[4], MEMCAST_ADD, 8 * n, third / 2 + around[n],
					 n % 2 * 2);
			check_reductions(&types[0], MEMCAST_MAX, 64, third / 2 + around[n], 0);
		}
		new_replicas(1, change + 16384, skew);
		for (n = 0; n < ARRAY_SIZE(around); n += 3)
			check_reductions(&types[2], MEMCAST_ADD, 8 * n, change + around[n], 8);
	}
}

/* With MEMCAST_STREAM=1, even stores that do not fill the first line go past the caches. */
TEST_F(bulk, few_bytes_past_the_caches)
{
	size_t at, bytes;

	ASSERT_EQ(0, setenv("MEMCAST_STREAM", "1", 1));
	for (at = 0; at <= 72; at += 8)
		for (bytes = 4; bytes <= 136; bytes += 4) {
			new_replicas(2, 512, 8);
			check_broadcast(at, bytes, 0);
			check_reductions(&types[0], MEMCAST_ADD, at, bytes, 0);
		}
}

/* The buffer may be one of the replicas. */
TEST_F(bulk, in_place)
{
	const size_t sizes[] = { 40, 100, 200, 1000, 6000, 12000, 100000, 700 << 10 };
	const unsigned int counts[] = { 2, 3, 9 };
	unsigned int n, i;

	for (n = 0; n < 3 * 2 * ARRAY_SIZE(sizes); n++) {
		size_t bytes = sizes[n / 6];
		unsigned char *all;

		new_replicas(counts[n / 2 % 3], bytes, n % 2 * 8);
		fill_places(self, &types[0], 0, bytes);
		all = expected(self, &types[0], MEMCAST_ADD, 0, bytes);
		EXPECT_OK(memcastReduceLoad(&self->view, 0, self->view.replica[1], bytes / 4,
					    MEMCAST_U32, MEMCAST_ADD));
		EXPECT_SAME(all, self->view.replica[1], bytes);
		EXPECT_OK(memcastBroadcast(&self->view, 0, self->view.replica[1], bytes));
		for (i = 0; i < self->view.replicas; i++) {
			EXPECT_SAME(all, self->view.replica[i], bytes);
			EXPECT_EQ(0, damage(&self->place[i], 0, bytes));
		}
		free(all);
	}
}

TEST_HARNESS_MAIN
