/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/code.h"

#include "insn/effect.h"

#include <errno.h>
#include <string.h>
#include <trapline/event.h>

#define RAX 0
#define RDX 2
#define PROLOGUE_MOST 40	 /* instructions */
#define ARGUMENTS 0x3c6u	 /* rcx rdx rsi rdi r8 r9, bit per number */
#define CANARY_SEGMENT 1	 /* fs */
#define CANARY_DISPLACEMENT 0x28 /* tcbhead_t.stack_guard (glibc sysdeps/x86_64/nptl/tls.h) */
#define FRAME_MOST (1 << 20)

static const code_value nothing = {.number = INSN_ORIGIN_NONE};

struct walk {
	const uint8_t *code;
	size_t length;
	uint64_t start;
	struct code_work *work;
};

static bool is_argument(int number)
{
	return number >= 0 && (ARGUMENTS >> number & 1);
}

/* The next instruction that control comes to, from `*at` on. */
static bool next_instruction(const struct walk *walk, size_t *at, struct insn *insn)
{
	while (*at < walk->length && !walk->work->origins.reached[*at])
		++*at;
	return *at < walk->length &&
	       insn_decode(walk->code + *at, walk->length - *at, walk->start + *at, insn) == 0;
}

static code_value value_of(const struct code_work *work, size_t at, int number)
{
	code_value value = work->origins.at[at][number];

	return value.number >= 0 ? value : work->loaded[number];
}

/* An address in this function's frame, or an argument. */
static bool is_worth(const code_value *value)
{
	if (value->number == CODE_FRAME)
		return value->offset < 0 && value->offset > -FRAME_MOST;
	return is_argument(value->number);
}

/* The slot of the frame that the operand is, if it is one. */
static bool frame_slot(const struct code_work *work, size_t at, const struct insn_operand *operand,
		       int32_t *offset)
{
	code_value base;

	if (operand->base < 0 || operand->base >= INSN_PC || operand->index >= 0 ||
	    operand->segment)
		return false;
	base = work->origins.at[at][operand->base];
	if (base.number != CODE_FRAME)
		return false;
	*offset = (int32_t)(base.offset + operand->displacement);
	return true;
}

static struct slot_value *find_slot(struct code_work *work, int32_t offset)
{
	for (unsigned i = 0; i < work->slots; i++)
		if (work->slot[i].offset == offset)
			return &work->slot[i];
	return NULL;
}

static code_value stored_value(const struct code_work *work, size_t at, const struct insn *insn,
			       unsigned operand)
{
	return insn->plain_move && insn->stored >= 0 && insn->operand[operand].size == 8
		       ? value_of(work, at, insn->stored)
		       : nothing;
}

static void note_slot(struct code_work *work, int32_t offset, code_value value)
{
	struct slot_value *slot = find_slot(work, offset);

	if (slot) {
		slot->written++;
		return;
	}
	if (work->slots < sizeof(work->slot) / sizeof(work->slot[0]))
		work->slot[work->slots++] = (struct slot_value){offset, 1, value};
}

static void note_taken(struct code_work *work, int32_t offset)
{
	for (unsigned i = 0; i < work->takens && i < CODE_TAKEN; i++)
		if (work->taken[i] == offset)
			return;
	if (work->takens < CODE_TAKEN)
		work->taken[work->takens] = offset;
	work->takens++; /* past CODE_TAKEN: too many to know */
}

static bool may_be_taken(const struct code_work *work, int32_t offset)
{
	for (unsigned i = 0; i < work->takens && i < CODE_TAKEN; i++)
		if (work->taken[i] == offset)
			return true;
	return work->takens > CODE_TAKEN;
}

/* Notes which registers the instruction has loaded from a slot of the frame. */
static void follow_loads(struct code_work *work, size_t at, const struct insn *insn)
{
	const struct slot_value *slot = NULL;
	int32_t offset;

	if (insn->plain_move && insn->loaded >= 0 && insn->operand_count == 1 &&
	    insn->operand[0].access == TL_READ && insn->operand[0].size == 8 &&
	    frame_slot(work, at, &insn->operand[0], &offset))
		slot = find_slot(work, offset);
	for (int i = 0; i < 16; i++)
		if (insn->written_registers >> i & 1)
			work->loaded[i] = nothing;
	if (slot)
		work->loaded[insn->loaded] = slot->value;
	if (insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT)
		for (int i = 0; i < 16; i++)
			if (!(INSN_KEPT_BY_CALLS >> i & 1))
				work->loaded[i] = nothing;
	if (insn->flow == INSN_FLOW_RETURN || insn->flow == INSN_FLOW_JUMP_INDIRECT ||
	    (insn->flow == INSN_FLOW_BRANCH && !insn->conditional))
		for (int i = 0; i < 16; i++)
			work->loaded[i] = nothing;
}

