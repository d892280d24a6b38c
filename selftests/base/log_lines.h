/* SPDX-License-Identifier: MIT */
/* Causes, counts and reads lines of the log. */
#ifndef LOG_LINES_H
#define LOG_LINES_H

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "memcast_test.h"

TEST_HELPER void fail_once(void)
{
	cuMemRelease(4711);
}

TEST_HELPER unsigned int count_lines(const char *text)
{
	unsigned int count = 0;

	for (; (text = strchr(text, '\n')); text++)
		count++;
	return count;
}

TEST_HELPER void read_file(char *text, size_t size, const char *path)
{
	FILE *file = fopen(path, "re");

	text[file ? fread(text, 1, size - 1, file) : 0] = '\0';
	if (file)
		fclose(file);
}

/*
 * As a program does that closes all files, and opens its own: fds that show the file at @path show the
 * one of @fd then. Return: how many
 */
TEST_HELPER unsigned int replace_files(const char *path, int fd)
{
	struct stat wanted, found;
	unsigned int count = 0;

	for (int i = 3; i < 100 && !stat(path, &wanted); i++)
		if (!fstat(i, &found) && found.st_ino == wanted.st_ino &&
		    found.st_dev == wanted.st_dev)
			count += dup2(fd, i) == i;
	return count;
}

#endif /* LOG_LINES_H */
