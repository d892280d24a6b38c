// SPDX-License-Identifier: MIT
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "options.h"

static size_t number(struct argp_state *state, const char *text, size_t min,
		     size_t max, const char *units)
{
	unsigned long long value;
	unsigned int shift = 0;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	for (; *end && *units; units++) {
		shift += 10;
		if (toupper((unsigned char)*end) == *units) {
			end++;
			value = value > (SIZE_MAX >> shift) ? SIZE_MAX :
				value << shift;
			break;
		}
	}
	if (!isdigit((unsigned char)*text) || *end || errno)
		argp_error(state, "'%s' is not a number", text);
	if (value < min || value > max)
		argp_error(state, "%s is not in %zu to %zu", text, min, max);
	return value;
}

size_t size_option(struct argp_state *state, const char *text, size_t min)
{
	return number(state, text, min, SIZE_MAX >> 16, "KMG");
}

size_t range_option(struct argp_state *state, const char *text, size_t min, size_t max)
{
	return number(state, text, min, max, "");
}

size_t count_option(struct argp_state *state, const char *text, size_t min)
{
	return range_option(state, text, min, INT_MAX);
}
