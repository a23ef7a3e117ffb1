/* SPDX-License-Identifier: Apache-2.0 */
/* From the registers that a hit has noted to the access that was made. */
#include "hit/arguments.h"
#include "hit/hit.h"
#include "hit/stack.h"
#include "hit/system_call.h"
#include "process/descriptor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

unsigned insn_traits(const struct insn *insn, unsigned operand, uint64_t address, uint64_t length)
{
	const struct insn_operand *at = &insn->operand[operand];
	unsigned traits = 0;

	if (insn->string)
		traits |= TL_TRAIT_STRING;
	else if (at->stack_push || at->stack_pop)
		traits |= TL_TRAIT_STACK;
	else if (length > 8 || at->vector_index >= 0 || at->masked)
		traits |= TL_TRAIT_VECTOR | (insn->whole_vector ? TL_TRAIT_WHOLE_VECTOR : 0);
	else if (at->access == TL_READ || at->access == TL_WRITE)
		traits |= TL_TRAIT_PLAIN;
	if (length && length <= 8 && address % length)
		traits |= TL_TRAIT_UNALIGNED;
	if (at->access == (TL_READ | TL_WRITE) && !insn->atomic)
		traits |= TL_TRAIT_UPDATE;
	if (insn->attempt)
		traits |= TL_TRAIT_ATTEMPT;
	if (at->access == TL_READ && (traits & TL_TRAIT_PLAIN) && !insn->plain_move &&
	    !insn->vector)
		traits |= TL_TRAIT_OPERAND;
	return traits;
}

/* CMOVcc loads in any case, and changes no flags. */
static unsigned not_taken(const struct insn *insn, uint64_t flags)
{
	return insn->move_condition >= 0 &&
			       !insn_condition_holds(flags, (unsigned)insn->move_condition)
		       ? TL_TRAIT_NOT_TAKEN
		       : 0;
}

uint64_t value_cut(uint64_t value, uint64_t length)
{
	return length < 8 ? value & ((1ull << 8 * length) - 1) : value;
}

static struct tl_registers general(const struct area_registers *noted)
{
	struct tl_registers registers = {
		.pc = noted->pc, .flags = noted->flags, .fs_base = noted->fs_base};

	memcpy(registers.general, noted->general, sizeof(noted->general));
	return registers;
}

struct insn_registers hit_registers(const struct area_registers *noted)
{
	struct insn_registers registers = {
		.pc = noted->pc, .flags = noted->flags, .fs_base = noted->fs_base};

	memcpy(registers.general, noted->general, sizeof(noted->general));
	return registers;
}

static unsigned operand_of(const struct insn_access *access)
{
	for (unsigned i = 0; i < access->insn.operand_count; i++)
		if (access->insn.operand[i].access == (access->access & (TL_READ | TL_WRITE)))
			return i;
	return 0;
}

/* Did the call send data to another process or thread? Not to a file: its reader has to be told
 * that it was written. */
static bool has_sent(const struct target *target, int number,
		     const struct insn_registers *registers, const struct insn_memory *memory)
{
	int descriptor = system_call_sent_by(number, registers, memory);

	return descriptor >= 0 && !process_keeps(target->pid, descriptor);
}

/* The system call's number. Negative: it is no call, or its number cannot be told. */
static int call_number(const struct target *target, const struct insn_registers *registers,
		       const struct insn_memory *memory, const struct tl_stack *stack)
{
	struct arguments_place place = {
		.space = target->space, .pid = target->pid, .registers = registers};
	int number = system_call_number(registers, memory);

	if (number != -ENODATA || !stack ||
	    space_whole_function(target->space, registers->pc, &place.start, &place.end))
		return number;
	return arguments_call_number(&place, stack);
}

static bool settle_kernel_access(const struct target *target, const struct slot *slot,
				 const struct insn_registers *registers,
				 const struct insn_memory *memory, struct tl_access *access)
{
	struct insn_bytes watched = {slot->watch.address, slot->watch.length};
	unsigned wanted = slot->wide ? TL_READ | TL_WRITE : slot->watch.access;
	int number = call_number(target, registers, memory, access->stack);
	struct system_call_copy copy;

	access->call_known = number >= 0;
	access->call = number;
	if (!system_call_copied_by(number, registers, memory, &watched, wanted, &copy))
		return false;
	access->pc = registers->pc;
	access->address = copy.bytes.address;
	access->length = copy.bytes.length;
	access->access = TL_KERNEL | copy.access;
	access->traits = copy.content ? TL_TRAIT_CONTENT : 0;
	if (copy.access == TL_READ && has_sent(target, number, registers, memory))
		access->traits |= TL_TRAIT_SENT;
	return true;
}

