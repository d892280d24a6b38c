// SPDX-License-Identifier: MIT
/* Events that several processes share. */
#include <signal.h>
#include <time.h>
#include "memcast_test.h"
#include "reason.h"

#define FLAGS	(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING)
#define NOBODY	65534

/* Shared by all processes of a test */
FIXTURE(ipc_event)
{
	CUipcEventHandle handle;
};

FIXTURE_SETUP(ipc_event) { }
NOTHING_LEFT(ipc_event)

enum asked { RECORD, OPEN_GATE, CLOSE_GATE, DESTROY, AGAIN, END };

/* A process with an event, and a stream that waits at a gate; it does what its link says. */
static pid_t exporter(struct __test_metadata *_metadata, CUipcEventHandle *handle, int *link)
{
	pid_t pid = peer_fork(link);
	CUdeviceptr gate;
	CUstream stream;
	CUevent event;

	if (pid) {
		receive_number(*link);
		return pid;
	}
	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&gate, 4));
	ASSERT_OK(cuMemsetD32(gate, 0, 1));
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuEventCreate(&event, FLAGS));
	ASSERT_OK(cuIpcGetEventHandle(handle, event));
	send_number(*link, 0);
	for (;;) {
		long what = receive_number(*link);

		if (what == CLOSE_GATE) {
			*(volatile uint32_t *)gate = 0;
			ASSERT_OK(cuStreamWaitValue32(stream, gate, 1, 0));
		} else if (what == OPEN_GATE) {
			*(volatile uint32_t *)gate = 1;
			ASSERT_OK(cuStreamSynchronize(stream));
		} else if (what == RECORD) {
			ASSERT_OK(cuEventRecord(event, stream));
		} else if (what == DESTROY) {
			ASSERT_OK(cuEventDestroy(event));
		} else if (what == AGAIN) {
			ASSERT_OK(cuEventCreate(&event, FLAGS));
			ASSERT_OK(cuIpcGetEventHandle(handle, event));
		} else {
			_exit(_metadata->exit_code);
		}
		send_number(*link, 0);
	}
}

#define DO(what)	do { send_number(link, what); receive_number(link); } while (0)

TEST_F(ipc_event, of_two_processes)
{
	CUevent event, twice;
	CUstream stream;
	int link;
	pid_t pid = exporter(_metadata, &self->handle, &link);

	cuda_start(1);
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuIpcOpenEventHandle(&event, self->handle));
	ASSERT_OK(cuIpcOpenEventHandle(&twice, self->handle));
	EXPECT_NE(event, twice);
	EXPECT_OK(cuEventQuery(event));
	EXPECT_OK(cuEventSynchronize(event));
	DO(CLOSE_GATE);
	DO(RECORD);
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(event));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(twice));
	EXPECT_OK(cuStreamWaitEvent(stream, event, 0));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
	DO(OPEN_GATE);
	EXPECT_OK(cuStreamSynchronize(stream));
	EXPECT_OK(cuEventSynchronize(event));
	EXPECT_OK(cuEventQuery(twice));

	/* the last record counts, whichever process made it */
	DO(CLOSE_GATE);
	DO(RECORD);
	EXPECT_OK(cuEventRecord(event, stream));
	EXPECT_OK(cuEventSynchronize(twice));
	DO(OPEN_GATE);

	/* the exporter destroys the event; the importer still uses it */
	DO(DESTROY);
	EXPECT_OK(cuEventRecord(event, stream));
	EXPECT_OK(cuEventSynchronize(event));
	EXPECT_OK(cuEventDestroy(event));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuIpcOpenEventHandle(&event, self->handle));
	EXPECT_OK(cuEventDestroy(twice));
	DO(AGAIN);
	EXPECT_OK(cuIpcOpenEventHandle(&event, self->handle));
	EXPECT_OK(cuEventDestroy(event));
	send_number(link, END);
	EXPECT_EQ(0, reap_child(pid));
}

