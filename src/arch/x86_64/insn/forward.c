/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only what compilers make integer code of is carried out; of any other instruction the registers,
 * flags and memory that it writes become unknown. A branch on unknown flags is taken not to branch,
 * since compilers put what is likely behind it.
 */
#include "insn/forward.h"
#include "insn/forward_values.h"
#include "insn/insn.h"

#include <errno.h>
#include <string.h>
#include <trapline/event.h>

static struct value add(struct insn_forward *forward, struct value a, struct value b, unsigned size)
{
	uint64_t sum = value_cut(a.bits + b.bits, size);

	forward_set_flags(forward, sum, size);
	forward->carry = sum < value_cut(a.bits, size);
	forward->overflow = (~(a.bits ^ b.bits) & (a.bits ^ sum)) >> (size - 1) & 1;
	return value_known(sum);
}

static struct value subtract(struct insn_forward *forward, struct value a, struct value b,
			     unsigned size)
{
	uint64_t difference = value_cut(a.bits - b.bits, size);

	forward_set_flags(forward, difference, size);
	forward->carry = value_cut(a.bits, size) < value_cut(b.bits, size);
	forward->overflow = ((a.bits ^ b.bits) & (a.bits ^ difference)) >> (size - 1) & 1;
	return value_known(difference);
}

/* What compilers branch on behind a shift is its result, or the last bit shifted out. */
static struct value shift(struct insn_forward *forward, ZydisMnemonic mnemonic, struct value a,
			  struct value b, unsigned size)
{
	unsigned count = (unsigned)b.bits & (size == 64 ? 63 : 31);
	uint64_t result = value_cut(a.bits, size), out;

	if (!count)
		return value_known(result);
	out = mnemonic != ZYDIS_MNEMONIC_SHL ? result >> (count - 1)
	      : count <= size		     ? result >> (size - count)
					     : 0;
	if (mnemonic == ZYDIS_MNEMONIC_SHL)
		result = value_cut(result << count, size);
	else if (mnemonic == ZYDIS_MNEMONIC_SHR)
		result >>= count;
	else
		result = value_cut((uint64_t)((int64_t)value_extend(result, size) >> count), size);
	forward_set_flags(forward, result, size);
	forward->carry = out & 1;
	return value_known(result);
}

/* add, sub, cmp, and, or, xor, test, shl, shr, sar: of two operands, the first of which is written
 * but for comparisons. */
static void compute(struct step *step)
{
	struct insn_forward *forward = step->forward;
	ZydisMnemonic mnemonic = step->instruction.mnemonic;
	unsigned size = step->operand[0].size;
	struct value a = forward_get(step, 0), b = forward_get(step, 1), result;
	bool zeroes = (mnemonic == ZYDIS_MNEMONIC_XOR || mnemonic == ZYDIS_MNEMONIC_SUB) &&
		      step->operand[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		      step->operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		      step->operand[0].reg.value == step->operand[1].reg.value;

	if (zeroes)
		a = b = value_known(0);
	forward->flags_known = false;
	if (!a.known || !b.known) {
		if (mnemonic != ZYDIS_MNEMONIC_CMP && mnemonic != ZYDIS_MNEMONIC_TEST)
			forward_set(step, 0, value_unknown);
		return;
	}
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
		result = add(forward, a, b, size);
		break;
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_CMP:
		result = subtract(forward, a, b, size);
		break;
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
		result = shift(forward, mnemonic, a, b, size);
		break;
	default:
		result = value_known(mnemonic == ZYDIS_MNEMONIC_OR    ? a.bits | b.bits
				     : mnemonic == ZYDIS_MNEMONIC_XOR ? a.bits ^ b.bits
								      : a.bits & b.bits);
		forward_set_flags(forward, result.bits, size);
		break;
	}
	if (mnemonic != ZYDIS_MNEMONIC_CMP && mnemonic != ZYDIS_MNEMONIC_TEST)
		forward_set(step, 0, result);
}