/* Notes the value from a register, where memory was not read at the time of the hit: the trap came
 * right after the instruction, so a register may still hold what was loaded or stored. */
static void note_moved(const struct insn *insn, const struct insn_registers *registers,
		       struct tl_access *access)
{
	unsigned kind = access->access & (TL_READ | TL_WRITE | TL_GUESSED);
	unsigned length = (unsigned)access->length;

	if (!length || length > 8)
		return;
	if (kind == TL_READ && insn->loaded >= 0)
		access->value = registers->general[insn->loaded];
	else if (kind == TL_WRITE && insn->stored >= 0)
		access->value = registers->general[insn->stored];
	else if (kind == TL_WRITE && insn->stored_constant)
		access->value = (uint64_t)insn->constant;
	else
		return;
	access->value = value_cut(access->value, length);
	access->value_known = true;
}

static bool is_written(const struct insn *insn, int number)
{
	return number >= 0 && number < INSN_GENERAL && insn->written_registers >> number & 1;
}

/*
 * A load that overwrites its own base register leaves its address to be found by comparing the
 * value with memory (insn/attribute.c), which a racing thread may have changed meanwhile. An odd
 * address found so does not prove that the access was unaligned.
 */
static void doubt_alignment(const struct slot *slot, const struct insn_access *found,
			    struct tl_access *access)
{
	const struct insn_operand *operand = &found->insn.operand[operand_of(found)];

	if (!(access->traits & TL_TRAIT_UNALIGNED) ||
	    !(is_written(&found->insn, operand->base) || is_written(&found->insn, operand->index)))
		return;
	access->traits &= ~(unsigned)TL_TRAIT_UNALIGNED;
	access->traits |= TL_TRAIT_REALIGNED;
	access->loaded_from = access->address;
	access->address = slot->watch.address & ~(access->length - 1);
}

/* The process's memory as it was when the thread came to its handler, as far as that was noted. */
struct noted_memory {
	struct insn_memory now;
	const struct area_hit *record;
};

static int read_noted(void *context, uint64_t address, void *to, size_t length)
{
	const struct noted_memory *noted = context;
	const struct area_hit *record = noted->record;
	uint64_t offset = address - record->value_address, noted_length = record->value_length;
	int err = noted->now.read(noted->now.context, address, to, length);

	if (noted_length > AREA_VALUE)
		noted_length = AREA_VALUE;
	for (size_t i = 0; !err && i < length; i++)
		if (offset + i < noted_length)
			((uint8_t *)to)[i] = record->value[offset + i];
	return err;
}

static int find_bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
	const struct noted_memory *noted = context;

	return noted->now.bounds(noted->now.context, pc, start, end);
}

static bool understand_data(struct target *target, struct slot *slot, const struct area_hit *record,
			    const struct insn_registers *registers, struct tl_access *access)
{
	struct noted_memory noted = {space_insn_memory(target->space), record};
	const struct insn_memory memory = {read_noted, find_bounds, &noted};
	struct insn_access found;
	unsigned wanted = slot->wide ? TL_READ | TL_WRITE : slot->watch.access;

	if ((target->program->ways.as_seen || slot->owner) && target->program->options.kernel)
		wanted |= TL_KERNEL;
	access->before = !insn_arch.traps_after;
	insn_attribute(registers, slot->watch.address, slot->watch.length, wanted, &memory, &found);
	access->pc = found.pc;
	access->address = found.first;
	access->length = found.length;
	access->access = found.access;
	if ((found.access & (TL_KERNEL | TL_GUESSED)) &&
	    settle_kernel_access(target, slot, registers, &memory, access))
		return true;
	if (found.access & TL_KERNEL) {
		access->traits = found.explained ? 0 : TL_TRAIT_UNEXPLAINED;
		return true;
	}
	if (!found.decoded)
		return false;
	access->traits = insn_traits(&found.insn, operand_of(&found), found.first, found.length);
	access->traits |= not_taken(&found.insn, registers->flags);
	if (!found.explained)
		access->traits |= TL_TRAIT_UNEXPLAINED;
	if (found.unplaced)
		access->traits |= TL_TRAIT_UNPLACED;
	doubt_alignment(slot, &found, access);
	if (target->observed)
		note_moved(&found.insn, registers, access);
	return true;
}

/* Is it uncertain which bytes are accessed? Elements that a mask leaves out are not, and a vector's
 * mask was not saved. What an instruction that is yet to run will select cannot be told either. */
static bool is_guess(const struct insn_operand *operand)
{
	return operand->masked || operand->conditional || operand->extent_unknown;
}

void hit_note_operand(const struct insn *insn, unsigned number, uint64_t flags,
		      struct tl_access *access)
{
	const struct insn_operand *operand = &insn->operand[number];

