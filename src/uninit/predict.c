/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/predict.h"

#include "insn/insn.h"
#include "uninit/alignment.h"

#include <string.h>
#include <trapline/event.h>

#define RED_ZONE 128
#define ARGUMENTS 4 /* of a function, that are looked at */
#define HANDED 64u  /* bytes that a function is taken to write which is handed an address */
#define REPEATED_MOST PREDICT_FRAME /* times that a string instruction is taken to go on */
#define STACK 65536ull		    /* bytes above and below the stack pointer at entry */
#define TURN_LEAST 64		    /* steps */
#define DETOUR 3 /* instructions of an entry of the procedure linkage table, at most */

void predict_tell_nobody(void *context, const struct insn_forward_access *access)
{
	(void)context;
	(void)access;
}

/* ------------------------------------------------------------------------------------------- */
/* Bytes of the frame, or of the block */

static bool is_looked_at(const struct predict *predict, uint64_t address)
{
	return address - predict->low < predict->length;
}

static bool is_in(const struct predict *predict, const uint8_t *bits, uint64_t address)
{
	uint64_t at = address - predict->low;

	return bits[at / 8] >> at % 8 & 1;
}

static void add_bytes(const struct predict *predict, uint8_t *bits, uint64_t address,
		      uint64_t length)
{
	for (uint64_t i = 0; i < length && i < PREDICT_BYTES; i++) {
		uint64_t at = address + i - predict->low;

		if (at < predict->length)
			bits[at / 8] |= (uint8_t)(1u << at % 8);
	}
}

static void write_bytes(struct predict *predict, uint64_t address, uint64_t length)
{
	add_bytes(predict, predict->way.written, address, length);
}

static struct predict_load *load_of(struct predict *predict, uint64_t address)
{
	for (unsigned i = 0; i < predict->loads; i++)
		if (predict->load[i].address / 8 == address / 8)
			return &predict->load[i];
	return NULL;
}

static unsigned rank(const struct predict_load *load)
{
	return 4u * load->beyond + (load->handed ? 2u : load->presumed);
}

/* The last of the least certain loads, if it is less certain than `load`; NULL: there is none. */
static struct predict_load *least_sure(struct predict *predict, const struct predict_load *load)
{
	struct predict_load *least = NULL;
	unsigned most = rank(load);

	for (unsigned i = 0; i < predict->loads; i++)
		if (rank(&predict->load[i]) > most || (least && rank(&predict->load[i]) == most)) {
			least = &predict->load[i];
			most = rank(least);
		}
	return least;
}

const struct predict_load *predict_best(const struct predict *predict, unsigned number)
{
	for (unsigned wanted = 0; wanted < 8; wanted++)
		for (unsigned i = 0; i < predict->loads; i++)
			if (rank(&predict->load[i]) == wanted && !number--)
				return &predict->load[i];
	return NULL;
}

/* Notes a load. Where the list is full it takes the place of one that is less certain. */
static void note_load(struct predict *predict, uint64_t address, bool handed, bool direct)
{
	struct predict_load *load = load_of(predict, address);
	bool straight = direct && !predict->way.unsure && !predict->way.served;
	bool presumed = is_in(predict, predict->way.presumed, address);
	const struct predict_load made = {address, handed, presumed, predict->way.beyond,
					  straight ? predict->way.forward.pc : 0};

	if (load) {
		if (rank(&made) < rank(load))
			load->presumed = presumed;
		load->handed &= handed;
		load->beyond &= made.beyond;
		return;
	}
	load = predict->loads < PREDICT_LOADS ? &predict->load[predict->loads++]
					      : least_sure(predict, &made);
	if (load)
		*load = made;
}

/* Notes the loads of bytes that nobody has stored to. On a stack only bytes from the red zone up
 * count: what lies below are remains of other frames. */
