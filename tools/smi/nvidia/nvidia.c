// SPDX-License-Identifier: MIT
/* The options and commands of nvidia-smi: nvidia.h */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "nvidia.h"

enum key {
	HELP, VERSION, LIST, ID, FILENAME, LOOP, LOOP_MS, LOG, XML, DTD, DISPLAY, QUERY_GPU,
	QUERY_OTHERS, FORMAT, HELP_QUERY, CHANGE,
};

static const struct option {
	const char *letter, *name;
	enum key key;
	bool takes;	/* a value */
	bool only;	/* memcast-smi has no such option of its own */
} options[] = {
	{ "-h", "--help", HELP, false, false },
	{ NULL, "--version", VERSION, false, false },
	{ "-L", "--list-gpus", LIST, false, true },
	{ "-i", "--id", ID, true, false },
	{ "-f", "--filename", FILENAME, true, true },
	{ "-l", "--loop", LOOP, true, false },
	{ "-lms", "--loop-ms", LOOP_MS, true, true },
	{ "-q", "--query", LOG, false, false },
	{ "-x", "--xml-format", XML, false, true },
	{ NULL, "--dtd", DTD, false, true },
	{ "-d", "--display", DISPLAY, true, true },
	{ NULL, "--query-gpu", QUERY_GPU, true, false },
	{ NULL, "--query-compute-apps", QUERY_OTHERS, true, true },
	{ NULL, "--query-accounted-apps", QUERY_OTHERS, true, true },
	{ NULL, "--query-remapped-rows", QUERY_OTHERS, true, true },
	{ NULL, "--query-retired-pages", QUERY_OTHERS, true, true },
	{ NULL, "--query-supported-clocks", QUERY_OTHERS, true, true },
	{ NULL, "--format", FORMAT, true, false },
	{ NULL, "--help-query-gpu", HELP_QUERY, false, true },
	{ NULL, "--help-query-compute-apps", HELP_QUERY, false, true },
	{ NULL, "--help-query-accounted-apps", HELP_QUERY, false, true },
	{ NULL, "--help-query-remapped-rows", HELP_QUERY, false, true },
	{ NULL, "--help-query-retired-pages", HELP_QUERY, false, true },
	{ NULL, "--help-query-supported-clocks", HELP_QUERY, false, true },
	{ "-pm", "--persistence-mode", CHANGE, true, true },
	{ "-e", "--ecc-config", CHANGE, true, true },
	{ "-c", "--compute-mode", CHANGE, true, true },
	{ "-r", "--gpu-reset", CHANGE, false, true },
	{ "-ac", "--applications-clocks", CHANGE, true, true },
	{ "-rac", "--reset-applications-clocks", CHANGE, false, true },
	{ "-pl", "--power-limit", CHANGE, true, true },
	{ "-lgc", "--lock-gpu-clocks", CHANGE, true, true },
	{ "-rgc", "--reset-gpu-clocks", CHANGE, false, true },
	{ "-lmc", "--lock-memory-clocks", CHANGE, true, true },
	{ "-rmc", "--reset-memory-clocks", CHANGE, false, true },
	{ "-am", "--accounting-mode", CHANGE, true, true },
	{ "-mig", "--multi-instance-gpu", CHANGE, true, true },
};

struct wanted {
	const char *ids, *file, *display, *gpu_fields, *others, *other_fields, *change;
	struct nvidia_format format;
	int every;		/* milliseconds; 0: once */
	bool log, xml, list;
};

int nvidia_unknown_option(const char *option)
{
	printf("ERROR: Option %s is not recognized. Please run 'nvidia-smi -h'.\n\n", option);
	return NVIDIA_UNKNOWN_OPTION;
}

int nvidia_wrong_option(const char *option)
{
	printf("ERROR: Option %s is not valid for this command. Please run 'nvidia-smi -h' for help.\n\n",
	       option);
	return NVIDIA_USAGE;
}

