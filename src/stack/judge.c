/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/judge.h"

#include "base/clock.h"
#include "insn/operand.h"
#include "stack/copied.h"
#include "stack/frames.h"
#include "stack/owner.h"
#include "tool/registers.h"

#include <string.h>

bool judge_operand(struct space *space, const struct tl_access *access, struct insn *insn,
		   unsigned *operand)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn_registers registers;

	if (!access->registers ||
	    insn_decode(bytes, space_code(space, access->pc, bytes, sizeof(bytes)), access->pc,
			insn))
		return false;
	registers = tool_registers(access->registers,
				   access->before ? access->pc : access->pc + insn->length);
	for (unsigned i = 0; i < insn->operand_count; i++) {
		uint64_t first, length;

		if (!(insn->operand[i].access & access->access & (TL_READ | TL_WRITE)))
			continue;
		*operand = i;
		if (access->before
			    ? !insn_operand_before(insn, i, &registers, &first, &length) &&
				      insn_overlap(first, length, access->address, access->length)
			    : insn_operand_touch(insn, i, &registers, access->address,
						 access->length, &first, &length) != INSN_TOUCH_NO)
			return true;
	}
	return false;
}

uint64_t judge_stored_to(struct space *space, const struct tl_access *access)
{
	struct insn_registers registers = tool_registers(access->registers, access->pc);
	uint8_t bytes[INSN_MAX_LENGTH];
	uint64_t first, length;
	struct insn insn;

	if (insn_decode(bytes, space_code(space, access->pc, bytes, sizeof(bytes)), access->pc,
			&insn) ||
	    insn.operand_count != 1 || insn_operand_before(&insn, 0, &registers, &first, &length))
		return 0;
	return first;
}

/*
 * Is it certain that the access is to nothing that the function keeps below its own stack pointer?
 * A function that calls others keeps nothing there. One that calls none reaches what it keeps there
 * through rsp or rbp, or through an address in its frame that it has formed, maybe in a part of it
 * that lies elsewhere (`divided`). `operand`: of the access.
 */
static bool keeps_nothing(const struct code *code, bool divided, const struct insn_operand *operand)
{
	if (code->calls)
		return true;
	return !divided && !code->takes_address && !code->forms_address &&
	       !(code->frame_pointer && (operand->base == FP || operand->index == FP));
}

/* Notes what the code around the access says: is its address made of the frame's, or of an
 * argument? */
static void describe_code(struct process *process, struct space *space,
			  const struct tl_access *access, struct rules_use *use)
{
	const struct tl_registers *registers = access->registers;
	const struct code *code = functions_around(process->functions, space, access->pc);
	const uint8_t *bytes;
	struct insn_entries entries;
	struct code_at at;
	struct insn insn;
	unsigned operand;
	size_t length;

	/* Certain whatever else leads into the function. */
	use->keeps_nothing = code && code->calls;
	if (!judge_operand(space, access, &insn, &operand))
		return;
	use->implicit |= insn.operand[operand].stack_push || insn.operand[operand].stack_pop;
	use->frame_based = insn.operand[operand].base == SP;
	if (!code || functions_entries(process->functions, space, code, &entries))
		return;
	use->keeps_nothing = keeps_nothing(code, entries.count != 0, &insn.operand[operand]);
	length = functions_bytes(space, code, &bytes);
	if (!length || code_describe(bytes, length, &entries, access->pc - code->start, &insn,
				     operand, functions_room(), &at))
		return;
	if (at.depth_known) {
		use->entry_known = true;
		use->entry = registers->general[at.through] - (uint64_t)(int64_t)at.depth;
	}
	use->frame_based |= at.base.number == CODE_FRAME;
	if (at.base_register < 0 || at.base.number < 0 || at.base.number == CODE_FRAME ||
	    insn.written_registers >> at.base_register & 1)
		return;
	use->argument_known = true;
	use->argument = registers->general[at.base_register] - (uint64_t)(int64_t)at.base.offset;
}

bool judge_verified(const struct process *process, struct space *space,
		    const struct tl_access *access)
{
	static struct tl_frame_place frames[FRAMES_MAX]; /* one thread; large */
	int count = frames_of(space, access, frames, FRAMES_MAX);
	const uint64_t pointer = access->registers->general[SP];
	struct rules_base base = {.main = access->tid == access->pid,
				  .start = process->main_start,
				  .fs_base = access->registers->fs_base,
				  .has_data = owner_has_data(space, access->registers->fs_base),
				  .guarded = space_guarded(space, pointer)};

	while (count > 1 && !frames[count - 1].cfa)
		count--;
	return space_mapping(space, pointer, &base.mapping_start, &base.mapping_end) &&
	       rules_is_whole(frames, count, pointer, &base);
}

/* Does the function take addresses in its frame, or of arguments on the stack? True also where its
 * code does not tell. */
static bool takes_addresses(struct process *process, struct space *space,
			    const struct tl_frame_place *frame, bool is_caller)
{
	const struct code *code =
		functions_around(process->functions, space, frame->pc - is_caller);
	struct insn_entries entries;

	return !code || code->takes_address || code->forms_address ||
	       functions_entries(process->functions, space, code, &entries) || entries.count;
}