/* inc and dec leave the carry as it was. */
static void count(struct step *step, bool up)
{
	struct insn_forward *forward = step->forward;
	struct value a = forward_get(step, 0);
	bool carry = forward->carry, carry_known = forward->flags_known;

	if (!a.known) {
		forward->flags_known = false;
		forward_set(step, 0, value_unknown);
		return;
	}
	forward_set(step, 0,
		    (up ? add : subtract)(forward, a, value_known(1), step->operand[0].size));
	forward->carry = carry_known && carry;
}

/* The condition of a jump, set or move by its place among its like: o, no, b, nb, z, nz, be, nbe,
 * s, ns, p, np, l, nl, le, nle. */
static bool holds(const struct insn_forward *forward, unsigned condition)
{
	bool less = forward->sign != forward->overflow;
	bool base[8] = {
		forward->overflow, forward->carry,  forward->zero, forward->carry || forward->zero,
		forward->sign,	   forward->parity, less,	   less || forward->zero};

	return base[condition / 2 & 7] != (condition & 1);
}

/* Not loop or jrcxz. */
static bool is_jcc(const struct step *step)
{
	return (step->instruction.opcode & 0xf0) == 0x70 ||
	       (step->instruction.opcode & 0xf0) == 0x80;
}

static unsigned condition_of(const struct step *step)
{
	/* The low four bits of the opcode, of jcc (70, 0f 80), setcc (0f 90) and cmovcc (0f 40). */
	return step->instruction.opcode & 15u;
}

static void push(struct insn_forward *forward, struct value value)
{
	if (!(forward->known >> FORWARD_RSP & 1)) {
		forward->strays = true;
		return;
	}
	forward->general[FORWARD_RSP] -= 8;
	forward_write_memory(forward, forward->general[FORWARD_RSP], 8, value);
}

static struct value pop(struct insn_forward *forward)
{
	struct value value = value_unknown;

	if (!(forward->known >> FORWARD_RSP & 1))
		return value_unknown;
	value = forward_read_memory(forward, forward->general[FORWARD_RSP], 8);
	forward->general[FORWARD_RSP] += 8;
	return value;
}

/* Where a branch, call or jump leads; -ENOENT: not known. */
static int lead(struct step *step, bool *leaves)
{
	const ZydisDecodedOperand *operand = &step->operand[0];
	struct value target;

	if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.is_relative) {
		step->forward->pc = step->next + operand->imm.value.u;
		return 0;
	}
	*leaves = true;
	target = forward_get(step, 0);
	step->forward->pc = target.bits;
	return target.known ? 0 : -ENOENT;
}