static void forget_loads(struct code_work *work)
{
	for (int i = 0; i < 16; i++)
		work->loaded[i] = nothing;
}

static void look_for_taken(const struct walk *walk, size_t at)
{
	for (int i = 0; i < 16; i++) {
		code_value value = walk->work->origins.at[at][i];

		if (i != SP && i != FP && value.number == CODE_FRAME && value.offset < 0)
			note_taken(walk->work, value.offset);
	}
}

static bool is_frame(const struct walk *walk, size_t at, int number)
{
	return number >= 0 && number < INSN_PC && at < walk->length &&
	       walk->work->origins.reached[at] &&
	       walk->work->origins.at[at][number].number == CODE_FRAME;
}

static bool is_register(const struct insn_place *place, int number)
{
	return place->kind == INSN_PLACE_GENERAL && place->number == number;
}

/* Notes a result that is made of an address in the frame: a moved stack pointer, a frame pointer,
 * or another address. */
static void note_result(const struct walk *walk, size_t at, const struct insn *insn,
			const struct insn_result *result, struct code *to)
{
	bool of_frame = false, of_rbp = false;

	for (unsigned i = 0; i < result->source_count; i++)
		if (result->source[i].kind == INSN_PLACE_GENERAL &&
		    is_frame(walk, at, result->source[i].number)) {
			of_frame = true;
			of_rbp |= result->source[i].number == FP;
		}
	if (!of_frame || result->to.kind == INSN_PLACE_FLAGS || is_register(&result->to, SP))
		return;
	to->frame_pointer |= is_register(&result->to, FP);
	to->forms_address |= !is_register(&result->to, FP) || of_rbp ||
			     !is_frame(walk, at + insn->length, FP);
}

static void note_formed(const struct walk *walk, size_t at, struct code *to)
{
	struct insn_effect effect;

	to->frame_pointer |= is_frame(walk, at, FP);
	if (insn_effect_decode(walk->code + at, walk->length - at, walk->start + at, &effect))
		return;
	for (unsigned i = 0; i < effect.count; i++)
		note_result(walk, at, &effect.insn, &effect.result[i], to);
}

/* Notes the first value that each slot of the frame is given, and how many stores there are. */
static void note_slots(const struct walk *walk)
{
	struct code_work *work = walk->work;
	struct insn insn;

	forget_loads(work);
	for (size_t at = 0; next_instruction(walk, &at, &insn); at += insn.length) {
		int32_t offset;

		look_for_taken(walk, at);
		for (unsigned i = 0; i < insn.operand_count; i++)
			if ((insn.operand[i].access & TL_WRITE) && !insn.operand[i].stack_push &&
			    frame_slot(work, at, &insn.operand[i], &offset))
				note_slot(work, offset, stored_value(work, at, &insn, i));
		follow_loads(work, at, &insn);
	}
}

/*
 * What `lea address(%rip), register` or a move of a 32-bit constant puts into a register, as a
 * function's address is passed on; 0: the instruction is none of these.
 */
static uint64_t named_address(const struct walk *walk, size_t at, const struct insn *insn)
{
	const uint8_t *byte = walk->code + at;
	int32_t constant;

	if (insn->length < 5)
		return 0;
	memcpy(&constant, byte + insn->length - sizeof(constant), sizeof(constant));
	if (insn->length == 7 && (byte[0] & 0xf8) == 0x48 && byte[1] == 0x8d &&
	    (byte[2] & 0xc7) == 0x05)
		return walk->start + at + insn->length + (uint64_t)(int64_t)constant;
	if ((insn->length == 5 && (byte[0] & 0xf8) == 0xb8) ||
	    (insn->length == 7 && byte[0] == 0x48 && byte[1] == 0xc7 && byte[2] >= 0xc0))
		return (uint64_t)(int64_t)constant;
	return 0;
}

