// SPDX-License-Identifier: MIT
/*
 * memcast-smi as nvidia-smi: its commands, formats and exit statuses, as recorded on hardware, and
 * what public programs read of them. nvml_clients_test.c has those that ask NVML.
 */
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "smi_fixture.h"

#define SMI	"/tmp/nvidia-smi"
#define TEXT	(1 << 18)

/* Return: the output of a command in which nvidia-smi is to be found; its exit status in @status */
static char *said(const char *command, int *status)
{
	static char text[TEXT], line[1 << 15];
	char here[512];
	size_t length;
	FILE *smi;

	snprintf(line, sizeof(line), "%s/memcast-smi", getcwd(here, sizeof(here)));
	unlink(SMI);
	if (symlink(line, SMI))
		return NULL;
	snprintf(line, sizeof(line), "PATH=/tmp:$PATH; %s", command);
	smi = popen(line, "re");
	length = smi ? fread(text, 1, sizeof(text) - 1, smi) : 0;
	text[length] = '\0';
	*status = WEXITSTATUS(pclose(smi));
	unlink(SMI);
	return text;
}

/* Return: how many lines of a text match a pattern */
static unsigned int lines_like(const char *text, const char *pattern)
{
	unsigned int count = 0;
	regmatch_t match;
	regex_t regex;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE))
		return ~0U;
	while (!regexec(&regex, text, 1, &match, 0)) {
		count++;
		text += match.rm_eo;
		text += strcspn(text, "\n");
		if (!*text++)
			break;
	}
	regfree(&regex);
	return count;
}

#define EXPECT_LINES(count, text, pattern)				\
	EXPECT_EQ(count, lines_like(text, pattern))			\
		TH_LOG("%s in: %s", pattern, text)

static int count_devices(void)
{
	int count = 0;

	cuInit(0);
	cuDeviceGetCount(&count);
	return count;
}

static unsigned int count_of(const char *text, const char *word)
{
	unsigned int count = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		count++;
	return count;
}

TEST_F(smi, nvidia_statuses)
{
	static const struct {
		const char *command, *says;
		int status;
	} calls[] = {
		{ "--query-gpu=name,bogus --format=csv",
		  "Field \"bogus\" is not a valid field to query.\n\n", 2 },
		{ "--bogus", "ERROR: Option --bogus is not recognized. "
		  "Please run 'nvidia-smi -h'.\n\n", 255 },
		{ "-i 1 -L", "ERROR: Option -i is not valid for this command. "
		  "Please run 'nvidia-smi -h' for help.\n\n", 2 },
		{ "-i 1999", "No devices were found\n", 6 },
		{ "mig -lgi", "No MIG-enabled devices found.\n", 0 },
		{ "mig -cgi 9", "ERROR: Option -cgi is not recognized. "
		  "Please run 'nvidia-smi -h'.\n\n", 255 },
		{ "--query-accounted-apps=pid --format=csv", "pid\n", 0 },
		{ "--query-remapped-rows=gpu_bus_id,remapped_rows.correctable,remapped_rows.failure,"
		  "remapped_rows.histogram.max --format=csv -i 0 | cut -d, -f 2-",
		  " remapped_rows.correctable, remapped_rows.failure, remapped_rows.histogram.max\n"
		  " 0, No, [N/A]\n", 0 },
		{ "--query-retired-pages=gpu_uuid,retired_pages.cause --format=csv",
		  "gpu_uuid, retired_pages.cause\n", 0 },
		{ "--query-supported-clocks=mem,gr --format=csv", "memory [MHz], graphics [MHz]\n", 0 },
		{ "--query-supported-clocks=pid", "Field \"pid\" is not a valid field to query.\n\n",
		  2 },
		{ "--help-query-retired-pages | grep cause",
		  "\"retired_pages.cause\"\n", 0 },
		{ "pmon -h | grep -o DT", "DT\n", 0 },
		{ "topo -i 0,1 -n 0", "Nearest GPUs argument must be used in conjunction with the "
		  "-i argument which must be a single identifier.\n\n", 2 },
		{ "nvlink -s -l", "ERROR: Option -l is not recognized. "
		  "Please run 'nvidia-smi -h'.\n\n", 255 },
		{ "topo -m -l", "ERROR: Option -l is not recognized. "
		  "Please run 'nvidia-smi -h'.\n\n", 255 },
		{ "-f /no/such/file 2>&1",
		  "nvidia-smi: cannot write /no/such/file: No such file or directory\n", 2 },
		{ "--query-gpu=' index, count' --format=csv -i 0 | head -n 1", "index, count\n", 0 },
		{ "--help-query-accounted-apps | grep max", "\"max_memory_usage\" or \"max_memory\"\n",
		  0 },
		{ "--query-gpu=addressing_mode --format=csv,noheader -i 0", "None\n", 0 },
		{ "--query-gpu=index,count --format=csv,noheader -i 0 | cut -d, -f 1", "0\n", 0 },
	};
	char command[256];
	int status;

	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++) {
		snprintf(command, sizeof(command), "nvidia-smi %s", calls[i].command);
		EXPECT_STREQ(calls[i].says, said(command, &status));
		EXPECT_EQ(calls[i].status, status) TH_LOG("%s", command);
	}
	EXPECT_LINES(1, said("nvidia-smi -pm 1 -i 0", &status), "is not supported for GPU ");
	EXPECT_EQ(3, status);
	said("nvidia-smi -q -d MEMORY,NONE", &status);
	EXPECT_EQ(2, status);
	said("nvidia-smi -h", &status);
	EXPECT_EQ(0, status);
	EXPECT_LINES(1, said("nvidia-smi --version", &status),
		     "^NVML version        : [0-9]+\\.[0-9]+$");
}

