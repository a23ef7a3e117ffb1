/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls, jumps and returns that went to pc through memory: the trap came at their target. Whatever
 * read its target from memory read the value pc, so if no word that overlaps the watched bytes
 * holds pc, no jump or return can have done it; a call leaves its return address at the
 * stack pointer.
 *
 * Registers survive a call or jump, so the operands of the instruction found are evaluated exactly.
 */
#include <errno.h>
#include <string.h>
#include <trapline/event.h>

#include "insn/previous.h"
#include "insn/transfer.h"
#include "insn/walk.h"

#define WORD sizeof(uint64_t)
#define WATCHED_MAX 64
#define STUB_CHAIN_MAX 4

static int read_word(const struct insn_memory *memory, uint64_t address, uint64_t *word)
{
	return memory->read(memory->context, address, word, sizeof(*word));
}

static bool word_is_pc(const struct attribution *attribution, uint64_t address)
{
	uint64_t word;

	return !read_word(attribution->memory, address, &word) && word == attribution->after->pc;
}

/* Whether some word that shares a byte with the watched ones holds pc. */
static bool watched_holds_pc(const struct attribution *attribution)
{
	uint8_t bytes[WATCHED_MAX + 2 * WORD];
	uint64_t from = attribution->watched - (WORD - 1);
	size_t length = (size_t)attribution->watched_length + 2 * (WORD - 1);

	if (attribution->watched_length > WATCHED_MAX)
		return true;
	if (attribution->memory->read(attribution->memory->context, from, bytes, length)) {
		for (size_t i = 0; i + WORD <= length; i++)
			if (word_is_pc(attribution, from + i))
				return true;
		return false;
	}
	for (size_t i = 0; i + WORD <= length; i++)
		if (!memcmp(bytes + i, &attribution->after->pc, WORD))
			return true;
	return false;
}

/* Match an instruction that went elsewhere: its pc-relative operands count from its own end. */
static void match_at(const struct attribution *attribution, const struct insn *insn, uint64_t pc,
		     struct explanation *explanation)
{
	struct insn_registers registers = *attribution->after;

	registers.pc = pc + insn->length;
	insn_match(attribution, insn, &registers, explanation);
	explanation->pc = pc;
}

/* Whether the first operand of an indirect call or jump holds pc now. A call may have pushed its
 * return address over it: then nobody knows (*overwritten). */
static bool target_is_pc(const struct attribution *attribution, const struct insn *insn,
			 uint64_t pc, bool *overwritten)
{
	struct insn_registers registers = *attribution->after;
	uint64_t first, length;

	*overwritten = false;
	if (insn->target_register >= 0) {
		uint64_t value = registers.general[insn->target_register];

		if ((uint8_t)insn->target_register == insn_arch.stack_pointer)
			value -= (uint64_t)(int64_t)insn->stack_change;
		return value == attribution->after->pc;
	}
	registers.pc = pc + insn->length;
	if (!insn->operand_count || insn_operand_after(insn, 0, &registers, &first, &length))
		return false;
	*overwritten = insn->flow == INSN_FLOW_CALL_INDIRECT &&
		       insn_overlap(first, WORD, registers.general[insn_arch.stack_pointer], WORD);
	return *overwritten || word_is_pc(attribution, first);
}

struct call_site {
	uint64_t pc;
	struct insn insn;
	bool certain; /* found by decoding from its function's start */
};

static bool is_call(const struct insn *insn)
{
	return insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT;
}

/* The call that left its return address on top of the stack, if there is one. */
static bool find_call(const struct attribution *attribution, struct call_site *site)
{
	const struct insn_memory *memory = attribution->memory;
	uint8_t bytes[INSN_MAX_LENGTH];
	uint64_t back, start, end;
	size_t available;
	bool entered;

	if (read_word(memory, attribution->after->general[insn_arch.stack_pointer], &back))
		return false;
	site->certain = true;
	if (!insn_function(memory, back - 1, &start, &end))
		return !insn_previous_read(memory, start, back, &site->pc, &site->insn, &entered) &&
		       is_call(&site->insn);
	site->certain = false;
	available = insn_read_before(memory, back, bytes, sizeof(bytes));
	for (size_t length = available; length >= 2; length--) {
		site->pc = back - length;
		if (!insn_decode(bytes + sizeof(bytes) - length, length, site->pc, &site->insn) &&
		    site->insn.length == length && is_call(&site->insn))
			return true;
	}
	return false;
}

/* A call to pc wrote its return address on top of the stack, and may have read its target from
 * memory. */
static bool consider_call(struct attribution *attribution, const struct call_site *site)
{
	struct explanation explanation;
	bool overwritten = false;

	if (site->insn.flow == INSN_FLOW_CALL) {
		if ((uint64_t)site->insn.target != attribution->after->pc)
			return false;
	} else if (!target_is_pc(attribution, &site->insn, site->pc, &overwritten)) {
		return false;
	}
	match_at(attribution, &site->insn, site->pc, &explanation);
	if (explanation.rank == RANK_NONE)
		return false;
	if (overwritten || !site->certain)
		attribution->uncertain = true;
	insn_propose(attribution, &explanation);
	return true;
}

