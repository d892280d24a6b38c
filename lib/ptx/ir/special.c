// SPDX-License-Identifier: MIT
/* Special registers. */
#include <string.h>

#include "ir.h"

#define FIELD(name) offsetof(struct ptx_thread, name)

static const struct {
	const char *name;
	size_t offset;
	uint32_t bits;
	bool three;			/* .x .y .z */
} fields[] = {
	{ "%ntid", FIELD(ntid), 32, true }, { "%ctaid", FIELD(ctaid), 32, true },
	{ "%nctaid", FIELD(nctaid), 32, true }, { "%nwarpid", FIELD(nwarpid), 32, false },
	{ "%smid", FIELD(smid), 32, false }, { "%nsmid", FIELD(nsmid), 32, false },
	{ "%gridid", FIELD(gridid), 64, false },
	{ "%is_explicit_cluster", FIELD(is_cluster), 32, false },
	{ "%clusterid", FIELD(clusterid), 32, true },
	{ "%nclusterid", FIELD(nclusterid), 32, true },
	{ "%cluster_ctaid", FIELD(cluster_ctaid), 32, true },
	{ "%cluster_nctaid", FIELD(cluster_nctaid), 32, true },
	{ "%cluster_ctarank", FIELD(cluster_ctarank), 32, false },
	{ "%cluster_nctarank", FIELD(cluster_nctarank), 32, false },
	{ "%dynamic_smem_size", FIELD(dynamic_shared), 32, false },
	{ "%total_smem_size", FIELD(total_shared), 32, false },
	{ "%envreg0", FIELD(envreg[0]), 32, false }, { "%envreg1", FIELD(envreg[1]), 32, false },
	{ "%envreg2", FIELD(envreg[2]), 32, false },
};

static uint32_t element(const struct operand *operand)
{
	const char *at = operand->part.length == 2 ? strchr("xyzw", operand->part.at[1]) : NULL;

	return !at ? 0 : *at == 'w' ? 3 : *at - 'x';
}

static LLVMValueRef linear(struct translator *t)
{
	LLVMValueRef x = thread_field(t, FIELD(ntid[0]), t->i32);
	LLVMValueRef y = thread_field(t, FIELD(ntid[1]), t->i32);

	return BUILD(Add, t->tid[0],
		     BUILD(Mul, x, BUILD(Add, t->tid[1], BUILD(Mul, y, t->tid[2]))));
}

static LLVMValueRef lane(struct translator *t)
{
	return t->loops ? BUILD(And, linear(t), constant(t, 32, 31)) :
			  thread_field(t, FIELD(laneid), t->i32);
}

static LLVMValueRef lane_mask(struct translator *t, const char *kind)
{
	LLVMValueRef one = constant(t, 32, 1), bit = BUILD(Shl, one, lane(t));
	LLVMValueRef below = BUILD(Sub, bit, one);

	if (!strcmp(kind, "eq"))
		return bit;
	if (!strcmp(kind, "lt"))
		return below;
	if (!strcmp(kind, "le"))
		return BUILD(Or, below, bit);
	if (!strcmp(kind, "ge"))
		return BUILD(Not, below);
	return BUILD(Not, BUILD(Or, below, bit));
}

static LLVMValueRef timer(struct translator *t, const char *name)
{
	LLVMValueRef value = call_math(t, strstr(name, "clock") ? "clock" : "globaltimer",
				       LLVMConstNull(t->pointer));
	size_t length = strlen(name);

	if (!strcmp(name + length - 3, "_hi"))
		return BUILD(LShr, value, constant(t, 64, 32));
	return value;
}

static LLVMValueRef read_one(struct translator *t, const char *name, uint32_t element)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (!strcmp(name, fields[i].name)) {
			if (fields[i].three && element == 3)
				return constant(t, 32, strstr(name, "nt") || strstr(name,
										    "nc") ? 1 : 0);
			return thread_field(t,
					    fields[i].offset + (fields[i].three ? 4 * element : 0),
					    int_type(t, fields[i].bits));
		}
	if (!strcmp(name, "%tid"))
		return element == 3 ? constant(t, 32, 0) : t->tid[element];
	if (!strcmp(name, "%laneid"))
		return lane(t);
	if (!strcmp(name, "%warpid"))
		return t->loops ? BUILD(LShr, linear(t), constant(t, 32, 5)) :
				  thread_field(t, FIELD(warpid), t->i32);
	if (!strncmp(name, "%lanemask_", 10))
		return lane_mask(t, name + 10);
	if (!strncmp(name, "%clock", 6) || !strncmp(name, "%globaltimer", 12))
		return timer(t, name);
	/* an H100 keeps the first 1,024 bytes of shared memory for itself */
	if (!strcmp(name, "%reserved_smem_offset_cap"))
		return own_shared(t, constant(t, 32, PTX_SHARED_FIRST));
	if (!strcmp(name, "%reserved_smem_offset_end"))
		return own_shared(t, constant(t, 32, PTX_SHARED_RESERVED));
	if (!strncmp(name, "%reserved_smem_offset_", 22))
		return own_shared(t, constant(t, 32, 0));
	if (!strcmp(name, "%aggr_smem_size"))
		return BUILD(Add, thread_field(t, FIELD(total_shared), t->i32),
			     constant(t, 32, PTX_SHARED_FIRST));
	return constant(t, 32, 0);	/* %pm0…, %envreg3… */
}

/* Reads a special register as so many bits; four elements for a vector of 128 bits. */
LLVMValueRef special_read(struct translator *t, const struct operand *operand, uint32_t bits)
{
	char name[64];
	size_t length = operand->name.length < sizeof(name) ? operand->name.length : 0;

	memcpy(name, operand->name.at, length);
	name[length] = '\0';
	if (bits == 1)
		return BUILD(Trunc, read_one(t, name, 0), t->i1);
	return resize(t, read_one(t, name, element(operand)), bits, false);
}