/* Other processes see a whole record or none, wherever its maker is stopped or killed. */
TEST_F(ipc_event, stopped_while_it_records)
{
	unsigned int i, times = loops(200);
	CUstream stream;
	CUevent event;
	int link, status;
	pid_t pid = peer_fork(&link);

	if (!pid) {
		cuda_start(0);
		ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
		ASSERT_OK(cuEventCreate(&event, FLAGS));
		ASSERT_OK(cuIpcGetEventHandle(&self->handle, event));
		send_number(link, 0);
		while (cuEventRecord(event, stream) == CUDA_SUCCESS)
			;
		_exit(1);
	}
	receive_number(link);
	cuda_start(1);
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuIpcOpenEventHandle(&event, self->handle));
	for (i = 0; i < times; i++) {
		ASSERT_EQ(0, kill(pid, SIGSTOP));
		ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
		ASSERT_TRUE(WIFSTOPPED(status));
		ASSERT_OK(cuEventQuery(event))
			TH_LOG("stop %u", i);
		ASSERT_OK(cuEventRecord(event, stream));
		ASSERT_OK(cuEventQuery(event));
		ASSERT_EQ(0, kill(pid, SIGCONT));
		usleep(500);
	}
	ASSERT_EQ(0, kill(pid, SIGKILL));
	reap_child(pid);
	EXPECT_OK(cuEventQuery(event));
	EXPECT_OK(cuEventSynchronize(event));
	EXPECT_OK(cuEventRecord(event, stream));
}

/* 52 openings may have a record in an event at a time; one that ends makes room. */
TEST_F(ipc_event, as_many_as_can_record)
{
	CUevent event[53];
	CUstream stream;
	unsigned int i;
	int link;
	pid_t pid = exporter(_metadata, &self->handle, &link);

	cuda_start(0);
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (i = 0; i < 53; i++)
		ASSERT_OK(cuIpcOpenEventHandle(&event[i], self->handle));
	DO(RECORD);
	for (i = 0; i < 51; i++)
		ASSERT_OK(cuEventRecord(event[i], stream));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuEventRecord(event[51], stream));
	EXPECT_OK(cuEventQuery(event[51]));
	EXPECT_OK(cuEventDestroy(event[0]));
	EXPECT_OK(cuEventRecord(event[51], stream));
	EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuEventRecord(event[52], stream));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	reap_child(pid);
	EXPECT_OK(cuEventRecord(event[52], stream));
	EXPECT_OK(cuEventSynchronize(event[1]));
}

/* After a process is killed, no other waits for it, and none loses its event. */
TEST_F(ipc_event, killed)
{
	CUstream stream;
	CUevent event;
	int link;
	pid_t pid = exporter(_metadata, &self->handle, &link);

	cuda_start(0);
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuIpcOpenEventHandle(&event, self->handle));
	DO(CLOSE_GATE);
	DO(RECORD);
	ASSERT_OK(cuStreamWaitEvent(stream, event, 0));
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(event));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	EXPECT_OK(cuEventSynchronize(event));
	EXPECT_OK(cuStreamSynchronize(stream));
	reap_child(pid);
	EXPECT_OK(cuEventQuery(event));
	EXPECT_OK(cuEventRecord(event, stream));
	EXPECT_OK(cuEventSynchronize(event));
	EXPECT_OK(cuEventDestroy(event));
	EXPECT_CU(CUDA_ERROR_MAP_FAILED, cuIpcOpenEventHandle(&event, self->handle));
}

TEST_F(ipc_event, device_attribute)
{
	int value = -1;

	ASSERT_OK(cuInit(0));
	EXPECT_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 1));
	EXPECT_EQ(1, value);
}

TEST_F(ipc_event, arguments)
{
	CUipcEventHandle handle, same, zero = {};
	CUevent event, plain, opened = (void *)77;
	CUstream stream;
	CUgraph graph;
	float time;
	int link;
	pid_t pid = exporter(_metadata, &self->handle, &link);

	EXPECT_REASON(cuIpcGetEventHandle(NULL, NULL), "NULL handle");
	EXPECT_CU(CUDA_ERROR_NOT_INITIALIZED, cuIpcOpenEventHandle(&opened, self->handle));
	ASSERT_OK(cuInit(0));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenEventHandle(&opened, self->handle));
	cuda_start(0);
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	EXPECT_REASON(cuEventCreate(&event, CU_EVENT_INTERPROCESS),
		      "INTERPROCESS needs DISABLE_TIMING");
	ASSERT_OK(cuEventCreate(&event, FLAGS | CU_EVENT_BLOCKING_SYNC));
	ASSERT_OK(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&handle, plain));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&handle, (CUevent)0x1234567));
	ASSERT_OK(cuIpcGetEventHandle(&handle, event));
	ASSERT_OK(cuIpcGetEventHandle(&same, event));
	EXPECT_EQ(0, memcmp(&handle, &same, sizeof(handle)));
	EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenEventHandle(&opened, handle));
	EXPECT_CU(CUDA_ERROR_MAP_FAILED, cuIpcOpenEventHandle(&opened, zero));
	for (unsigned int i = 0; i < 24; i++) {
		handle = self->handle;
		handle.reserved[i] ^= 1 << i % 8;
		EXPECT_CU(CUDA_ERROR_MAP_FAILED, cuIpcOpenEventHandle(&opened, handle));
	}
	memset(handle.reserved + 24, 0xff, 4);
	EXPECT_CU(CUDA_ERROR_MAP_FAILED, cuIpcOpenEventHandle(&opened, handle));
	EXPECT_REASON(cuIpcOpenEventHandle(NULL, self->handle), "NULL output");
	EXPECT_EQ((void *)77, opened);
	ASSERT_OK(cuIpcOpenEventHandle(&opened, self->handle));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&handle, opened));
	EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&time, opened, opened));

	/* the capture goes on without the refused calls */
	ASSERT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuEventRecord(event, stream));
	EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamWaitEvent(stream, opened, 0));
	EXPECT_OK(cuStreamEndCapture(stream, &graph));
	send_number(link, END);
	EXPECT_EQ(0, reap_child(pid));
}

