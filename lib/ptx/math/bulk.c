// SPDX-License-Identifier: MIT
/* Bulk copies: whole, by a mask, to several blocks, or combined with what is there */
#include <memcast/view.h>

#include "ptx_math.h"

static void add_float(void *at, const void *value)
{
	float number;

	memcpy(&number, value, sizeof(number));
	ptx_math_atomic_add_f32(at, number, 1);
}

static void add_double(void *at, const void *value)
{
	double number;

	memcpy(&number, value, sizeof(number));
	ptx_math_atomic_add_f64(at, number, 1);
}

static void half(void *at, const void *value, uint32_t kind)
{
	uint16_t bits;

	memcpy(&bits, value, sizeof(bits));
	ptx_math_atomic_half(at, bits, kind);
}

#define INTEGER(type)								\
static void reduce_##type(type *at, const void *from, enum bulk_operation operation) \
{										\
	type old = __atomic_load_n(at, __ATOMIC_RELAXED), value, next;		\
										\
	memcpy(&value, from, sizeof(value));					\
	do {									\
		switch (operation) {						\
		case BULK_ADD:							\
			next = old + value;					\
			break;							\
		case BULK_MIN:							\
			next = old < value ? old : value;			\
			break;							\
		case BULK_MAX:							\
			next = old > value ? old : value;			\
			break;							\
		case BULK_AND:							\
			next = old & value;					\
			break;							\
		case BULK_OR:							\
			next = old | value;					\
			break;							\
		case BULK_INC:							\
			next = old >= value ? 0 : old + 1;			\
			break;							\
		case BULK_DEC:							\
			next = !old || old > value ? value : old - 1;		\
			break;							\
		default:							\
			next = old ^ value;					\
		}								\
	} while (!__atomic_compare_exchange_n(at, &old, next, true, __ATOMIC_RELAXED, \
					      __ATOMIC_RELAXED));		\
}

INTEGER(uint32_t)
INTEGER(int32_t)
INTEGER(uint64_t)
INTEGER(int64_t)

/* Combines one element; PTX says nothing of their order. */
static void reduce(char *at, const char *from, enum bulk_operation operation,
		   enum bulk_element element)
{
	uint32_t kind = operation == BULK_ADD ? 0 : operation == BULK_MIN ? 4 : 8;

	switch (element) {
	case BULK_U32:
		reduce_uint32_t((uint32_t *)at, from, operation);
		break;
	case BULK_S32:
		reduce_int32_t((int32_t *)at, from, operation);
		break;
	case BULK_U64:
		reduce_uint64_t((uint64_t *)at, from, operation);
		break;
	case BULK_S64:
		reduce_int64_t((int64_t *)at, from, operation);
		break;
	case BULK_F16:
		half(at, from, kind);
		break;
	case BULK_BF16:
		half(at, from, kind | 1);
		break;
	case BULK_F32:
		add_float(at, from);
		break;
	default:
		add_double(at, from);
	}
}

/* @kind: the operation, and from bit 8 the element */
void ptx_math_bulk_reduce(void *to, void *from, uint32_t bytes, uint32_t kind)
{
	static const uint8_t sizes[] = {
		[BULK_U32] = 4, [BULK_S32] = 4, [BULK_U64] = 8, [BULK_S64] = 8, [BULK_F16] = 2,
		[BULK_BF16] = 2, [BULK_F32] = 4, [BULK_F64] = 8,
	};
	uint32_t each = sizes[kind >> 8];

	for (uint32_t at = 0; at < bytes; at += each)
		reduce((char *)to + at, (char *)from + at, kind & 0xff, kind >> 8);
}

/* @mask: which bytes of each 16 are copied */
void ptx_math_bulk_copy(void *to, void *from, uint32_t bytes, uint32_t mask)
{
	if ((mask & 0xffff) == 0xffff)
		memcpy(to, from, bytes);
	for (uint32_t i = 0; (mask & 0xffff) != 0xffff && i < bytes; i++)
		if (mask >> (i & 15) & 1)
			((char *)to)[i] = ((char *)from)[i];
}

/* Copies to the blocks of a cluster, whose windows follow each other, and tells each its bytes. */
void ptx_math_bulk_multicast(void *cluster, uint64_t to, void *from, uint32_t bytes,
			     uint64_t barrier, uint32_t blocks)
{
	for (uint32_t rank = 0; blocks >> rank; rank++) {
		char *window = (char *)cluster + ((uint64_t)rank << 24);

		if (!(blocks >> rank & 1))
			continue;
		memcpy(window + (to & 0xffffff), from, bytes);
		ptx_math_mbarrier_transactions(window + (barrier & 0xffffff), bytes, 1);
	}
}

void ptx_math_bulk_multimem_copy(void *view, uint64_t offset, void *from, uint32_t bytes,
				 uint32_t mask)
{
	const struct memcast_view *all = view;

	for (unsigned int i = 0; i < all->replicas; i++)
		ptx_math_bulk_copy(all->replica[i] + offset, from, bytes, mask);
}

void ptx_math_bulk_multimem_reduce(void *view, uint64_t offset, void *from, uint32_t bytes,
				   uint32_t kind)
{
	const struct memcast_view *all = view;

	for (unsigned int i = 0; i < all->replicas; i++)
		ptx_math_bulk_reduce(all->replica[i] + offset, from, bytes, kind);
}
