/* SPDX-License-Identifier: MIT */
/* Types of NCCL's, and numbers whose sums, minima and maxima over eight ranks are exact in each */
#ifndef NCCL_NUMBERS_H
#define NCCL_NUMBERS_H

#include <nccl.h>
#include <stdint.h>
#include <string.h>

static const struct type {
	const char *name;
	ncclDataType_t type;
	size_t bytes;
} types[] = {
	{ "float", ncclFloat32, 4 }, { "half", ncclFloat16, 2 }, { "bfloat16", ncclBfloat16, 2 },
	{ "double", ncclFloat64, 8 }, { "int8", ncclInt8, 1 }, { "uint8", ncclUint8, 1 },
	{ "int32", ncclInt32, 4 }, { "uint32", ncclUint32, 4 }, { "int64", ncclInt64, 8 },
	{ "uint64", ncclUint64, 8 }, {}
};

static const struct operation {
	const char *name;
	ncclRedOp_t operation;
} operations[] = { { "sum", ncclSum }, { "min", ncclMin }, { "max", ncclMax }, {} };

/* -15 to 15, or 1 to 31: any rank may have the smallest one */
static int number(const struct type *type, int of, size_t index, int iteration)
{
	uint32_t mixed = (uint32_t)(index * 8 + of) * 2654435761U + iteration * 40503U;
	int from = type->name[0] == 'u' ? 1 : -15;

	mixed = (mixed ^ mixed >> 15) * 2246822519U;
	return from + (int)((mixed >> 16) % 31);
}

/* What one rank's number and another's become */
static int combine(const struct operation *operation, int a, int b)
{
	if (operation->operation == ncclSum)
		return a + b;
	return (operation->operation == ncclMin) == (a < b) ? a : b;
}

static void store(const struct type *type, char *at, size_t index, int number)
{
	int64_t whole = number;
	double wide = number;
	float value = number;
	_Float16 half = number;
	const void *from = &whole;		/* little-endian: any width of it */

	if (type->type == ncclFloat64)
		from = &wide;
	else if (type->type == ncclFloat32)
		from = &value;
	else if (type->type == ncclFloat16)
		from = &half;
	else if (type->type == ncclBfloat16)
		from = (char *)&value + 2;
	memcpy(at + index * type->bytes, from, type->bytes);
}

#endif /* NCCL_NUMBERS_H */
