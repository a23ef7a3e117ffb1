/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/origin.h"

#include "insn/forward_values.h"
#include "insn/insn.h"

#include <errno.h>
#include <string.h>

#define STACK_POINTER 4
#define FRAME_POINTER 5
#define OFFSET_MOST 0x100000 /* of an origin: a loop that adds to a register ends here */

struct follow {
	const uint8_t *code;
	size_t length;
	struct insn_origin_work *work;
	bool likely;
};

struct one {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
};

static bool decode(const struct follow *follow, size_t at, struct one *one)
{
	ZydisDecoder decoder;

	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
					     ZYDIS_STACK_WIDTH_64)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, follow->code + at, follow->length - at,
						   &one->instruction, one->operand));
}

static bool is_same(const struct insn_origin *a, const struct insn_origin *b)
{
	return a->number == b->number && (a->number < 0 || a->offset == b->offset);
}

/* What holds here and there. True: less than before. */
static bool join(struct insn_origin here[16], const struct insn_origin there[16])
{
	bool changed = false;

	for (int i = 0; i < 16; i++)
		if (here[i].number >= 0 && !is_same(&here[i], &there[i])) {
			here[i].number = INSN_ORIGIN_NONE;
			changed = true;
		}
	return changed;
}

static void enqueue(struct insn_origin_work *work, size_t at)
{
	if (work->waiting[at])
		return;
	work->waiting[at] = 1;
	work->queue[work->queued++] = (uint16_t)at;
}

static void reach(const struct follow *follow, uint64_t at, const struct insn_origin state[16])
{
	struct insn_origin_work *work = follow->work;

	if (at >= follow->length)
		return; /* a call that does not return here */
	if (!work->reached[at]) {
		work->reached[at] = 1;
		memcpy(work->at[at], state, sizeof(work->at[at]));
		enqueue(work, at);
	} else if (join(work->at[at], state)) {
		enqueue(work, at);
	}
}

/* A 64-bit register by its number, or -1. */
static int whole_register(const ZydisDecodedOperand *operand)
{
	if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || operand->size != 64)
		return -1;
	return forward_register_number(operand->reg.value);
}

static int base_register(const ZydisDecodedOperand *operand)
{
	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.base == ZYDIS_REGISTER_RIP ||
	    operand->mem.index != ZYDIS_REGISTER_NONE)
		return -1;
	return forward_register_number(operand->mem.base);
}

/* The value written to operand 0, where it is one that was there before plus a constant. */
static struct insn_origin result(const struct one *one, const struct insn_origin state[16])
{
	struct insn_origin none = {.number = INSN_ORIGIN_NONE}, from;
	int64_t added = 0;
	int number = whole_register(&one->operand[0]);