static void load_bytes(struct predict *predict, uint64_t address, uint64_t length, bool handed,
		       bool direct)
{
	uint64_t low = predict->block
			       ? 0
			       : predict->way.forward.general[insn_arch.stack_pointer] - RED_ZONE;

	for (uint64_t i = 0; i < length && i < PREDICT_BYTES; i++)
		if (is_looked_at(predict, address + i) && address + i >= low &&
		    !is_in(predict, predict->way.written, address + i))
			note_load(predict, address + i, handed, direct);
}

/* ------------------------------------------------------------------------------------------- */
/* One instruction's accesses */

static bool are_known(const struct insn_operand *operand, const struct insn_forward *forward)
{
	return (operand->base < 0 || operand->base >= INSN_GENERAL ||
		forward->known >> operand->base & 1) &&
	       (operand->index < 0 || forward->known >> operand->index & 1) &&
	       operand->vector_index < 0 && !operand->masked && !operand->segment;
}

/* Does the instruction pop a word? One that nobody has stored to is only room that is given back.
 */
static bool gives_room_back(const struct insn *insn)
{
	return insn->flow == INSN_FLOW_NEXT && insn->operand_count == 1 &&
	       insn->operand[0].stack_pop;
}

static bool means_nothing(const struct predict *predict, uint8_t opcode)
{
	return opcode == ALIGNMENT_PUSH && predict->way.entry &&
	       is_alignment_push(predict->code, predict->context, predict->way.entry,
				 predict->way.forward.pc);
}

static uint64_t times(const struct insn *insn, const struct insn_forward *forward)
{
	uint64_t count;

	if (!insn->repeated)
		return 1;
	count = forward->general[insn_arch.repeat_count];
	return (forward->known >> insn_arch.repeat_count & 1) && count < REPEATED_MOST ? count : 1;
}

/* `idle`: what the instruction stores means nothing (alignment.h). */
static void note_accesses(struct predict *predict, const struct insn *insn, bool idle)
{
	const struct insn_forward *forward = &predict->way.forward;
	struct insn_registers registers = {.pc = forward->pc};

	memcpy(registers.general, forward->general, sizeof(registers.general));
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < insn->operand_count; i++) {
			const struct insn_operand *operand = &insn->operand[i];
			uint64_t first, length;

			if (!are_known(operand, forward) ||
			    insn_operand_before(insn, i, &registers, &first, &length))
				continue;
			length *= times(insn, forward);
			/* An update loads before it stores. */
			if (pass == 0 && (operand->access & TL_READ) && !gives_room_back(insn))
				load_bytes(predict, first, length, false, true);
			if (pass == 1 && !idle && (operand->access & TL_WRITE))
				write_bytes(predict, first, length);
		}
}

/* ------------------------------------------------------------------------------------------- */
/* Calls */

static void note_call(struct predict *predict, uint64_t pc, bool before)
{
	for (unsigned i = 0; i < predict->calls; i++)
		if (predict->call[i].pc == pc)
			return;
	if (predict->calls < PREDICT_CALLS)
		predict->call[predict->calls++] = (struct predict_call){pc, before};
}

/* A function that is not looked into may read, write or call what it is handed. */
static void pass_argument(struct predict *predict, const struct predict_outside *outside,
			  unsigned number, uint64_t value)
{
	if (!is_looked_at(predict, value)) {
		if (predict->function(predict->context, value))
			note_call(predict, value, false);
	} else if (number == 0 && outside->writes) {
		write_bytes(predict, value, outside->writes);
	} else if (number == 1 && outside->reads) {
		load_bytes(predict, value, outside->reads, false, false);
	} else {
		load_bytes(predict, value, predict->block ? HANDED : 1, true, false);
		if (!outside->writes && !outside->known)
			add_bytes(predict, predict->way.presumed, value, HANDED);
	}
}

/* Notes what a call sends as loaded; only for a block, since a frame's bytes that the kernel reads
 * are not told. */