TEST_F(ipc_event, other_user)
{
	CUevent event;
	int link;
	pid_t pid = exporter(_metadata, &self->handle, &link);

	if (geteuid())
		SKIP(return, "only root becomes another user");
	ASSERT_EQ(0, setresuid(NOBODY, NOBODY, NOBODY));
	cuda_start(0);
	EXPECT_CU(CUDA_ERROR_MAP_FAILED, cuIpcOpenEventHandle(&event, self->handle));
	send_number(link, END);
	EXPECT_EQ(0, reap_child(pid));
}

/* A process that has changed its user finds that one still alive whose event it has opened. */
TEST_F(ipc_event, after_a_change_of_user)
{
	CUevent event;
	int link;
	pid_t pid = exporter(_metadata, &self->handle, &link);

	if (geteuid())
		SKIP(return, "only root becomes another user");
	cuda_start(0);
	ASSERT_OK(cuIpcOpenEventHandle(&event, self->handle));
	ASSERT_EQ(0, setresuid(NOBODY, NOBODY, NOBODY));
	DO(CLOSE_GATE);
	DO(RECORD);
	EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(event));
	DO(OPEN_GATE);
	EXPECT_OK(cuEventSynchronize(event));
	send_number(link, END);
	EXPECT_EQ(0, reap_child(pid));
}

/*
 * A wait is for the record that was the last one at that time, however many follow. There is room
 * for 80 records that have not happened; one more is refused, and changes nothing.
 */
TEST_F(ipc_event, records_ahead)
{
	CUstream stream, waits;
	CUdeviceptr gate;
	CUevent event;

	cuda_start(0);
	ASSERT_OK(cuMemAlloc(&gate, 4));
	ASSERT_OK(cuMemsetD32(gate, 0, 1));
	ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuStreamCreate(&waits, CU_STREAM_NON_BLOCKING));
	ASSERT_OK(cuEventCreate(&event, FLAGS));
	for (unsigned int round = 0; round < 2; round++) {
		*(volatile uint32_t *)gate = 0;
		ASSERT_OK(cuStreamWaitValue32(stream, gate, 1, 0));
		ASSERT_OK(cuEventRecord(event, stream));
		ASSERT_OK(cuStreamWaitEvent(waits, event, 0));
		for (unsigned int i = 1; i < 80; i++)
			ASSERT_OK(cuEventRecord(event, stream));
		EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuEventRecord(event, stream));
		EXPECT_CU(CUDA_ERROR_NOT_READY, cuEventQuery(event));
		EXPECT_CU(CUDA_ERROR_NOT_READY, cuStreamQuery(waits));
		*(volatile uint32_t *)gate = 1;
		ASSERT_OK(cuStreamSynchronize(waits));
		ASSERT_OK(cuStreamSynchronize(stream));
		EXPECT_OK(cuEventQuery(event));
	}
	EXPECT_OK(cuEventDestroy(event));
	EXPECT_OK(cuStreamDestroy(stream));
	EXPECT_OK(cuStreamDestroy(waits));
	EXPECT_OK(cuMemFree(gate));
}

/* Places of events are used again once no process has the event. */
TEST_F(ipc_event, many)
{
	enum { MOST = 1024 };
	static CUevent events[MOST];
	CUevent more;

	cuda_start(0);
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < MOST; i++)
			ASSERT_OK(cuEventCreate(&events[i], FLAGS));
		EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY, cuEventCreate(&more, FLAGS));
		for (unsigned int i = 0; i < MOST; i++)
			ASSERT_OK(cuEventDestroy(events[i]));
	}
}

TEST_HARNESS_MAIN
