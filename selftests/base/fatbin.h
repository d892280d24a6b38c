/* SPDX-License-Identifier: MIT */
/* Fields of fatbins, as tests write them: of the whole, and of each entry before its image */
#ifndef FATBIN_H
#define FATBIN_H

#include <stdint.h>

#define FATBIN_MAGIC	0xba55ed50

#define FATBIN_FIELDS		\
	uint32_t magic;		\
	uint16_t version, header_bytes; \
	uint64_t bytes

#define FATBIN_ENTRY_FIELDS	\
	uint16_t kind, version;	\
	uint32_t header_bytes;	\
	uint64_t bytes;		\
	uint32_t packed_bytes, unknown; \
	uint16_t minor, major;	\
	uint32_t architecture;	\
	uint64_t unknown2, flags, unknown3, unpacked_bytes

#endif /* FATBIN_H */