/* May a local of a live frame of the accessing thread lie at the address? Arguments that a frame
 * hands on by the stack lie in it, too. */
static bool may_be_local(struct process *process, struct space *space,
			 const struct tl_access *access)
{
	struct tl_frame_place frames[TASK_FRAMES];
	int count = frames_of(space, access, frames, TASK_FRAMES);
	int at = frames_find(frames, count, access->registers->general[SP], access->address);

	for (int i = 0; i <= at; i++)
		if (!frames[i].return_slot) /* a signal's, which the kernel filled in */
			return true;
	return at < 0 || takes_addresses(process, space, &frames[at], at > 0) ||
	       (at > 0 && takes_addresses(process, space, &frames[at - 1], at > 1));
}

static void describe_own(struct process *process, struct space *space,
			 const struct tl_access *access, const struct judge_frame *frame,
			 struct rules_use *use)
{
	use->own = true;
	use->doubtful = frame->guessed && may_be_local(process, space, access);
	use->pointer_known = true;
	use->pointer = access->registers->general[SP];
	/* Unwinding takes long, so it is done only where it can decide. */
	if (use->address < use->pointer ||
	    (use->argument_known && use->entry_known && use->argument < use->entry &&
	     use->address < use->entry))
		use->verified = judge_verified(process, space, access);
}

/* Does the address lie on the live part of the accessing thread's stack, between its stack pointer
 * less the red zone and where its stack begins? glibc keeps a thread's data at the top of its
 * stack. */
static bool is_on_stack(const struct process *process, const struct tl_access *access)
{
	uint64_t pointer = access->registers->general[SP], base = access->registers->fs_base;

	if (access->tid == access->pid)
		base = process->main_start;
	return access->address >= pointer - RULES_RED_ZONE && access->address < base;
}

/* Is the memory still the stack that ended with its thread? The C library unmaps such stacks when
 * it has enough of them. Other memory that comes there has no guard, or has it elsewhere. */
static bool is_still_stack(struct space *space, const struct tl_access *access,
			   const struct judge_frame *frame)
{
	uint64_t start, end;

	space_renew(space);
	return space_mapping(space, access->address, &start, &end) && start == frame->stack_start &&
	       space_guarded(space, access->address);
}

/*
 * Is there no younger thread to which the C library has given the stack of the one that has ended?
 * The access might go to a frame of that thread at the same address. In a correct program such a
 * frame lives until the accessing thread has told its owner of the access, so it is there as long
 * as the accessing thread is held. Therefore its absence proves something only until the hold ends.
 */
static bool has_no_heir(struct space *space, const struct tl_access *access,
			const struct judge_frame *frame)
{
	return !owner_began_since(access->pid, frame->made) && clock_now() < frame->held_until &&
	       is_still_stack(space, access, frame);
}

static void describe_other(const struct process *process, struct space *space,
			   const struct tl_access *access, const struct judge_frame *frame,
			   struct rules_use *use)
{
	const bool kept = frame->kept && !frame->guessed;
	struct owner owner = {0};

	use->doubtful = frame->guessed;
	use->ended = frame->tid && !owner_exists(access->pid, frame->tid) &&
		     (kept || has_no_heir(space, access, frame));
	use->inherited = is_on_stack(process, access);
	if (!owner_find_asleep(space, access->pid, access->address, access->tid,
			       process->main_start, &owner))
		return;
	use->pointer_known = true;
	use->pointer = owner.pointer;
	use->verified = owner.verified;
	/* Another thread has the stack now. */
	if (use->ended && owner.tid != frame->tid)
		use->ended = kept;
}

/* Does the address lie in the mapping that the thread's stack pointer is in? */
static bool is_own(struct space *space, const struct tl_access *access)
{
	uint64_t start, end;

	return space_mapping(space, access->registers->general[SP], &start, &end) &&
	       access->address >= start && access->address < end;
}

void judge_describe(struct stack *stack, struct process *process, const struct tl_access *access,
		    const struct judge_frame *frame, struct rules_use *use)
{
	struct space *space = stack_space(stack, access->pid);

	*use = (struct rules_use){.address = access->address,
				  .guessed = access->access & TL_GUESSED || !space ||
					     !access->registers,
				  .implicit = access->traits & TL_TRAIT_STACK,
				  .kept = frame->kept,
				  .result = frame->result,
				  .seen_returning = frame->returned};
	if (!use->guessed && !(access->access & TL_KERNEL))
		describe_code(process, space, access, use);
}

void judge_use(struct stack *stack, struct process *process, const struct tl_access *access,
	       const struct judge_frame *frame, struct rules_verdict *verdict)
{
	struct space *space = stack_space(stack, access->pid);
	struct rules_use use;

	judge_describe(stack, process, access, frame, &use);
	if (use.implicit || use.frame_based || use.guessed)
		; /* hidden in any case, so nothing more is asked */
	else if (is_own(space, access))
		describe_own(process, space, access, frame, &use);
	else
		describe_other(process, space, access, frame, &use);
	if (frame->tid == access->tid)
		use.own = true;
	if (access->access & TL_WRITE && access->stack)
		use.copied = copied_what(stack, access);
	process->copies |= use.copied == COPIED_STACK;
	rules_judge_use(&use, verdict);
}
