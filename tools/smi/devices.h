/* SPDX-License-Identifier: MIT */
/* What memcast-smi shows of devices: what NVML says, as nvidia-smi does. */
#ifndef MEMCAST_SMI_NVML_H
#define MEMCAST_SMI_NVML_H

#include <nvml.h>
#include <stdbool.h>

#define SMI_DEVICES	1024

struct smi_devices {
	unsigned int count;
	nvmlDevice_t device[SMI_DEVICES];	/* NULL: its host was lost */
};

/* device.c: all devices. False if there are none, which stderr says. */
bool smi_devices(struct smi_devices *devices);
extern bool smi_not_loaded;		/* because memcast.ko is not */
int smi_node(nvmlDevice_t device);

/* topo.c: false if NVML did not answer. */
bool smi_topo_nccl(const struct smi_devices *devices);
void smi_topo_print(const struct smi_devices *devices);
void smi_topo_json(const struct smi_devices *devices);

#endif /* MEMCAST_SMI_NVML_H */