TEST_F(smi, nvidia_list_and_table)
{
	unsigned int count = count_devices();
	const char *text;
	int status;

	text = said("nvidia-smi -L", &status);
	EXPECT_LINES(count, text, "^GPU [0-9]+: .+ \\(UUID: GPU-[0-9a-f-]{36}\\)$");
	text = said("./memcast-smi -L", &status);
	EXPECT_LINES(count, text, "^GPU [0-9]+: .+ \\(UUID: GPU-[0-9a-f-]{36}\\)$");
	text = said("nvidia-smi", &status);
	EXPECT_EQ(0, status);
	/* all lines of the table are as wide */
	EXPECT_EQ(count_of(text, "\n") - 2, (unsigned int)lines_like(text, "^[|+].{89}[|+]$"));
	EXPECT_LINES(count, text, "^\\|.*MiB / +[0-9]+MiB \\| +N/A +Default \\|$");
}

/* -f empties a file only if there is something to write. */
TEST_F(smi, nvidia_file)
{
	int status;

	EXPECT_STREQ("No devices were found\nkept\n0\n",
		     said("echo kept >/tmp/smi.out; nvidia-smi -f /tmp/smi.out -i 1999; "
			  "nvidia-smi -f /tmp/smi.out --bogus >/dev/null; cat /tmp/smi.out; "
			  "nvidia-smi -f /tmp/smi.out -i 0 --query-gpu=index "
			  "--format=csv,noheader; cat /tmp/smi.out", &status));
	EXPECT_LINES(1, said("nvidia-smi dmon -c 1 -s m --id=0 -o DT -f /tmp/smi.out; "
			     "cat /tmp/smi.out", &status),
		     "^#Date       Time        gpu     fb   bar1   ccpm $");
	EXPECT_LINES(1, said("cat /tmp/smi.out", &status),
		     "^ [0-9]{8}   [0-9:]{8}      0 +[0-9]+( {6}-){2} $");
	unlink("/tmp/smi.out");
}

TEST_F(smi, nvidia_units)
{
	long total = device_bytes(0, "pool_bytes") >> 20;
	char wanted[256];
	int status;

	snprintf(wanted, sizeof(wanted), "index, memory.total [MiB], temperature.gpu\n"
		 "0, %ld MiB, [N/A]\n", total);
	EXPECT_STREQ(wanted, said("nvidia-smi -i 0 --query-gpu=index,memory.total,temperature.gpu "
				  "--format=csv", &status));
	EXPECT_STREQ(wanted, said("nvidia-smi -i 0 "
				  "--query-gpu=index,memory.total,temperature.gpu", &status));
	snprintf(wanted, sizeof(wanted), "%ld\n", total);
	EXPECT_STREQ(wanted, said("nvidia-smi --id=0 --query-gpu=memory.total "
				  "--format=csv,noheader,nounits", &status));
	snprintf(wanted, sizeof(wanted), "memory.total [MiB]\n%ld\n%ld\n", total, total);
	EXPECT_STREQ(wanted, said("nvidia-smi -i 0 --query-gpu=memory.total -lms 1 "
				  "--format=csv,nounits | head -n 3", &status));
}

