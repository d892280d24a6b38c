// SPDX-License-Identifier: MIT
/*
 * Streams that wait for words which nobody writes: the log says so after some seconds, and the
 * streams look so seldom that memcast-vm sees a program which does not get on.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "stream_fixture.h"

static char lines[8192];
static atomic_uint noticed;

static void CUDA_CB keep(void *data, CUlogLevel level, char *line, size_t length)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	(void)data;
	(void)level;
	if (!strstr(line, " has waited "))
		return;
	pthread_mutex_lock(&lock);
	snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines), "%.*s\n", (int)length,
		 line);
	pthread_mutex_unlock(&lock);
	noticed++;
}

/* Return: how often the streams' threads of this process have slept so far. */
static unsigned long sleeps_of_streams(unsigned int *threads)
{
	unsigned long sum = 0, count;
	DIR *dir = opendir("/proc/self/task");
	char path[300], line[128];
	struct dirent *entry;

	*threads = 0;
	while (dir && (entry = readdir(dir))) {
		bool stream = false;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file)) {
			stream |= !strcmp(line, "Name:\tmemcast-stream\n");
			if (!stream || sscanf(line, "voluntary_ctxt_switches: %lu", &count) != 1)
				continue;
			sum += count;
			++*threads;
		}
		if (file)
			fclose(file);
	}
	if (dir)
		closedir(dir);
	return sum;
}

/* Is there a line with this stream, and the words after it? */
static bool said(CUstream stream, CUdeviceptr at, const char *words)
{
	char start[64], *line;

	snprintf(start, sizeof(start), "stream %p has waited ", (void *)stream);
	line = strstr(lines, start);
	if (!line)
		return false;
	line += strlen(start);
	line += strspn(line, "0123456789.");
	snprintf(start, sizeof(start), " s for the word at %#llx, ", at);
	return !strncmp(line, start, strlen(start)) &&
	       !strncmp(line + strlen(start), words, strlen(words));
}

TEST_F(stream, long_waits_are_said)
{
	CUgraphNodeParams wait = { .type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP };
	CUstreamBatchMemOpParams operation = { .waitValue = {
		.operation = CU_STREAM_MEM_OP_WAIT_VALUE_64, .value64 = 5,
		.flags = CU_STREAM_WAIT_VALUE_GEQ,
	} };
	CUmemGenericAllocationHandle team = complete_team(2, CHUNK);
	volatile uint32_t *window;
	CUdeviceptr block;
	CUcontext context;
	CUgraph graph;
	CUgraphExec instance;
	CUgraphNode node;
	CUlogsCallbackHandle handle;
	CUstream fourth;
	unsigned int threads;
	uint32_t *host;

	ASSERT_OK(cuLogsRegisterCallback(keep, NULL, &handle));
	ASSERT_OK(cuStreamCreate(&fourth, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuMemAlloc(&block, 64));
	ASSERT_OK(cuMemsetD32(block, 0, 16));
	ASSERT_OK(cuMemHostAlloc((void **)&host, 4096, 0));
	*host = 2;
	ASSERT_OK(cuMulticastBindMem(team, 0, new_memory(0, CHUNK), 0, CHUNK, 0));
	window = mapped(team, CHUNK, 0);

	self->at[4] = 7;
	ASSERT_OK(cuStreamWaitValue32(self->first, AT(4), 9, CU_STREAM_WAIT_VALUE_EQ));
	ASSERT_OK(cuStreamWaitValue32(self->second, ADDRESS(host), 1, CU_STREAM_WAIT_VALUE_AND));
	ASSERT_OK(cuStreamWaitValue32(self->free, ADDRESS(window), 1, CU_STREAM_WAIT_VALUE_GEQ));
	/* a graph's wait */
	ASSERT_OK(cuCtxGetCurrent(&context));
	operation.waitValue.address = block;
	wait.memOp.ctx = context;
	wait.memOp.count = 1;
	wait.memOp.paramArray = &operation;
	ASSERT_OK(cuGraphCreate(&graph, 0));
	ASSERT_OK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &wait));
	ASSERT_OK(cuGraphInstantiate(&instance, graph, 0));
	ASSERT_OK(cuGraphLaunch(instance, fourth));

	while (noticed < 4)
		usleep(20000);
	EXPECT_TRUE(said(self->first, AT(4), "on device 0, in memory "));
	EXPECT_NE(NULL, strstr(lines, ": it is 0x7, and the wait is for == 0x9 (cuStreamWaitValue32)"));
	EXPECT_TRUE(said(self->second, ADDRESS(host), "in this process's host memory: it is 0x2, "
			 "and the wait is for & (a bit of) 0x1 (cuStreamWaitValue32)"));
	EXPECT_TRUE(said(self->free, ADDRESS(window), "in the window of team "));
	EXPECT_TRUE(said(fourth, block, "in this process's memory on device 0: it is 0, "
			 "and the wait is for >= 0x5 (cuStreamWaitValue64)"))
		TH_LOG("%s", lines);
	/*
	 * Five seconds of looks, each a millisecond after the last, would be 5,000 for each stream:
	 * a tenth of a processor. A busy machine makes them fewer.
	 */
	EXPECT_GT(800, sleeps_of_streams(&threads) / 4);
	EXPECT_LE(4, threads);

	/* the streams go on as soon as the words are written */
	self->at[4] = 9;
	*host = 3;
	*window = 1;
	ASSERT_OK(cuMemsetD32(block, 6, 1));
	EXPECT_OK(cuStreamSynchronize(self->first));
	EXPECT_OK(cuStreamSynchronize(self->second));
	EXPECT_OK(cuStreamSynchronize(self->free));
	EXPECT_OK(cuStreamSynchronize(fourth));
	EXPECT_EQ(4, noticed);
	ASSERT_OK(cuLogsUnregisterCallback(handle));
}

TEST_HARNESS_MAIN