static void note_name(struct code *to, size_t at, uint64_t address)
{
	unsigned i = 0;

	if (!address || address - to->start < to->end - to->start)
		return;
	while (i < to->names && to->name[i] != address)
		i++;
	if (i == CODE_NAMES)
		return;
	if (i == to->names)
		to->name[to->names++] = address;
	to->name_at[i] = (uint32_t)at;
}

static void note_store(const struct walk *walk, size_t at, const struct insn *insn, struct code *to)
{
	code_value value;
	int32_t offset;

	if (!insn->plain_move || insn->stored < 0 || insn->operand_count != 1 ||
	    insn->operand[0].size != 8 || frame_slot(walk->work, at, &insn->operand[0], &offset))
		return;
	value = value_of(walk->work, at, insn->stored);
	/* Behind alloca() it is not followed where addresses come from: any may be one in the
	 * frame. */
	if (value.number < 0 && walk->work->origins.at[at][SP].number != CODE_FRAME &&
	    walk->work->origins.at[at][FP].number == CODE_FRAME)
		value = (code_value){.number = CODE_FRAME, .offset = -1};
	if (is_worth(&value) && to->stores < CODE_STORES)
		to->store[to->stores++] = (struct code_store){(uint32_t)at, value};
}

static void note_passes(const struct walk *walk, size_t at, const struct insn *insn,
			struct code *to)
{
	for (int i = 0; i < 16; i++) {
		code_value value;

		if (!is_argument(i))
			continue;
		value = value_of(walk->work, at, i);
		/* An argument that just lies in its register is not passed on purpose; what is
		 * passed on from the first register on is. */
		if (is_worth(&value) && to->passes < CODE_PASSES)
			to->pass[to->passes++] = (struct code_pass){(uint64_t)insn->target,
								    (uint32_t)at, (int8_t)i, value};
	}
}

static void note_indirect(const struct walk *walk, size_t at, const struct insn *insn,
			  struct code *to)
{
	uint64_t pointer = 0;

	if (insn->operand_count && insn->operand[0].base == INSN_PC && insn->operand[0].index < 0)
		pointer = walk->start + at + insn->length + (uint64_t)insn->operand[0].displacement;
	if (to->indirects < CODE_INDIRECT)
		to->indirect[to->indirects++] = (struct code_indirect){(uint32_t)at, pointer};
}

/* Does the instruction move the stack pointer by an amount that is not known: alloca(), an array of
 * variable length, an alignment? Then the frame has memory below all that is known. */
static bool moves_freely(const struct walk *walk, size_t at)
{
	const code_value *value = walk->work->origins.at[at];

	if (value[SP].number == CODE_FRAME || walk->work->origins.reached[at] != 1)
		return false;
	for (int i = 0; i < 16; i++)
		if (value[i].number == CODE_FRAME)
			return true;
	return false;
}

/* Notes a return. Accepted: behind an alignment the stack pointer is not known; that it is the one
 * at entry again is what the return itself relies on. */
static void note_leave(const struct walk *walk, size_t at, struct code *to)
{
	const code_value *stack = &walk->work->origins.at[at][SP];

	if ((stack->number == CODE_FRAME ? stack->offset == 0 : to->moves_freely) &&
	    to->leaves < CODE_LEAVES)
		to->leave[to->leaves++] = (uint32_t)at;
}

static void note_facts(const struct walk *walk, size_t at, const struct insn *insn, struct code *to)
{
	code_value result;

	to->moves_freely |= moves_freely(walk, at);
	note_formed(walk, at, to);
	note_store(walk, at, insn, to);
	switch (insn->flow) {
	case INSN_FLOW_CALL:
		note_name(to, at, (uint64_t)insn->target);
		note_passes(walk, at, insn, to);
		to->calls = true;
		break;
	case INSN_FLOW_CALL_INDIRECT:
		note_indirect(walk, at, insn, to);
		to->calls = true;
		break;
	case INSN_FLOW_JUMP_INDIRECT:
		note_indirect(walk, at, insn, to);
		break;
	case INSN_FLOW_BRANCH:
		note_name(to, at, (uint64_t)insn->target);
		break;
	case INSN_FLOW_RETURN:
		result = value_of(walk->work, at, 0);
		if (result.number == CODE_FRAME && result.offset < 0)
			to->returns_frame = (uint32_t)at;
		note_leave(walk, at, to);
		break;
	default:
		break;
	}
	note_name(to, at, named_address(walk, at, insn));
}

