/* SPDX-License-Identifier: MIT */
/* For tests of lazy pools that reach a limit. */
#ifndef LAZY_LIMIT_FIXTURE_H
#define LAZY_LIMIT_FIXTURE_H

#include <unistd.h>
#include "lazy_fixture.h"

/* More than any of these tests takes when no limit is set */
#define SIZE	(32 * CHUNK)
#define LOG	"/tmp/lazy.log"

FIXTURE(lazy_limit)
{
	int unused;
};

FIXTURE_SETUP(lazy_limit)
{
	NEEDS_LAZY();
	if (device_bytes(1, "pool_bytes") < (long)(16 * SIZE))
		SKIP(return, "it takes two larger pools: memcast-vm --pool-mib 8192");
	/* what the test before closed may still be on its way out */
	ASSERT_STREQ("", left_over());
}

FIXTURE_TEARDOWN_PARENT(lazy_limit)
{
	set_limit("lazy_max_mib", 0);
	set_limit("lazy_user_mib", 0);
	unlink(LOG);
	if (!_metadata->aborted) {
		EXPECT_STREQ("", left_over());
		EXPECT_EQ(0, taken_by_all());
	}
}

#endif /* LAZY_LIMIT_FIXTURE_H */
