/* SPDX-License-Identifier: MIT */
/*
 * What the files of libnvidia-ml.so.1 share. A call's way: the exported function
 * (CALL: is the library initialised? log a failure) → a static function, which asks
 *
 *   device/state.c	the module, by sysfs: what devices there are and how they are now
 *   device/facts.c	the driver's library, by its public calls: what a device is
 *   device/kind.c	what NVML alone says of a device of that kind
 */
#ifndef MEMCAST_NVML_LIBRARY_H
#define MEMCAST_NVML_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each name stands for itself here: old ones are functions too. */
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#pragma GCC visibility push(default)
#include <nvml.h>
#pragma GCC visibility pop

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define DEVICES_MAX		1024

/* init.c */
nvmlReturn_t library_ready(void);
unsigned int library_devices(void);

/* log.c: why this thread's last call failed, in words, and the line that says so */
__attribute__((format(printf, 2, 3)))
nvmlReturn_t fail(nvmlReturn_t result, const char *reason, ...);
void log_failure(const char *call, nvmlReturn_t result);

/*
 * Logs the failure of an expression. A thread that is cancelled meanwhile ends after the call,
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

/* An older name of a function, with an address of its own */
#define OLDER_NAME(old, parameters, call)	\
	nvmlReturn_t old parameters		\
	{					\
		return call;			\
	}

/* @text into a caller's buffer of @length bytes */
nvmlReturn_t copy_text(char *buffer, unsigned int length, const char *text);

/* device/state.c */
#define DEVICE_PATH	"/dev/memcast"
unsigned int state_devices(void);
/* Which of the machine's devices device 0 is */
unsigned int state_first(void);
bool state_uuid(unsigned int device, char text[40]);
unsigned long long state_number(unsigned int device, const char *name);
int state_node(unsigned int device);
bool state_multicast(void);
/* Whether the device's host was lost, and has not returned */
bool state_lost(unsigned int device);

struct state_fabric {
	bool ready, illegal;
	unsigned int clique;
	unsigned char cluster[16];
};

void state_fabric(unsigned int device, struct state_fabric *fabric);
/* The CPUs or memories of a NUMA node, bits in words of unsigned long */
void state_node_cpus(int node, unsigned long *set, unsigned int words);

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
	unsigned int cores;			/* of a multiprocessor */
	unsigned int pci_device, pci_subsystem;	/* both halves of each */
	unsigned int pcie_generation, pcie_width;
	unsigned int links, link_version, link_mbps;	/* NVLink */
};

const struct kind *kind_of(const struct facts *facts);

/*
 * device/device.c: handles are addresses that stand for a number. The number of a handle and
 * what a device is found by are refused with GPU_IS_LOST while the device's host is lost.
 */
nvmlReturn_t device_number(nvmlDevice_t device, unsigned int *number);
nvmlReturn_t device_found(unsigned int number, nvmlDevice_t *device);
nvmlDevice_t device_handle(unsigned int number);
nvmlReturn_t device_facts(nvmlDevice_t device, const struct facts **facts);

/* device/fabric.c */
nvmlReturn_t device_nvlink(nvmlDevice_t device, const struct kind **kind, bool *linked);

#endif /* MEMCAST_NVML_LIBRARY_H */