/* Not taken, unless the flags say so. */
static int branch(struct step *step, bool *leaves)
{
	struct insn_forward *forward = step->forward;
	bool foretold = is_jcc(step) && forward->flags_known;

	if (foretold && holds(forward, condition_of(step))) {
		forward->beside = step->next;
		return lead(step, leaves);
	}
	if (step->operand[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	    step->operand[0].imm.is_relative)
		forward->beside = step->next + step->operand[0].imm.value.u;
	if (!foretold)
		forward->other = forward->beside;
	return 0;
}

static int transfer(struct step *step, bool *leaves)
{
	struct insn_forward *forward = step->forward;
	struct value target;
	int err;

	switch (step->instruction.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return branch(step, leaves);
	case ZYDIS_CATEGORY_UNCOND_BR:
		return lead(step, leaves);
	case ZYDIS_CATEGORY_CALL:
		err = lead(step, leaves);
		*leaves = true;
		push(forward, value_known(step->next));
		return err;
	case ZYDIS_CATEGORY_RET:
		target = pop(forward);
		forward->pc = target.bits;
		return target.known ? 0 : -ENOENT;
	default:
		return -EINTR;
	}
}

/* With two operands or three. */
static void multiply(struct step *step)
{
	unsigned last = step->instruction.operand_count_visible - 1u;
	struct value a = forward_get(step, last > 1 ? 1 : 0), b = forward_get(step, last),
		     product = value_unknown;

	step->forward->flags_known = false;
	if (a.known && b.known)
		product = value_known(value_cut(a.bits * b.bits, step->operand[0].size));
	forward_set(step, 0, product);
}

static void conditional(struct step *step, bool moves)
{
	const struct insn_forward *forward = step->forward;
	bool holding = holds(forward, condition_of(step));

	if (!forward->flags_known)
		forward_set(step, 0, value_unknown);
	else if (!moves)
		forward_set(step, 0, value_known(holding));
	else
		forward_set(step, 0, holding ? forward_get(step, 1) : forward_get(step, 0));
}

static void name_address(struct step *step)
{
	uint64_t address;

	forward_set(step, 0,
		    forward_address(step, &step->operand[1], &address)
			    ? value_known(value_cut(address, step->operand[0].size))
			    : value_unknown);
}

static void move(struct step *step)
{
	struct value value = forward_get(step, 1);

	if (step->instruction.mnemonic == ZYDIS_MNEMONIC_MOVSX ||
	    step->instruction.mnemonic == ZYDIS_MNEMONIC_MOVSXD)
		value.bits = value_cut(value_extend(value.bits, step->operand[1].size),
				       step->operand[0].size);
	forward_set(step, 0, value);
}

static void leave(struct insn_forward *forward)
{
	struct value frame;

	if (!(forward->known >> FORWARD_RBP & 1)) {
		forward_forget_register(forward, FORWARD_RSP);
		return;
	}
	forward->general[FORWARD_RSP] = forward->general[FORWARD_RBP];
	forward->known |= 1u << FORWARD_RSP;
	frame = pop(forward);
	forward_write_register(forward, ZYDIS_REGISTER_RBP, frame);
}

static bool carry_out_move(struct step *step)
{
	struct insn_forward *forward = step->forward;
	struct value value;

	switch (step->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		move(step);
		return true;
	case ZYDIS_MNEMONIC_LEA:
		name_address(step);
		return true;
	case ZYDIS_MNEMONIC_CDQE:
		value = forward_read_register(forward, ZYDIS_REGISTER_EAX);
		value.bits = value_extend(value.bits, 32);
		forward_write_register(forward, ZYDIS_REGISTER_RAX, value);
		return true;
	case ZYDIS_MNEMONIC_PUSH:
		value = forward_get(step, 0);
		value.bits = value_extend(value.bits, step->operand[0].size);
		push(forward, value);
		return true;
	case ZYDIS_MNEMONIC_POP:
		forward_set(step, 0, pop(forward));
		return true;
	case ZYDIS_MNEMONIC_LEAVE:
		leave(forward);
		return true;
	default:
		return false;
	}
}

static bool carry_out_arithmetic(struct step *step)
{
	struct value value;

	switch (step->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
		compute(step);
		return true;
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		count(step, step->instruction.mnemonic == ZYDIS_MNEMONIC_INC);
		return true;
	case ZYDIS_MNEMONIC_NOT:
		value = forward_get(step, 0);
		value.bits = value_cut(~value.bits, step->operand[0].size);
		forward_set(step, 0, value);
		return true;
	case ZYDIS_MNEMONIC_IMUL:
		multiply(step);
		return true;
	default:
		return false;
	}
}

/* As long as no other thread comes in between. */
static void exchange(struct step *step, bool adds)
{
	struct value to = forward_get(step, 0), from = forward_get(step, 1);

	if (adds) {
		struct value sum = value_unknown;

		step->forward->flags_known = false;
		if (to.known && from.known)
			sum = add(step->forward, to, from, step->operand[0].size);
		forward_set(step, 1, to);
		forward_set(step, 0, sum);
		return;
	}
	forward_set(step, 0, from);
	forward_set(step, 1, to);
}

static void compare_and_exchange(struct step *step)
{
	struct insn_forward *forward = step->forward;
	unsigned size = step->operand[0].size;
	struct value found = forward_get(step, 0), from = forward_get(step, 1),
		     expected = forward_read_register(forward, ZYDIS_REGISTER_RAX);

	expected.bits = value_cut(expected.bits, size);
	if (!found.known || !expected.known) {
		forward_forget_results(step);
		forward_set(step, 0, value_unknown);
		return;
	}
	subtract(forward, expected, found, size);
	if (expected.bits == value_cut(found.bits, size))
		forward_set(step, 0, from);
	else
		forward_write_register(forward,
				       size == 64   ? ZYDIS_REGISTER_RAX
				       : size == 32 ? ZYDIS_REGISTER_EAX
				       : size == 16 ? ZYDIS_REGISTER_AX
						    : ZYDIS_REGISTER_AL,
				       found);
}

static bool carry_out_exchange(struct step *step)
{
	switch (step->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_XCHG:
		exchange(step, false);
		return true;
	case ZYDIS_MNEMONIC_XADD:
		exchange(step, true);
		return true;
	case ZYDIS_MNEMONIC_CMPXCHG:
		compare_and_exchange(step);
		return true;
	default:
		return false;
	}
}

static void carry_out(struct step *step)
{
	if (forward_carry_out_bits(step) || forward_carry_out_division(step) ||
	    carry_out_move(step) || carry_out_arithmetic(step) || carry_out_exchange(step))
		;
	else if (step->instruction.meta.category == ZYDIS_CATEGORY_SETCC)
		conditional(step, false);
	else if (step->instruction.meta.category == ZYDIS_CATEGORY_CMOV)
		conditional(step, true);
	else
		forward_forget_results(step);
}

static unsigned access_of(const struct step *step, const ZydisDecodedOperand *operand)
{
	unsigned access = 0;

	if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		access |= TL_READ;
	if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		access |= TL_WRITE;
	if (access && (step->instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK ||
		       step->instruction.mnemonic == ZYDIS_MNEMONIC_XCHG))
		access |= TL_ATOMIC;
	return access;
}

/* Of a push, pop, call or return; string instructions hide their operands, too. */
static bool is_push_or_pop(const ZydisDecodedOperand *operand)
{
	return operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	       operand->mem.base == ZYDIS_REGISTER_RSP;
}

static void tell_accesses(const struct step *step)
{
	const struct insn_forward *forward = step->forward;

	if (step->instruction.meta.category == ZYDIS_CATEGORY_NOP ||
	    step->instruction.meta.category == ZYDIS_CATEGORY_WIDENOP ||
	    step->instruction.meta.category == ZYDIS_CATEGORY_PREFETCH)
		return;
	for (unsigned i = 0; i < step->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &step->operand[i];
		struct insn_forward_access access = {.pc = forward->pc,
						     .length = operand->size / 8,
						     .access = access_of(step, operand)};

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operand->mem.type == ZYDIS_MEMOP_TYPE_MEM && !is_push_or_pop(operand) &&
		    access.access && access.length &&
		    forward_address(step, operand, &access.address))
			forward->tell(forward->context, &access);
	}
}