/* Return: the option that a word is, with or without "=VALUE"; or NULL */
static const struct option *option_of(const char *word)
{
	size_t length = strcspn(word, "=");

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if ((options[i].letter && !strcmp(word, options[i].letter)) ||
		    (strlen(options[i].name) == length && !strncmp(word, options[i].name, length)))
			return &options[i];
	return NULL;
}

static bool is_command(const char *word)
{
	static const char *const commands[] = { "nvlink", "dmon", "pmon", "mig" };

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(word, commands[i]))
			return true;
	return false;
}

/*
 * Is nvidia-smi asked? By its name; or memcast-smi, for what it has not itself, or for fields that
 * are all nvidia-smi's.
 */
bool nvidia_asked(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');

	if (!strcmp(slash ? slash + 1 : argv[0], "nvidia-smi"))
		return true;
	if (argc > 1 && is_command(argv[1]))
		return true;
	if (argc > 2 && !strcmp(argv[1], "topo") &&
	    (!strcmp(argv[2], "-m") || !strcmp(argv[2], "-p2p")))
		return true;
	for (int i = 1; i < argc; i++) {
		const struct option *option = option_of(argv[i]);
		const char *value = strchr(argv[i], '=');

		if (option && option->only && option->key != CHANGE)
			return true;
		if (option && option->key == QUERY_GPU)
			return value && nvidia_fields_known(value + 1);
	}
	return false;
}

static void help(void)
{
	puts("nvidia-smi of memcast: answers as NVIDIA's does, of emulated devices.\n\n"
	     "  nvidia-smi                     devices and processes, as a table\n"
	     "  nvidia-smi -L                  a line for each device\n"
	     "  nvidia-smi -q [-x] [-d SECTION,...]\n"
	     "                                 all about each device, as text or XML\n"
	     "  nvidia-smi --query-gpu=FIELD,... [--format=csv[,noheader][,nounits]]\n"
	     "  nvidia-smi --query-compute-apps=FIELD,... [--format=...]\n"
	     "  nvidia-smi --query-remapped-rows | --query-retired-pages |\n"
	     "             --query-supported-clocks | --query-accounted-apps\n"
	     "  nvidia-smi topo -m | -p2p r|w|n|a|p\n"
	     "  nvidia-smi nvlink -s | -c | -p\n"
	     "  nvidia-smi dmon | pmon [-c COUNT] [-d SECONDS] [-s GROUPS] [-o DT] [-f FILE]\n\n"
	     "  -i, --id=DEVICES               only these: numbers, UUIDs or bus addresses\n"
	     "  -l, --loop=SECONDS; -lms, --loop-ms=MILLISECONDS\n"
	     "                                 look again and again\n"
	     "  -f, --filename=FILE            write there\n"
	     "  --help-query-gpu, --help-query-compute-apps, ...\n"
	     "                                 the fields\n"
	     "  --version                      versions\n\n"
	     "memcast-smi shows more of memcast: teams, pools, who holds what.\n"
	     "Exit status: 0; 2: wrong usage; 3: devices cannot do that; 6: no such device;\n"
	     "9: memcast.ko is not loaded; 255: no such option.");
}

static bool is_called(const struct nvidia_device *device, const char *word)
{
	char value[NVIDIA_VALUE];
	nvmlPciInfo_t pci;

	return !strcmp(word, nvidia_text("index", device, value)) ||
	       !strcasecmp(word, nvidia_text("uuid", device, value)) ||
	       !strcasecmp(word, nvidia_text("pci.bus_id", device, value)) ||
	       (device->handle && !nvmlDeviceGetPciInfo_v3(device->handle, &pci) &&
		!strcasecmp(word, pci.busIdLegacy));
}

/* Leaves the devices that @ids names. Return: false if one is unknown */
static bool choose(struct nvidia_devices *devices, const char *ids)
{
	static struct nvidia_devices chosen;
	char *copy = strdup(ids), *rest = copy, *word;
	bool found = copy;

	chosen.count = 0;
	while (found && (word = strsep(&rest, ","))) {
		found = false;
		for (unsigned int i = 0; i < devices->count && !found; i++) {
			found = is_called(&devices->at[i], word);
			if (found && chosen.count < SMI_DEVICES)
				chosen.at[chosen.count++] = devices->at[i];
		}
	}
	free(copy);
	*devices = chosen;
	return found;
}

