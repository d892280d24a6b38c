/* SPDX-License-Identifier: MIT */
/* Text that a test writes at random; a seed gives the same text everywhere. */
#ifndef RANDOM_TEXT_H
#define RANDOM_TEXT_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

static char text[1 << 18];
static size_t used;
static uint32_t seed;

static uint32_t below(uint32_t count)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(seed >> 8) * count >> 24);
}

static void say(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	used += vsnprintf(text + used, sizeof(text) - used, format, list);
	va_end(list);
}

#endif /* RANDOM_TEXT_H */
