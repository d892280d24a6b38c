// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "fashion.h"
#include "shared/ranks.h"

/* An idx file: a magic number, the sizes, then bytes; words are big-endian. */
#define IDX_LABELS	0x801
#define IDX_IMAGES	0x803

static void read_all(gzFile file, const char *path, void *to, size_t bytes)
{
	if (gzfread(to, 1, bytes, file) != bytes)
		rank_die("%s: too short, or damaged", path);
}

static uint8_t *read_idx(const char *folder, const char *name, const char *kind,
			 uint32_t magic, size_t item_bytes, size_t *count)
{
	uint32_t head[4];
	size_t head_bytes = magic == IDX_IMAGES ? 16 : 8;
	uint8_t *data;
	char *path;
	gzFile file;

	if (asprintf(&path, "%s/%s-%s-ubyte.gz", folder, name, kind) < 0)
		rank_die("no memory");
	file = gzopen(path, "rb");
	if (!file)
		rank_die("%s: %s (apt-get install dataset-fashion-mnist, or name its folder with "
			 "--data)",
			 path, strerror(errno));
	read_all(file, path, head, head_bytes);
	if (be32toh(head[0]) != magic || (magic == IDX_IMAGES &&
	    (be32toh(head[2]) != 28 || be32toh(head[3]) != 28)))
		rank_die("%s: not a file of 28 x 28 %s", path, kind);
	if (!*count || *count > be32toh(head[1]))
		*count = be32toh(head[1]);
	data = malloc(*count * item_bytes);
	if (!data)
		rank_die("no memory for %zu images", *count);
	read_all(file, path, data, *count * item_bytes);
	gzclose(file);
	free(path);
	return data;
}

void fashion_load(struct fashion *set, const char *folder, const char *name,
		  size_t max)
{
	size_t i;

	set->count = max;
	set->image = (void *)read_idx(folder, name, "images-idx3", IDX_IMAGES,
				      FASHION_PIXELS, &set->count);
	set->label = read_idx(folder, name, "labels-idx1", IDX_LABELS, 1,
			      &set->count);
	for (i = 0; i < set->count; i++)
		if (set->label[i] >= FASHION_CLASSES)
			rank_die("%s/%s: label %u of image %zu", folder, name,
				 set->label[i], i);
}