static bool is_memory_jump(const struct insn *insn)
{
	return insn->flow == INSN_FLOW_JUMP_INDIRECT && insn->target_register < 0;
}

/* `insn` at `pc`, if it is a jump through the watched memory to the attribution's pc. */
static bool consider_jump(struct attribution *attribution, const struct insn *insn, uint64_t pc)
{
	struct explanation explanation;
	bool overwritten;

	if (!is_memory_jump(insn) || !target_is_pc(attribution, insn, pc, &overwritten))
		return false;
	match_at(attribution, insn, pc, &explanation);
	insn_propose(attribution, &explanation);
	return explanation.rank != RANK_NONE;
}

/* Of the mark at `pc`, or 0. */
static unsigned landing_length(const struct insn_memory *memory, uint64_t pc)
{
	uint8_t bytes[4];

	return memory->read(memory->context, pc, bytes, sizeof(bytes))
		       ? 0
		       : insn_arch.landing_length(bytes);
}

/* The single jump a linkage stub consists of, after the mark that it may begin with. 0
 * or -ENOENT. */
static int stub_jump(const struct insn_memory *memory, uint64_t at, uint64_t *pc, struct insn *insn)
{
	*pc = at + landing_length(memory, at);
	if (insn_fetch(memory, *pc, *pc + INSN_MAX_LENGTH, insn))
		return -ENOENT;
	if (insn->flow == INSN_FLOW_BRANCH && !insn->conditional)
		return 0;
	return is_memory_jump(insn) ? 0 : -ENOENT;
}

static bool consider_stub(struct attribution *attribution, uint64_t at)
{
	struct insn insn;
	uint64_t pc;

	return !stub_jump(attribution->memory, at, &pc, &insn) &&
	       consider_jump(attribution, &insn, pc);
}

/* What a function's instructions tell about how it is left. */
struct exits {
	unsigned jumps;	  /* jumps through the watched memory to pc */
	unsigned returns; /* returns that popped pc from the watched memory */
	bool others;	  /* jumps to elsewhere, or to where nobody knows */
};

static bool leads_out(const struct insn *insn, uint64_t start, uint64_t end)
{
	if (insn->flow == INSN_FLOW_JUMP_INDIRECT)
		return true;
	return insn->flow == INSN_FLOW_BRANCH &&
	       ((uint64_t)insn->target < start || (uint64_t)insn->target >= end);
}

static bool consider_return(struct attribution *attribution, const struct insn *insn, uint64_t pc)
{
	struct explanation explanation;
	uint64_t first, length;

	if (insn_operand_after(insn, 0, attribution->after, &first, &length) ||
	    !word_is_pc(attribution, first))
		return false;
	match_at(attribution, insn, pc, &explanation);
	insn_propose(attribution, &explanation);
	return explanation.rank != RANK_NONE;
}

static void consider_exit(struct attribution *attribution, const struct insn *insn, uint64_t pc,
			  uint64_t start, uint64_t end, struct exits *exits)
{
	if (insn->flow == INSN_FLOW_RETURN) {
		exits->returns += consider_return(attribution, insn, pc);
		return;
	}
	if (!leads_out(insn, start, end))
		return;
	if (consider_jump(attribution, insn, pc) ||
	    (insn->flow == INSN_FLOW_BRANCH && consider_stub(attribution, (uint64_t)insn->target)))
		exits->jumps++;
	else
		exits->others = true;
}

/* Walk a whole function and consider every instruction that can leave it. Decodes all of them:
 * reached only when the watched memory holds pc. */
static int consider_exits(struct attribution *attribution, uint64_t start, uint64_t end,
			  struct exits *exits)
{
	struct insn_walk walk;
	struct insn insn;

	memset(exits, 0, sizeof(*exits));
	insn_walk_begin(&walk, attribution->memory, start, end);
	while (walk.at < end) {
		size_t available;
		const uint8_t *bytes = insn_walk_bytes(&walk, INSN_MAX_LENGTH, &available);

		if (!available || insn_decode(bytes, available, walk.at, &insn)) {
			exits->others = true;
			return -ENOENT;
		}
		consider_exit(attribution, &insn, walk.at, start, end, exits);
		walk.at += insn.length;
	}
	return 0;
}

