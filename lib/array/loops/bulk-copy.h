/* SPDX-License-Identifier: MIT */
/*
 * The copies of bulk-loops.h: of one source to several places.
 *
 * The C library's copy finds out anew for each place which way to take; that shows in what
 * is short.
 */
#define COPY_BYTES	(8 * WIDTH)	/* what is in registers at a time */
typedef __attribute__((vector_size(WIDTH), may_alias, aligned(1))) uint8_t copy_v;

/* STORE() to each of @places. The last one is the first if it is alone, and stored to twice. */
#define TO_EACH(STORE) do {							\
	STORE(to[0] + to_at);							\
	for (unsigned int i = 1; i + 1 < writes; i++)				\
		STORE(to[i] + to_at);						\
	STORE(to[writes - 1] + to_at);						\
} while (0)

INLINE void store_ends(unsigned char *place, const copy_v *head, const copy_v *tail, size_t last,
		       const int count)
{
	EVERY(*(copy_v *)(place + k * WIDTH) = head[k]);
	EVERY(*(copy_v *)(place + last + k * WIDTH) = tail[k]);
}

/* @count vectors from each end, of which some bytes may be in both; loaded once for all places */
INLINE void copy_ends(unsigned char *const *to, size_t to_at, unsigned int writes,
		      const unsigned char *from, size_t bytes, const int count)
{
	size_t last = bytes - count * WIDTH;
	copy_v head[8], tail[8];

#define STORE_ENDS(place)	store_ends(place, head, tail, last, count)
	EVERY(head[k] = *(const copy_v *)(from + k * WIDTH));
	EVERY(tail[k] = *(const copy_v *)(from + last + k * WIDTH));
	TO_EACH(STORE_ENDS);
#undef STORE_ENDS
}

/* The same with one T from each end */
#define FROM_ENDS(T) do {							\
	T head, tail;								\
										\
	memcpy(&head, from, sizeof(T));						\
	memcpy(&tail, from + bytes - sizeof(T), sizeof(T));			\
	for (unsigned int i = 0; i < writes; i++) {				\
		memcpy(to[i] + to_at, &head, sizeof(T));			\
		memcpy(to[i] + to_at + bytes - sizeof(T), &tail, sizeof(T));	\
	}									\
} while (0)

/* Less than a vector */
static __attribute__((__noinline__)) CUresult
copy_few(unsigned char *const *to, size_t to_at, unsigned int writes, const unsigned char *from,
	 size_t bytes)
{
#if WIDTH > 32
	if (bytes >= 32) {
		FROM_ENDS(__m256i);
		return CUDA_SUCCESS;
	}
#endif
#if WIDTH > 16
	if (bytes >= 16) {
		FROM_ENDS(__m128i);
		return CUDA_SUCCESS;
	}
#endif
	if (bytes >= 8)
		FROM_ENDS(uint64_t);
	else if (bytes >= 4)
		FROM_ENDS(uint32_t);
	else if (bytes >= 2)
		FROM_ENDS(uint16_t);
	else
		FROM_ENDS(uint8_t);
	return CUDA_SUCCESS;
}

/* @count vectors to @at of the places, of which there are 1 to 4 */
#define STORE_SOME(place, places, at, all) do {					\
	EVERY(*(copy_v *)((place)[0] + (at) + k * WIDTH) = (all)[k]);	\
	if ((places) > 1) {							\
		EVERY(*(copy_v *)((place)[1] + (at) + k * WIDTH) = (all)[k]); \
	}									\
	if ((places) > 2) {							\
		EVERY(*(copy_v *)((place)[2] + (at) + k * WIDTH) = (all)[k]); \
	}									\
	if ((places) > 3) {							\
		EVERY(*(copy_v *)((place)[3] + (at) + k * WIDTH) = (all)[k]); \
	}									\
} while (0)

INLINE void copy_some(unsigned char *const place[4], const unsigned int places,
		      const unsigned char *from, size_t at, const int count)
{
	copy_v all[8];

	EVERY(all[k] = *(const copy_v *)(from + at + k * WIDTH));
	STORE_SOME(place, places, at, all);
}

