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
 * A function that calls others uses nothing below its stack pointer. One that calls none reaches
 * what it keeps there through rsp or rbp, whatever the index, or through an address in its frame
 * that it has formed, maybe in a part that lies elsewhere. `operand`: of the access.
 */
static bool keeps_nothing(const struct code *code, bool divided, const struct insn_operand *operand)
{
	if (code->calls)
		return true;
	return !divided && !code->takes_address && !code->forms_address &&
	       !(code->frame_pointer && (operand->base == FP || operand->index == FP));
}

/* What the code around the access says: its own frame's memory, or an argument's. */
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

	/* One that calls others keeps nothing there, whatever its entries are. */
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

/* Does the function take addresses in its frame, or of what it was handed on the stack? True where
 * its code does not tell. */
static bool takes_addresses(struct process *process, struct space *space,
			    const struct tl_frame_place *frame, bool is_caller)
{
	const struct code *code =
		functions_around(process->functions, space, frame->pc - is_caller);
	struct insn_entries entries;

	return !code || code->takes_address || code->forms_address ||
	       functions_entries(process->functions, space, code, &entries) || entries.count;
}

/* May a local of a frame of the accessing thread be at the address? What a frame hands to the one
 * that it called lies in it, too. */
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
	/* Unwinding is dear: only where it can decide. */
	if (use->address < use->pointer ||
	    (use->argument_known && use->entry_known && use->argument < use->entry &&
	     use->address < use->entry))
		use->verified = judge_verified(process, space, access);
}

/* Between the accessing thread's stack pointer, less the red zone, and where its stack begins:
 * glibc keeps a thread's data at the top of its stack. */
static bool is_on_stack(const struct process *process, const struct tl_access *access)
{
	uint64_t pointer = access->registers->general[SP], base = access->registers->fs_base;

	if (access->tid == access->pid)
		base = process->main_start;
	return access->address >= pointer - RULES_RED_ZONE && access->address < base;
}

/* The stack of a thread that has ended is unmapped when the C library has enough of them, and other
 * memory comes there: without a guard, or with one elsewhere. */
static bool is_still_stack(struct space *space, const struct tl_access *access,
			   const struct judge_frame *frame)
{
	uint64_t start, end;

	space_renew(space);
	return space_mapping(space, access->address, &start, &end) && start == frame->stack_start &&
	       space_guarded(space, access->address);
}

/*
 * The C library hands the stack of a thread that has ended on to a younger one, whose frame may be
 * at the same address. Its owner in a correct program keeps that frame until the accessing thread
 * has told it of the access. So it lives as long as the accessing thread is held, and only until
 * then its absence says that the access went to the frame that is gone.
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
		; /* hidden whatever else is so */
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
