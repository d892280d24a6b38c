/* SPDX-License-Identifier: MIT */
/* memcast-smi shows devices as NVML describes them, as nvidia-smi does. */
#ifndef MEMCAST_SMI_NVML_H
#define MEMCAST_SMI_NVML_H

#include <nvml.h>
#include <stdbool.h>

#define SMI_DEVICES	1024

struct smi_devices {
	unsigned int count;
	nvmlDevice_t device[SMI_DEVICES];	/* NULL: the device's host is lost */
};

/* device.c: all devices. Return: false if there are none, after a message to stderr */
bool smi_devices(struct smi_devices *devices);
extern bool smi_not_loaded;		/* there are none because memcast.ko is not loaded */
int smi_node(nvmlDevice_t device);

/* topo.c. Return: false if NVML did not answer */
bool smi_topo_nccl(const struct smi_devices *devices);
void smi_connection(nvmlDevice_t first, nvmlDevice_t second, char *word, size_t size);
void smi_topo_print(const struct smi_devices *devices);
void smi_topo_json(const struct smi_devices *devices);

#endif /* MEMCAST_SMI_NVML_H */
