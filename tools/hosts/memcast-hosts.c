// SPDX-License-Identifier: MIT
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uapi/memcast.h>

#include "hosts.h"
#include "shared/options.h"

#define FOLDER	"/dev/memcast-host"

enum { NO_DEVICES = 256, DEVICE_FOLDER, GRACE, ONCE_KEY };

static void vsay(const char *format, va_list args)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, args);
	dprintf(2, "memcast-hosts: %s\n", text);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsay(format, args);
	va_end(args);
}

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsay(format, args);
	va_end(args);
	_exit(STATUS_OURS);
}

static const struct argp_option argp_options[] = {
	{ "each", 'e', NULL, 0, "run COMMAND once per device (unless another way is named)", 0 },
	{ "per-host", 'p', NULL, 0, "run it once per host", 0 },
	{ "once", ONCE_KEY, NULL, 0,
	  "run it once, on host0, from where it starts others: mpirun", 0 },
	{ "hosts", 'n', "N", 0, "of the hosts that there are, the first N (all)", 0 },
	{ "ranks", 'r', "N", 0, "with --each: N on each host (one per device of it)", 0 },
	{ "label", 'l', NULL, 0, "lines of output have the rank in front", 0 },
	{ "port", 'P', "NUMBER", 0, "MASTER_PORT (29500)", 0 },
	{ "grace", GRACE, "SECONDS", 0,
	  "from SIGTERM to SIGKILL, when all are to end (5)", 0 },
	{ "no-devices", NO_DEVICES, NULL, 0,
	  "hosts without devices, where memcast.ko is not loaded: --hosts and --ranks say how "
	  "many", 0 },
	{ "device-folder", DEVICE_FOLDER, "DIR", 0,
	  "where the files of the hosts' devices are (" FOLDER ")", 0 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct settings *settings = state->input;

	switch (key) {
	case 'e':
		settings->way = EACH;
		break;
	case 'p':
		settings->way = PER_HOST;
		break;
	case ONCE_KEY:
		settings->way = ONCE;
		break;
	case 'n':
		settings->hosts = (unsigned int)range_option(state, arg, 1, HOSTS_MAX);
		break;
	case 'r':
		settings->ranks_each = (unsigned int)range_option(state, arg, 1, 4096);
		break;
	case 'l':
		settings->label = true;
		break;
	case 'P':
		settings->port = (unsigned int)range_option(state, arg, 1, 65535);
		break;
	case GRACE:
		settings->grace = (unsigned int)range_option(state, arg, 0, 86400);
		break;
	case NO_DEVICES:
		settings->folder = NULL;
		break;
	case DEVICE_FOLDER:
		settings->folder = arg;
		break;
	case ARGP_KEY_ARGS:
		settings->argv = state->argv + state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Return: the number of devices that a client of that device file sees */
static unsigned int count_devices(const char *path)
{
	struct memcast_system_info info = { .header.size = sizeof(info) };
	int fd;

	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, MEMCAST_SYSTEM_INFO, &info))
		die("cannot ask %s: %s", path, strerror(errno));
	close(fd);
	return info.out_devices;
}

static unsigned int count_hosts(const char *folder)
{
	unsigned int count = 0;
	char path[4096];

	for (;; count++) {
		snprintf(path, sizeof(path), "%s/%u", folder, count);
		if (count == HOSTS_MAX || access(path, F_OK))
			return count;
	}
}

static void find_hosts(struct settings *settings)
{
	unsigned int there;
	char path[4096];

	if (!settings->folder) {
		if (!settings->hosts)
			die("--no-devices: --hosts says how many hosts there are");
		settings->ranks_each = settings->ranks_each ?: 1;
		return;
	}
	there = count_hosts(settings->folder);
	/* Without the module's parameter hosts=, the machine is the only host. */
	if (!there && settings->hosts == 1 && !access("/dev/memcast", F_OK)) {
		settings->devices[0] = count_devices("/dev/memcast");
		settings->folder = NULL;
		return;
	}
	if (!there)
		die("there is no %s/0: memcast.ko's parameter hosts= makes hosts, and memcast-vm "
		    "--hosts a machine with them; --hosts 1 makes do with the machine's devices, "
		    "--no-devices with none", settings->folder);
	if (settings->hosts > there)
		die("--hosts %u: there are %u", settings->hosts, there);
	settings->hosts = settings->hosts ?: there;
	for (unsigned int i = 0; i < settings->hosts; i++) {
		snprintf(path, sizeof(path), "%s/%u", settings->folder, i);
		settings->devices[i] = count_devices(path);
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_option,
		.args_doc = "COMMAND [ARGUMENT...]\nexec HOST COMMAND [ARGUMENT...]\n"
			    "agent HOST COMMAND...",
		.doc = "Runs a program on the emulated hosts of this machine, once per device or "
		       "once per host. Each host has a network, processes, names and a "
		       "/dev/memcast of its own, where it finds its devices as 0 and up; all have "
		       "the machine's other files. They reach each other as host0, host1 and so "
		       "on, and end with this program."
		       "\vA rank is told who it is as by torchrun, Open MPI's mpirun and MPICH's: "
		       "RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, GROUP_RANK, "
		       "GROUP_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, OMPI_COMM_WORLD_RANK, "
		       "OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_RANK, "
		       "OMPI_COMM_WORLD_LOCAL_SIZE, PMI_RANK, PMI_SIZE. "
		       "Rank 0 has the input, the others have none. The first that fails is named, "
		       "and the others are ended. SIGINT goes to all ranks, and the second one "
		       "ends all; so does SIGTERM.\n\n"
		       "`exec' runs a program in a host while others run there, from outside or "
		       "from another host; it has the folder, environment, input and output of who "
		       "calls. `agent' does that with words for a shell, as ssh has them: for "
		       "mpirun it is the launch agent, which --once tells it by itself.\n\n"
		       "It takes root, or a kernel that lets users make namespaces; and the "
		       "modules veth and bridge.\n\n"
		       "Exit status: that of the first rank that failed, or 128 and the number of "
		       "the signal that ended it; 125 if the hosts could not be started.",
	};
	static struct settings settings = { .folder = FOLDER, .port = 29500, .grace = 5 };
	int listener;

	argp_err_exit_status = STATUS_OURS;
	argp_program_version = TOOLS_VERSION("memcast-hosts");
	if (argc > 1 && !strcmp(argv[1], "exec"))
		return client_exec(argc - 2, argv + 2);
	if (argc > 1 && !strcmp(argv[1], "agent"))
		return client_agent(argc - 2, argv + 2);
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &settings);
	if (settings.ranks_each && settings.way != EACH)
		die("--ranks goes with --each");
	find_hosts(&settings);
	if (!ranks_count(&settings))
		die("these hosts have no devices: there is nothing to run with --each");
	settings.self = realpath("/proc/self/exe", NULL);
	if (!settings.self)
		die("/proc is needed");
	sigprocmask(SIG_SETMASK, NULL, &settings.mask);
	getrlimit(RLIMIT_NOFILE, &settings.files);
	signal(SIGPIPE, SIG_IGN);
	/* Listen before entering new namespaces, as clients outside look for the socket here. */
	listener = serve_listen(getpid());
	namespace_enter(&settings);
	serve(&settings, listener, false);
	return launch(&settings);
}
