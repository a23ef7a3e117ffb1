/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/line.h"

#include "dwarf/unit.h"

#include <string.h>

bool symbol_line_same_file(const char *path, const char *asked)
{
	size_t length = strlen(path), size = strlen(asked);

	if (size > length || strcmp(path + length - size, asked) != 0)
		return false;
	return size == length || path[length - size - 1] == '/';
}

/* The smallest line >= *wanted with code in this unit; UINT_MAX if none. */
static unsigned nearest_line(Dwarf_Lines *lines, size_t count, const char *file, unsigned wanted)
{
	unsigned best = ~0u;

	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *path = dwarf_linesrc(line, NULL, NULL);
		int number;

		if (path && dwarf_lineno(line, &number) == 0 && number > 0 &&
		    (unsigned)number >= wanted && (unsigned)number < best &&
		    symbol_line_same_file(path, file))
			best = (unsigned)number;
	}
	return best;
}

/* The first row of each run of rows of the line: a run is one piece of code. */
static size_t collect(struct symbol_object *object, Dwarf_Lines *lines, size_t count,
		      const char *file, unsigned wanted, uint64_t *addresses, size_t max)
{
	size_t found = 0;
	bool inside = false;

	for (size_t i = 0; i < count && found < max; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *path = dwarf_linesrc(line, NULL, NULL);
		bool statement = false;
		Dwarf_Addr address;
		int number = 0;

		dwarf_lineno(line, &number);
		dwarf_linebeginstatement(line, &statement);
		if ((unsigned)number != wanted || !path || !symbol_line_same_file(path, file)) {
			inside = false;
			continue;
		}
		if (!inside && statement && dwarf_lineaddr(line, &address) == 0 &&
		    symbol_image_is_code(&object->image, address)) {
			addresses[found++] = address;
			inside = true;
		}
	}
	return found;
}

static bool unit_lines(struct symbol_object *object, size_t index, Dwarf_Lines **lines,
		       size_t *count)
{
	Dwarf_Die die;

	return symbol_unit_die(object, &object->units->unit[index], &die) == 0 &&
	       dwarf_getsrclines(&die, lines, count) == 0;
}

size_t symbol_line_addresses(struct symbol_object *object, const char *file, unsigned *line,
			     uint64_t *addresses, size_t max)
{
	struct symbol_units *units = symbol_object_units(object);
	unsigned best = ~0u;
	Dwarf_Lines *lines;
	size_t count, found = 0;

	for (size_t i = 0; units && i < units->count && best != *line; i++)
		if (unit_lines(object, i, &lines, &count)) {
			unsigned nearest = nearest_line(lines, count, file, *line);

			best = nearest < best ? nearest : best;
		}
	if (best == ~0u)
		return 0;
	for (size_t i = 0; i < units->count && found < max; i++)
		if (unit_lines(object, i, &lines, &count))
			found += collect(object, lines, count, file, best, addresses + found,
					 max - found);
	*line = best;
	return found;
}