	switch (one->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		number = whole_register(&one->operand[1]);
		break;
	case ZYDIS_MNEMONIC_LEA:
		number = one->instruction.address_width == 64 ? base_register(&one->operand[1])
							      : -1;
		added = one->operand[1].mem.disp.value;
		break;
	case ZYDIS_MNEMONIC_INC:
		added = 1;
		break;
	case ZYDIS_MNEMONIC_DEC:
		added = -1;
		break;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (one->operand[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return none;
		added = one->operand[1].imm.value.s;
		if (one->instruction.mnemonic == ZYDIS_MNEMONIC_SUB)
			added = -added;
		break;
	default:
		return none;
	}
	if (number < 0 || state[number].number < 0 || added > OFFSET_MOST || added < -OFFSET_MOST)
		return none;
	from = state[number];
	from.offset += (int32_t)added;
	return from.offset > OFFSET_MOST || from.offset < -OFFSET_MOST ? none : from;
}

/* The stack pointer behind what pushes, pops or leaves a frame; none for all else. */
static struct insn_origin stack_after(const struct one *one, const struct insn_origin state[16])
{
	struct insn_origin none = {.number = INSN_ORIGIN_NONE}, stack = state[STACK_POINTER];

	if (one->instruction.operand_width != 64)
		return none;
	switch (one->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		stack.offset -= 8;
		break;
	case ZYDIS_MNEMONIC_POP:
		if (whole_register(&one->operand[0]) == STACK_POINTER)
			return none;
		stack.offset += 8;
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		stack = state[FRAME_POINTER];
		stack.offset += 8;
		break;
	default:
		return none;
	}
	return stack.offset > OFFSET_MOST || stack.offset < -OFFSET_MOST ? none : stack;
}

static void carry_out(const struct one *one, struct insn_origin state[16])
{
	struct insn_origin first = result(one, state);
	struct insn_origin stack = stack_after(one, state);
	int target = whole_register(&one->operand[0]);

	for (unsigned i = 0; i < one->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &one->operand[i];
		int number = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
				     ? forward_register_number(operand->reg.value)
				     : -1;

		if (number >= 0 && (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			state[number].number = INSN_ORIGIN_NONE;
	}
	if (first.number >= 0 && target >= 0)
		state[target] = first;
	if (stack.number >= 0)
		state[STACK_POINTER] = stack;
}

static void after_call(struct insn_origin state[16])
{
	for (int i = 0; i < 16; i++)
		if (!(INSN_KEPT_BY_CALLS >> i & 1))
			state[i].number = INSN_ORIGIN_NONE;
}

static void jump_anywhere(const struct follow *follow, const struct insn_origin state[16])
{
	struct insn_origin_work *work = follow->work;

	if (!work->jumps_anywhere)
		memcpy(work->anywhere, state, sizeof(work->anywhere));
	else
		join(work->anywhere, state);
	work->jumps_anywhere = 1;
}

__attribute__((noinline)) static int step(const struct follow *follow, size_t at)
{
	struct insn_origin *state = follow->work->current;
	struct one one;
	size_t next;

	memcpy(state, follow->work->at[at], sizeof(follow->work->current));
	if (!decode(follow, at, &one))
		return -EILSEQ;
	next = at + one.instruction.length;
	switch (one.instruction.meta.category) {
	case ZYDIS_CATEGORY_RET:
		return 0;
	case ZYDIS_CATEGORY_CALL:
		after_call(state);
		break;
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (one.operand[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			jump_anywhere(follow, state);
		else
			reach(follow, next + one.operand[0].imm.value.u, state);
		if (one.instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR)
			return 0;
		break;
	default:
		carry_out(&one, state);
		break;
	}
	reach(follow, next, state);
	return 0;
}

static int settle(const struct follow *follow)
{
	struct insn_origin_work *work = follow->work;
	int err = 0;

	while (work->queued && !err) {
		size_t at = work->queue[--work->queued];

		work->waiting[at] = 0;
		err = step(follow, at);
	}
	return err;
}

/* A jump to where a register says may lead to each instruction of the function, as they stand one
 * behind the other. Likely is that it leads to where nothing else does: to the cases of a switch.
 */
__attribute__((noinline)) static int spread(const struct follow *follow)
{
	struct one one;
	int err = 0;

	for (size_t at = 0; at < follow->length && !err; at += one.instruction.length) {
		if (!decode(follow, at, &one))
			return -EILSEQ;
		if (follow->likely && follow->work->reached[at])
			continue;
		reach(follow, at, follow->work->anywhere);
		err = follow->likely ? settle(follow) : 0;
	}
	return err;
}

static int find_origins(const struct follow *of, size_t place, struct insn_origin origin[16])
{
	const struct follow follow = *of;
	struct insn_origin_work *work = follow.work;
	size_t length = follow.length;
	struct insn_origin entry[16];
	struct insn_origin before[16];
	int err;

	if (length > INSN_ORIGIN_CODE || place >= length)
		return -E2BIG;
	memset(work->reached, 0, length);
	memset(work->waiting, 0, length);
	work->queued = 0;
	work->jumps_anywhere = 0;
	for (int i = 0; i < 16; i++)
		entry[i] = (struct insn_origin){.number = (int8_t)i};
	reach(&follow, 0, entry);
	err = settle(&follow);
	while (!err && work->jumps_anywhere) {
		memcpy(before, work->anywhere, sizeof(before));
		err = spread(&follow);
		if (!err)
			err = settle(&follow);
		if (!join(before, work->anywhere))
			break;
	}
	if (err)
		return err;
	if (!work->reached[place])
		return -ENOENT;
	memcpy(origin, work->at[place], sizeof(work->at[place]));
	return 0;
}

int insn_origins(const uint8_t *code, size_t length, size_t place, struct insn_origin_work *work,
		 struct insn_origin origin[16])
{
	const struct follow follow = {code, length, work, false};

	return find_origins(&follow, place, origin);
}

int insn_origins_likely(const uint8_t *code, size_t length, struct insn_origin_work *work)
{
	const struct follow follow = {code, length, work, true};
	struct insn_origin entry[16];

	return find_origins(&follow, 0, entry);
}
