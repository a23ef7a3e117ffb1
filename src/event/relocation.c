/* SPDX-License-Identifier: Apache-2.0 */
#include "event/relocation.h"

#include <stdbool.h>
#include <trapline/event.h>

static bool suits(uintptr_t addr, unsigned length)
{
	return addr % length == 0;
}

/* Of two data places: at most one, the shorter length at the address of the longer one. */
static unsigned shorten(const struct relocation_place *from, const struct relocation_place *to,
			struct relocation_place *step)
{
	if (from->length > to->length && !suits(to->addr, from->length)) {
		*step = *from;
		step->length = to->length;
		return 1;
	}
	if (to->length > from->length && !suits(from->addr, to->length)) {
		*step = *to;
		step->length = from->length;
		return 1;
	}
	return 0;
}

unsigned relocation_steps(const struct relocation_place *from, const struct relocation_place *to,
			  unsigned code_length, struct relocation_place step[RELOCATION_STEPS])
{
	bool from_code = from->access & TL_EXEC, to_code = to->access & TL_EXEC;
	const struct relocation_place *data = from_code ? to : from;
	/* As long as code, where data of that length may lie: here the access alone tells the two
	 * from each other. */
	struct relocation_place both = {.addr = data->addr - data->addr % code_length,
					.length = code_length};
	unsigned count = 0;

	if (from_code && to_code)
		return 0;
	if (!from_code && !to_code)
		return shorten(from, to, step);
	both.access = from->access;
	if (to_code)
		count = shorten(from, &both, step);
	step[count++] = both;
	both.access = to->access;
	step[count++] = both;
	if (from_code)
		count += shorten(&both, to, &step[count]);
	return count;
}