/* Where a call leads, through linkage stubs. 0 or -ENOENT where registers it went by are gone. */
static int callee_of(const struct attribution *attribution, const struct insn *call,
		     uint64_t call_end, uint64_t *callee)
{
	const struct insn_memory *memory = attribution->memory;
	const struct insn_operand *operand = &call->operand[0];
	struct insn insn;
	uint64_t pc;

	*callee = (uint64_t)call->target;
	if (call->flow == INSN_FLOW_CALL_INDIRECT) {
		if (call->target_register >= 0 || operand->base != INSN_PC || operand->segment ||
		    read_word(memory, call_end + (uint64_t)operand->displacement, callee))
			return -ENOENT;
	}
	for (unsigned i = 0; i < STUB_CHAIN_MAX; i++) {
		if (stub_jump(memory, *callee, &pc, &insn))
			return 0;
		if (insn.flow == INSN_FLOW_BRANCH)
			*callee = (uint64_t)insn.target;
		else if (insn.operand[0].base != INSN_PC || insn.operand[0].segment ||
			 read_word(memory,
				   pc + insn.length + (uint64_t)insn.operand[0].displacement,
				   callee))
			return 0;
	}
	return 0;
}

/* pc was popped, but nobody knows by which return: told at the call it returned to, if any. */
static void propose_unknown(struct attribution *attribution, uint64_t pc, uint64_t first)
{
	struct explanation explanation = {
		.rank = RANK_UNKNOWN_ORIGIN,
		.pc = pc,
		.access = TL_READ,
		.first = first,
		.length = WORD,
	};

	attribution->uncertain = true;
	insn_propose(attribution, &explanation);
}

/* Returns to pc: those of the function that the call before pc calls. True if one was proposed. */
static bool consider_returns(struct attribution *attribution)
{
	uint64_t slot = attribution->after->general[insn_arch.stack_pointer] - WORD;
	uint64_t callee, start, end;
	struct exits exits;

	if (attribution->has_previous && is_call(&attribution->previous) &&
	    !callee_of(attribution, &attribution->previous, attribution->after->pc, &callee) &&
	    !insn_function(attribution->memory, callee, &start, &end)) {
		consider_exits(attribution, start, end, &exits);
		if (exits.returns) {
			attribution->uncertain |= exits.returns > 1 || exits.others;
			return true;
		}
	}
	if (!insn_overlap(slot, WORD, attribution->watched, attribution->watched_length) ||
	    !word_is_pc(attribution, slot))
		return false;
	propose_unknown(attribution,
			attribution->has_previous && is_call(&attribution->previous)
				? attribution->previous_pc
				: attribution->after->pc,
			slot);
	return true;
}

/* Jumps to pc through the watched memory: a stub or tail jump of the function called last, a jump
 * table of pc's own function. */
static bool consider_jumps(struct attribution *attribution, const struct call_site *site)
{
	struct exits exits = {0};
	uint64_t callee, start, end;

	if (site && site->insn.flow == INSN_FLOW_CALL) {
		callee = (uint64_t)site->insn.target;
		if (consider_stub(attribution, callee)) {
			attribution->uncertain |= !site->certain;
			return true;
		}
		if (!insn_function(attribution->memory, callee, &start, &end) &&
		    start != attribution->start) {
			consider_exits(attribution, start, end, &exits);
			if (exits.jumps) {
				attribution->uncertain |= exits.jumps > 1 || exits.others ||
							  !site->certain;
				return true;
			}
		}
	}
	if (!attribution->bounded)
		return false;
	consider_exits(attribution, attribution->start, attribution->end, &exits);
	attribution->uncertain |= exits.jumps > 1;
	return exits.jumps;
}

void insn_consider_transfers(struct attribution *attribution)
{
	bool read = (attribution->wanted & TL_READ) && !attribution->memory->reached_plainly &&
		    watched_holds_pc(attribution);
	bool pushed = (attribution->wanted & TL_WRITE) &&
		      insn_overlap(attribution->after->general[insn_arch.stack_pointer], WORD,
				   attribution->watched, attribution->watched_length);
	struct call_site site;
	bool called;

	if (!read && !pushed)
		return;
	called = find_call(attribution, &site);
	if (called && site.certain && consider_call(attribution, &site))
		return;
	if (read &&
	    (consider_returns(attribution) || consider_jumps(attribution, called ? &site : NULL)))
		return;
	if (called && !site.certain && consider_call(attribution, &site))
		return;
	if (read)
		propose_unknown(attribution, attribution->after->pc, attribution->watched);
}

bool insn_reached_plainly(const struct insn_memory *memory, uint64_t pc)
{
	struct insn_walk walk;
	struct insn insn = {.flow = INSN_FLOW_CALL};
	uint64_t start, end;

	if (memory->bounds(memory->context, pc, &start, &end) || start == pc)
		return false;
	insn_walk_begin(&walk, memory, start, end);
	while (walk.at < end) {
		size_t available;
		const uint8_t *bytes = insn_walk_bytes(&walk, INSN_MAX_LENGTH, &available);

		if (!available || insn_decode(bytes, available, walk.at, &insn))
			return false;
		if (insn.flow == INSN_FLOW_JUMP_INDIRECT && insn.operand_count)
			return false;
		walk.at += insn.length;
		if (walk.at == pc && insn.flow != INSN_FLOW_NEXT)
			return false;
	}
	return true;
}
