/* SPDX-License-Identifier: Apache-2.0 */
/* The room: hits are taken from the area that the process shares with us, attributed to the access
 * that made them (here), and paired with those of other threads (collect.h).
 *
 * The program may change what is in the area at any moment: so a record is copied once, bounded,
 * and only the copy is judged. A hit belongs to the slot that it is kept for or, before that, to
 * whoever attributed it. The controller's thread alone touches it.
 */
#ifndef HIT_HIT_H
#define HIT_HIT_H

#include "hit/stack.h"
#include "insn/insn.h"
#include "target/target.h"

#include <trapline/tool.h>

struct hit {
	struct tl_access access;
	struct tl_registers registers;
	struct tl_stack stack;
	uint8_t *stack_bytes; /* owned */
	uint64_t entry, exit; /* exit 0: still held */
	unsigned value_length;
	uint8_t value[AREA_VALUE];
	uint64_t value_address;
	/* The handler read `value` between `entry` and this time; 0: not known when. A thread that
	 * is scheduled away between the two reads what others have written meanwhile, also those
	 * that were held at its entry. */
	uint64_t value_until;
	bool usable; /* for pairs: on time, understood, inside what is watched */
	bool beside; /* its instruction is known, and touched nothing that is watched */
	bool origin; /* held before its access, by an execution breakpoint */
	/* Of a thread that is held before a plain store: what stood there, read from outside, and
	 * the time by which it had been read (0: it was not), which may be after the hold. */
	uint64_t old, old_until;
};

/* attribute.c: from the registers to the access. False: it is not known, or none of the slot's. */
bool hit_attribute(struct target *target, struct slot *slot, const struct area_hit *record,
		   struct hit *hit);
/* The same of a hit of a region, of which the program itself notes the access. */
void hit_take(struct target *target, const struct area_hit *record, struct hit *hit);
void hit_free(struct hit *hit); /* NULL: nothing */
struct insn_registers hit_registers(const struct area_registers *noted);
unsigned insn_traits(const struct insn *insn, unsigned operand, uint64_t address, uint64_t length);
/* Kind and traits of the access by an operand of an instruction that is yet to run, from the flags
 * before it. Its address and length are in `access`. */
void hit_note_operand(const struct insn *insn, unsigned number, uint64_t flags,
		      struct tl_access *access);
uint64_t value_cut(uint64_t value, uint64_t length); /* its first bytes; all from 8 on */

/* extent.c: cuts a load of the C library to the bytes that its call is to read. False: none of the
 * watched bytes is left. */
bool extent_settle(struct target *target, const struct slot *slot,
		   const struct insn_registers *registers, struct hit *hit);

/* update.c: has a write by another thread come between the read and the write of an update, which
 * then loses it? */
void update_note(struct target *target, struct hit *hit); /* in hit->old */
/* Was the code of an access compiled without optimisation, as the beginning of its function tells?
 */
bool update_is_unoptimised(struct space *space, const struct hit *hit);
bool update_is_lost(struct space *space, const struct hit *held, const struct hit *write);

/* class_pointer.c: does the write store a pointer to a class's virtual functions, and not over that
 * of another class, as far as is known? */
bool class_is_kept(const struct target *target, const struct slot *slot, const struct hit *write);

/* discard.c: does the code of `read` throw away those of the bytes it loaded that `write` wrote?
 * True as well where a mask that was not noted says which elements of a vector `read` accesses. */
bool discard_is(struct space *space, const struct hit *read, const struct hit *write);

/* Does it touch bytes that are watched? */
static inline bool hit_is_inside(const struct slot *slot, const struct tl_access *access)
{
	return access->address < slot->watch.address + slot->watch.length &&
	       access->address + access->length > slot->watch.address;
}

#endif
