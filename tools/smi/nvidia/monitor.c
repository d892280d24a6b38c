// SPDX-License-Identifier: MIT
/* dmon and pmon: figures of devices and of processes, a line each, again and again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nvidia.h"
#include "shared/name.h"

/* How often the names of the columns are printed again, in lines of devices */
#define AGAIN	20

struct monitor {
	bool processes;
	bool date, time;		/* in front of each line */
	const char *groups;		/* of columns, in this order */
	const char *file;		/* to write to, or NULL */
	unsigned long rounds;		/* 0: without end */
	unsigned int seconds;
};

static const struct column {
	char group;
	const char *name, *unit, *field;	/* NULL: memcast has none */
} columns[] = {
	{ 'p', "pwr", "W", "power.draw" }, { 'p', "gtemp", "C", "temperature.gpu" },
	{ 'p', "mtemp", "C", NULL },
	{ 'u', "sm", "%", "utilization.gpu" }, { 'u', "mem", "%", "utilization.memory" },
	{ 'u', "enc", "%", NULL }, { 'u', "dec", "%", NULL }, { 'u', "jpg", "%", NULL },
	{ 'u', "ofa", "%", NULL },
	{ 'c', "mclk", "MHz", "clocks.current.memory" },
	{ 'c', "pclk", "MHz", "clocks.current.graphics" },
	{ 'v', "pviol", "%", NULL }, { 'v', "tviol", "bool", NULL },
	{ 'm', "fb", "MB", "memory.used" }, { 'm', "bar1", "MB", NULL },
	{ 'm', "ccpm", "MB", NULL },
	{ 'e', "sbecc", "errs", NULL }, { 'e', "dbecc", "errs", NULL }, { 'e', "pci", "errs", NULL },
	{ 't', "rxpci", "MB/s", NULL }, { 't', "txpci", "MB/s", NULL },
};

#define COLUMNS		(sizeof(columns) / sizeof(*columns))

/* Calls @print for each column of the chosen groups. */
static void each_column(const struct monitor *monitor, const void *of,
			void (*print)(const struct column *column, const void *of))
{
	for (const char *group = monitor->groups; *group; group++)
		for (size_t i = 0; i < COLUMNS; i++)
			if (columns[i].group == *group &&
			    !(monitor->processes && !strcmp(columns[i].name, "bar1")))
				print(&columns[i], of);
}

static void print_name(const struct column *column, const void *of)
{
	(void)of;
	printf(" %6s", column->name);
}

static void print_unit(const struct column *column, const void *of)
{
	(void)of;
	printf(" %6s", column->unit);
}

/* @of: a device */
static void print_figure(const struct column *column, const void *of)
{
	const struct nvidia_device *device = of;
	char value[NVIDIA_VALUE];

	if (!column->field || strspn(nvidia_text(column->field, device, value), "0123456789") == 0)
		strcpy(value, "-");
	value[strcspn(value, " .")] = '\0';
	printf(" %6s", value);
}

/* Begins a line: with the first sign, and the date and the time or what they are called. */
static void begin(const struct monitor *monitor, char sign, const char *date, const char *time)
{
	putchar(sign);
	if (monitor->date)
		printf("%-11s", date);
	if (monitor->time)
		printf("%-10s", time);
	if (monitor->date || monitor->time)
		putchar(' ');
}

static void begin_now(const struct monitor *monitor)
{
	time_t now = time(NULL);
	char date[16], clock[16];

	strftime(date, sizeof(date), "%Y%m%d", localtime(&now));
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime(&now));
	begin(monitor, ' ', date, clock);
}

static void print_device_names(const struct monitor *monitor)
{
	begin(monitor, '#', "Date", "Time");
	fputs(" gpu", stdout);
	each_column(monitor, NULL, print_name);
	puts(" ");
	begin(monitor, '#', "YYYYMMDD", "HH:MM:SS");
	fputs(" Idx", stdout);
	each_column(monitor, NULL, print_unit);
	puts(" ");
}

