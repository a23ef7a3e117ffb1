/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads of the C library's string functions reach behind what they are asked about: 32 bytes for a
 * string of two. What is behind a terminator, a match or a length is not read in the language's
 * sense, and who writes there races with nobody. Such an access is cut to what its call is to read;
 * where that cannot be told the access says so, and proves nothing by itself.
 */
#include "hit/arguments.h"
#include "hit/hit.h"
#include "record/held.h"

#include <string.h>

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	return space_read(context, address, to, length) == (ssize_t)length ? 0 : -1;
}

/* glibc's for these load four elements, one by one, before they look at the first. */
static bool looks_ahead(const struct c_function *function)
{
	return function->operand[0].flags & (C_SPANS | C_SPANS_NOT);
}

/* NULL: it is none that loads too much, or this load cannot be too large. */
static const struct c_function *searching(const char *name, const struct tl_access *access)
{
	const struct c_function *function = name ? c_function_find(name) : NULL;

	return function && (access->length > function->width || looks_ahead(function)) ? function
										       : NULL;
}

static bool unbounded(struct target *target, struct tl_access *access)
{
	count_one(target->program, COUNT_HITS_UNBOUNDED);
	access->traits |= TL_TRAIT_UNBOUNDED;
	return true;
}

/* Its loads may overlap each other, but all lie within the source. But for the variant that loads
 * aligned words around it and shifts what it wants out of them. */
static bool copies_exactly(const char *name)
{
	static const char *const copies[] = {"memcpy", "memmove", "mempcpy"};

	if (!name || strstr(name, "ssse3"))
		return false;
	name += strspn(name, "_");
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		size_t length = strlen(copies[i]);

		if (strncmp(name, copies[i], length) == 0 && strchr("_.", name[length]))
			return true;
	}
	return false;
}

/* Does what the function reads depend on what stands there? */
static bool stops_by_content(const struct c_function *function)
{
	for (unsigned i = 0; i < function->operands; i++)
		if (function->operand[i].flags || function->operand[i].wanted >= 0)
			return true;
	return false;
}

static bool is_of_hit(const struct area_hit *record, const void *wanted)
{
	const struct hit *hit = wanted;

	return record->entry_time == hit->entry && record->identity == hit->access.identity;
}

/* Only when it goes on can what it had read be overwritten by itself. */
static bool is_still_held(const struct target *target, const struct hit *hit)
{
	return area_holds(target->program->area, target->index, is_of_hit, hit);
}

/* A function without a name may be any, and only those that search and copy have vector loads. */
bool extent_settle(struct target *target, const struct slot *slot,
		   const struct insn_registers *registers, struct hit *hit)
{
	struct tl_access *access = &hit->access;
	struct symbol_memory memory = {read_memory, target->space};
	struct c_call call = {.memory = &memory};
	struct arguments_place place = {
		.space = target->space, .pid = target->pid, .registers = registers};
	enum c_extent extent;
	const char *name;

	if ((access->access & (TL_WRITE | TL_KERNEL)) || !space_is_libc(target->space, access->pc))
		return true;
	name = space_function_name(target->space, access->pc);
	if (copies_exactly(name)) {
		access->traits |= TL_TRAIT_BOUNDED;
		return true;
	}
	if (!name && (access->traits & TL_TRAIT_VECTOR))
		return unbounded(target, access);
	call.function = searching(name, access);
	if (!call.function)
		return true;
	if (space_whole_function(target->space, access->pc, &place.start, &place.end) == 0)
		arguments_recover(&place, access->stack, &call);
	extent = c_extent(&call, &access->address, &access->length);
	if (extent == C_EXTENT_UNKNOWN)
		return unbounded(target, access);
	if (extent == C_EXTENT_WITHIN &&
	    (!stops_by_content(call.function) || is_still_held(target, hit)))
		access->traits |= TL_TRAIT_BOUNDED;
	if (extent == C_EXTENT_OUTSIDE ||
	    (!(slot->watch.access & TL_EXEC) && !hit_is_inside(slot, access))) {
		count_one(target->program, COUNT_HITS_BEHIND);
		return false;
	}
	return true;
}
