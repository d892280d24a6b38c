/* SPDX-License-Identifier: MIT */
/* Shared by the tests of plain stores. */
#ifndef MEMCAST_TRAP_SETTING_H
#define MEMCAST_TRAP_SETTING_H

#include "trap_forms.h"
#include "memcast_test.h"
#include "raw.h"

#define DEVICES	4

/*
 * Side by side: the first device's memory, a window of two chunks, a window of one chunk, nothing.
 * Each device's memory has a chunk for each of these.
 */
struct setting {
	struct area all;
	CUmemGenericAllocationHandle team[2], memory[DEVICES];
	CUdeviceptr place;
};

#define setting_make(setting)	setting_make_(_metadata, setting)
TEST_HELPER void setting_make_(struct __test_metadata *_metadata, struct setting *setting)
{
	struct memcast_map plain = { .bytes = CHUNK };
	struct area *all = &setting->all;

	cuda_start(0);
	setting->place = reserve(5 * CHUNK);
	plain.address = setting->place;
	setting->team[0] = complete_team(DEVICES, 2 * CHUNK);
	setting->team[1] = complete_team(DEVICES, CHUNK);
	*all = (struct area) { (void *)setting->place, 4 * CHUNK, CHUNK, DEVICES, {} };
	for (unsigned int i = 0; i < DEVICES; i++) {
		setting->memory[i] = new_memory(i, 4 * CHUNK);
		all->replica[i] = (void *)mapped(setting->memory[i], 4 * CHUNK, i);
		for (unsigned int chunk = 0; chunk < 3; chunk++)
			ASSERT_OK(cuMulticastBindMem(setting->team[chunk / 2],
						     chunk % 2 * CHUNK, setting->memory[i],
						     (chunk + 1) * CHUNK, CHUNK, 0));
	}
	plain.handle = setting->memory[0];
	/* maps a part of a memory, which the library refuses to do */
	ASSERT_EQ(0, RAW(raw_library_fd(), MAP, plain));
	ASSERT_OK(cuMemMap(setting->place + CHUNK, 2 * CHUNK, 0, setting->team[0], 0));
	ASSERT_OK(cuMemMap(setting->place + 3 * CHUNK, CHUNK, 0, setting->team[1], 0));
	ASSERT_OK(allow(setting->place, 4 * CHUNK, 0, READWRITE));
}

/* The start of the first window in a replica */
#define REPLICA(i)	(self->setting.all.replica[i] + CHUNK)

#endif /* MEMCAST_TRAP_SETTING_H */
