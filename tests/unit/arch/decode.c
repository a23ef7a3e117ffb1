/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that insn/hooks.h asks of an architecture, for the one of fixed/insn/arch.h. */
#include <errno.h>
#include <string.h>
#include <trapline/event.h>

#include "insn/effect.h"
#include "insn/length.h"
#include "insn/operand.h"
#include "insn/origin_step.h"
#include "insn/values.h"

static const struct insn_operand no_operand = {
	.base = -1,
	.index = -1,
	.scale = 1,
	.address_bits = 64,
	.mask = -1,
	.mask_vector = -1,
	.vector_index = -1,
	.bit_index = -1,
};

int insn_length(const uint8_t *bytes, size_t available)
{
	if (available < 4)
		return -ENODATA;
	return bytes[0] < FIXED_OPERATIONS ? 4 : -EILSEQ;
}

static int64_t number_of(const uint8_t *bytes)
{
	return (int8_t)bytes[3];
}

static void decode_access(const uint8_t *bytes, struct insn *insn)
{
	static const uint8_t access[] = {[FIXED_LOAD] = TL_READ,
					 [FIXED_STORE] = TL_WRITE,
					 [FIXED_EXCHANGE] = TL_READ | TL_WRITE};

	insn->operand_count = 1;
	insn->operand[0] = no_operand;
	insn->operand[0].access = access[bytes[0]];
	insn->operand[0].size = 8;
	insn->operand[0].base = (int8_t)bytes[2];
	insn->operand[0].displacement = number_of(bytes);
	insn->atomic = bytes[0] == FIXED_EXCHANGE;
	insn->plain_move = !insn->atomic;
	if (bytes[0] == FIXED_LOAD)
		insn->loaded = (int8_t)bytes[1];
	if (bytes[0] == FIXED_STORE)
		insn->stored = (int8_t)bytes[1];
	else
		insn->written_registers = (uint16_t)(1u << bytes[1]);
}

static uint8_t flow_of(uint8_t operation)
{
	static const uint8_t flow[FIXED_OPERATIONS] = {
		[FIXED_BRANCH] = INSN_FLOW_BRANCH, [FIXED_IF_ZERO] = INSN_FLOW_BRANCH,
		[FIXED_CALL] = INSN_FLOW_CALL,	   [FIXED_JUMP] = INSN_FLOW_JUMP_INDIRECT,
		[FIXED_RETURN] = INSN_FLOW_RETURN, [FIXED_KERNEL] = INSN_FLOW_SYSCALL};

	return flow[operation];
}

int insn_decode(const uint8_t *bytes, size_t available, uint64_t pc, struct insn *insn)
{
	int length = insn_length(bytes, available);

	if (length < 0)
		return length;
	memset(insn, 0, sizeof(*insn));
	insn->length = 4;
	insn->move_condition = insn->loaded = insn->stored = insn->target_register = -1;
	insn->flow = flow_of(bytes[0]);
	insn->conditional = bytes[0] == FIXED_IF_ZERO;
	if (bytes[0] >= FIXED_LOAD && bytes[0] <= FIXED_EXCHANGE)
		decode_access(bytes, insn);
	else if (bytes[0] == FIXED_ADD)
		insn->written_registers = (uint16_t)(1u << bytes[1]);
	else if (insn->flow == INSN_FLOW_BRANCH || insn->flow == INSN_FLOW_CALL)
		insn->target = (int64_t)pc + 4 * number_of(bytes);
	else if (bytes[0] == FIXED_JUMP)
		insn->target_register = (int8_t)bytes[1];
	return 0;
}

bool insn_condition_holds(uint64_t flags, unsigned condition)
{
	return (flags & 1) != condition;
}

int insn_operand_before(const struct insn *insn, unsigned operand,
			const struct insn_registers *registers, uint64_t *first, uint64_t *length)
{
	const struct insn_operand *at = &insn->operand[operand];

	*first = registers->general[at->base] + (uint64_t)at->displacement;
	*length = at->size;
	return 0;
}

int insn_operand_after(const struct insn *insn, unsigned operand,
		       const struct insn_registers *registers, uint64_t *first, uint64_t *length)
{
	if (insn->written_registers >> insn->operand[operand].base & 1)
		return -ENODATA;
	return insn_operand_before(insn, operand, registers, first, length);
}

enum insn_touch insn_operand_touch(const struct insn *insn, unsigned operand,
				   const struct insn_registers *trapped, uint64_t watched,
				   uint64_t watched_length, uint64_t *first, uint64_t *length)
{
	insn_operand_before(insn, operand, trapped, first, length);
	return insn_overlap(*first, *length, watched, watched_length) ? INSN_TOUCH_YES
								      : INSN_TOUCH_NO;
}

static struct insn_place general(unsigned number)
{
	return (struct insn_place){
		.kind = INSN_PLACE_GENERAL, .number = (uint8_t)number, .length = 8};
}

static void add_result(struct insn_effect *effect, struct insn_place to, uint8_t operation,
		       struct insn_place from)
{
	struct insn_result *result = &effect->result[effect->count++];

	result->to = to;
	result->operation = operation;
	result->source[0] = from;
	result->source_count = 1;
}

int insn_effect_decode(const uint8_t *bytes, size_t available, uint64_t pc,
		       struct insn_effect *effect)
{
	const struct insn_place memory = {.kind = INSN_PLACE_MEMORY, .length = 8};
	const struct insn_place zero = {.kind = INSN_PLACE_FLAGS, .number = INSN_FLAG_ZERO};
	int err;