static void send_parts(struct predict *predict, const struct predict_outside *outside)
{
	for (unsigned i = 0; i < outside->parts && predict->block; i++) {
		uint64_t address = outside->sent[i].address, end;

		/* A part may begin before the block. */
		if (__builtin_add_overflow(address, outside->sent[i].length, &end))
			continue;
		if (address < predict->low)
			address = predict->low;
		if (address < end)
			load_bytes(predict, address, end - address, false, false);
	}
}

/* Goes on behind such a function's return. False: the block is freed, or it is not known where the
 * thread goes on. */
static bool pass_outside(struct predict *predict, const struct predict_outside *outside)
{
	struct insn_forward *forward = &predict->way.forward;

	predict->way.served |= !outside->writes && !outside->known;
	forward->general[insn_arch.stack_pointer] += outside->discards;
	send_parts(predict, outside);
	for (unsigned i = 0; i < ARGUMENTS && !outside->gives_back; i++)
		if (forward->known >> insn_arch.function_argument[i] & 1)
			pass_argument(predict, outside, i,
				      forward->general[insn_arch.function_argument[i]]);
	if (outside->gives_back && (forward->known >> insn_arch.function_argument[0] & 1) &&
	    is_looked_at(predict, forward->general[insn_arch.function_argument[0]]))
		return false;
	if (insn_forward_return(forward))
		return false;
	if (outside->known) {
		forward->general[insn_arch.function_result] = outside->value;
		forward->known |= 1u << insn_arch.function_result;
	}
	return true;
}

/* Does an entry of the procedure linkage table begin at `pc`? The function is what that jumps to.
 */
static bool is_detour(const struct predict *predict, uint64_t pc)
{
	for (unsigned i = 0; i < DETOUR; i++) {
		uint8_t bytes[INSN_MAX_LENGTH];
		size_t available = predict->code(predict->context, pc, bytes, sizeof(bytes));
		struct insn insn;

		if (!available || insn_decode(bytes, available, pc, &insn))
			return false;
		if (insn.flow == INSN_FLOW_JUMP_INDIRECT)
			return insn.operand_count == 1 && insn.operand[0].base == INSN_PC;
		if (insn.flow != INSN_FLOW_NEXT || insn.operand_count)
			return false;
		pc += insn.length;
	}
	return false;
}

/* Control has come to another place, by the instruction at `from`. */
static bool arrive(struct predict *predict, const struct insn *insn, uint64_t from)
{
	bool called = insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT;
	uint64_t pc = predict->way.forward.pc;
	struct predict_outside outside = {0};

	if (predict->outside(predict->context, &predict->way.forward, &outside))
		return pass_outside(predict, &outside);
	if (insn->flow == INSN_FLOW_CALL_INDIRECT && predict->way.unsure)
		note_call(predict, from, true);
	else if (called && !is_detour(predict, pc))
		note_call(predict, pc, false);
	predict->way.entry = called ? pc : 0;
	return true;
}

/* ------------------------------------------------------------------------------------------- */
/* Ways */

static void fork_way(struct predict *predict, uint64_t pc)
{
	struct predict_way *other;

	if (predict->forks == PREDICT_FORKS)
		return;
	other = &predict->fork[predict->forks++];
	*other = predict->way;
	other->forward.pc = pc;
}

/* Is the stack pointer still on the stack that the thread was held on? */
static bool on_stack(const struct predict *predict)
{
	const struct insn_forward *forward = &predict->way.forward;

	return (forward->known >> insn_arch.stack_pointer & 1) &&
	       forward->general[insn_arch.stack_pointer] - (predict->top - STACK) < 2 * STACK;
}

/* Carries out one instruction. What a system call writes is not known, so the way is `served` from
 * there on. */