/*
 * From @at on, where the first place's vectors are aligned, up to the last two vectors or
 * less: the end is stored apart.
 */
INLINE void copy_middle(unsigned char *const place[4], const unsigned int places,
			const unsigned char *from, size_t at, size_t bytes)
{
	for (; bytes - at > COPY_BYTES; at += COPY_BYTES)
		copy_some(place, places, from, at, 8);
	if (bytes - at > 4 * WIDTH) {
		copy_some(place, places, from, at, 4);
		at += 4 * WIDTH;
	}
	if (bytes - at > 2 * WIDTH)
		copy_some(place, places, from, at, 2);
}

/*
 * A piece goes to all places before the next one is read. The first vector reaches to where
 * the first place's vectors are aligned, or further. @bytes: more than COPY_BYTES.
 *
 * A load waits for stores to the same part of another page, as if they were to the same
 * address, and replicas often lie so to each other. So nothing is loaded between stores but
 * what is further on: the places are known before, and the end is loaded first.
 */
INLINE void copy_pieces(unsigned char *const *to, size_t to_at, const unsigned int places,
			const unsigned char *from, size_t bytes)
{
	unsigned char *const place[4] = {
		to[0] + to_at, places > 1 ? to[1] + to_at : NULL,
		places > 2 ? to[2] + to_at : NULL, places > 3 ? to[3] + to_at : NULL,
	};
	size_t at = WIDTH - (uintptr_t)place[0] % WIDTH, last = bytes - 2 * WIDTH;
	const int count = 2;
	copy_v tail[8];

	EVERY(tail[k] = *(const copy_v *)(from + last + k * WIDTH));
	copy_some(place, places, from, 0, 1);
	copy_middle(place, places, from, at, bytes);
	STORE_SOME(place, places, last, tail);
}

/*
 * One place after the other, each by vectors that are aligned there: to load what is not
 * aligned costs less than to store it. @bytes: more than COPY_BYTES.
 */
static __attribute__((__noinline__)) CUresult
copy_each(unsigned char *const *to, size_t to_at, unsigned int writes, const unsigned char *from,
	  size_t bytes)
{
	size_t at, last = bytes - 2 * WIDTH;
	const copy_v head = *(const copy_v *)from;
	const int count = 2;
	copy_v tail[8];

	EVERY(tail[k] = *(const copy_v *)(from + last + k * WIDTH));
	for (; writes; writes--, to++) {
		unsigned char *const place[4] = { *to + to_at };

		if (place[0] == from)	/* that is allowed */
			continue;
		*(copy_v *)place[0] = head;
		at = WIDTH - (uintptr_t)place[0] % WIDTH;
		copy_middle(place, 1, from, at, bytes);
		STORE_SOME(place, 1, last, tail);
	}
	return CUDA_SUCCESS;
}

/* Functions of their own: each keeps all that it needs in registers. */
#define COPY_TO(places)								\
static __attribute__((__noinline__)) CUresult					\
copy_to_##places(unsigned char *const *to, size_t to_at, const unsigned char *from, \
		 size_t bytes)							\
{										\
	copy_pieces(to, to_at, places, from, bytes);				\
	return CUDA_SUCCESS;							\
}

COPY_TO(2)
COPY_TO(3)
COPY_TO(4)

/* Are both as many bytes behind the start of a vector? */
INLINE bool alike(const unsigned char *one, const unsigned char *other)
{
	return ((uintptr_t)one ^ (uintptr_t)other) % WIDTH == 0;
}

/*
 * Is this for loops of ours? At more places than a set of the first-level cache has lines, one
 * puts another out, and the C library's copy was as fast. Of what is longer, it may be faster.
 */
#define PLACES_MAX	8
#define PIECES_BYTES	2048
#define SKEWED_BYTES	384	/* two places get so much at a time, however they are aligned */