/* Checks that elements are closed in the order in which they were opened, up to the last one. */
static bool is_well_formed(const char *text)
{
	char open[16][64];
	int depth = 0, roots = 0;

	for (text = strstr(text, "<nvidia_smi_log>"); text && (text = strchr(text, '<')); text++) {
		size_t length = strcspn(text + 1, " >");
		bool ends = text[1] == '/';

		if (length >= sizeof(open[0]) || depth == 16)
			return false;
		if (!ends) {
			snprintf(open[depth++], sizeof(open[0]), "%.*s", (int)length, text + 1);
			continue;
		}
		if (!depth || strlen(open[depth - 1]) != length - 1 ||
		    strncmp(open[depth - 1], text + 2, length - 1))
			return false;
		roots += !--depth;
	}
	return !depth && roots == 1;
}

TEST_F(smi, nvidia_log)
{
	unsigned int count = count_devices();
	const char *text;
	char line[128];
	int status;

	text = said("nvidia-smi -q", &status);
	EXPECT_EQ(0, status);
	snprintf(line, sizeof(line), "^Attached GPUs {42}: %u$", count);
	EXPECT_LINES(1, text, line);
	EXPECT_LINES(count, text, "^GPU [0-9A-F]{8}:[0-9A-F]{2}:[0-9A-F]{2}\\.0$");
	EXPECT_LINES(count, text, "^    FB Memory Usage$");
	EXPECT_LINES(count, text, "^        State {42}: Completed$");
	EXPECT_LINES(count, text, "^        GPU Current Temp {31}: N/A$");
	EXPECT_LINES(0, text, "Samples");
	text = said("nvidia-smi -q -d MEMORY,PIDS", &status);
	EXPECT_LINES(count, text, "^        Used {43}: [0-9]+ MiB$");
	EXPECT_LINES(count, text, "^    Processes {42}: None$");
	EXPECT_LINES(0, text, "Product Name|Temp");
	text = said("nvidia-smi -q -d UTILIZATION -i 0", &status);
	EXPECT_LINES(6, text, "^    .* Utilization Samples$");
	text = said("nvidia-smi -q -x", &status);
	EXPECT_TRUE(is_well_formed(text));
	EXPECT_LINES(1, text, "^<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v13.dtd\">$");
	EXPECT_LINES(count, text, "^\t<gpu id=\"[0-9A-F]{8}:[0-9A-F]{2}:00\\.0\">$");
	EXPECT_LINES(count, text, "^\t\t\t<pci_domain>[0-9A-F]{4}</pci_domain>$");
	EXPECT_LINES(count, text, "^\t\t\t<total>[0-9]+ MiB</total>$");
	EXPECT_TRUE(is_well_formed(said("nvidia-smi -x -q -i 1 -d ECC,CLOCK", &status)));
}

