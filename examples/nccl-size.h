/* SPDX-License-Identifier: MIT */
/* Sizes in the options of NCCL's examples */
#ifndef NCCL_SIZE_H
#define NCCL_SIZE_H

#include <argp.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Return: so many bytes: a number, and K, M or G behind it, as nccl-tests has it */
static size_t parse_size(const char *value, struct argp_state *state)
{
	static const char units[] = "KMG";
	char *end;
	size_t bytes = strtoull(value, &end, 0);
	const char *unit = *end ? strchr(units, toupper(*end)) : NULL;

	if (end == value || (*end && (!unit || end[1])))
		argp_error(state, "'%s' is no size: a number, maybe with K, M or G", value);
	return unit ? bytes << 10 * (unit - units + 1) : bytes;
}

#endif /* NCCL_SIZE_H */