static void print_device(const struct monitor *monitor, const struct nvidia_device *device)
{
	begin_now(monitor);
	printf("%4u", device->index);
	each_column(monitor, device, print_figure);
	puts(" ");
}

/* @of: a process, or NULL */
static void print_share(const struct column *column, const void *of)
{
	const nvmlProcessInfo_t *process = of;

	if (process && !strcmp(column->name, "fb"))
		printf(" %6llu", process->usedGpuMemory >> 20);
	else
		printf(" %6s", "-");
}

static void print_process_names(const struct monitor *monitor)
{
	begin(monitor, '#', "Date", "Time");
	fputs(" gpu         pid   type", stdout);
	each_column(monitor, NULL, print_name);
	puts("    command ");
	begin(monitor, '#', "YYYYMMDD", "HH:MM:SS");
	fputs(" Idx           #    C/G", stdout);
	each_column(monitor, NULL, print_unit);
	puts("    name ");
}

static void print_processes(const struct monitor *monitor, const struct nvidia_device *device)
{
	const nvmlProcessInfo_t *list;
	size_t count = nvidia_processes(device, &list);

	for (size_t i = 0; i < count; i++) {
		const char *name = nvidia_process_name(&list[i]), *slash = strrchr(name, '/');

		name = slash ? slash + 1 : name;
		begin_now(monitor);
		printf("%4u %10u     C", device->index, list[i].pid);
		each_column(monitor, &list[i], print_share);
		printf("    %-15.*s\n", name_fit(name, 15), name);
	}
	if (!count) {
		begin_now(monitor);
		printf("%4u %10s     -", device->index, "-");
		each_column(monitor, NULL, print_share);
		printf("    %-15s\n", "-");
	}
}

static bool is(const char *word, const char *letter, const char *name)
{
	return !strcmp(word, letter) || !strcmp(word, name);
}

/* Return: an exit status, after a message if an option is wrong */
static int parse(struct monitor *monitor, int count, char **words)
{
	for (int i = 0; i < count; i++) {
		char *value = i + 1 < count ? words[i + 1] : NULL, *end = NULL;
		unsigned long number = value ? strtoul(value, &end, 10) : 0;
		bool is_number = value && end != value && !*end && number;

		if (is(words[i], "-s", "--select") && value &&
		    strspn(value, monitor->processes ? "um" : "pucvmet") == strlen(value)) {
			monitor->groups = value;
		} else if (is(words[i], "-c", "--count") && is_number) {
			monitor->rounds = number;
		} else if (is(words[i], "-d", "--delay") && is_number) {
			monitor->seconds = number;
		} else if (is(words[i], "-o", "--options") && value && *value &&
			   strspn(value, "DT") == strlen(value)) {
			monitor->date = strchr(value, 'D');
			monitor->time = strchr(value, 'T');
		} else if (is(words[i], "-f", "--filename") && value) {
			monitor->file = value;
		} else {
			return nvidia_unknown_option(words[i]);
		}
		i++;
	}
	return NVIDIA_GOOD;
}

int nvidia_monitor(struct nvidia_devices *devices, bool processes, int count, char **words)
{
	struct monitor monitor = { processes, .groups = processes ? "u" : "puc", .seconds = 1 };
	int status = parse(&monitor, count, words);
	unsigned int lines = 0;

	if (status == NVIDIA_GOOD && monitor.file)
		status = nvidia_write_to(monitor.file);
	for (unsigned long round = 0; status == NVIDIA_GOOD &&
	     (!monitor.rounds || round < monitor.rounds); round++) {
		if (round) {
			sleep(monitor.seconds);
			nvidia_look_again(devices);
		}
		if (!round || lines >= AGAIN) {
			(processes ? print_process_names : print_device_names)(&monitor);
			lines = 0;
		}
		for (unsigned int i = 0; i < devices->count; i++, lines++)
			(processes ? print_processes : print_device)(&monitor, &devices->at[i]);
		if (fflush(stdout))
			break;
	}
	return status;
}
