/* SPDX-License-Identifier: MIT */
/*
 * memcast: what a device says of itself, for those who may not initialise the driver.
 *
 * cuInit() makes a process one that must not fork: its children cannot use devices any
 * more. Who only looks, as a management library does, must not do that to a program.
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
 * @name: NULL, or a buffer for what cuDeviceGetName() says
 * @length: bytes at @name
 * @values: array of @count, output: what cuDeviceGetAttribute() says
 * @attributes: array of @count
 * @count: how many attributes
 *
 * Works before cuInit(), and in the child of a process that has called it. It changes
 * nothing about either: the one may still fork, the other still cannot use devices.
 *
 * Return: CUDA_SUCCESS, or what cuInit(), cuDeviceGetName() or cuDeviceGetAttribute()
 * answer, by far the likeliest: CUDA_ERROR_NO_DEVICE (the module is not loaded) and
 * CUDA_ERROR_INVALID_DEVICE (it has no such device). Source: ours.
 */
CUresult memcastDeviceDescribe(CUdevice device, char *name, int length, int *values,
			       const CUdevice_attribute *attributes, unsigned int count);

#ifdef __cplusplus
}
#endif

#endif /* MEMCAST_DEVICE_H */
