// SPDX-License-Identifier: MIT
/* -q: all about each device, as lines or (-x) as XML; -d chooses sections. */
#include <stdio.h>
#include <string.h>

#include "nvidia.h"
#include "shared/name.h"

#define SECTIONS(X)								\
	X(MEMORY, "MEMORY") X(UTILIZATION, "UTILIZATION") X(ECC, "ECC")		\
	X(TEMPERATURE, "TEMPERATURE") X(POWER, "POWER") X(CLOCK, "CLOCK")	\
	X(COMPUTE, "COMPUTE") X(PIDS, "PIDS") X(PERFORMANCE, "PERFORMANCE")	\
	X(SUPPORTED, "SUPPORTED_CLOCKS") X(RETIREMENT, "PAGE_RETIREMENT")	\
	X(ACCOUNTING, "ACCOUNTING") X(ENCODER, "ENCODER_STATS")			\
	X(TARGET_TEMP, "SUPPORTED_GPU_TARGET_TEMP") X(VOLTAGE, "VOLTAGE")	\
	X(FBC, "FBC_STATS") X(ROWS, "ROW_REMAPPER") X(GSP, "GSP_FIRMWARE_VERSION") \
	X(SMOOTHING, "POWER_SMOOTHING") X(PROFILES, "POWER_PROFILES")

#define NUMBER(section, name)	section,
enum section { NONE, SECTIONS(NUMBER) };

#define NAME(section, name)	[section] = name,
static const char *const section_names[] = { SECTIONS(NAME) };

static const struct line {
	int depth;
	const char *label, *element;
	enum section section;
	const char *field;	/* NULL: memcast has none */
	enum { VALUE_LINE, GROUP_LINE, SAMPLES_LINE } kind;
} lines[] = {
#define GROUP(depth, label, element, section) \
	{ depth, label, element, section, NULL, GROUP_LINE },
#define VALUE(depth, label, element, section, field) \
	{ depth, label, element, section, field, VALUE_LINE },
#define ABSENT(depth, label, element, section) \
	{ depth, label, element, section, NULL, VALUE_LINE },
#define SAMPLES(label, section) \
	{ 1, label, NULL, section, NULL, SAMPLES_LINE },
#include "log.def"
};

static void print_line(int depth, const char *label, const char *value)
{
	printf("%*s%-*s: %s\n", 4 * depth, "", 55 - 4 * depth, label, value);
}

static void indent(int depth)
{
	for (int i = 0; i < depth; i++)
		putchar('\t');
}

static void print_element(int depth, const char *element, const char *value)
{
	indent(depth);
	printf("<%s>", element);
	name_put_xml(stdout, value);
	printf("</%s>\n", element);
}

/* Numbers of the bus are without 0x there. */
static const char *as_element(const char *element, const char *value)
{
	return !strncmp(element, "pci_", 4) && !strncmp(value, "0x", 2) ? value + 2 : value;
}

static void print_processes(const struct nvidia_device *device)
{
	const nvmlProcessInfo_t *list;
	size_t count = nvidia_processes(device, &list);
	char value[NVIDIA_VALUE];

	if (!count) {
		print_line(1, "Processes", "None");
		return;
	}
	puts("    Processes");
	for (size_t i = 0; i < count; i++) {
		print_line(2, "GPU instance ID", "N/A");
		print_line(2, "Compute instance ID", "N/A");
		snprintf(value, sizeof(value), "%u", list[i].pid);
		print_line(2, "Process ID", value);
		print_line(3, "Type", "C");
		print_line(3, "Name", nvidia_process_name(&list[i]));
		snprintf(value, sizeof(value), "%llu MiB", list[i].usedGpuMemory >> 20);
		print_line(3, "Used GPU Memory", value);
	}
}

static void print_process_elements(const struct nvidia_device *device)
{
	const nvmlProcessInfo_t *list;
	size_t count = nvidia_processes(device, &list);
	char value[NVIDIA_VALUE];

	for (size_t i = 0; i < count; i++) {
		indent(3);
		puts("<process_info>");
		print_element(4, "gpu_instance_id", "N/A");
		print_element(4, "compute_instance_id", "N/A");
		snprintf(value, sizeof(value), "%u", list[i].pid);
		print_element(4, "pid", value);
		print_element(4, "type", "C");
		print_element(4, "process_name", nvidia_process_name(&list[i]));
		snprintf(value, sizeof(value), "%llu MiB", list[i].usedGpuMemory >> 20);
		print_element(4, "used_memory", value);
		indent(3);
		puts("</process_info>");
	}
}

