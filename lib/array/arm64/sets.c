// SPDX-License-Identifier: MIT
/* arm64: the sets of instructions that loops are built for. */
#include "array.h"

static bool has_neon(void)
{
	return true;
}

const struct bulk_set bulk_sets[] = {
	{ "neon", &bulk_neon, has_neon },
	{}
};

const struct bulk_loops *bulk_copies_of(const struct bulk_loops *loops)
{
	return loops;
}
