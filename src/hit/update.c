/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lost updates: one thread is held between reading a value and writing back what it made of that,
 * and another thread changes the value meanwhile. That is a race whatever the accesses were meant
 * to be, and all that a program without debug information can show of plain aligned moves.
 */
#include "hit/hit.h"

#include "base/clock.h"
#include "insn/update.h"

#define FUNCTION_MAX 4096 /* bytes of one that is decoded to the end */

/* The value that a thread, held behind its load, has loaded. */
static bool value_read(struct space *space, const struct hit *read, struct insn *load,
		       uint64_t *value)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = space_code(space, read->access.pc, bytes, sizeof(bytes));

	if (insn_decode(bytes, available, read->access.pc, load) || load->loaded < 0)
		return false;
	*value = value_cut(read->stack.registers.general[load->loaded], read->access.length);
	return true;
}

static bool goes_on_to_store(struct space *space, const struct hit *read, const struct insn *load)
{
	uint8_t bytes[INSN_UPDATE_BYTES + INSN_MAX_LENGTH];
	struct insn_registers registers = hit_registers(&read->stack.registers);
	struct insn_bytes object = {read->access.address, read->access.length};
	size_t available = space_code(space, registers.pc, bytes, sizeof(bytes));

	return insn_update_follows(bytes, available, load, &registers, &object);
}

static bool has_loaded(struct space *space, const struct hit *store)
{
	static uint8_t bytes[FUNCTION_MAX]; /* one thread */
	struct insn_registers registers = hit_registers(&store->stack.registers);
	struct insn_bytes object = {store->access.address, store->access.length};
	uint64_t start, end;

	if (space_function(space, registers.pc, &start, &end) || end - start > FUNCTION_MAX ||
	    space_code(space, start, bytes, end - start) != end - start)
		return false;
	return insn_update_begun(bytes, end - start, start, &registers, &object);
}

bool update_is_unoptimised(struct space *space, const struct hit *hit)
{
	uint8_t bytes[INSN_PROLOGUE_BYTES];
	uint64_t start, end;

	return space && !space_whole_function(space, hit->access.pc, &start, &end) &&
	       insn_is_unoptimised(bytes, space_code(space, start, bytes, sizeof(bytes)), start);
}

void update_note(struct target *target, struct hit *hit)
{
	const struct tl_access *access = &hit->access;
	uint64_t value = 0;

	if (!access->before || access->access != TL_WRITE || access->length > 8 ||
	    !(access->traits & TL_TRAIT_PLAIN) ||
	    space_read(target->space, access->address, &value, access->length) !=
		    (ssize_t)access->length)
		return;
	hit->old = value;
	hit->old_until = clock_now();
}

/* Is the value of `write` certain to be what it stored? A register shows that at any time. What the
 * handler read from memory after `until`, the end of the other's hold, may be what the other thread
 * has stored since. */
static bool value_holds(const struct hit *write, uint64_t until)
{
	return write->access.value_known &&
	       (!write->value_length || (write->value_until && write->value_until < until));
}

/* To be called where `held` began its hold first and was held still when the other's write was
 * made. Handlers may begin in another order than the accesses were made, but a read that came after
 * the write would have loaded what that had written. */
bool update_is_lost(struct space *space, const struct hit *held, const struct hit *write)
{
	struct insn load;
	uint64_t found;

	if (!space || !(write->access.access & TL_WRITE) || write->access.before ||
	    !value_holds(write, held->exit) || held->access.length > 8 ||
	    held->access.address != write->access.address ||
	    held->access.length != write->access.length)
		return false;
	if (held->access.before) {
		/* What was read after its hold is no use: by then the thread itself has stored, and
		 * others may have. */
		if (!held->old_until || held->old_until >= held->exit || !has_loaded(space, held))
			return false;
		found = held->old;
	} else if (held->access.access != TL_READ || !value_read(space, held, &load, &found) ||
		   !goes_on_to_store(space, held, &load)) {
		return false;
	}
	return found != value_cut(write->access.value, write->access.length);
}
