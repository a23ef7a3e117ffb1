/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One hit, copied out of the area and attributed to the access that made it.
 *
 * What the area holds, the program may change at any moment: a record is copied once, bounded, and
 * only the copy is judged. A hit is owned by the slot that it is kept for, or by who attributed it;
 * the controller's thread alone touches it.
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
	/* `value` was read by then, after `entry`; 0: not known. A thread that is scheduled away in
	 * its handler reads what others have written since, those held at its entry among them. */
	uint64_t value_until;
	bool usable; /* for pairs: on time, understood, inside what is watched */
	bool beside; /* its instruction is known, and touched nothing that is watched */
	bool origin; /* held before its access, by an execution breakpoint */
	/* Of a plain store it is held before: what stood there when that was read from outside, and
	 * until when it was (0: it was not), which may be after the hold. */
	uint64_t old, old_until;
};

/* attribute.c: from the registers to the access. False: it is not known, or none of the slot's. */
bool hit_attribute(struct target *target, struct slot *slot, const struct area_hit *record,
		   struct hit *hit);
/* Of a region: the program has done that itself. */
void hit_take(struct target *target, const struct area_hit *record, struct hit *hit);
void hit_free(struct hit *hit); /* NULL: nothing */
struct insn_registers hit_registers(const struct area_registers *noted);
unsigned insn_traits(const struct insn *insn, unsigned operand, uint64_t address, uint64_t length);
/* Is it uncertain which bytes are accessed? Elements that a mask leaves out are not, and a vector's
 * mask was not saved. What an instruction that is yet to run will select cannot be told either. */
static inline bool insn_operand_is_guess(const struct insn_operand *operand)
{
	return operand->masked || operand->conditional || operand->extent_unknown;
}
uint64_t value_cut(uint64_t value, uint64_t length); /* its first bytes; all from 8 on */

/* extent.c: cuts a load of the C library to what its call is to read. False: that is nothing. */
bool extent_settle(struct target *target, const struct slot *slot,
		   const struct insn_registers *registers, struct hit *hit);

/* update.c: is one thread's update lost by another's write? */
void update_note(struct target *target, struct hit *hit); /* what a store will overwrite */
/* Was the code of an access not optimised? What its function begins with tells. */
bool update_is_unoptimised(struct space *space, const struct hit *hit);
bool update_is_lost(struct space *space, const struct hit *held, const struct hit *write);

/* class_pointer.c: is it the store of a pointer to an object's virtual functions, and none that
 * takes the place of another class's? */
bool class_is_kept(const struct target *target, const struct slot *slot, const struct hit *write);

/* discard.c: is what `write` wrote of the bytes that `read` loaded thrown away? Or does a mask
 * that is not known say which elements of a vector `read` loads or stores? */
bool discard_is(struct space *space, const struct hit *read, const struct hit *write);

/* Does it touch bytes that are watched? */
static inline bool hit_is_inside(const struct slot *slot, const struct tl_access *access)
{
	return access->address < slot->watch.address + slot->watch.length &&
	       access->address + access->length > slot->watch.address;
}

#endif
