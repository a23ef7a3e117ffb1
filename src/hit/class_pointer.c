/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a value the pointer to a class's table of virtual functions, which C++ objects have in their
 * first word (Itanium C++ ABI, 2.5 and 2.9)? The table holds addresses of code. Before it stand two
 * words: the offset from there to the beginning of the whole object, which is never positive, and
 * the address of the class's description, whose second word leads to the class's name.
 */
#include "hit/hit.h"

#include <string.h>

#define OBJECT_MOST (1ll << 30)

static bool read_words(const struct target *target, uint64_t address, uint64_t *words, size_t count)
{
	return address >= 4096 && address % 8 == 0 &&
	       space_read(target->space, address, words, count * 8) == (ssize_t)(count * 8);
}

/* "6worker", "N4base6workerE", "*7private": as mangled, of a type. */
static bool is_name(const struct target *target, uint64_t address)
{
	char first;

	return space_read(target->space, address, &first, 1) == 1 &&
	       (first == '*' || (first >= '1' && first <= '9') || (first >= 'A' && first <= 'Z'));
}

/* The memory of a process that has ended cannot be read: there any pointer into memory that a file
 * has brought is taken for one. */
static bool is_class_pointer(const struct target *target, uint64_t value)
{
	uint64_t table[3], description[2];
	int64_t whole;

	if (value < 4096 || value % 8)
		return false;
	if (!read_words(target, value - 16, table, 3))
		return space_is_file(target->space, value);
	whole = (int64_t)table[0];
	return whole <= 0 && whole > -OBJECT_MOST && space_module(target->space, table[2]) &&
	       read_words(target, table[1], description, 2) && is_name(target, description[1]);
}

/* Was the whole watched value read while the hit's thread was held behind its access? */
static bool shows_all(const struct slot *slot, const struct hit *hit)
{
	const struct tl_access *access = &hit->access;

	return access->address == slot->watch.address && access->length == 8 &&
	       access->value_known && !access->before;
}

/* The value that stood there before `write`: as the last hit before it showed, else as the watch
 * began. False: it is not known. */
static bool stood_before(const struct slot *slot, const struct hit *write, uint64_t *value,
			 bool *seen)
{
	const struct hit *last = NULL;

	for (unsigned i = 0; i < slot->hits; i++) {
		const struct hit *other = slot->hit[i];

		/* A thread held before a load has shown no value and changes none. */
		if (other->access.before && !(other->access.access & TL_WRITE))
			continue;
		if (other->entry < write->entry && (!last || other->entry > last->entry))
			last = other;
	}
	if (slot->missed || (last && !shows_all(slot, last)))
		return false;
	*value = last ? last->access.value : slot->stood;
	*seen = last;
	return last || slot->stood_known;
}

/* The value that a thread held before its store is about to store. */
static bool about_to_store(const struct target *target, const struct hit *write, uint64_t *value)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = space_code(target->space, write->access.pc, bytes, sizeof(bytes));
	struct insn insn;

	if (insn_decode(bytes, available, write->access.pc, &insn) || insn.stored < 0)
		return false;
	*value = write->stack.registers.general[insn.stored];
	return true;
}

bool class_is_kept(const struct target *target, const struct slot *slot, const struct hit *write)
{
	const struct tl_access *access = &write->access;
	uint64_t value = access->value, stood = write->old;
	bool known = write->old_until, seen = known;

	if (!target->space || access->access != TL_WRITE || access->length != 8 ||
	    !(access->traits & TL_TRAIT_PLAIN))
		return false;
	if (access->before ? !about_to_store(target, write, &value) : !shows_all(slot, write))
		return false;
	if (!access->before)
		known = stood_before(slot, write, &stood, &seen);
	/* The value that stood there as the watch began may be an earlier object's in the same
	 * memory; a value that an access has shown (`seen`) is this object's. */
	return is_class_pointer(target, value) &&
	       !(known && stood != value && (seen || is_class_pointer(target, stood)));
}