TEST_F(smi, nvidia_processes)
{
	char line[256];
	const char *text;
	int status;

	cuda_start(0);
	ASSERT_NE(0, new_memory(1, 3 * CHUNK));
	text = said("nvidia-smi --query-compute-apps=pid,name,used_memory,gpu_bus_id --format=csv",
		    &status);
	EXPECT_LINES(1, text, "^pid, process_name, used_gpu_memory \\[MiB\\], gpu_bus_id$");
	snprintf(line, sizeof(line), "^%d, .*smi_nvidia_test.*, 6 MiB, [0-9A-F]{8}:01:00\\.0$",
		 getpid());
	EXPECT_LINES(1, text, line);
	snprintf(line, sizeof(line), "^    1 +%d +C( +-){6}    [^ ]+ *$", getpid());
	EXPECT_LINES(1, said("nvidia-smi pmon -c 1", &status), line);
	snprintf(line, sizeof(line), "^\\|    1   N/A  N/A +%d      C   .* 6MiB \\|$", getpid());
	text = said("nvidia-smi", &status);
	EXPECT_LINES(1, text, line);
	EXPECT_EQ(count_of(text, "\n") - 2, (unsigned int)lines_like(text, "^[|+].{89}[|+]$"));
	snprintf(line, sizeof(line), "^    1 +%d +C      6      -    [^ ]+ *$", getpid());
	text = said("nvidia-smi pmon -s m -c 1", &status);
	EXPECT_LINES(1, text, "^# gpu         pid   type     fb   ccpm    command $");
	EXPECT_LINES(1, text, line);
	snprintf(line, sizeof(line), "^        Process ID {37}: %d$", getpid());
	EXPECT_LINES(1, said("nvidia-smi -q -i 1", &status), line);
	snprintf(line, sizeof(line), "^\t\t\t\t<pid>%d</pid>$", getpid());
	EXPECT_LINES(1, said("nvidia-smi -q -x -i 1", &status), line);
}

/* A program is called as it likes: here, by the beginning of a terminal's command. */
TEST_F(smi, nvidia_process_of_any_name)
{
	char line[256];
	const char *text;
	int status;

	/* U+FFFF is UTF-8, but no character of XML */
	memcpy(program_invocation_name, "\033[\xe4\xef\xbf\xbf", 6);
	cuda_start(0);
	ASSERT_NE(0, new_memory(1, CHUNK));
	snprintf(line, sizeof(line), "^%d, \\?\\[\\?.*a_test", getpid());
	text = said("nvidia-smi --query-compute-apps=pid,name --format=csv", &status);
	EXPECT_LINES(1, text, line);
	text = said("nvidia-smi -q -x -i 1", &status);
	EXPECT_LINES(1, text, "^\t\t\t\t<process_name>\\?\\[\\?.*a_test.*</process_name>$");
	EXPECT_EQ(NULL, strstr(text, "\xef\xbf\xbf"));
}

/* The table shows the end of a long name, pmon what is behind its folder, files all of it. */
TEST_F(smi, nvidia_process_of_a_long_name)
{
	/* on the stack: Linux reads arguments from anonymous memory, where .bss may not be */
	char name[200], line[256];
	int status;

	snprintf(name, sizeof(name), "/%0160d/envs/x/bin/python", 0);
	if (prctl(PR_SET_MM, PR_SET_MM_ARG_START, name, 0, 0) ||
	    prctl(PR_SET_MM, PR_SET_MM_ARG_END, name + strlen(name) + 1, 0, 0))
		SKIP(return, "a kernel without CONFIG_CHECKPOINT_RESTORE");
	cuda_start(0);
	ASSERT_NE(0, new_memory(1, CHUNK));
	EXPECT_LINES(1, said("nvidia-smi", &status),
		     "C   \\.\\.\\.0{15}/envs/x/bin/python      2MiB \\|$");
	snprintf(line, sizeof(line), "^    1 +%d +C( +-){6}    python +$", getpid());
	EXPECT_LINES(1, said("nvidia-smi pmon -c 1", &status), line);
	snprintf(line, sizeof(line), "^%d, %s$", getpid(), name);
	EXPECT_LINES(1, said("nvidia-smi --query-compute-apps=pid,name --format=csv", &status),
		     line);
	snprintf(line, sizeof(line), "^\t\t\t\t<process_name>%s</process_name>$", name);
	EXPECT_LINES(1, said("nvidia-smi -q -x -i 1", &status), line);
}

