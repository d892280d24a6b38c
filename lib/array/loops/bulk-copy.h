/* SPDX-License-Identifier: MIT */
/*
 * The copies of bulk-loops.h: from one source to several places.
 *
 * The C library's copy chooses its method anew for each place, which costs short copies time.
 */
#define COPY_BYTES	(8 * WIDTH)	/* the bytes in registers at a time */
typedef __attribute__((vector_size(WIDTH), may_alias, aligned(1))) uint8_t copy_v;

typedef __attribute__((vector_size(16))) uint8_t vector_16;
typedef __attribute__((vector_size(32))) uint8_t vector_32;

/* Does STORE() to each of @places. A single place is both first and last, and gets two stores. */
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

/* Copies @count vectors from each end, which may overlap; each is loaded once for all places. */
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

/* Does the same with one T from each end. */
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

/* Copies less than a vector. */
static __attribute__((__noinline__)) CUresult
copy_few(unsigned char *const *to, size_t to_at, unsigned int writes, const unsigned char *from,
	 size_t bytes)
{
#if WIDTH > 32
	if (bytes >= 32) {
		FROM_ENDS(vector_32);
		return CUDA_SUCCESS;
	}
#endif
#if WIDTH > 16
	if (bytes >= 16) {
		FROM_ENDS(vector_16);
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

/* Stores @count vectors to @at of the places, of which there are 1 to 4. */
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
 * Copies from @at on, where the first place's vectors are aligned, up to the last two vectors
 * or less, which the caller stores.
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
 * Copies each piece to all places before it reads the next one. The first vector reaches to the
 * first place's next aligned vector, or further. @bytes: more than COPY_BYTES.
 *
 * A load waits for stores to the same part of another page, as if they were to the same
 * address, and replicas often lie at such distances. So between the stores only bytes further
 * on are loaded: the places are known before, and the end is loaded first.
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
 * Copies to one place after the other, with stores that are aligned: an unaligned load costs
 * less than an unaligned store. @bytes: more than COPY_BYTES.
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

		if (place[0] == from)	/* the source may be one of the places */
			continue;
		*(copy_v *)place[0] = head;
		at = WIDTH - (uintptr_t)place[0] % WIDTH;
		copy_middle(place, 1, from, at, bytes);
		STORE_SOME(place, 1, last, tail);
	}
	return CUDA_SUCCESS;
}

/* A function for each number of places: each keeps all its values in registers. */
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

/* Are both addresses equally far behind the start of a vector? */
INLINE bool alike(const unsigned char *one, const unsigned char *other)
{
	return ((uintptr_t)one ^ (uintptr_t)other) % WIDTH == 0;
}

/*
 * Is a copy for these loops? With more places than a set of the first-level cache has lines,
 * each place evicts another's lines, and the C library's copy was as fast. For longer copies it
 * may be faster.
 */
#define PLACES_MAX	8
#define PIECES_BYTES	2048
#define SKEWED_BYTES	384	/* up to here, unaligned stores to two places are best */

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

/* Separate functions, so that copy() keeps no values for them. */
static __attribute__((__noinline__)) CUresult
copy_2_vectors(unsigned char *const *to, size_t to_at, unsigned int writes,
	       const unsigned char *from, size_t bytes)
{
	/*
	 * The processor fetches the lines to which stores wait. With so few lines for each
	 * place, the lines of more places wait than a set of the cache has room for; the C
	 * library's stores are shorter, so that the lines of fewer places wait.
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
	 * Short copies take the path with the fewest checks. Up to SKEWED_BYTES, unaligned
	 * stores cost less than loading the source a second time would.
	 */
	if (writes == 2 && (bytes <= SKEWED_BYTES || alike(to[0], to[1])))
		return copy_to_2(to, to_at, from, bytes);
	/*
	 * Replicas at equal offsets of pages share a set of the first-level cache. Four replicas
	 * leave room for the source in it. With more, fewest lines are evicted if the loop
	 * finishes one replica before it begins the next.
	 */
	if (writes <= 2 || writes > 4)
		return copy_each(to, to_at, writes, from, bytes);
	return copy_3_or_4(to, to_at, writes, from, bytes);
}

/*
 * Copies to one place after the other: lines that are not in the first-level cache are fetched
 * in order.
 */
static void copy_block(unsigned char *const *to, size_t to_at, unsigned int writes,
		       const unsigned char *from, size_t bytes)
{
	if (bytes <= COPY_BYTES) {
		copy(to, to_at, writes, from, bytes);
		return;
	}
	copy_each(to, to_at, writes, from, bytes);
}