/* Return: an exit status */
static int find_devices(struct nvidia_devices *devices, const char *ids)
{
	static struct smi_devices found;

	if (!smi_devices(&found))
		return smi_not_loaded ? NVIDIA_NOT_LOADED : NVIDIA_NOT_FOUND;
	devices->count = found.count;
	nvidia_all_count = found.count;
	for (unsigned int i = 0; i < found.count; i++)
		devices->at[i] = (struct nvidia_device) { i, found.device[i] };
	if (!ids || choose(devices, ids))
		return NVIDIA_GOOD;
	puts("No devices were found");
	return NVIDIA_NOT_FOUND;
}

/* A host may be lost, and return, while its devices are shown again and again. */
void nvidia_look_again(struct nvidia_devices *devices)
{
	for (unsigned int i = 0; i < devices->count; i++) {
		nvmlDevice_t *handle = &devices->at[i].handle;

		if (nvmlDeviceGetHandleByIndex(devices->at[i].index, handle) ==
		    NVML_ERROR_GPU_IS_LOST)
			*handle = NULL;
	}
}

static int change(const struct nvidia_devices *devices, const char *option)
{
	char address[NVIDIA_VALUE];

	for (unsigned int i = 0; i < devices->count; i++)
		printf("%s is not supported for GPU %s: emulated devices have no such setting.\n",
		       option, nvidia_text("pci.bus_id", &devices->at[i], address));
	return NVIDIA_NOT_AVAILABLE;
}

static int show(const struct nvidia_devices *devices, const struct wanted *wanted, bool first)
{
	if (wanted->change)
		return change(devices, wanted->change);
	if (wanted->gpu_fields)
		return nvidia_query(devices, wanted->gpu_fields, &wanted->format, first);
	if (wanted->others)
		return nvidia_query_others(devices, wanted->others, wanted->other_fields,
					   &wanted->format, first);
	if (wanted->list) {
		nvidia_list(devices);
	} else if (!wanted->log && !wanted->xml) {
		nvidia_table(devices);
	} else if (!nvidia_log(devices, wanted->xml, wanted->display)) {
		printf("\"%s\" names a section that -d does not have.\n\n", wanted->display);
		return NVIDIA_USAGE;
	}
	return NVIDIA_GOOD;
}

static int show_again(struct nvidia_devices *devices, const struct wanted *wanted)
{
	int status = show(devices, wanted, true);

	while (wanted->every && status == NVIDIA_GOOD && !fflush(stdout)) {
		poll(NULL, 0, wanted->every);
		nvidia_look_again(devices);
		status = show(devices, wanted, false);
	}
	return status;
}

static bool loop(struct wanted *wanted, const char *text, unsigned int unit)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	wanted->every = (int)(number * unit);
	return end != text && !*end && number && number <= 86400000 / unit;
}

/* Return: an exit status, after a message; -1: go on */
static int take(struct wanted *wanted, const struct option *option, const char *value)
{
	switch (option->key) {
	case HELP:
		help();
		return NVIDIA_GOOD;
	case VERSION:
		nvmlInit();
		nvidia_print_version();
		return NVIDIA_GOOD;
	case HELP_QUERY:
		nvidia_help_query(option->name + strlen("--help-query-"));
		return NVIDIA_GOOD;
	case DTD:
		return NVIDIA_NOT_AVAILABLE;	/* without a word */
	case LIST:
		wanted->list = true;
		return -1;
	case ID:
		wanted->ids = value;
		return -1;
	case FILENAME:
		wanted->file = value;
		return -1;
	case LOOP:
		return loop(wanted, value, 1000) ? -1 : nvidia_wrong_option(option->name);
	case LOOP_MS:
		return loop(wanted, value, 1) ? -1 : nvidia_wrong_option(option->name);
	case LOG:
		wanted->log = true;
		return -1;
	case XML:
		wanted->xml = true;
		return -1;
	case DISPLAY:
		wanted->display = value;
		return -1;
	case QUERY_GPU:
		wanted->gpu_fields = value;
		return -1;
	case QUERY_OTHERS:
		wanted->others = option->name + strlen("--query-");
		wanted->other_fields = value;
		return -1;
	case FORMAT:
		return nvidia_format_parse(&wanted->format, value) ? -1 :
			nvidia_wrong_option(option->name);
	case CHANGE:
		wanted->change = option->name;
		return -1;
	}
	return -1;
}