	memset(effect, 0, sizeof(*effect));
	err = insn_decode(bytes, available, pc, &effect->insn);
	if (err)
		return err;
	if (bytes[0] == FIXED_LOAD)
		add_result(effect, general(bytes[1]), INSN_COPY, memory);
	if (bytes[0] == FIXED_STORE)
		add_result(effect, memory, INSN_COPY, general(bytes[1]));
	if (bytes[0] == FIXED_ADD) {
		add_result(effect, general(bytes[1]), INSN_COMPUTE, general(bytes[2]));
		add_result(effect, zero, INSN_COMPUTE, general(bytes[2]));
	}
	if (bytes[0] == FIXED_IF_ZERO)
		effect->decides = zero;
	if (bytes[0] == FIXED_JUMP || bytes[0] == FIXED_RETURN)
		effect->decides = general(bytes[0] == FIXED_JUMP ? bytes[1] : FIXED_LINK);
	return 0;
}

/* ------------------------------------------------------------------------------------------- */

static struct value register_of(const struct insn_forward *forward, unsigned number)
{
	return forward->known >> number & 1 ? value_known(forward->general[number]) : value_unknown;
}

static void set_register(struct insn_forward *forward, unsigned number, struct value value)
{
	if (value.known)
		forward_know_register(forward, (int)number, value.bits);
	else
		forward_forget_register(forward, (int)number);
}

static void access_memory(struct insn_forward *forward, const uint8_t *bytes)
{
	struct value base = register_of(forward, bytes[2]);
	struct insn_forward_access access = {.pc = forward->pc,
					     .address = base.bits + (uint64_t)number_of(bytes),
					     .length = 8,
					     .access = bytes[0] == FIXED_STORE ? TL_WRITE
									       : TL_READ};

	if (!base.known) {
		if (bytes[0] == FIXED_LOAD)
			forward_forget_register(forward, bytes[1]);
		return;
	}
	forward->tell(forward->context, &access);
	if (bytes[0] == FIXED_STORE)
		forward_write_memory(forward, access.address, 8, register_of(forward, bytes[1]));
	else
		set_register(forward, bytes[1], forward_read_memory(forward, access.address, 8));
}

static void add(struct insn_forward *forward, const uint8_t *bytes)
{
	struct value value = register_of(forward, bytes[2]);

	value.bits += (uint64_t)number_of(bytes);
	set_register(forward, bytes[1], value);
	forward->flags_known = value.known;
	forward->zero = value.known && !value.bits;
}

static int go_to(struct insn_forward *forward, unsigned number)
{
	struct value target = register_of(forward, number);

	if (!target.known)
		return -ENOENT;
	forward->pc = target.bits;
	return 0;
}

int insn_forward_step(struct insn_forward *forward, const uint8_t *bytes, size_t available,
		      bool *leaves)
{
	const uint64_t next = forward->pc + 4;
	int err = insn_length(bytes, available);

	*leaves = bytes[0] == FIXED_CALL || bytes[0] == FIXED_JUMP || bytes[0] == FIXED_RETURN;
	if (err < 0)
		return err;
	switch (bytes[0]) {
	case FIXED_LOAD:
	case FIXED_STORE:
		access_memory(forward, bytes);
		break;
	case FIXED_ADD:
		add(forward, bytes);
		break;
	case FIXED_IF_ZERO:
		if (!forward->zero)
			break;
		forward->pc = next + 4 * (uint64_t)number_of(bytes) - 4;
		return 0;
	case FIXED_CALL:
		set_register(forward, FIXED_LINK, value_known(next));
		forward->pc = next + 4 * (uint64_t)number_of(bytes) - 4;
		return 0;
	case FIXED_JUMP:
		return go_to(forward, bytes[1]);
	case FIXED_RETURN:
		return go_to(forward, FIXED_LINK);
	case FIXED_KERNEL:
		return -EINTR;
	default:
		break;
	}
	forward->pc = next;
	return 0;
}

int insn_forward_holds(const struct insn_forward *forward, unsigned condition)
{
	return forward->flags_known ? forward->zero != condition : -1;
}

void insn_forward_set_flags(struct insn_forward *forward, uint64_t flags)
{
	forward->flags_known = true;
	forward->zero = flags & 1;
}

int insn_forward_return(struct insn_forward *forward)
{
	return go_to(forward, FIXED_LINK);
}

int insn_origin_step(const uint8_t *code, size_t available, struct insn_origin state[INSN_GENERAL],
		     struct insn_origin_next *next)
{
	*next = (struct insn_origin_next){.length = 4};
	if (insn_length(code, available) < 0)
		return -EILSEQ;
	if (code[0] == FIXED_ADD) {
		state[code[1]] = state[code[2]];
		state[code[1]].offset += (int8_t)code[3];
	} else if (code[0] == FIXED_LOAD || code[0] == FIXED_EXCHANGE) {
		state[code[1]].number = INSN_ORIGIN_NONE;
	}
	next->calls = code[0] == FIXED_CALL;
	next->jumps = code[0] == FIXED_BRANCH || code[0] == FIXED_IF_ZERO;
	next->jumps_anywhere = code[0] == FIXED_JUMP;
	next->ends = code[0] == FIXED_BRANCH || code[0] == FIXED_JUMP || code[0] == FIXED_RETURN;
	next->offset = 4 * (uint64_t)number_of(code) - 4;
	return 0;
}
