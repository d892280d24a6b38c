/* SPDX-License-Identifier: MIT */
/* Names that users choose, of processes and devices: any bytes, which no output may trust. */
#ifndef MEMCAST_TOOLS_NAME_H
#define MEMCAST_TOOLS_NAME_H

#include <json-c/json.h>
#include <stdio.h>

/* JSON is UTF-8, so bytes that are not UTF-8 become U+FFFD. */
struct json_object *name_new(const char *name);

/* Puts a "?" in the place of each byte that a terminal would obey, or that is not UTF-8. */
void name_clean(char *name);

/* Prints a name as name_clean() makes it. */
void name_print(const char *name);

/* Writes UTF-8 as text of XML, which has no control characters, nor U+FFFE and U+FFFF. */
void name_put_xml(FILE *to, const char *text);

/* Return: how many bytes the characters have that fit into @most bytes, for "%.*s" */
int name_fit(const char *name, int most);

#endif /* MEMCAST_TOOLS_NAME_H */