INLINE bool for_pieces(unsigned int writes, size_t bytes)
{
	return writes <= PLACES_MAX &&
	       (bytes <= PIECES_BYTES || bytes * (writes + 1) <= bulk_machine_known.pieces);
}

static __attribute__((__noinline__)) CUresult
copy_libc(unsigned char *const *to, size_t to_at, unsigned int writes, const unsigned char *from,
	  size_t bytes)
{
	for (unsigned int i = 0; i < writes; i++)
		if (to[i] + to_at != from)
			memcpy(to[i] + to_at, from, bytes);
	return CUDA_SUCCESS;
}

static __attribute__((__noinline__)) CUresult
copy_3_or_4(unsigned char *const *to, size_t to_at, unsigned int writes, const unsigned char *from,
	    size_t bytes)
{
	for (unsigned int i = 1; i < writes; i++)
		if (!alike(to[0], to[i]))
			return copy_each(to, to_at, writes, from, bytes);
	return writes == 3 ? copy_to_3(to, to_at, from, bytes) :
			     copy_to_4(to, to_at, from, bytes);
}

/* Functions of their own, again: copy() has nothing to keep for them. */
static __attribute__((__noinline__)) CUresult
copy_2_vectors(unsigned char *const *to, size_t to_at, unsigned int writes,
	       const unsigned char *from, size_t bytes)
{
	/*
	 * The processor fetches the lines that its waiting stores are for. Of so few lines each,
	 * more places wait than a set of the cache has room for; the C library's stores are
	 * shorter, so that fewer places wait.
	 */
	if (writes >= 2 * PLACES_MAX)
		return copy_libc(to, to_at, writes, from, bytes);
	copy_ends(to, to_at, writes, from, bytes, 2);
	return CUDA_SUCCESS;
}

static __attribute__((__noinline__)) CUresult
copy_4_vectors(unsigned char *const *to, size_t to_at, unsigned int writes,
	       const unsigned char *from, size_t bytes)
{
	if (bytes <= 6 * WIDTH)
		copy_ends(to, to_at, writes, from, bytes, 3);
	else
		copy_ends(to, to_at, writes, from, bytes, 4);
	return CUDA_SUCCESS;
}

static CUresult copy(unsigned char *const *to, size_t to_at, unsigned int writes,
		     const unsigned char *from, size_t bytes)
{
	if (bytes - WIDTH <= WIDTH) {
		copy_ends(to, to_at, writes, from, bytes, 1);
		return CUDA_SUCCESS;
	}
	if (bytes < WIDTH)
		return copy_few(to, to_at, writes, from, bytes);
	if (bytes <= 4 * WIDTH)
		return copy_2_vectors(to, to_at, writes, from, bytes);
	if (bytes <= 8 * WIDTH)
		return copy_4_vectors(to, to_at, writes, from, bytes);
	if (!for_pieces(writes, bytes))
		return copy_libc(to, to_at, writes, from, bytes);
	/*
	 * Short copies get the way with the fewest checks. Up to SKEWED_BYTES, stores that are not
	 * aligned cost less than loading the source a second time would.
	 */
	if (writes == 2 && (bytes <= SKEWED_BYTES || alike(to[0], to[1])))
		return copy_to_2(to, to_at, from, bytes);
	/*
	 * Replicas at equal offsets of pages share a set of the first-level cache. Four replicas leave
	 * room for the source in it. With more, lines are put out least if the loop finishes one
	 * replica before it begins the next.
	 */
	if (writes <= 2 || writes > 4)
		return copy_each(to, to_at, writes, from, bytes);
	return copy_3_or_4(to, to_at, writes, from, bytes);
}

/* One place after the other: these lines come from further away, in the order that is expected */
static void copy_block(unsigned char *const *to, size_t to_at, unsigned int writes,
		       const unsigned char *from, size_t bytes)
{
	if (bytes <= COPY_BYTES) {
		copy(to, to_at, writes, from, bytes);
		return;
	}
	copy_each(to, to_at, writes, from, bytes);
}
