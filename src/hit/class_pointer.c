/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointers to the virtual functions of a class, in the first word of its objects (Itanium C++ ABI,
 * 2.5): a table of a file's constant data, before which stand how far the whole object begins from
 * there, never behind it, and the class's description, which itself begins with two pointers to
 * constant data: to the functions of its own class, and to its name.
 */
#include "hit/hit.h"

#include <string.h>

#define OBJECT_MOST (1ll << 30)

static bool is_constant(const struct target *target, uint64_t address, uint64_t *words,
			size_t count)
{
	uint64_t start, end;

	return address % 8 == 0 && space_mapping(target->space, address, &start, &end) &&
	       !space_writable(target->space, address) &&
	       space_read(target->space, address, words, count * 8) == (ssize_t)(count * 8);
}

static bool is_class_pointer(const struct target *target, uint64_t value)
{
	uint64_t table[3], description[2], start, end;
	int64_t whole;

	if (value < 4096 || !is_constant(target, value - 16, table, 3))
		return false;
	whole = (int64_t)table[0];
	return whole <= 0 && whole > -OBJECT_MOST && table[1] &&
	       is_constant(target, table[1], description, 2) &&
	       space_mapping(target->space, description[0], &start, &end) &&
	       space_mapping(target->space, description[1], &start, &end) &&
	       !space_writable(target->space, description[0]) &&
	       !space_writable(target->space, description[1]);
}

static bool stores_all(const struct slot *slot, const struct hit *hit)
{
	const struct tl_access *access = &hit->access;

	return access->access == TL_WRITE && access->address == slot->watch.address &&
	       access->length == 8 && access->value_known && !access->before;
}

/* What the last store before it has left, or what the watch began with. */
static bool stood_before(const struct slot *slot, const struct hit *write, uint64_t *value)
{
	const struct hit *last = NULL;

	for (unsigned i = 0; i < slot->hits; i++) {
		const struct hit *other = slot->hit[i];

		if ((other->access.access & TL_WRITE) && other->entry < write->entry &&
		    (!last || other->entry > last->entry))
			last = other;
	}
	if (slot->missed || (last && !stores_all(slot, last)))
		return false;
	*value = last ? last->access.value : slot->stood;
	return last || slot->stood_known;
}

/* By a thread that stands before its store. */
static bool is_about_to_keep(const struct target *target, const struct hit *write)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = space_code(target->space, write->access.pc, bytes, sizeof(bytes));
	struct insn insn;

	return write->old_until && !insn_decode(bytes, available, write->access.pc, &insn) &&
	       insn.stored >= 0 && write->stack.registers.general[insn.stored] == write->old &&
	       is_class_pointer(target, write->old);
}

bool class_is_kept(const struct target *target, const struct slot *slot, const struct hit *write)
{
	const struct tl_access *access = &write->access;
	uint64_t stood;

	if (!target->space || access->access != TL_WRITE || access->length != 8 ||
	    !(access->traits & TL_TRAIT_PLAIN))
		return false;
	if (access->before)
		return is_about_to_keep(target, write);
	return stores_all(slot, write) && stood_before(slot, write, &stood) &&
	       stood == access->value && is_class_pointer(target, stood);
}
