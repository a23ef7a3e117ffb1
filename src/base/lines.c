/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lines.h"

#include <errno.h>
#include <string.h>

void lines_forget(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		lines->line[i].address = 0;
}

static const struct line *line_at(struct lines *lines, uint64_t address)
{
	struct line *line = &lines->line[address / LINES_BYTES % lines->count];

	if (!line->address || line->address != address) {
		line->address = address;
		line->there = lines->read(lines->context, address, line->bytes);
	}
	return line;
}

int lines_read(struct lines *lines, uint64_t address, void *to, size_t length)
{
	size_t done = 0;

	while (done < length) {
		uint64_t at = address + done;
		const struct line *line = line_at(lines, at - at % LINES_BYTES);
		size_t part = LINES_BYTES - at % LINES_BYTES;

		if (!line->there)
			return -EFAULT;
		if (part > length - done)
			part = length - done;
		memcpy((uint8_t *)to + done, line->bytes + at % LINES_BYTES, part);
		done += part;
	}
	return 0;
}

size_t lines_read_code(struct lines *lines, uint64_t pc, uint8_t *bytes, size_t max)
{
	size_t most = LINES_BYTES - pc % LINES_BYTES;

	if (!lines_read(lines, pc, bytes, max))
		return max;
	return most < max && !lines_read(lines, pc, bytes, most) ? most : 0;
}
