/* SPDX-License-Identifier: MIT */
/* From a line of PTX to the line of the source that a compiler made it of */
#ifndef MEMCAST_PTX_SOURCE_LINE_H
#define MEMCAST_PTX_SOURCE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes "a.cu:7"; nothing if the text has no .loc for the line */
void source_line(const char *text, const char *end, uint32_t line, char *source, size_t size);

/* Writes the path of .file @number; nothing if the text has none */
void source_file(const char *text, const char *end, unsigned int number, char *path, size_t size);

/* Has a line of the text a word? */
bool source_says(const char *text, const char *end, uint32_t line, const char *word);

#endif /* MEMCAST_PTX_SOURCE_LINE_H */
