/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/body.h"

#include "insn/insn.h"
#include "insn/operand.h"

#include <string.h>
#include <trapline/event.h>

#define RED_ZONE 128 /* bytes */
#define STEPS_BODY 64
#define WORD 8

static uint64_t lowest_of(const struct predict_word *words, unsigned count)
{
	uint64_t lowest = UINT64_MAX;

	for (unsigned i = 0; i < count; i++)
		lowest = words[i].address < lowest ? words[i].address : lowest;
	return lowest;
}

static bool is_known(const struct insn_forward *forward, int number)
{
	return number < 0 || number >= INSN_GENERAL || (forward->known >> number & 1);
}

/* May the instruction store to one of the words? */
static bool may_store(const struct insn_forward *forward, const struct insn *insn,
		      const struct predict_word *words, unsigned count)
{
	struct insn_registers registers = {.pc = forward->pc, .fs_base = forward->fs_base};

	memcpy(registers.general, forward->general, sizeof(registers.general));
	for (unsigned i = 0; i < insn->operand_count; i++) {
		const struct insn_operand *operand = &insn->operand[i];
		uint64_t first, length;

		if (!(operand->access & TL_WRITE))
			continue;
		if (insn->repeated || !is_known(forward, operand->base) ||
		    !is_known(forward, operand->index) ||
		    insn_operand_before(insn, i, &registers, &first, &length))
			return true;
		for (unsigned j = 0; j < count; j++)
			if (insn_overlap(first, length, words[j].address, WORD))
				return true;
	}
	return false;
}

/* Carries out one instruction on the thread's certain way. False: it may store to a word, or where
 * the thread goes on is not known. */
static bool advance(struct ahead *ahead, struct insn_forward *forward,
		    const struct predict_word *words, unsigned count)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = ahead_code(ahead, forward->pc, bytes, sizeof(bytes));
	struct insn insn;
	bool leaves;

	return available && !insn_decode(bytes, available, forward->pc, &insn) &&
	       !may_store(forward, &insn, words, count) &&
	       !insn_forward_step(forward, bytes, available, &leaves) && !forward->other &&
	       (forward->known >> insn_arch.stack_pointer & 1) &&
	       !(leaves && ahead_is_outside(ahead, forward->pc));
}

uint64_t body_find(struct ahead *ahead, const struct tl_registers *registers,
		   const struct predict_word *words, unsigned count, uint64_t *stack)
{
	struct insn_forward *forward = &ahead->predict.way.forward;
	uint64_t lowest = lowest_of(words, count);

	if (!count || lowest >= registers->general[insn_arch.stack_pointer] - RED_ZONE)
		return 0;
	memset(forward, 0, sizeof(*forward));
	forward->read = ahead_read;
	forward->tell = predict_tell_nobody;
	forward->context = ahead;
	memcpy(forward->general, registers->general, sizeof(forward->general));
	forward->known = 0xffff;
	forward->fs_base = registers->fs_base;
	forward->pc = registers->pc;
	for (unsigned i = 0; i < STEPS_BODY && advance(ahead, forward, words, count); i++) {
		*stack = forward->general[insn_arch.stack_pointer];
		if (*stack <= lowest)
			return forward->pc;
	}
	return 0;
}
