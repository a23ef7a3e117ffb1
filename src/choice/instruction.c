/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws an instruction to watch. First a function in use is drawn: one that samples fell into, one
 * that a sleeping thread will return to (found on its stack), one that such a function calls, or,
 * rarely, any of the program. Then one of its instructions that access memory.
 */
#include "choice/instruction.h"

#include "process/stub.h"
#include "sample/order.h"
#include "usage/in_use.h"

#include <stdlib.h>

/* Bytes of one function that are decoded at most, since decoding takes time. */
#define FUNCTION_MAX 1024
#define CANDIDATES_MAX 512

struct candidates {
	struct target *target;
	uint64_t pc[CANDIDATES_MAX];
	unsigned count;
	uint64_t calls[64];
	unsigned call_count;
	/* The site in whose function all candidates stand; 0: it was drawn by chance. */
	uint64_t site;
};

/* True where the operand is not addressed by the stack or frame pointer, which lead to the thread's
 * own frame; another thread's memory is reached through other registers. */
static bool is_worth_watching(const struct insn *insn)
{
	const int stack_pointer = insn_arch.stack_pointer, frame_pointer = insn_arch.frame_pointer;

	for (unsigned i = 0; i < insn->operand_count; i++) {
		const struct insn_operand *operand = &insn->operand[i];

		if (operand->access && !operand->stack_push && !operand->stack_pop &&
		    operand->base != stack_pointer &&
		    !(operand->base == frame_pointer && operand->index < 0) &&
		    operand->segment == 0)
			return true;
	}
	return false;
}

static void consider(struct candidates *candidates, const struct insn *insn, uint64_t pc)
{
	bool leaves = false;

	if (insn->flow == INSN_FLOW_CALL && candidates->call_count < 64) {
		uint64_t target = stub_target(candidates->target->space, (uint64_t)insn->target);

		leaves = !code_is_interesting(candidates->target, target) &&
			 !order_is_its_purpose(candidates->target->space, target);
		candidates->calls[candidates->call_count++] = target;
	}
	leaves |= insn->flow == INSN_FLOW_CALL_INDIRECT;
	if (candidates->count < CANDIDATES_MAX && (leaves || is_worth_watching(insn)))
		candidates->pc[candidates->count++] = pc;
}

static void list_function(struct candidates *candidates, uint64_t start, uint64_t end)
{
	uint8_t *bytes;
	size_t available, at = 0;

	if (end - start > FUNCTION_MAX)
		end = start + FUNCTION_MAX;
	bytes = malloc(end - start);
	if (!bytes)
		return;
	available = space_code(candidates->target->space, start, bytes, end - start);
	while (at < available) {
		struct insn insn;

		if (insn_decode(bytes + at, available - at, start + at, &insn))
			break;
		consider(candidates, &insn, start + at);
		at += insn.length;
	}
	free(bytes);
}

static uint64_t any_code(struct target *target)
{
	uint64_t start, end;

	if (!space_random_code(target->space, random_next(&target->program->random), &start, &end))
		return 0;
	return start + random_next(&target->program->random) % (end - start);
}

/* Draws a function in use, or now and then one that such a function calls, or any function. */
static bool choose_function(struct target *target, const struct sites *sites, uint64_t *start,
			    uint64_t *end, struct candidates *candidates)
{
	struct explorer *explorer = explorer_of(target);
	bool noted = sites->used && random_next(&explorer->program->random) % 16;
	uint64_t pc = noted ? sites_draw(sites, &explorer->program->random) : any_code(target);

	if (!pc || !code_is_interesting(target, pc) ||
	    space_function(target->space, pc, start, end))
		return false;
	candidates->target = target;
	candidates->site = noted ? pc : 0;
	/* A noted site is the start of an instruction. Every other time decoding begins there, so
	 * that what lies beyond the first FUNCTION_MAX bytes of a function has its turn. */
	if (noted && random_next(&explorer->program->random) % 2)
		*start = pc;
	list_function(candidates, *start, *end);
	if (candidates->call_count && random_next(&explorer->program->random) % 3 == 0) {
		pc = candidates->calls[random_next(&explorer->program->random) %
				       candidates->call_count];
		if (code_is_interesting(target, pc) &&
		    space_function(target->space, pc, start, end) == 0) {
			candidates->count = candidates->call_count = 0;
			candidates->site = 0;
			list_function(candidates, *start, *end);
		}
	}
	return candidates->count > 0;
}

unsigned instruction_interest(void *context, uint64_t pc)
{
	struct target *target = context;

	return explorer_of(target)->events->interest(target, pc);
}

/* Draws one of `count` instructions, each as likely as the tool finds it interesting; 0 when none
 * is. */
static uint64_t choose_weighted(struct target *target, const uint64_t *pc, unsigned count,
				unsigned *interest)
{
	uint64_t weight[CANDIDATES_MAX];
	unsigned drawn;

	for (unsigned i = 0; i < count; i++)
		weight[i] = instruction_interest(target, pc[i]);
	drawn = random_draw(&target->program->random, weight, count);
	if (drawn == count)
		return 0;
	*interest = (unsigned)weight[drawn];
	return pc[drawn];
}

/* Draws a function, so that each has its turn, then one of its instructions, up to four times: the
 * less interesting an instruction is, the likelier it is that another is drawn. */
uint64_t instruction_draw(struct target *target, const struct sites *sites, uint64_t *site)
{
	static struct candidates candidates; /* one thread; too large for comfort on the stack */
	uint64_t start, end, best = 0;
	unsigned best_interest = 0;

	for (int attempt = 0; attempt < 4; attempt++) {
		unsigned interest = 0;
		uint64_t pc;

		candidates.count = candidates.call_count = 0;
		if (!choose_function(target, sites, &start, &end, &candidates))
			continue;
		pc = choose_weighted(target, candidates.pc, candidates.count, &interest);
		if (interest <= best_interest)
			continue;
		best = pc;
		best_interest = interest;
		*site = candidates.site;
		if (random_next(&target->program->random) % INTEREST_EQUAL < interest)
			break;
	}
	return best;
}
