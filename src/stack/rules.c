/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/rules.h"

#include <stddef.h>
#include <string.h>

/* How far the outermost frame may lie from where the stack begins, in bytes. The program's start
 * pushes three words below what the kernel has set up, and aligns; between a thread's first frame
 * and its data lie its static thread-local variables. */
#define MAIN_DISTANCE 256
#define THREAD_DISTANCE RULES_THREAD_DATA

static void add_evidence(struct rules_verdict *verdict, const char *text)
{
	if (verdict->evidence_count < RULES_EVIDENCE)
		verdict->evidence[verdict->evidence_count++] = text;
}

static void raise_to(struct rules_verdict *verdict, enum tl_certainty certainty, const char *text)
{
	if (certainty > verdict->certainty)
		verdict->certainty = certainty;
	add_evidence(verdict, text);
}

static void hide(struct rules_verdict *verdict, const char *rule)
{
	verdict->hidden = true;
	verdict->rule = rule;
}

bool rules_is_below(uint64_t address, uint64_t pointer)
{
	return address < pointer - RULES_RED_ZONE;
}

static bool begins_in(uint64_t beginning, const struct rules_base *base)
{
	return beginning >= base->mapping_start && beginning < base->mapping_end;
}

/*
 * Each frame must end above the frame that it has called; where one does not, the thread has
 * changed stacks on the way (an alternate signal stack, a coroutine). Such a stack may lie in a
 * frame of the thread's own stack, so that memory below the stack pointer is in use: so the frames
 * must lead all the way to the beginning. It may also lie below the thread's own stack, in a heap
 * or in static memory: so the beginning must be in the mapping that the stack pointer is in.
 */
bool rules_is_whole(const struct tl_frame_place *frames, int count, uint64_t pointer,
		    const struct rules_base *base)
{
	uint64_t end = pointer;

	for (int i = 0; i < count; i++) {
		if (!frames[i].cfa || frames[i].cfa < end)
			return false;
		end = frames[i].cfa;
	}
	if (count <= 0 || !begins_in(base->main ? base->start : base->fs_base, base))
		return false;
	if (base->main)
		return base->start && end + MAIN_DISTANCE >= base->start &&
		       end <= base->start + MAIN_DISTANCE;
	/* In a runtime with stacks of its own (Go's) fs points into its heap, and a coroutine's
	 * stack may lie just below that. */
	if (!base->has_data)
		return false;
	/* Without a guard the stack is one mapping with what lies below it: other threads' stacks,
	 * or a heap. Accepted: guards that no mapping shows (MADV_GUARD_INSTALL) count as none,
	 * which loses findings; a stack from malloc(), in an arena above unused memory, counts as
	 * guarded. */
	return base->guarded && end <= base->fs_base && base->fs_base - end <= THREAD_DISTANCE;
}

/* ------------------------------------------------------------------------------------------- */
/* Use after return */

/* The rule that hides the access, if it is what code does as it uses a gone frame's memory for a
 * new one; else NULL. */
static const char *hiding_use(const struct rules_use *use)
{
	if (use->guessed)
		return "hidden-guessed";
	if (use->implicit)
		return "hidden-call-stack";
	/* Locals of a new frame; also registers that some prologues save below the stack pointer
	 * before they move it. */
	if (use->frame_based)
		return "hidden-own-frame";
	/* The C library or the program has given the stack to another thread: the memory is a live
	 * frame's of that one. */
	if (use->inherited)
		return "hidden-new-owner";
	/* Another thread begins or ends on a stack that the C library has given to it. */
	if (use->library)
		return "hidden-library";
	/* Routines that take turns on one stack copy their frames back (copied.h). */
	if (use->copied == COPIED_STACK)
		return "hidden-copied-stack";
	if (use->copied == COPIED_UNKNOWN)
		return "hidden-copied-late";
	return NULL;
}

/* Is the address below the owner's stack pointer by more than the red zone, which a leaf function
 * may use? */
static bool is_below(const struct rules_use *use)
{
	return use->verified && use->pointer_known && rules_is_below(use->address, use->pointer);
}

