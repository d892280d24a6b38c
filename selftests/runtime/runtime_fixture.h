/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the runtime. */
#ifndef RUNTIME_FIXTURE_H
#define RUNTIME_FIXTURE_H

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>

#include "memcast_test.h"

#define RUNTIME_FIXTURE(name)		\
FIXTURE(name) { char unused; };		\
FIXTURE_SETUP(name) { }			\
NOTHING_LEFT(name)

#define EXPECT_RT(error, call)	EXPECT_EQ((int)(error), (int)(call))
#define ASSERT_RT(call)		ASSERT_EQ((int)cudaSuccess, (int)(call))

/* Expects that @condition holds in a child of the test. */
#define IN_CHILD(condition)						\
do {									\
	pid_t pid_ = fork();						\
	int status_ = -1;						\
									\
	if (!pid_)							\
		_exit(!(condition));					\
	ASSERT_LT(0, pid_);						\
	ASSERT_EQ(pid_, waitpid(pid_, &status_, 0));			\
	EXPECT_EQ(0, status_);						\
} while (0)

/* A host function that blocks its stream until *@go is set */
TEST_HELPER void wait_for(void *go)
{
	while (!__atomic_load_n((int *)go, __ATOMIC_SEQ_CST))
		sched_yield();
}

TEST_HELPER void let_go(int *go)
{
	__atomic_store_n(go, 1, __ATOMIC_SEQ_CST);
}

#endif /* RUNTIME_FIXTURE_H */