static bool step(struct predict *predict)
{
	struct insn_forward *forward = &predict->way.forward;
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = predict->code(predict->context, forward->pc, bytes, sizeof(bytes));
	struct insn insn;
	uint64_t from = forward->pc;
	bool leaves;

	if (!available || insn_decode(bytes, available, forward->pc, &insn) ||
	    insn.flow == INSN_FLOW_TRAP)
		return false;
	note_accesses(predict, &insn, means_nothing(predict, bytes[0]));
	if (insn.flow == INSN_FLOW_SYSCALL) {
		predict->way.served = true;
		forward->pc += insn.length;
		forward->known &=
			(uint16_t) ~(1u << insn_arch.call_result | insn_arch.call_destroys);
		return true;
	}
	if (insn_forward_step(forward, bytes, available, &leaves)) {
		/* Where the call leads is certain only when a thread stands at it. */
		if (insn.flow == INSN_FLOW_CALL_INDIRECT)
			note_call(predict, from, true);
		return false;
	}
	if (insn.repeated && insn.string && (forward->known >> insn_arch.repeat_count & 1))
		forward->known &=
			(uint16_t) ~(1u << insn_arch.repeat_count | 1u << insn_arch.string_from |
				     1u << insn_arch.string_to);
	if (forward->other) {
		predict->way.unsure = true;
		fork_way(predict, forward->other);
	}
	if (!on_stack(predict))
		return false;
	if (insn.flow == INSN_FLOW_RETURN) {
		predict->way.entry = 0;
		predict->way.beyond |= !predict->block &&
				       forward->general[insn_arch.stack_pointer] > predict->top;
	}
	if (!leaves || insn.flow == INSN_FLOW_RETURN)
		return true;
	return arrive(predict, &insn, from);
}

/* How many steps one way is given while others wait: the way that is tried first may lead far away
 * from what is looked for. */
static unsigned turn_of(const struct predict *predict, unsigned steps)
{
	unsigned half = (predict->steps - steps) / 2;

	return half > TURN_LEAST ? half : TURN_LEAST;
}

/* The way that came to wait last goes on; the present one comes last in turn. */
static void take_turns(struct predict *predict)
{
	struct predict_way paused = predict->way;

	predict->way = predict->fork[predict->forks - 1];
	memmove(predict->fork + 1, predict->fork, (predict->forks - 1) * sizeof(predict->fork[0]));
	predict->fork[0] = paused;
}

static void walk(struct predict *predict, const struct tl_registers *registers, uint16_t known)
{
	struct insn_forward *forward = &predict->way.forward;
	unsigned steps = 0, until;

	memset(&predict->way, 0, sizeof(predict->way));
	predict->loads = predict->calls = predict->forks = 0;
	predict->top = registers->general[insn_arch.stack_pointer];
	write_bytes(predict, predict->low, predict->filled);
	forward->read = predict->read;
	forward->tell = predict_tell_nobody;
	forward->context = predict->context;
	memcpy(forward->general, registers->general, sizeof(forward->general));
	forward->pc = registers->pc;
	forward->known = known;
	predict->way.entry = predict->block ? 0 : registers->pc;
	forward->fs_base = registers->fs_base;
	while (steps < predict->steps) {
		bool goes_on = true;

		until = steps + turn_of(predict, steps);
		while (goes_on && steps++ < (predict->forks ? until : predict->steps))
			goes_on = step(predict);
		if (!predict->forks)
			return;
		if (goes_on)
			take_turns(predict);
		else
			predict->way = predict->fork[--predict->forks];
	}
}

void predict(struct predict *predict, const struct tl_registers *registers)
{
	predict->block = false;
	predict->filled = 0;
	predict->length = PREDICT_FRAME;
	predict->low = registers->general[insn_arch.stack_pointer] - PREDICT_FRAME;
	walk(predict, registers, 0xffff);
}

void predict_block(struct predict *predict, const struct tl_registers *registers, uint16_t known,
		   const struct predict_block *block)
{
	predict->block = true;
	predict->length = block->length < PREDICT_BYTES ? block->length : PREDICT_BYTES;
	predict->low = block->address;
	predict->filled = block->filled;
	walk(predict, registers, known);
}
