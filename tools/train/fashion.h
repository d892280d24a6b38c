/* SPDX-License-Identifier: MIT */
/* Fashion-MNIST: 28 x 28 grey images of clothes, in 10 classes. */
#ifndef MEMCAST_TOOLS_FASHION_H
#define MEMCAST_TOOLS_FASHION_H

#include <stddef.h>
#include <stdint.h>

#define FASHION_PIXELS		(28 * 28)
#define FASHION_CLASSES		10

/* The folder of Debian's package dataset-fashion-mnist */
#define FASHION_FOLDER		"/usr/share/datasets/fashion-mnist"

struct fashion {
	size_t count;
	uint8_t (*image)[FASHION_PIXELS];
	uint8_t *label;
};

/*
 * Reads the first images of a set ("train": 60000, "t10k": 10000); @max 0 for
 * all. Ends the process with a message if that fails.
 */
void fashion_load(struct fashion *set, const char *folder, const char *name,
		  size_t max);

#endif /* MEMCAST_TOOLS_FASHION_H */