TEST_F(smi, nvidia_links_and_topology)
{
	unsigned int count = count_devices();
	const char *text;
	int status;

	text = said("nvidia-smi topo -m", &status);
	EXPECT_LINES(1, text, "^\t\033\\[4mGPU0\tGPU1\t.*CPU Affinity\tNUMA Affinity\tGPU NUMA ID"
		     "\033\\[0m$");
	EXPECT_LINES(1, text, "^GPU0\t X \tNV18\t.*[0-9]\t0\t\tN/A$");
	text = said("nvidia-smi topo -p2p r", &status);
	EXPECT_LINES(1, text, "^ GPU1\tOK\tX\t(OK\t)*$");
	EXPECT_LINES(1, said("nvidia-smi topo -p2p p -i 0,1", &status), "^ GPU1\t[A-Z]+\tX\t$");
	text = said("nvidia-smi nvlink -s", &status);
	EXPECT_LINES(18 * count, text, "^\t Link [0-9]+: 26.562 GB/s$");
	EXPECT_LINES(18, said("nvidia-smi nvlink -p -i 0", &status),
		     "^\t Link [0-9]+: FFFFFFFF:FF:FF.0$");
	EXPECT_LINES(6 * 18, said("nvidia-smi nvlink -c -i 0", &status),
		     "^\t Link [0-9]+, .*: (true|false)$");
	text = said("nvidia-smi dmon -c 2 -s um -i 0 | grep -v '#'", &status);
	EXPECT_LINES(2, text, "^    0( {6}-){6} +[0-9]+( {6}-){2} $");
	said("nvidia-smi topo -p2p x", &status);
	EXPECT_EQ(2, status);
}

/* ---- what public programs read */

/*
 * An exporter asks for the names of all fields, and then for all of them: a name is what is in
 * quotes at the beginning of a line of the help.
 */
TEST_F(smi, read_by_an_exporter)
{
	static char names[1 << 14], command[(1 << 14) + 64];
	unsigned int count = 0, commas = 0;
	int status;
	char *text = said("nvidia-smi --help-query-gpu", &status), *line, *rest = text;

	while ((line = strsep(&rest, "\n"))) {
		if (*line != '"')
			continue;
		line[1 + strcspn(line + 1, "\"")] = '\0';
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 count ? "," : "", line + 1);
		count++;
	}
	EXPECT_EQ(214, count);
	snprintf(command, sizeof(command), "nvidia-smi --query-gpu=%s --format=csv -i 0", names);
	text = said(command, &status);
	EXPECT_EQ(0, status);
	EXPECT_EQ(2, count_of(text, "\n"));
	commas = count_of(text, ", ");
	EXPECT_EQ(2 * (count - 1), commas);
	EXPECT_EQ(0, count_of(text, ", ,"));
	EXPECT_LINES(1, text, "^timestamp, driver_version, .*clocks.max.sm \\[MHz\\], .*hostname$");
	EXPECT_LINES(1, text, "^[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9:]{8}\\.[0-9]{3}, [0-9.]+, \\[N/A\\]");
}

/* PyTorch's collect_env searches the table, and leaves the UUIDs out of the list. */
TEST_F(smi, read_by_collect_env)
{
	int status;

	EXPECT_LINES(1, said("nvidia-smi", &status), "Driver Version: ([^ ]*) ");
	EXPECT_LINES(count_devices(), said("nvidia-smi -L | sed 's/ (UUID: .*)//'", &status),
		     "^GPU [0-9]+: [^()]+$");
	EXPECT_LINES(1, said("nvidia-smi --query-gpu=driver_version --format=csv,noheader -i 0",
			     &status), "^[0-9.]+$");
}

/* A script for Slurm's gres.conf: devices by kind and address, and the processors near each */
TEST_F(smi, read_for_gres_conf)
{
	int status;

	EXPECT_LINES(count_devices(),
		     said("nvidia-smi --query-gpu=index,name,pci.bus_id --format=csv,noheader | "
			  "sed 's/, /,/g' | awk -F, '{ gsub(/ /, \"_\", $2); "
			  "print \"Name=gpu Type=\" $2 \" File=/dev/nvidia\" $1, $3 }'", &status),
		     "^Name=gpu Type=[^ ]+ File=/dev/nvidia[0-9]+ [0-9A-F]{8}:[0-9A-F]{2}:00\\.0$");
	EXPECT_LINES(count_devices(),
		     said("nvidia-smi topo -m | awk -F '\\t' '/^GPU[0-9]/ "
			  "{ print \"Cores=\" $(NF - 3) }'", &status), "^Cores=[0-9]+(-[0-9]+)?");
}

TEST_HARNESS_MAIN