	access->access = operand->access | (insn->atomic ? TL_ATOMIC : 0) |
			 (is_guess(operand) ? TL_GUESSED : 0);
	access->traits = insn_traits(insn, number, access->address, access->length) |
			 not_taken(insn, flags);
}

/* For a thread held before the instruction: its first memory operand that is not on its own
 * stack. */
static bool understand_code(struct target *target, const struct insn_registers *registers,
			    struct tl_access *access)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = space_code(target->space, registers->pc, bytes, sizeof(bytes));
	struct insn insn;

	access->pc = registers->pc;
	access->before = true;
	if (insn_decode(bytes, available, registers->pc, &insn))
		return false;
	for (unsigned i = 0; i < insn.operand_count; i++) {
		const struct insn_operand *operand = &insn.operand[i];

		if (!operand->access || operand->stack_push || operand->stack_pop ||
		    insn_operand_before(&insn, i, registers, &access->address, &access->length))
			continue;
		hit_note_operand(&insn, i, registers->flags, access);
		return true;
	}
	return false;
}

static void copy_stack(const struct area_hit *record, struct hit *hit)
{
	hit->stack = hit_stack(record);
	hit->stack_bytes = malloc(hit->stack.length ? hit->stack.length : 1);
	if (!hit->stack_bytes)
		return;
	memcpy(hit->stack_bytes, hit->stack.bytes, hit->stack.length);
	hit->stack.bytes = hit->stack_bytes;
	hit->access.stack = &hit->stack;
}

static void copy_value(const struct area_hit *record, struct hit *hit)
{
	uint64_t offset = hit->access.address - record->value_address;
	uint32_t length = record->value_length;

	hit->value_address = record->value_address;
	hit->value_until = record->value_until;
	if (length > AREA_VALUE)
		length = AREA_VALUE;
	hit->value_length = length;
	memcpy(hit->value, record->value, length);
	if (offset + 8 > length || offset > AREA_VALUE)
		return;
	memcpy(&hit->access.value, record->value + offset, 8);
	hit->access.value = value_cut(hit->access.value, hit->access.length);
	hit->access.value_known = true;
}

void hit_take(struct target *target, const struct area_hit *record, struct hit *hit)
{
	hit->entry = record->entry_time;
	hit->access = (struct tl_access){.size = sizeof(hit->access),
					 .pid = target->pid,
					 .tid = record->tid,
					 .identity = record->identity,
					 .time = record->entry_time,
					 .pc = record->access_pc,
					 .address = record->address,
					 .length = record->access_length,
					 .access = record->access};
	copy_stack(record, hit);
	copy_value(record, hit);
}

void hit_free(struct hit *hit)
{
	if (!hit)
		return;
	free(hit->stack_bytes);
	free(hit);
}

/* Attribution has changed the access: at another address, the value that the handler read is not
 * the access's; with fewer bytes, the access's value is a part of it. */
static void settle_value(const struct area_hit *record, uint64_t address_before, struct hit *hit)
{
	struct tl_access *access = &hit->access;

	if (access->address != address_before)
		access->value_known = false;
	access->value = access->value_known ? value_cut(access->value, access->length) : 0;
	copy_value(record, hit);
}

bool hit_attribute(struct target *target, struct slot *slot, const struct area_hit *record,
		   struct hit *hit)
{
	struct insn_registers registers = hit_registers(&record->registers);
	bool code = slot->watch.access & TL_EXEC, understood;
	uint64_t address;

	hit->entry = record->entry_time;
	hit->access = (struct tl_access){.size = sizeof(hit->access),
					 .pid = target->pid,
					 .tid = record->tid,
					 .identity = record->identity,
					 .time = record->entry_time};
	if (record->flags & AREA_HIT_OPMASKS)
		registers.opmasks = record->opmask;
	hit->registers = general(&record->registers);
	hit->access.registers = &hit->registers;
	copy_stack(record, hit);
	understood = code ? understand_code(target, &registers, &hit->access)
			  : understand_data(target, slot, record, &registers, &hit->access);
	copy_value(record, hit);
	/* An instruction that was watched is known, whether it accesses memory or not. */
	if (!understood) {
		if (!code)
			count_one(target->program, COUNT_HITS_UNKNOWN);
		return false;
	}
	if (!code && !hit_is_inside(slot, &hit->access)) {
		count_one(target->program, COUNT_HITS_OUTSIDE);
		hit->beside = !(hit->access.access & TL_GUESSED);
		return false;
	}
	if (target->program->ways.as_seen)
		return true;
	address = hit->access.address;
	if (extent_settle(target, slot, &registers, hit)) {
		settle_value(record, address, hit);
		return true;
	}
	if (slot->owner)
		hit->access.traits |= TL_TRAIT_BEYOND;
	return slot->owner;
}
