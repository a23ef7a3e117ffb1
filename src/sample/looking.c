/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/spreading.h"

#include <errno.h>

static bool read_line(void *context, uint64_t address, uint8_t *bytes)
{
	return space_read(context, address, bytes, LINES_BYTES) == (ssize_t)LINES_BYTES;
}

void looking_begin(struct looking *looking, struct space *space, ahead_fn *each, void *context)
{
	looking->space = space;
	looking->each = each;
	looking->context = context;
	looking->lines = (struct lines){looking->line, LINES, read_line, space};
	lines_forget(&looking->lines);
}

int looking_read(void *context, uint64_t address, void *to, size_t length)
{
	struct looking *looking = context;

	if (spreading_is_new(address))
		return -EFAULT;
	return lines_read(&looking->lines, address, to, length);
}
