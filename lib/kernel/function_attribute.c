// SPDX-License-Identifier: MIT
/* The attributes of a function, or of a kernel on a device. All rules come from hardware. */
#include "kernel.h"

/* Return: the most dynamic shared memory that a function may be set to. */
static int most_dynamic(const struct code *code, const struct figures *figures)
{
	return figures->shared_optin - (int)code->shared;
}

struct settings settings_of(const struct code *code, const struct figures *figures)
{
	struct settings settings = { .carveout = -1 };
	int shared = code->shared;

	settings.dynamic = shared <= figures->shared ? figures->shared - shared :
						       most_dynamic(code, figures);
	for (int i = 0; i < 3; i++)
		settings.cluster[i] = code->cluster[i];
	return settings;
}

CUresult setting_get(const struct image *image, const struct code *code,
		     const struct figures *figures, const struct settings *settings,
		     CUfunction_attribute attribute, int *value)
{
	const int most = threads_by_registers(code, figures);
	const int values[CU_FUNC_ATTRIBUTE_MAX] = {
		[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] =
			most < (int)code->max_threads ? most : (int)code->max_threads,
		[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = code->shared,
		[CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES] = image->constant_bytes,
		[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = code->local,
		[CU_FUNC_ATTRIBUTE_NUM_REGS] = code->registers,
		[CU_FUNC_ATTRIBUTE_PTX_VERSION] = image->architecture,
		[CU_FUNC_ATTRIBUTE_BINARY_VERSION] = image->binary,
		[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = settings->dynamic,
		[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = settings->carveout,
		[CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET] = !!code->cluster[0],
		[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = settings->cluster[0],
		[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT] = settings->cluster[1],
		[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH] = settings->cluster[2],
		[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] = settings->non_portable,
		[CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE] = settings->policy,
	};

	if ((unsigned int)attribute >= CU_FUNC_ATTRIBUTE_MAX)
		return fail(CUDA_ERROR_INVALID_VALUE, "no attribute %d", (int)attribute);
	*value = values[attribute];
	return CUDA_SUCCESS;
}

static CUresult out_of_range(int value, int least, int most)
{
	return fail(CUDA_ERROR_INVALID_VALUE, "%d is not between %d and %d", value, least, most);
}

CUresult setting_set(const struct code *code, const struct figures *figures,
		     struct settings *settings, CUfunction_attribute attribute, int value)
{
	int number = (int)attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;

	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		if (value < 0 || value > most_dynamic(code, figures))
			return out_of_range(value, 0, most_dynamic(code, figures));
		settings->dynamic = value;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		if (value < -1 || value > 100)
			return out_of_range(value, -1, 100);
		settings->carveout = value;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		if (value < 0)
			return out_of_range(value, 0, INT_MAX);
		if (code->cluster[0] && value != (int)code->cluster[number])
			return fail(CUDA_ERROR_INVALID_VALUE, "the code says %u",
				    code->cluster[number]);
		settings->cluster[number] = value;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		settings->non_portable = !!value;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		if (value < 0 || value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING)
			return out_of_range(value, 0, CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
		settings->policy = value;
		return CUDA_SUCCESS;
	default:
		return fail(CUDA_ERROR_INVALID_VALUE, "attribute %d cannot be set",
			    (int)attribute);
	}
}
