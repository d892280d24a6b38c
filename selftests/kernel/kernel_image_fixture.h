/* SPDX-License-Identifier: MIT */
/* Device code that tests load: PTX and fatbins. */
#ifndef KERNEL_IMAGE_FIXTURE_H
#define KERNEL_IMAGE_FIXTURE_H

#include <dlfcn.h>
#include <stddef.h>
#include "fatbin.h"
#include "memcast_test.h"

#define HEAD	".version 8.0\n.target sm_90\n.address_size 64\n"
#define ENTRY	".visible .entry noargs() { ret; }\n"

static const char text[] = HEAD
	"// a comment\n"
	".visible .global .align 4 .u32 word = 7;\n"
	".global .f32 third = 0f3EAAAAAB;\n"
	".global .b8 table[2][3] = {{1, 2}, {3}};\n"
	".const .align 4 .s32 constants[4] = {-1, 22, 33};\n"
	".extern .func .attribute(.unified(19, 95)) halt() .noreturn;\n"
	".visible .entry first(.param .u8 a, .param .u16 b, .param .u32 c,\n"
	"	.param .u64 .ptr .global .align 4 d, .param .align 16 .b8 e[20]) .maxntid 8, 4, 2\n"
	"{ .reg .pred p; .shared .align 16 .b8 s[90], t[4]; .local .b8 l[20], m[4]; .reg .u32 x;\n"
	"	LOOP: mov.u32 x, %tid.x; @!p bra LOOP; { mul.wide.u32 x, x, x; } ret; }\n"
	".weak .entry second() .reqntid 64 .pragma \"nounroll\", \"other\"; { exit; }\n";

FIXTURE(kernel_image) { CUmodule module; };
FIXTURE_SETUP(kernel_image)
{
	self->module = NULL;
	cuda_start(0);
}
NOTHING_LEFT(kernel_image)

struct entry {
	FATBIN_ENTRY_FIELDS;
	char data[4096];
};

struct fatbin {
	FATBIN_FIELDS;
	struct entry entry[2];
};

enum pack { PLAIN, LZ4, ZSTD };

/* Packs with the libraries that libcuda.so.1 needs for unpacking, so they are loaded already. */
TEST_HELPER size_t pack(enum pack how, void *to, size_t room)
{
	int (*lz4)(const char *, char *, int, int) = dlsym(RTLD_DEFAULT, "LZ4_compress_default");
	size_t (*zstd)(void *, size_t, const void *, size_t, int) =
		dlsym(RTLD_DEFAULT, "ZSTD_compress");

	if (how == LZ4)
		return lz4(text, to, sizeof(text), room);
	if (how == ZSTD)
		return zstd(to, room, text, sizeof(text), 3);
	memcpy(to, text, sizeof(text));
	return sizeof(text);
}

TEST_HELPER void fill(struct fatbin *fatbin, enum pack how, uint32_t architecture)
{
	static const uint64_t flags[] = { 0x11, 0x2011, 0x8011 };

	memset(fatbin, 0, sizeof(*fatbin));
	*fatbin = (struct fatbin) { .magic = FATBIN_MAGIC, .version = 1, .header_bytes = 16,
				    .bytes = sizeof(fatbin->entry) };
	for (int i = 0; i < 2; i++) {
		struct entry *entry = &fatbin->entry[i];

		*entry = (struct entry) {
			.kind = 1, .version = 0x101, .architecture = i ? 120 : architecture,
			.header_bytes = offsetof(struct entry, data), .flags = flags[how],
			.bytes = sizeof(entry->data), .unpacked_bytes = sizeof(text),
		};
		if (!i)
			entry->packed_bytes = pack(how, entry->data, sizeof(entry->data));
	}
}

#endif /* KERNEL_IMAGE_FIXTURE_H */
