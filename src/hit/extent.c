/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads of the C library's string functions reach beyond what they are asked about: 32 bytes for a
 * string of two. Bytes behind a terminator, a match or a length are not read in the language's
 * sense, and a thread that writes there races with nobody. Such an access is cut to what its call
 * is to read; where that cannot be told the access says so, and proves nothing by itself. The
 * library's file is known by its name; in a static program its functions are known by theirs.
 */
#include "hit/arguments.h"
#include "hit/hit.h"
#include "insn/search.h"
#include "record/held.h"

#define SEARCH_MOST 16384 /* bytes of a string function; the longest of glibc has 9,000 */
#define SEARCH_AROUND 128 /* bytes of code on either side of a load, where no function is known */
#define SEARCH_ANSWERS 64

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	return space_read(context, address, to, length) == (ssize_t)length ? 0 : -1;
}

/* True for functions of which glibc's version loads four elements, one by one, before it looks at
 * the first. */
static bool looks_ahead(const struct c_function *function)
{
	return function->operand[0].flags & (C_SPANS | C_SPANS_NOT);
}

/* The string function of this name; NULL: it loads no more than it is asked about, or this load
 * cannot be too large. */
static const struct c_function *searching(const char *name, bool linked,
					  const struct tl_access *access)
{
	const struct c_function *function = NULL;

	if (name)
		function = linked ? c_function_linked(name) : c_function_find(name);
	return function && (access->length > function->width || looks_ahead(function)) ? function
										       : NULL;
}

static bool unbounded(struct target *target, struct tl_access *access)
{
	count_one(target->program, COUNT_HITS_UNBOUNDED);
	access->traits |= TL_TRAIT_UNBOUNDED;
	return true;
}

/* Does how many bytes the function reads depend on what they are? */
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

/* Is the thread still held? Only when it goes on can it overwrite what it has read. */
static bool is_still_held(const struct target *target, const struct hit *hit)
{
	return area_holds(target->program->area, target->index, is_of_hit, hit);
}

/* A kept answer about one pc: its code seldom changes. */
struct nameless {
	uint64_t pc;
	pid_t pid;
	bool may_search;
};

/* Does the instruction load a vector, or half of one, which is eight bytes anywhere (movlpd)? True
 * where it cannot be decoded. */
static bool loads_vector(struct space *space, uint64_t pc)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;

	return insn_decode(bytes, space_code(space, pc, bytes, sizeof(bytes)), pc, &insn) ||
	       insn.vector;
}

static bool look_for_search(struct space *space, uint64_t pc)
{
	static uint8_t code[SEARCH_MOST]; /* one thread */
	bool vector = loads_vector(space, pc);
	uint64_t start, end;

	if (space_whole_function(space, pc, &start, &end)) {
		/* musl has no unwind tables. */
		if (vector)
			return true;
		start = pc - SEARCH_AROUND;
		end = pc + SEARCH_AROUND;
	}
	/* No string function is so long. */
	if (end - start > sizeof(code))
		return false;
	if (space_code(space, start, code, end - start) != end - start)
		return vector;
	return vector ? insn_searches_vectors(code, end - start, start)
		      : insn_searches_words(code, end - start, sizeof(uint64_t));
}

/*
 * A function without a name may be any, and in the C library's own file only those that search and
 * copy have vector loads. Linked into a program they stand among others, which are told from them
 * by their code. Accepted there: what loads ahead a byte at a time (strspn() of long sets).
 */
static bool may_search(struct target *target, bool linked, const struct tl_access *access)
{
	static struct nameless answers[SEARCH_ANSWERS]; /* one thread */
	struct nameless *answer = &answers[access->pc % SEARCH_ANSWERS];
	bool vector = access->traits & TL_TRAIT_VECTOR;

	if (!linked)
		return vector;
	if (!vector && access->length < sizeof(uint64_t))
		return false;
	if (answer->pc != access->pc || answer->pid != target->pid)
		*answer = (struct nameless){access->pc, target->pid,
					    look_for_search(target->space, access->pc)};
	return answer->may_search;
}

bool extent_settle(struct target *target, const struct slot *slot,
		   const struct insn_registers *registers, struct hit *hit)
{
	struct tl_access *access = &hit->access;
	struct symbol_memory memory = {read_memory, target->space};
	struct c_call call = {.memory = &memory};
	struct arguments_place place = {
		.space = target->space, .pid = target->pid, .registers = registers};
	bool linked = !space_is_libc(target->space, access->pc);
	enum c_extent extent;
	const char *name;

	if ((access->access & (TL_WRITE | TL_KERNEL)) ||
	    (linked && !space_is_static(target->space)))
		return true;
	name = space_function_name(target->space, access->pc);
	if (name && c_function_copies(name, linked)) {
		access->traits |= TL_TRAIT_BOUNDED;
		return true;
	}
	if (!name && may_search(target, linked, access))
		return unbounded(target, access);
	call.function = searching(name, linked, access);
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
