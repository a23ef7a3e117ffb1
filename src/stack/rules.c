/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/rules.h"

#include <stddef.h>
#include <string.h>

/* Of the outermost frame from where the stack begins. The kernel's start of the program pushes
 * three words and aligns; behind a thread's first frame lie its static thread-local variables. */
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
 * A frame's end lies above that of the frame it called. Where it does not, the thread went to
 * another stack: an alternate one for signals, a coroutine's. Such a stack may lie in a frame of
 * the thread's own, so that what is below the stack pointer is in use; only frames that lead to
 * the very beginning tell. It may also lie below the thread's own, in a heap or in static memory:
 * so the beginning must lie in the mapping that the stack pointer is in.
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
	/* A runtime with stacks of its own (Go's) has FS point into its heap, where the stack of
	 * any coroutine may lie just below. */
	if (!base->has_data)
		return false;
	/* A stack that the program chose, or one without a guard beside another, is one mapping
	 * with what lies below: other threads' stacks, a heap. Accepted: guards that no mapping
	 * shows (MADV_GUARD_INSTALL) count as none, so that what is found there is fewer; and a
	 * stack from malloc() in an arena that lies above unused memory counts as guarded. */
	return base->guarded && end <= base->fs_base && base->fs_base - end <= THREAD_DISTANCE;
}

/* ------------------------------------------------------------------------------------------- */
/* Use after return */

/* What a frame's own code does when memory of a frame that is gone is used anew. */
static const char *hiding_use(const struct rules_use *use)
{
	if (use->guessed)
		return "hidden-guessed";
	if (use->implicit)
		return "hidden-call-stack";
	/* Locals of a new frame, and the saving of registers below the stack pointer that some
	 * prologues begin with. */
	if (use->frame_based)
		return "hidden-own-frame";
	/* Stacks are handed on, by the C library or by the program: the memory is a live frame's of
	 * the thread that has it now. */
	if (use->inherited)
		return "hidden-new-owner";
	/* Another thread starts or ends on a stack that the C library hands on. */
	if (use->library)
		return "hidden-library";
	/* Routines that take turns on one stack keep where their frames go back to. */
	if (use->copied == COPIED_STACK)
		return "hidden-copied-stack";
	if (use->copied == COPIED_UNKNOWN)
		return "hidden-copied-late";
	return NULL;
}

/* Below the stack pointer of the owner, by more than a leaf function may use there. */
static bool is_below(const struct rules_use *use)
{
	return use->verified && use->pointer_known && rules_is_below(use->address, use->pointer);
}

/* Less than that below it: compilers keep nothing there in functions that call others, and what a
 * leaf function keeps there it reaches through the stack pointer unless it takes its address. */
static bool is_just_below(const struct rules_use *use)
{
	return use->own && use->verified && use->pointer_known && use->keeps_nothing &&
	       use->address < use->pointer && !is_below(use);
}

/* The function got the pointer as an argument, and it pointed below the stack pointer then: nothing
 * of a frame that was there at its entry, nor of its own, which came later. */
static bool is_argument(const struct rules_use *use)
{
	return use->own && use->verified && use->entry_known && use->argument_known &&
	       use->argument < use->entry && use->address < use->entry;
}

static void weigh_use(const struct rules_use *use, struct rules_verdict *verdict)
{
	/* Where the thread has not gone the way that was foretold, as where it looks for a name in
	 * a table that has such a pointer for another one, the pointer may be one to a local. */
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
	/* A pointer to a local of a new frame looks the same. */
	if (!verdict->certainty)
		hide(verdict, use->pointer_known ? "hidden-live-frame" : "hidden-owner-runs");
}

/* ------------------------------------------------------------------------------------------- */
/* Overwritten slots of a live frame */

static const char *hiding_overwrite(const struct rules_overwrite *overwrite)
{
	if (overwrite->guessed)
		return "hidden-guessed";
	/* The frame is gone, and its memory another's. */
	if (overwrite->implicit)
		return "hidden-call-stack";
	if (overwrite->prologue)
		return "hidden-prologue";
	if (!overwrite->live)
		return "hidden-frame-gone";
	/* Exceptions and longjmp() leave frames by writing where the thread goes on. */
	if (overwrite->library)
		return "hidden-library";
	/* Another routine's frames come back to where they were; those that were there are copied
	 * elsewhere. One of the same function may be at the same place. */
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
