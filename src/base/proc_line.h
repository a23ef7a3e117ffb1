/* SPDX-License-Identifier: Apache-2.0 */
/* Files of /proc, line by line. */
#ifndef BASE_PROC_LINE_H
#define BASE_PROC_LINE_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The next line, cut to what `line` holds. The rest of a longer one is skipped: names that a
 * program chose stand in it, and must not be read as a line of their own. */
static inline bool proc_line_next(FILE *file, char *line, size_t size)
{
	int byte;

	if (!fgets(line, (int)size, file))
		return false;
	if (!strchr(line, '\n'))
		while ((byte = getc(file)) != EOF && byte != '\n')
			;
	return true;
}

#endif
