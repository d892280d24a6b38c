/* SPDX-License-Identifier: MIT */
/*
 * memcast: name and attributes of a device, for libraries that may not initialise the driver.
 *
 * After cuInit() a process must not fork: its children cannot use devices. A library that
 * only looks at devices, as a management library does, must not do that to a program.
 *
 * Library: memcast's libcuda.so.1 (link with -lcuda).
 */
#ifndef MEMCAST_DEVICE_H
#define MEMCAST_DEVICE_H

#include <cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * memcastDeviceDescribe() - a device's name and attributes, with or without cuInit()
 * @device: ordinal
 * @name: NULL, or a buffer for the name that cuDeviceGetName() gives
 * @length: bytes at @name
 * @values: array of @count, output: the values that cuDeviceGetAttribute() gives
 * @attributes: array of @count
 * @count: how many attributes
 *
 * Works before cuInit(), and in the child of a process that has called it. The call changes
 * neither: the process may still fork, and the child still cannot use devices.
 *
 * Return: CUDA_SUCCESS, or an error of cuInit(), cuDeviceGetName() or
 * cuDeviceGetAttribute(), by far the likeliest: CUDA_ERROR_NO_DEVICE (the module is not
 * loaded) and CUDA_ERROR_INVALID_DEVICE (it has no such device). Source: ours.
 */
CUresult memcastDeviceDescribe(CUdevice device, char *name, int length, int *values,
			       const CUdevice_attribute *attributes, unsigned int count);

#ifdef __cplusplus
}
#endif

#endif /* MEMCAST_DEVICE_H */