/* The value of an option: behind "=", or the next word. "-l" alone is 5 seconds. */
static const char *value_of(const struct option *option, int argc, char **argv, int *i)
{
	const char *value = strchr(argv[*i], '=');

	if (value && !strncmp(argv[*i], "--", 2))
		return value + 1;
	if (*i + 1 < argc && (*argv[*i + 1] != '-' || option->key != LOOP))
		return argv[++*i];
	return option->key == LOOP ? "5" : NULL;
}

static int parse(struct wanted *wanted, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const struct option *option = option_of(argv[i]);
		const char *value = NULL;
		int status;

		if (!option)
			return nvidia_unknown_option(argv[i]);
		if (option->takes)
			value = value_of(option, argc, argv, &i);
		if (option->takes && !value)
			return nvidia_wrong_option(option->name);
		status = take(wanted, option, value);
		if (status >= 0)
			return status;
	}
	if (wanted->list && wanted->ids)
		return nvidia_wrong_option("-i");
	if (wanted->display && !wanted->log)
		return nvidia_wrong_option("-d");
	return -1;
}

int nvidia_write_to(const char *file)
{
	if (freopen(file, "w", stdout))
		return NVIDIA_GOOD;
	fprintf(stderr, "nvidia-smi: cannot write %s: %s\n", file, strerror(errno));
	return NVIDIA_USAGE;
}

/* Runs a command, whose -i may be anywhere behind it. */
static int run_command(struct nvidia_devices *devices, int argc, char **argv)
{
	const char *command = argv[1], *ids = NULL, *value;
	int count = 0, status;

	for (int i = 2; i < argc; i++) {
		const struct option *option = option_of(argv[i]);

		if (option && option->key == HELP)
			return take(NULL, option, NULL);
		value = option && option->key == ID ? value_of(option, argc, argv, &i) : NULL;
		if (value)
			ids = value;
		else
			argv[2 + count++] = argv[i];
	}
	status = find_devices(devices, ids);
	if (status != NVIDIA_GOOD)
		return status;
	if (!strcmp(command, "topo"))
		return nvidia_topo(devices, count, argv + 2);
	if (!strcmp(command, "nvlink"))
		return nvidia_nvlink(devices, count, argv + 2);
	if (!strcmp(command, "mig")) {
		if (count != 1 || strcmp(argv[2], "-lgi"))
			return nvidia_unknown_option(count ? argv[2] : command);
		puts("No MIG-enabled devices found.");
		return NVIDIA_GOOD;
	}
	return nvidia_monitor(devices, !strcmp(command, "pmon"), count, argv + 2);
}

int nvidia_main(int argc, char **argv)
{
	static struct nvidia_devices devices;
	struct wanted wanted = {};
	int status;

	if (argc > 1 && (is_command(argv[1]) || !strcmp(argv[1], "topo"))) {
		status = run_command(&devices, argc, argv);
	} else {
		status = parse(&wanted, argc, argv);
		if (status >= 0)
			return status;
		status = find_devices(&devices, wanted.ids);
		/* A call that has nothing to write leaves the file as it was. */
		if (status == NVIDIA_GOOD && wanted.file)
			status = nvidia_write_to(wanted.file);
		if (status == NVIDIA_GOOD)
			status = show_again(&devices, &wanted);
	}
	return fflush(stdout) && status == NVIDIA_GOOD ? 1 : status;
}
