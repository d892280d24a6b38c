/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of libnvidia-ml.so.1. A call goes through the exported function (CALL: checks
 * that the library is initialised, logs a failure), then its body, which asks
 *
 *   device/state.c	the module, by sysfs: which devices exist, and their state
 *   device/facts.c	libcuda.so.1, by its public calls: a device's constant properties
 *   device/kind.c	a table of properties that only NVML tells of a kind of device
 */
#ifndef MEMCAST_NVML_LIBRARY_H
#define MEMCAST_NVML_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Without these macros: the older names are functions here, too. */
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <memcast/view.h>
#pragma GCC visibility push(default)
#include <nvml.h>
#pragma GCC visibility pop

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
/* No machine has more devices than a view has replicas. */
#define DEVICES_MAX		MEMCAST_VIEW_MAX

/* init.c */
nvmlReturn_t library_ready(void);
unsigned int library_devices(void);
nvmlReturn_t check_version(const void *structure, unsigned int known);

/* log.c: the reason of this thread's last failure, and the line of the log with it */
__attribute__((format(printf, 2, 3)))
nvmlReturn_t fail(nvmlReturn_t result, const char *reason, ...);
void log_failure(const char *call, nvmlReturn_t result);

/*
 * Logs the failure of an expression. A thread that is cancelled during the call ends after it,
 * with no file left open.
 */
#define LOGGED(expression)	LOGGED_AS(__func__, expression)

#define LOGGED_AS(name, expression)						\
({										\
	nvmlReturn_t result_;							\
	int before_;								\
										\
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);		\
	result_ = (expression);							\
	if (result_ != NVML_SUCCESS)						\
		log_failure(name, result_);					\
	pthread_setcancelstate(before_, NULL);					\
	result_;								\
})

/* LOGGED() for calls that fail before nvmlInit() */
#define CALL(expression)	LOGGED(library_ready() ?: (expression))

/*
 * Begin the definition of a call, whose body follows in braces and runs as the expression of CALL()
 * or LOGGED().
 */
#define DEFINE_CALL(name, parameters, ...)	\
	DEFINE_BY(CALL, name, parameters, ##__VA_ARGS__)
#define DEFINE_BY(call, name, parameters, ...)					\
	static nvmlReturn_t name##_body parameters;				\
	nvmlReturn_t name parameters { return call(name##_body(__VA_ARGS__)); }	\
	static nvmlReturn_t name##_body parameters

/* Defines a call that is one expression: CALL()'s. */
#define FORWARD(name, parameters, expression)	\
	nvmlReturn_t name parameters { return CALL(expression); }

/* Defines an older name of a function, with an address of its own */
#define OLDER_NAME(old, parameters, call)	\
	nvmlReturn_t old parameters		\
	{					\
		return call;			\
	}

/* Copies @text to a caller's buffer of @length bytes. */
nvmlReturn_t copy_text(char *buffer, unsigned int length, const char *text);

/*
 * device/state.c. A file that cannot be read is a failure, with its reason, and leaves the output
 * as it was.
 */
#define DEVICE_PATH	"/dev/memcast"
nvmlReturn_t state_find(unsigned int *devices);
/* Return: the machine's number of device 0. */
unsigned int state_first(void);
bool state_lacks_room(int error);
nvmlReturn_t state_uuid(unsigned int device, char text[40]);
nvmlReturn_t state_number(unsigned int device, const char *name, unsigned long long *number);
nvmlReturn_t state_node(unsigned int device, int *node);
nvmlReturn_t state_multicast(bool *works);
/* Return: NVML_ERROR_GPU_IS_LOST while the device's host is lost */
nvmlReturn_t state_here(unsigned int device);

struct state_fabric {
	bool ready, illegal;
	unsigned int clique;
	unsigned char cluster[16];
};

nvmlReturn_t state_fabric(unsigned int device, struct state_fabric *fabric);
/* Sets the bits of a NUMA node's CPUs, in words of unsigned long. */
nvmlReturn_t state_node_cpus(int node, unsigned long *set, unsigned int words);

/* device/facts.c */
struct facts {
	char name[96];
	int capability_major, capability_minor;
	int domain, bus, slot;
	int multiprocessors, bus_width, compute_mode;
	int clock_khz, memory_clock_khz;
};

nvmlReturn_t facts_of(unsigned int device, const struct facts **facts);

/* device/kind.c */
struct kind {
	int major, minor;			/* compute capability; -1: any */
	unsigned int architecture, brand;
	unsigned int cores;			/* per multiprocessor */
	unsigned int pci_device, pci_subsystem;	/* the two halves of each are vendor and device */
	unsigned int pcie_generation, pcie_width;
	unsigned int links, link_version, link_mbps;	/* NVLink */
};

const struct kind *kind_of(const struct facts *facts);

/*
 * device/device.c: a handle is an address that stands for a device's number. device_number()
 * and device_found() refuse a device whose host is lost, with GPU_IS_LOST.
 */
nvmlReturn_t device_number(nvmlDevice_t device, unsigned int *number);
nvmlReturn_t device_found(unsigned int number, nvmlDevice_t *device);
nvmlDevice_t device_handle(unsigned int number);
nvmlReturn_t device_facts(nvmlDevice_t device, const struct facts **facts);

/* device/fabric.c */
nvmlReturn_t device_nvlink(nvmlDevice_t device, const struct kind **kind, bool *linked);

/* device/process.c: a process that holds memory of a device */
struct process {
	unsigned int pid;
	unsigned long long bytes;
};

/*
 * Return: false: there is no memory, or no file descriptor; else the caller frees *@found, even if
 * *@count is 0.
 */
bool processes_of(unsigned int device, struct process **found, unsigned int *count);

#endif /* MEMCAST_NVML_LIBRARY_H */
