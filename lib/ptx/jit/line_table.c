// SPDX-License-Identifier: MIT
/*
 * From an address in translated code to the line of its text. The tables of all objects are in a
 * list; entries of code that is gone are empty, for the next object to take.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "elf_file.h"

struct line {
	uint64_t offset;		/* in the object's code */
	uint32_t line, column;		/* column: the number of the text, from 1 on */
};

struct line_table {
	struct line_table *next;
	uintptr_t begin;		/* 0: it is empty */
	uintptr_t end;
	const struct ptx_code *code;
	struct line *lines;
	uint32_t count, room;
};

/* Protects the list, its entries, and the texts of those that are not empty. Taken alone. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct line_table *tables;

/* The address that the linker will write to a place of .debug_line: an offset in the code */
static uint64_t relocated(const struct elf *object, uint64_t place)
{
	const Elf64_Shdr *table = elf_section(object, ".rela.debug_line");
	const Elf64_Rela *relas = table ? (const void *)(object->bytes + table->sh_offset) : NULL;

	for (uint64_t i = 0; table && i < table->sh_size / sizeof(*relas); i++)
		if (relas[i].r_offset == place)
			return relas[i].r_addend;
	return 0;
}

static uint64_t uleb(const unsigned char **at)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	do {
		value |= (uint64_t)(**at & 0x7f) << (shift & 63);
		shift += 7;
	} while (*(*at)++ & 0x80);
	return value;
}

static int64_t sleb(const unsigned char **at)
{
	int64_t value = 0;
	unsigned int shift = 0;
	unsigned char byte;

	do {
		byte = *(*at)++;
		value |= (int64_t)(byte & 0x7f) << (shift & 63);
		shift += 7;
	} while (byte & 0x80);
	if (byte & 0x40 && shift < 64)
		value |= -(1LL << shift);
	return value;
}

static void add_line(struct line_table *table, uint64_t offset, uint32_t line, uint32_t column)
{
	if (table->count == table->room) {
		uint32_t room = table->room ? 2 * table->room : 256;
		struct line *more = realloc(table->lines, room * sizeof(*more));

		if (!more)
			return;
		table->lines = more;
		table->room = room;
	}
	table->lines[table->count++] = (struct line) { offset, line, column };
}

/* What stands before a program of DWARF 4 */
struct __attribute__((packed)) line_head {
	uint32_t length;
	uint16_t version;
	uint32_t head_length;
	uint8_t minimum, most, is_statement;
	int8_t line_base;
	uint8_t line_range, opcode_base;
	uint8_t lengths[];
};

/*
 * Runs the program that makes a line table. @of_source: its lines are those of the source, and the
 * text's are the discriminators
 */
static void read_lines(const struct elf *object, const Elf64_Shdr *lines, bool of_source,
		       struct line_table *table)
{
	const unsigned char *begin = object->bytes + lines->sh_offset, *at, *end, *next;
	const struct line_head *head = (const void *)begin;
	uint64_t offset = 0, length;
	uint32_t line = 1, column = 0, own = 0;

	if (lines->sh_size < sizeof(*head) || head->version != 4)
		return;
	end = begin + 4 + head->length;
	at = begin + 10 + head->head_length;
	while (at < end) {
		unsigned char opcode = *at++;

		if (opcode >= head->opcode_base) {
			opcode -= head->opcode_base;
			offset += opcode / head->line_range;
			line += head->line_base + opcode % head->line_range;
			add_line(table, offset, of_source ? own : line, column);
			own = 0;
			continue;
		}
		switch (opcode) {
		case 0:
			length = uleb(&at);
			next = at + length;
			if (*at == 2)
				offset = relocated(object, at + 1 - begin);
			if (*at == 1) {
				line = 1;
				column = 0;
			}
			if (*at == 4) {
				at++;
				own = uleb(&at);
			}
			at = next;
			break;
		case 1:
			add_line(table, offset, of_source ? own : line, column);
			own = 0;
			break;
		case 2:
			offset += uleb(&at);
			break;
		case 3:
			line += sleb(&at);
			break;
		case 5:
			column = uleb(&at);
			break;
		case 8:
			offset += (255 - head->opcode_base) / head->line_range;
			break;
		case 9:
			offset += at[0] | at[1] << 8;
			at += 2;
			break;
		default:
			for (int i = head->lengths[opcode - 1]; i > 0; i--)
				uleb(&at);
		}
	}
}

