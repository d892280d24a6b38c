/* SPDX-License-Identifier: MIT */
/*
 * The file that CUDA_LOG_FILE names. libcuda.so.1 and libcudart.so.13 each have this code, and open
 * the file for themselves.
 */
#ifndef MEMCAST_LOG_FILE_H
#define MEMCAST_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#define LOG_NONE	-1

/* Return: an fd for the same file that no standard stream has; -1: errno says why not */
int above_stderr(int fd);
int log_where(bool aloud);
void log_write(int fd, const char *line, size_t length);

#endif
