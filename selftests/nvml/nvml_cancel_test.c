// SPDX-License-Identifier: MIT
/* A thread that is canceled in a call of NVML ends after the call, and leaves no file open. */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "log_lines.h"
#include "nvml_fixture.h"

/* Each function makes some calls. Return: did they answer as they should? */

static bool ask_without_init(void)
{
	unsigned int count;
	char version[80];
	int cuda;

	return nvmlSystemGetNVMLVersion(version, sizeof(version)) == NVML_SUCCESS &&
	       nvmlSystemGetNVMLVersion(NULL, 0) == NVML_ERROR_INVALID_ARGUMENT &&
	       nvmlSystemGetCudaDriverVersion(&cuda) == NVML_SUCCESS &&
	       nvmlSystemGetCudaDriverVersion(NULL) == NVML_ERROR_INVALID_ARGUMENT &&
	       nvmlGetExcludedDeviceCount(&count) == NVML_SUCCESS &&
	       nvmlGetExcludedDeviceCount(NULL) == NVML_ERROR_INVALID_ARGUMENT;
}

static bool initialise(void)
{
	return nvmlInitWithFlags(4) == NVML_ERROR_INVALID_ARGUMENT &&
	       nvmlInit_v2() == NVML_SUCCESS && nvmlShutdown() == NVML_SUCCESS;
}

static bool ask_for_what_is_not_there(void)
{
	/* nvml.h declares no function that memcast does not support */
	nvmlReturn_t (*absent)(void) = dlsym(RTLD_DEFAULT, "nvmlUnitGetHandleByIndex");

	return absent && absent() == NVML_ERROR_NOT_SUPPORTED &&
	       nvmlDeviceGetCount(NULL) == NVML_ERROR_INVALID_ARGUMENT;
}

static bool ask_devices(void)
{
	char name[96], uuid[96];
	nvmlMemory_t memory;
	nvmlDevice_t device;
	unsigned int count;

	return nvmlDeviceGetCount(&count) == NVML_SUCCESS &&
	       nvmlDeviceGetHandleByIndex(count, &device) == NVML_ERROR_INVALID_ARGUMENT &&
	       nvmlDeviceGetHandleByIndex(0, &device) == NVML_SUCCESS &&
	       nvmlDeviceGetName(device, name, sizeof(name)) == NVML_SUCCESS &&
	       nvmlDeviceGetUUID(device, uuid, sizeof(uuid)) == NVML_SUCCESS &&
	       nvmlDeviceGetMemoryInfo(device, &memory) == NVML_SUCCESS &&
	       nvmlSystemGetProcessName(getpid(), name, sizeof(name)) == NVML_SUCCESS;
}

static bool (*const rounds[])(void) = {
	ask_without_init, initialise, ask_for_what_is_not_there, ask_devices,
};

struct looper {
	bool (*round)(void);
	enum { ENDED_IN_A_CALL, FAILED, DONE } end;
};

static void *go_cancelled(void *data)
{
	struct looper *looper = data;

	pthread_cancel(pthread_self());
	looper->end = looper->round() ? DONE : FAILED;
	pthread_testcancel();
	return NULL;
}

static unsigned int open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned int count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

TEST_F(nvml, cancelled_in_no_call)
{
	char path[] = "/tmp/nvml_cancel_XXXXXX", text[8192];
	int log = mkstemp(path);
	unsigned int before;
	pthread_t thread;
	void *result;

	ASSERT_LE(0, log);
	close(log);
	ASSERT_EQ(0, setenv("CUDA_LOG_FILE", path, 1));
	before = open_files();
	for (unsigned int i = 0; i < ARRAY_SIZE(rounds); i++) {
		struct looper looper = { .round = rounds[i] };

		ASSERT_EQ(0, pthread_create(&thread, NULL, go_cancelled, &looper));
		ASSERT_EQ(0, pthread_join(thread, &result));
		EXPECT_EQ(PTHREAD_CANCELED, result);
		EXPECT_EQ(DONE, looper.end)
			TH_LOG("round %u: %s", i, looper.end == FAILED ?
			       "a call's answer is wrong" : "the thread ended in a call");
	}
	EXPECT_EQ(before, open_files());
	/* one line for each call that failed */
	read_file(text, sizeof(text), path);
	EXPECT_EQ(7, count_lines(text))
		TH_LOG("%s", text);
	unlink(path);
}

TEST_HARNESS_MAIN