/* Is it in the red zone, in a function that keeps nothing there which a pointer leads to? Compilers
 * keep nothing there in functions that call others, and a leaf function reaches what it keeps there
 * through the stack pointer unless it takes its address. */
static bool is_just_below(const struct rules_use *use)
{
	return use->own && use->verified && use->pointer_known && use->keeps_nothing &&
	       use->address < use->pointer && !is_below(use);
}

/* Did the function get the pointer as an argument that pointed below the stack pointer at its
 * entry? Then it leads to no frame that was live at its entry, nor to its own frame, which came
 * later. */
static bool is_argument(const struct rules_use *use)
{
	return use->own && use->verified && use->entry_known && use->argument_known &&
	       use->argument < use->entry && use->address < use->entry;
}

static void weigh_use(const struct rules_use *use, struct rules_verdict *verdict)
{
	/* A thread that has not gone the foretold way may use another pointer, one to a local: so
	 * it is where it looks for a name in a table, and such a pointer stands there for another
	 * name. */
	const bool kept = use->kept && !use->doubtful, result = use->result && !use->doubtful;

	if (use->ended && (kept || use->seen_returning))
		raise_to(verdict, TL_DEFINITE, "the thread whose stack it was has ended");
	if (is_below(use))
		raise_to(verdict, TL_DEFINITE,
			 use->own ? "the address is below the thread's stack pointer"
				  : "the address is below the stack pointer of the thread whose "
				    "stack it is, which sleeps");
	if (is_just_below(use))
		raise_to(verdict, TL_DEFINITE,
			 "the address is below the thread's stack pointer, and the function keeps "
			 "nothing there that a pointer leads to");
	if (is_argument(use))
		raise_to(verdict, TL_DEFINITE,
			 "the function was given the pointer, which was below its stack pointer "
			 "then");
	if (kept)
		raise_to(verdict, use->own ? TL_DEFINITE : TL_LIKELY,
			 "the pointer was loaded from where it has stood since the frame returned");
	if (result && use->own)
		raise_to(verdict, TL_DEFINITE,
			 "the pointer is the result of the function whose frame it was");
}

void rules_judge_use(const struct rules_use *use, struct rules_verdict *verdict)
{
	const char *rule = hiding_use(use);

	memset(verdict, 0, sizeof(*verdict));
	if (rule) {
		hide(verdict, rule);
		return;
	}
	weigh_use(use, verdict);
	/* A pointer to a local of a new frame at the same address would look the same. */
	if (!verdict->certainty)
		hide(verdict, use->pointer_known ? "hidden-live-frame" : "hidden-owner-runs");
}

/* ------------------------------------------------------------------------------------------- */
/* Overwritten slots of a live frame */

static const char *hiding_overwrite(const struct rules_overwrite *overwrite)
{
	if (overwrite->guessed)
		return "hidden-guessed";
	/* The frame is gone, and its memory belongs to another one. */
	if (overwrite->implicit)
		return "hidden-call-stack";
	if (overwrite->prologue)
		return "hidden-prologue";
	if (!overwrite->live)
		return "hidden-frame-gone";
	/* Exceptions and longjmp() write to a frame where the thread is to go on. */
	if (overwrite->library)
		return "hidden-library";
	/* Another routine's frames are copied back, after those that were there were copied away
	 * (copied.h). A frame of the same function may then stand at the same place, so the frame
	 * seems live. */
	if (overwrite->copied == COPIED_STACK)
		return "hidden-copied-stack";
	if (overwrite->copied == COPIED_UNKNOWN)
		return "hidden-copied-late";
	return NULL;
}

void rules_judge_overwrite(const struct rules_overwrite *overwrite, struct rules_verdict *verdict)
{
	const char *rule = hiding_overwrite(overwrite);

	memset(verdict, 0, sizeof(*verdict));
	if (rule) {
		hide(verdict, rule);
		return;
	}
	raise_to(verdict, TL_DEFINITE,
		 "the frame was live, and only its function's entry writes there");
	if (overwrite->same_value)
		add_evidence(verdict, "the value written is the one that was there");
}
