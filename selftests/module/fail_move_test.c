// SPDX-License-Identifier: MIT
/* mremap() of a reservation when the kernel has no memory left. Needs a debug kernel, and root. */
#include <sys/mman.h>
#include "fail_fixture.h"
#include "reason.h"

/*
 * mremap() copies the VMA before it asks whether the VMA may be moved. If the kernel then lacks the
 * memory to remove the copy, the copy stays, but is no reservation.
 */
FIXTURE(fail_move) { int fails; };
FIXTURE_SETUP(fail_move)
{
	if (!can_fail())
		SKIP(return, "needs root and a kernel with CONFIG_FAULT_INJECTION");
	/* every allocation fails, after so many bytes, in threads that ask for it */
	put("/sys/kernel/debug/failslab/task-filter", "Y");
	put("/sys/kernel/debug/failslab/probability", "100");
	put("/sys/kernel/debug/failslab/times", "-1");
	self->fails = open("/proc/thread-self/make-it-fail", O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, self->fails);
}
/* Runs in the parent, whatever the test did. */
FIXTURE_TEARDOWN_PARENT(fail_move)
{
	put("/sys/kernel/debug/failslab/probability", "0");
	put("/sys/kernel/debug/failslab/task-filter", "N");
	put("/sys/kernel/debug/failslab/times", "1");
	put("/sys/kernel/debug/failslab/space", "0");
	if (!_metadata->aborted)
		EXPECT_STREQ("", left_over());
}

TEST_F(fail_move, leaves_no_other_reservation)
{
	CUmemGenericAllocationHandle handle;
	unsigned int bytes, kept = 0;
	volatile uint32_t *at;
	unsigned char page;
	char text[24];
	void *to;

	cuda_start(0);
	handle = new_memory(0, CHUNK);
	at = mapped(handle, CHUNK, 0);
	for (bytes = 0; bytes < 8192; bytes += 64) {
		*at = bytes;
		to = (void *)reserve(CHUNK);
		ASSERT_OK(cuMemAddressFree(ADDRESS(to), CHUNK));
		snprintf(text, sizeof(text), "%u", bytes);
		put("/sys/kernel/debug/failslab/space", text);
		ASSERT_EQ(1, write(self->fails, "1", 1));
		mremap((void *)at, CHUNK, CHUNK, MREMAP_MAYMOVE | MREMAP_FIXED, to);
		ASSERT_EQ(1, write(self->fails, "0", 1));
		EXPECT_EQ(bytes, *at);
		EXPECT_REASON(cuMemMap(ADDRESS(to), CHUNK, 0, handle, 0),
			      "# is not in a reservation");
		kept += !mincore(to, 4096, &page);
	}
	EXPECT_LT(0, kept);
	TH_LOG("%u copies stayed", kept);

	/* the copies do not keep the memory that the reservation showed */
	ASSERT_OK(cuMemRelease(handle));
	EXPECT_EQ(0, munmap((void *)at, CHUNK));
	EXPECT_EQ(0, stat_of("memories"));
}

TEST_HARNESS_MAIN
