// SPDX-License-Identifier: MIT
/*
 * A program with device code as nvcc puts it there, for memcast-ptx to read; it does nothing. Two
 * parts are linked when it starts: the first one's kernel calls what only the second one has.
 */
#include <stddef.h>
#include <stdint.h>
#include "fatbin.h"

#define HEAD	".version 8.0\n.target sm_90\n.address_size 64\n"

struct entry {
	FATBIN_ENTRY_FIELDS;
	char data[1024];
};

struct fatbin {
	FATBIN_FIELDS;
	struct entry entry;
};

#define FATBIN(text, of)								\
	{ FATBIN_MAGIC, 1, 16, sizeof(struct entry), {					\
		.kind = 1, .version = 0x101, .header_bytes = offsetof(struct entry, data),	\
		.bytes = 1024, .architecture = of, .flags = 0x11, .unpacked_bytes = sizeof(text), \
		.data = text } }

static struct fatbin alone __attribute__((section(".nv_fatbin"), used)) =
	FATBIN(HEAD ".visible .entry one() { ret; }\n"
	       ".visible .entry two(.param .u64 p) { .reg .u64 %a; ld.param.u64 %a, [p]; "
	       "st.global.u32 [%a], 1; ret; }\n", 90);
static struct fatbin newer __attribute__((section(".nv_fatbin"), used)) =
	FATBIN(HEAD ".visible .entry six() { ret; }\n", 120);
static struct fatbin linked __attribute__((section(".nv_fatbin"), used)) =
	FATBIN(HEAD ".visible .entry seven() { ret; }\n", 120);
static struct fatbin first __attribute__((section("__nv_relfatbin"), used)) =
	FATBIN(HEAD ".extern .func far();\n.visible .entry three() { call far; ret; }\n", 90);
static struct fatbin second __attribute__((section("__nv_relfatbin"), used)) =
	FATBIN(HEAD ".visible .func far() { ret; }\n.func near() { ret; }\n"
	       ".visible .global .u64 table[2] = { near, far };\n", 90);

#ifdef WINDOWS
static const char *const asks_for __attribute__((used)) = "cuMulticastCreate";
#endif

/* A program fills it when it starts. */
static const void *parts[3];

static const struct wrapper {
	uint32_t magic, version;
	const void *data;
	const void *const *parts;
} wrappers[] __attribute__((section(".nvFatBinSegment"), used)) = {
	{ 0x466243b1, 1, &alone, NULL }, { 0x466243b1, 1, &first, NULL },
	{ 0x466243b1, 1, &second, NULL }, { 0x466243b1, 1, &newer, NULL },
	{ 0x466243b1, 2, &linked, parts },
};

int main(void)
{
	return 0;
}