static void note_canary(const struct walk *walk, size_t at, const struct insn *insn, int reg,
			struct code *to)
{
	int32_t offset;

	if (insn->plain_move && insn->stored == reg && insn->operand_count == 1 &&
	    frame_slot(walk->work, at, &insn->operand[0], &offset)) {
		to->canary = (struct code_slot){true, offset};
		to->canary_at = (uint32_t)at;
	}
}

static bool loads_canary(const struct insn *insn)
{
	return insn->plain_move && insn->loaded >= 0 && insn->operand_count == 1 &&
	       insn->operand[0].segment == CANARY_SEGMENT && insn->operand[0].base < 0 &&
	       insn->operand[0].displacement == CANARY_DISPLACEMENT;
}

static bool moves_stack(const struct insn *insn)
{
	return insn->written_registers >> SP & 1;
}

/* The register that the instruction pushes in order to keep it for the caller; -1: none. Other
 * registers are pushed to make room for a local or to pass an argument. */
static int pushed_register(const struct walk *walk, size_t at)
{
	const uint8_t *byte = walk->code + at;
	int high = byte[0] == 0x41 && at + 1 < walk->length ? 8 : 0;
	int number = (byte[high ? 1 : 0] & 7) + high;

	if ((byte[high ? 1 : 0] & 0xf8) != 0x50 || number == SP)
		return -1;
	return INSN_KEPT_BY_CALLS >> number & 1 ? number : -1;
}

/* rax and rdx, which no function keeps for its caller. Functions that unwind push both at their
 * beginning, since they hand something on in them to where they go on (__builtin_eh_return() of
 * GCC). */
#define HANDED_ON (1u << RAX | 1u << RDX)

static unsigned handed_on(const struct walk *walk, size_t at)
{
	int number = walk->code[at] - 0x50;

	return number == RAX || number == RDX ? 1u << number : 0;
}

/* Goes through the straight code at the beginning and notes what it pushes, where it moves the
 * stack pointer last and where it sets the canary. */
static void follow_prologue(const struct walk *walk, struct code *to)
{
	struct insn insn;
	int8_t canary = -1;
	int kept;
	bool pushing = true;
	unsigned handed = 0;
	uint16_t pushed = 0; /* a second time it is an argument */
	size_t at = 0;

	for (unsigned i = 0; i < PROLOGUE_MOST && next_instruction(walk, &at, &insn); i++) {
		bool before = to->canary.known;
		code_value stack;

		if (insn.flow != INSN_FLOW_NEXT)
			break;
		if (loads_canary(&insn))
			canary = insn.loaded;
		else if (canary >= 0)
			note_canary(walk, at, &insn, canary, to);
		if (canary >= 0 && canary != insn.loaded && insn.written_registers >> canary & 1)
			canary = -1;
		kept = pushed_register(walk, at);
		handed |= handed_on(walk, at);
		to->unwinds |= handed == HANDED_ON;
		at += insn.length;
		if (at >= walk->length || !walk->work->origins.reached[at])
			break;
		stack = walk->work->origins.at[at][SP];
		if (!moves_stack(&insn) && before == to->canary.known)
			continue;
		/* The stack pointer moves up again: the function is about to return, with no branch
		 * or call before. */
		if (stack.number != CODE_FRAME || stack.offset > to->depth)
			break;
		if (moves_stack(&insn))
			pushing = pushing && kept >= 0 && !(pushed >> kept & 1);
		if (moves_stack(&insn) && pushing) {
			pushed |= (uint16_t)(1u << kept);
			to->saved = (struct code_slot){true, stack.offset};
		}
		to->ready = (uint32_t)at;
		to->depth = stack.offset;
	}
}

/* `certain`: on all ways, also those that a jump through a register might take. */
static int prepare(const struct walk *walk, bool certain, const struct insn_entries *entries)
{
	struct insn_origin entry[16];

	walk->work->slots = walk->work->takens = 0;
	if (!certain)
		return insn_origins_likely(walk->code, walk->length, &walk->work->origins);
	return insn_origins(walk->code, walk->length, 0, entries, &walk->work->origins, entry);
}

