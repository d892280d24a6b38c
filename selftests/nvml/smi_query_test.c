// SPDX-License-Identifier: MIT
/* Queries by options of memcast-smi, and texts of all kinds in its output. */
#include <sys/prctl.h>
#include <sys/wait.h>
#include "smi_fixture.h"

/* Return: the output of memcast-smi with these options; its exit status is in @status */
static const char *said(const char *options, int *status)
{
	static char text[1 << 14];
	char command[256];
	size_t length;
	FILE *smi;

	snprintf(command, sizeof(command), "./memcast-smi %s 2>/dev/null", options);
	smi = popen(command, "re");
	length = smi ? fread(text, 1, sizeof(text) - 1, smi) : 0;
	text[length] = '\0';
	*status = WEXITSTATUS(pclose(smi));
	return text;
}

/* Scripts ask nvidia-smi in this form. */
TEST_F(smi, query_device)
{
	char wanted[512];
	long total = device_bytes(1, "pool_bytes") >> 20;
	int status;

	cuda_start(0);
	ASSERT_NE(0, new_memory(1, 2 * CHUNK));
	snprintf(wanted, sizeof(wanted), "index, memory.total [MiB], memory.used [MiB], processes\n"
		 "1, %ld MiB, 4 MiB, 1\n", total);
	EXPECT_STREQ(wanted, said("--query-device=index,memory.total,memory.used,processes "
				  "--format=csv -i 1", &status));
	EXPECT_EQ(0, status);
	snprintf(wanted, sizeof(wanted), "1, %ld, 4\n", total);
	EXPECT_STREQ(wanted, said("--query-gpu=index,memory.total,memory.used "
				  "--format=csv,noheader,nounits -i 1", &status));
	EXPECT_NE(NULL, strstr(said("-q -i 1", &status), "MiB\n    Process "));
	EXPECT_EQ(0, status);
}

TEST_F(smi, chosen_devices)
{
	CUmemGenericAllocationHandle team;
	struct json_object *all;
	const char *text;
	int status;

	cuda_start(0);
	team = new_team(3, CHUNK);
	ASSERT_OK(cuMulticastAddDevice(team, 0));
	text = said("--json -i 1", &status);
	all = parse(text, strlen(text), 0);
	ASSERT_NE(NULL, all);
	EXPECT_EQ(1, json_object_array_length(part(all, "devices")));
	EXPECT_EQ(1, number(json_object_array_get_idx(part(all, "devices"), 0), "device"));
	EXPECT_STREQ("[]", text_of(part(all, "teams")));
	EXPECT_LT(1, number(all, "count"));
	json_object_put(all);
	text = said("--json -i 1,0", &status);
	all = parse(text, strlen(text), 0);
	EXPECT_EQ(1, json_object_array_length(part(all, "teams")));
	json_object_put(all);
	text = said("--json -i 0,0", &status);
	all = parse(text, strlen(text), 0);
	EXPECT_EQ(1, json_object_array_length(part(all, "devices")));
	json_object_put(all);
	said("-i 0,77", &status);
	EXPECT_EQ(6, status);
	said("--query-device=none --format=csv", &status);
	EXPECT_EQ(2, status);
	said("--query-device=index", &status);
	EXPECT_EQ(2, status);
	said("--query-device=index --format=xml", &status);
	EXPECT_EQ(2, status);
}

TEST_F(smi, looks_again)
{
	int status;

	EXPECT_STREQ("index\n0\n0\n",
		     said("-l 1 -i 0 --query-device=index --format=csv | head -n 3", &status));
}

/* A name of 15 bytes can have a newline, a cut character, a surrogate, and quotes. */
TEST_F(smi, names_of_any_bytes)
{
	struct json_object *all, *one;
	int link, fd;
	long ready;
	pid_t pid = peer_fork(&link);

	if (!pid) {
		ASSERT_EQ(0, prctl(PR_SET_NAME, "\xff\"\n\xc3\xa4\xed\xa0\x80)\xf4\x90 \xe2\x82"));
		cuda_start(0);
		ASSERT_EQ(0, peer_send(link, 0, -1));
		peer_receive(link, &ready, &fd);
		exit(0);
	}
	ASSERT_EQ(0, peer_receive(link, &ready, &fd));
	all = end_smi(start_smi());
	ASSERT_NE(NULL, all);
	one = find(part(all, "processes"), "pid", pid);
	ASSERT_NE(NULL, one);
	EXPECT_STREQ("\ufffd\"\n\u00e4\ufffd\ufffd\ufffd)\ufffd\ufffd \ufffd\ufffd",
		     json_object_get_string(part(one, "name")));
	json_object_put(all);
	peer_close(link);
	EXPECT_EQ(pid, waitpid(pid, NULL, 0));
}

/* Neither what a program nor what a profile is called is for the terminal to obey. */
TEST_F(smi, names_on_the_terminal)
{
	int status;

	ASSERT_EQ(0, prctl(PR_SET_NAME, "\033[2J\xc2\x9bname"));
	cuda_start(0);
	ASSERT_NE(0, new_memory(1, CHUNK));
	EXPECT_NE(NULL, strstr(said("-q -i 1", &status), ": ?[2J??name, 2 MiB\n"));
	EXPECT_NE(NULL, strstr(said("pool -i 1", &status), " ?[2J??name\n"));
}

TEST_F(smi, device_name_of_any_bytes)
{
	const char *path = "/tmp/memcast-smi-odd.profile";
	FILE *file = fopen(path, "we");
	struct json_object *all, *one;

	ASSERT_NE(NULL, file);
	fputs("BASE = h100\nNAME = H\xe4\n", file);
	ASSERT_EQ(0, fclose(file));
	setenv("MEMCAST_PROFILE", path, 1);
	all = end_smi(start_smi());
	unsetenv("MEMCAST_PROFILE");
	unlink(path);
	ASSERT_NE(NULL, all);
	one = find(part(all, "devices"), "device", 0);
	EXPECT_STREQ("H\ufffd", json_object_get_string(part(one, "name")));
	json_object_put(all);
}

TEST_HARNESS_MAIN