static int compare(const void *one, const void *other)
{
	const struct line *a = one, *b = other;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Keeps the lines of an object whose symbol @name was put to @address. NULL: it has none */
struct line_table *line_table_add(const void *bytes, size_t size, const char *name,
				  uintptr_t address, const struct ptx_code *of)
{
	const Elf64_Shdr *code, *lines;
	struct line_table *table;
	struct elf object;
	uint64_t offset;

	if (!elf_open(&object, bytes, size))
		return NULL;
	code = elf_section(&object, ".text");
	lines = elf_section(&object, ".debug_line");
	offset = elf_symbol_offset(&object, name);
	if (!code || !lines || offset == UINT64_MAX)
		return NULL;
	pthread_mutex_lock(&lock);
	for (table = tables; table && table->begin; table = table->next)
		;
	if (!table) {
		table = calloc(1, sizeof(*table));
		if (table) {
			table->next = tables;
			tables = table;
		}
	}
	if (table) {
		table->count = 0;
		table->code = of;
		read_lines(&object, lines, of->debugged, table);
		if (table->count)
			qsort(table->lines, table->count, sizeof(*table->lines), compare);
		table->end = address - offset + code->sh_size;
		table->begin = address - offset;
	}
	pthread_mutex_unlock(&lock);
	return table;
}

void line_table_remove(struct line_table *table)
{
	if (!table)
		return;
	pthread_mutex_lock(&lock);
	table->begin = 0;
	pthread_mutex_unlock(&lock);
}

static void write_line(const struct line_table *table, const struct line *line, char *text,
		       size_t size)
{
	const struct unit *unit;
	int used = snprintf(text, size, "line %u", line->line);
	char source[100];

	if (!line->column || line->column > table->code->units_count)
		return;
	unit = &table->code->units[line->column - 1];
	source_line(unit->text, unit->end, line->line, source, sizeof(source));
	if (*source)
		snprintf(text + used, size - used, " (%s)", source);
}

/* With the lock held. Return: the line of an instruction, and its table; NULL: it is not known */
static const struct line *find(uintptr_t address, const struct line_table **found)
{
	for (struct line_table *table = tables; table; table = table->next) {
		uint32_t low = 0, high = table->count;

		if (!table->begin || address < table->begin || address >= table->end)
			continue;
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (table->lines[middle].offset <= address - table->begin)
				low = middle + 1;
			else
				high = middle;
		}
		*found = table;
		return low && table->lines[low - 1].line ? &table->lines[low - 1] : NULL;
	}
	return NULL;
}

/* Writes "line 12" or, where the text tells, "line 12 (a.cu:7)"; or nothing. */
void line_table_find(uintptr_t address, char *text, size_t size)
{
	const struct line_table *table;
	const struct line *line;

	*text = '\0';
	pthread_mutex_lock(&lock);
	line = find(address, &table);
	if (line)
		write_line(table, line, text, size);
	pthread_mutex_unlock(&lock);
}

/* Does the line of an instruction have a word? */
bool line_table_says(uintptr_t address, const char *word)
{
	const struct line_table *table;
	const struct line *line;
	const struct unit *unit;
	bool says = false;

	pthread_mutex_lock(&lock);
	line = find(address, &table);
	if (line && line->column && line->column <= table->code->units_count) {
		unit = &table->code->units[line->column - 1];
		says = source_says(unit->text, unit->end, line->line, word);
	}
	pthread_mutex_unlock(&lock);
	return says;
}