int code_analyse(const uint8_t *code, size_t length, uint64_t start, struct code_work *work,
		 struct code *to)
{
	const struct walk walk = {code, length, start, work};
	struct insn insn;
	int err;

	memset(to, 0, sizeof(*to));
	to->start = start;
	to->end = start + length;
	err = prepare(&walk, false, NULL);
	if (err)
		return err;
	note_slots(&walk);
	forget_loads(work);
	for (size_t at = 0; next_instruction(&walk, &at, &insn); at += insn.length) {
		note_facts(&walk, at, &insn, to);
		follow_loads(work, at, &insn);
	}
	to->takes_address = work->takens > 0 || to->moves_freely;
	for (unsigned i = 0; i < work->takens && i < CODE_TAKEN; i++)
		if (work->taken[i] < to->lowest_taken)
			to->lowest_taken = work->taken[i];
	to->followed = true;
	follow_prologue(&walk, to);
	return 0;
}

/* Does another way than straight on lead to a place in (after, to]? */
static bool is_entered(const struct walk *walk, size_t after, size_t to)
{
	struct insn insn;

	for (size_t at = 0; next_instruction(walk, &at, &insn); at += insn.length) {
		uint64_t target = (uint64_t)insn.target - walk->start;

		if (insn.flow == INSN_FLOW_JUMP_INDIRECT ||
		    (insn.flow == INSN_FLOW_BRANCH && target > after && target <= to))
			return true;
	}
	return false;
}

/* The slot's value, if the function cannot give it another one. */
static code_value slot_value(struct code_work *work, int32_t offset)
{
	const struct slot_value *slot = find_slot(work, offset);

	return slot && slot->written == 1 && !may_be_taken(work, offset) ? slot->value : nothing;
}

/* The value of a register that straight code has loaded from a slot. */
static code_value certain_value(struct code_work *work, size_t place, int number,
				const struct walk *walk, bool divided)
{
	code_value value = work->origins.at[place][number];
	code_value found = nothing;
	struct insn insn;
	size_t since = 0;

	if (value.number >= 0 || divided)
		return value; /* code that was not followed may write the slot, too */
	for (size_t at = 0; next_instruction(walk, &at, &insn) && at < place; at += insn.length) {
		int32_t offset;

		if (insn.flow != INSN_FLOW_NEXT || insn.written_registers >> number & 1)
			found = nothing;
		if (insn.plain_move && insn.loaded == number && insn.operand_count == 1 &&
		    insn.operand[0].access == TL_READ && insn.operand[0].size == 8 &&
		    frame_slot(work, at, &insn.operand[0], &offset)) {
			found = slot_value(work, offset);
			since = at;
		}
	}
	return found.number >= 0 && is_entered(walk, since, place) ? nothing : found;
}

int code_describe(const uint8_t *code, size_t length, const struct insn_entries *entries, size_t at,
		  const struct insn *insn, unsigned operand, struct code_work *work,
		  struct code_at *to)
{
	const struct walk walk = {code, length, 0, work};
	const struct insn_operand *of = &insn->operand[operand];
	code_value index = nothing;
	int err;

	*to = (struct code_at){.base = nothing, .base_register = -1};
	err = prepare(&walk, true, entries);
	if (err)
		return err;
	if (at >= length || !work->origins.reached[at])
		return -ENOENT;
	for (unsigned i = 0; i < 2 && !to->depth_known; i++) {
		const uint8_t through = (uint8_t)(i ? FP : SP);

		if (work->origins.at[at][through].number == CODE_FRAME) {
			to->depth_known = true;
			to->depth = work->origins.at[at][through].offset;
			to->through = through;
		}
	}
	note_slots(&walk);
	if (of->index >= 0)
		index = certain_value(work, at, of->index, &walk, entries->count);
	if (index.number == CODE_FRAME)
		to->base = index;
	else if (of->base >= 0 && of->base < INSN_PC)
		to->base = certain_value(work, at, of->base, &walk, entries->count);
	if (of->base < INSN_PC && of->index < 0)
		to->base_register = of->base;
	return 0;
}