/* Is a line shown? @chosen: a bit for each section, 0: all */
static bool is_shown(const struct line *line, unsigned int chosen)
{
	return chosen ? chosen >> line->section & 1 && line->section != NONE :
			line->kind != SAMPLES_LINE;
}

static void print_samples(const char *label)
{
	static const char *const figures[] = {
		"Duration", "Number of Samples", "Max", "Min", "Avg"
	};

	printf("    %s\n", label);
	for (size_t i = 0; i < sizeof(figures) / sizeof(*figures); i++)
		print_line(2, figures[i], "Not Found");
}

static void print_lines(const struct nvidia_device *device, unsigned int chosen)
{
	char value[NVIDIA_VALUE];

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const struct line *line = &lines[i];

		if (!line->label || !is_shown(line, chosen))
			continue;
		if (line->kind == SAMPLES_LINE)
			print_samples(line->label);
		else if (!strcmp(line->label, "Processes"))
			print_processes(device);
		else if (line->kind == GROUP_LINE)
			printf("%*s%s\n", 4 * line->depth, "", line->label);
		else
			print_line(line->depth, line->label,
				   line->field ? nvidia_text(line->field, device, value) : "N/A");
	}
}

/* An element is inside the groups that began before it and are less deep. */
struct open_groups {
	const char *element[8];
	int count;
};

static void close_groups(struct open_groups *open, int depth)
{
	while (open->count >= depth) {
		indent(open->count + 1);
		printf("</%s>\n", open->element[open->count--]);
	}
}

static void print_elements(const struct nvidia_device *device, unsigned int chosen)
{
	struct open_groups open = {};
	char value[NVIDIA_VALUE];

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const struct line *line = &lines[i];

		if (!line->element || !is_shown(line, chosen))
			continue;
		close_groups(&open, line->depth);
		if (line->kind == VALUE_LINE) {
			print_element(line->depth + 1, line->element, line->field ?
				      as_element(line->element,
						 nvidia_text(line->field, device, value)) : "N/A");
			continue;
		}
		indent(line->depth + 1);
		printf("<%s>\n", line->element);
		open.element[++open.count] = line->element;
		if (!strcmp(line->element, "mig_devices"))
			puts("\t\t\tNone");
		if (!strcmp(line->element, "processes"))
			print_process_elements(device);
	}
	close_groups(&open, 1);
}

/* Return: a bit for each section, 0: one of them is unknown */
static unsigned int sections_of(const char *text)
{
	unsigned int chosen = 0;
	size_t length;

	for (;; text += length + 1) {
		size_t i;

		length = strcspn(text, ",");
		for (i = 1; i < sizeof(section_names) / sizeof(*section_names); i++)
			if (strlen(section_names[i]) == length &&
			    !strncasecmp(section_names[i], text, length))
				break;
		if (i == sizeof(section_names) / sizeof(*section_names))
			return 0;
		chosen |= 1U << i;
		if (!text[length])
			return chosen;
	}
}

static void print_head(bool xml)
{
	char date[64], driver[NVIDIA_VALUE], cuda[NVIDIA_VALUE], all[16];

	nvidia_date(date, sizeof(date));
	nvidia_versions(driver, cuda, NVIDIA_VALUE);
	snprintf(all, sizeof(all), "%u", nvidia_all_count);
	if (xml) {
		puts("<?xml version=\"1.0\" ?>\n"
		     "<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v13.dtd\">\n<nvidia_smi_log>");
		print_element(1, "timestamp", date);
		print_element(1, "driver_version", driver);
		print_element(1, "cuda_version", cuda);
		print_element(1, "attached_gpus", all);
		return;
	}
	puts("\n==============NVSMI LOG==============\n");
	print_line(0, "Timestamp", date);
	print_line(0, "Driver Version", driver);
	print_line(0, "CUDA Version", cuda);
	putchar('\n');
	print_line(0, "Attached GPUs", all);
}

bool nvidia_log(const struct nvidia_devices *devices, bool xml, const char *sections)
{
	unsigned int chosen = sections ? sections_of(sections) : 0;
	char address[NVIDIA_VALUE];

	if (sections && !chosen)
		return false;
	print_head(xml);
	for (unsigned int i = 0; i < devices->count; i++) {
		const struct nvidia_device *device = &devices->at[i];

		nvidia_text("pci.bus_id", device, address);
		printf(xml ? "\t<gpu id=\"%s\">\n" : "GPU %s\n", address);
		if (xml)
			print_elements(device, chosen);
		else
			print_lines(device, chosen);
		puts(xml ? "\t</gpu>\n" : "");
	}
	if (xml)
		puts("</nvidia_smi_log>");
	return true;
}
