// SPDX-License-Identifier: MIT
/* Prints what is made of an image's functions: IR, and instructions of the processor. */
#include <stdio.h>
#include <string.h>

#include "ptx.h"

static void told(void *data, const char *name, const char *wrong)
{
	struct showing *showing = data;

	showing->count += !wrong;
	if (wrong) {
		fprintf(stderr, "memcast-ptx: %s: %s\n", name, wrong);
		showing->failed = true;
	} else {
		printf("; %s: ", name);
	}
}

static void shown(void *data, const char *about, const char *ir, const char *assembler)
{
	(void)data;
	printf("%s\n%s\n%s\n", about, ir, assembler);
}

void show_image(struct showing *showing, const char *path, const struct image *image)
{
	struct ptx_variables variables = { .address = variable_at };
	struct ptx_code *code;
	struct ptx_log log;

	if (!image->texts_count)
		return;
	if (showing->object->code_new(image->texts, image->texts_count, &variables, &code, &log)) {
		fprintf(stderr, "memcast-ptx: %s: %s\n", path, log.text);
		showing->failed = true;
		return;
	}
	showing->object->show(code, showing->kernel, shown, told, showing);
	showing->object->code_free(code);
}