static bool decode(const uint8_t *bytes, size_t available, struct step *step)
{
	ZydisDecoder decoder;

	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
					     ZYDIS_STACK_WIDTH_64)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, available, &step->instruction,
						   step->operand));
}

int insn_forward_step(struct insn_forward *forward, const uint8_t *bytes, size_t available,
		      bool *leaves)
{
	struct step step = {.forward = forward};

	*leaves = false;
	forward->other = forward->beside = 0;
	forward->strays = false;
	if (!decode(bytes, available, &step))
		return -EILSEQ;
	step.next = forward->pc + step.instruction.length;
	tell_accesses(&step);
	switch (step.instruction.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
		forward->pc = step.next;
		return transfer(&step, leaves);
	default:
		carry_out(&step);
		forward->pc = step.next;
		return 0;
	}
}

int insn_forward_return(struct insn_forward *forward)
{
	struct value target = pop(forward);

	forward->known &= INSN_KEPT_BY_CALLS;
	forward->flags_known = false;
	forward->pc = target.bits;
	return target.known ? 0 : -ENOENT;
}

void insn_forward_set_flags(struct insn_forward *forward, uint64_t flags)
{
	forward->flags_known = true;
	forward->carry = flags & 1;
	forward->parity = flags >> 2 & 1;
	forward->zero = flags >> 6 & 1;
	forward->sign = flags >> 7 & 1;
	forward->overflow = flags >> 11 & 1;
}

int insn_forward_holds(const struct insn_forward *forward, unsigned condition)
{
	return forward->flags_known ? holds(forward, condition & 15) : -1;
}

bool insn_forward_read(const struct insn_forward *forward, uint64_t address, unsigned length,
		       uint64_t *bits)
{
	struct value value = forward_read_memory(forward, address, length);

	*bits = value.bits;
	return value.known;
}
