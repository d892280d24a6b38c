/* SPDX-License-Identifier: MIT */
/*
 * What nvidia-smi answers, for programs that read its output: commands, options, names of fields,
 * formats and exit statuses as recorded on hardware. memcast-smi answers so when it is called
 * nvidia-smi, and for what only nvidia-smi has.
 *
 *   nvidia.c     options and commands
 *   field.c      the fields of a device (fields.def)
 *   query.c      --query-gpu, --query-compute-apps and so on
 *   log.c        -q and -q -x (log.def)
 *   table.c      the table without options, -L, --version
 *   matrix.c     topo
 *   links.c      nvlink
 *   monitor.c    dmon, pmon
 */
#ifndef MEMCAST_SMI_NVIDIA_H
#define MEMCAST_SMI_NVIDIA_H

#include <stdbool.h>
#include <stddef.h>

#include "smi/devices.h"

#define NVIDIA_VALUE	128	/* bytes of a field's value */

/* Exit statuses */
enum { NVIDIA_GOOD = 0, NVIDIA_USAGE = 2, NVIDIA_NOT_AVAILABLE = 3, NVIDIA_NOT_FOUND = 6,
       NVIDIA_NOT_LOADED = 9, NVIDIA_UNKNOWN_OPTION = 255 };

/* The devices that a call is about */
struct nvidia_devices {
	unsigned int count;
	struct nvidia_device {
		unsigned int index;
		nvmlDevice_t handle;	/* NULL: its host is lost */
	} at[SMI_DEVICES];
};

/* nvidia.c */
bool nvidia_asked(int argc, char **argv);
int nvidia_main(int argc, char **argv);
/* before devices are shown another time */
void nvidia_look_again(struct nvidia_devices *devices);

/* field.c */
struct nvidia_field {
	const char *name, *other, *unit;
	bool (*get)(const struct nvidia_device *device, char *value);
};

extern const struct nvidia_field nvidia_fields[];
extern const size_t nvidia_fields_count;
const struct nvidia_field *nvidia_field(const char *name, size_t length);
bool nvidia_value(const struct nvidia_field *field, const struct nvidia_device *device,
		  char *value);
const char *nvidia_text(const char *name, const struct nvidia_device *device, char *value);
/* The time, as the table and -q have it: Wed Nov 25 22:15:00 2026 */
void nvidia_date(char *date, size_t size);
void nvidia_versions(char *driver, char *cuda, size_t size);
extern unsigned int nvidia_all_count;	/* devices of the machine, also where -i chooses some */
/* Is a text, which may end anywhere, this name? @name: or NULL */
bool nvidia_same(const char *name, const char *text, size_t length);

/* Processes that hold memory of a device, for query.c, log.c, table.c and monitor.c */
size_t nvidia_processes(const struct nvidia_device *device, const nvmlProcessInfo_t **list);
/* Return: a name that may be printed; it is good until the next call. */
const char *nvidia_process_name(const nvmlProcessInfo_t *process);

/* query.c */
struct nvidia_format {
	bool no_header, no_units;
};

bool nvidia_format_parse(struct nvidia_format *format, const char *text);
/* Return: an exit status, after a message if it is not NVIDIA_GOOD */
int nvidia_query(const struct nvidia_devices *devices, const char *names,
		 const struct nvidia_format *format, bool first);
/* @what: as the option's name ends, such as "compute-apps"; of nvidia_help_query() also "gpu" */
int nvidia_query_others(const struct nvidia_devices *devices, const char *what, const char *names,
			const struct nvidia_format *format, bool first);
void nvidia_help_query(const char *what);
/* Are all these names fields of nvidia-smi's? */
bool nvidia_fields_known(const char *names);

/* log.c. @sections: of -d, with commas between; NULL: all. Return: false if one is unknown */
bool nvidia_log(const struct nvidia_devices *devices, bool xml, const char *sections);

/* table.c */
void nvidia_table(const struct nvidia_devices *devices);
void nvidia_list(const struct nvidia_devices *devices);
void nvidia_print_name(const struct nvidia_device *device);
void nvidia_print_version(void);

/* matrix.c, links.c, monitor.c: the words behind the command. Return: an exit status */
int nvidia_topo(const struct nvidia_devices *devices, int count, char **words);
int nvidia_nvlink(const struct nvidia_devices *devices, int count, char **words);
int nvidia_monitor(struct nvidia_devices *devices, bool processes, int count, char **words);

/* nvidia.c: says that an option is not known, or not known to a command */
int nvidia_unknown_option(const char *option);
int nvidia_wrong_option(const char *option);
/* Makes a file the output. Return: an exit status, after a message if it is not NVIDIA_GOOD */
int nvidia_write_to(const char *file);

#endif /* MEMCAST_SMI_NVIDIA_H */
