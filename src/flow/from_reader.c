/* SPDX-License-Identifier: Apache-2.0 */
/* Is it the piece of code that was asked about that reads, called from where it was then? */
#include "flow/from.h"

/*
 * Was the function whose caller is at frames[0], and returns to `context`, called as the value's
 * was? What it was called through counts, too, up to the writer's function: another one may have
 * called the same.
 */
static bool is_same_way(const struct flow_value *value, uint64_t context,
			const struct tl_frame_place *frames, int count)
{
	if (!context)
		return true;
	if (count < 1 || frames[0].pc != context)
		return false;
	for (unsigned i = 0; i < value->callers && value->beyond[i]; i++)
		if ((int)i + 1 >= count || frames[i + 1].pc != value->beyond[i])
			return false;
	return true;
}

/*
 * Is it the C library's, in the call at which the value was sought, made by the same callers? A
 * function that jumps to the library at its end has no frame: what it returns to is its own caller.
 */
static bool is_called_in_library(struct flow_from *from, const struct flow_value *value,
				 const struct tl_access *access)
{
	struct tl_frame_place frames[FLOW_FRAMES + FLOW_CALLERS];
	int count, caller = 0;

	if (!flow_in_c_library(from->tree, access->pid, access->pc))
		return false;
	count = from->services->unwind(from->host, access, frames, FLOW_FRAMES + FLOW_CALLERS);
	for (int i = 1; i < count && !caller; i++)
		if (!flow_in_c_library(from->tree, access->pid, frames[i].pc))
			caller = i;
	if (!caller || frames[caller].pc != value->context)
		return false;
	caller += value->caller != value->context;
	return is_same_way(value, value->caller, frames + caller, count - caller);
}

bool flow_from_is_called_there(struct flow_from *from, const struct flow_value *value,
			       uint64_t context, const struct tl_access *access)
{
	struct tl_frame_place frames[2 + FLOW_CALLERS];
	int count;

	if (!context)
		return true;
	count = from->services->unwind(from->host, access, frames, 2 + value->callers);
	return is_same_way(value, context, frames + 1, count - 1);
}

bool flow_from_is_reader(struct flow_from *from, const struct flow_value *value,
			 const struct tl_access *access)
{
	if (value->parsed)
		return is_called_in_library(from, value, access);
	if (access->pc < value->reader || access->pc >= value->reader_end ||
	    access->traits & TL_TRAIT_BEYOND)
		return false;
	return flow_from_is_called_there(from, value, value->context, access);
}
