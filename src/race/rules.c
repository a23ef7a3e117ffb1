/* SPDX-License-Identifier: Apache-2.0 */
#include "race/rules.h"

#include "race/library.h"

#include <stddef.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- */
/* Code that is synchronisation, or is kept in order by it */

static bool in_library(const struct rule_side *side)
{
	return side->code.module && library_is(side->code.module) &&
	       !(side->access->access & TL_KERNEL);
}

/* Without a name of the function that makes the access, the one that the program called tells. */
bool rules_is_libc_internal(const struct rule_code *code)
{
	if (!code->module || !library_is(code->module))
		return false;
	return library_is_runtime(code->module) || library_is_internal(code->function) ||
	       (!library_is_string(code->function) && library_is_internal(code->entry));
}

/* What such a function accesses is its caller's all the same, by whose memory it is: an attribute,
 * a thread's id, a result. */
static bool is_handed(const struct rule_side *side, const struct rule_meeting *meeting)
{
	const struct tl_access *access = side->access;
	const char *function = side->code.function, *entry = side->code.entry;

	if (library_is_runtime(side->code.module) ||
	    (meeting->memory && library_is(meeting->memory)))
		return false;
	if (meeting->memory && (library_is_handed(function) || library_is_handed(entry)))
		return true;
	if (library_is_handed_alone(function))
		return true;
	return library_hands_back(function) && access->access == TL_WRITE &&
	       !(access->access & TL_ATOMIC);
}

/* The program's own code, or a function that does to memory just what the program asked for:
 * strcpy(), but not the memcpy() of a stream's buffer. */
static bool is_programs(const struct rule_side *side)
{
	if (!in_library(side))
		return true;
	return library_is_string(side->code.function) &&
	       (!side->code.entry || library_is_string(side->code.entry));
}

/*
 * What free() and realloc() write into a block that they are handed races with whoever uses it
 * then. They write to no other block that is in use: the heads of blocks and what is free is all
 * else. What they read tells nothing, since they may load a word of the block in front and not go
 * by it.
 */
static bool frees_in_use(const struct rule_side *side, const struct rule_side *other,
			 const struct rule_meeting *meeting)
{
	const char *called = side->code.entry ? side->code.entry : side->code.function;

	return in_library(side) && !library_is_runtime(side->code.module) &&
	       side->access->access == TL_WRITE && !meeting->memory && is_programs(other) &&
	       library_gives_back(called);
}

static bool is_internal(const struct rule_side *side, const struct rule_side *other,
			const struct rule_meeting *meeting)
{
	return rules_is_libc_internal(&side->code) && !is_handed(side, meeting) &&
	       !frees_in_use(side, other, meeting);
}

/* A system call's buffer is the caller's, whichever wrapper of libc made the call. */
static bool is_hidden_place(const struct rule_side *side, const struct rule_side *other,
			    const struct rule_meeting *meeting)
{
	return !(side->access->access & TL_KERNEL) && is_internal(side, other, meeting);
}

/* The C library's functions make no atomic access to what they are handed, but for those whose
 * purpose is order. */
static bool orders_nothing(const struct rule_side *side, const struct rule_side *other,
			   const struct rule_meeting *meeting)
{
	return in_library(side) && (side->code.function || side->code.entry) &&
	       !is_internal(side, other, meeting);
}

/* Is it known to access what it was handed, where that may be the library's own just as well? */
static bool works_for_caller(const struct rule_side *side)
{
	if (library_is_string(side->code.function))
		return true;
	return library_works_for_caller(side->code.entry) &&
	       !(library_reads_stream(side->code.entry) && side->access->access == TL_READ);
}

/*
 * Two accesses that the C library makes. To data of its own, in its file, they are its own affair,
 * but for functions of which one thread alone may be in any. Data of the program or of another
 * library was handed to it. The heap holds both: there the functions decide that are known to
 * access what they were handed.
 */
static bool is_library_matter(const struct rule_side *first, const struct rule_side *second,
			      const struct rule_meeting *meeting)
{
	if (is_programs(first) || is_programs(second))
		return false;
	if (meeting->memory && library_is(meeting->memory))
		return !library_is_unsafe(first->code.entry) ||
		       !library_is_unsafe(second->code.entry);
	if (meeting->memory)
		return false;
	return !works_for_caller(first) || !works_for_caller(second);
}

/* ------------------------------------------------------------------------------------------- */
/* How sure */

#define CACHE_LINE 64

static bool crosses_line(const struct tl_access *access)
{
	return access->address % CACHE_LINE + access->length > CACHE_LINE;
}

/* No compiler makes an atomic operation of the language out of such an instruction. */
static const char *not_atomic_by_itself(const struct tl_access *access)
{
	if (access->access & TL_ATOMIC)
		return NULL;
	if (access->access & TL_KERNEL)
		return "a system call copies it: no atomic access";
	if (access->traits & TL_TRAIT_STRING)
		return "a string instruction makes the access: no atomic access";
	if (access->traits & TL_TRAIT_VECTOR)
		return "a vector instruction makes the access: no atomic access";
	if (access->traits & TL_TRAIT_UNALIGNED)
		return crosses_line(access)
			       ? "the access crosses a cache line: no processor makes it in one piece"
			       : "the access is not aligned: no atomic access";
	return NULL;
}

/*
 * GCC 13 and later, Clang, libatomic and libraries with assembly of their own load and store atomic
 * objects of 16 bytes by one aligned vector move. Compilers copy structures so, too: only the
 * source shows that it is no atomic access. A move of any other kind never is one.
 */
static bool may_be_whole_vector(const struct rule_side *side)
{
	return (side->access->traits & TL_TRAIT_WHOLE_VECTOR) &&
	       side->atomicity != TL_ATOMICITY_PLAIN;
}

/*
 * Where its statement has an atomic operation, the access may be that: of 16 bytes by one vector
 * move, or of an object that its type lets stand anywhere.
 */
static const char *not_atomic(const struct rule_side *side)
{
	const struct tl_access *access = side->access;
	const char *reason = not_atomic_by_itself(access);

	if (may_be_whole_vector(side))
		return NULL;
	if (side->atomicity != TL_ATOMICITY_MIXED || (access->access & TL_KERNEL) ||
	    (access->traits & TL_TRAIT_STRING))
		return reason;
	if (access->traits & TL_TRAIT_VECTOR)
		return access->length == 16 && access->address % 16 == 0 ? NULL : reason;
	return access->traits & TL_TRAIT_UNALIGNED ? NULL : reason;
}

static bool in_libc_string_function(const struct rule_side *side)
{
	return in_library(side) && library_is_string(side->code.function);
}

static void add_evidence(struct verdict *verdict, const char *text)
{
	for (unsigned i = 0; i < verdict->evidence_count; i++)
		if (strcmp(verdict->evidence[i], text) == 0)
			return;
	if (verdict->evidence_count < RULES_EVIDENCE)
		verdict->evidence[verdict->evidence_count++] = text;
}

static void raise_to(struct verdict *verdict, enum tl_certainty certainty, const char *evidence)
{
	if (certainty > verdict->certainty)
		verdict->certainty = certainty;
	add_evidence(verdict, evidence);
}

static bool is_atomic(const struct rule_side *side)
{
	return (side->access->access & TL_ATOMIC) || side->atomicity == TL_ATOMICITY_ATOMIC ||
	       (side->code.module && library_is_atomics(side->code.module));
}

/* Does the source show an atomic operation? */
static bool may_be_atomic(const struct rule_side *side)
{
	return is_atomic(side) || side->atomicity == TL_ATOMICITY_MIXED;
}

/*
 * A member of a packed structure may be handed to an atomic operation: no language allows that, and
 * GCC makes the same move of it, which the processor makes in one piece within a cache line. Both
 * sides access the very object then.
 */
static bool may_be_packed(const struct rule_side *side, const struct rule_side *other)
{
	const struct tl_access *access = side->access;
	const unsigned others = TL_TRAIT_STRING | TL_TRAIT_VECTOR | TL_TRAIT_UPDATE;

	return (access->traits & TL_TRAIT_UNALIGNED) && !(access->traits & others) &&
	       !(access->access & TL_KERNEL) && !in_library(side) &&
	       side->atomicity == TL_ATOMICITY_UNKNOWN && !crosses_line(access) &&
	       access->address == other->access->address && access->length == other->access->length;
}

static void weigh_side(const struct rule_side *side, const struct rule_side *other,
		       const struct rule_meeting *meeting, struct verdict *verdict)
{
	const char *reason = not_atomic(side);

	/* What has LOCK is atomic, whatever statement its line is that of. */
	if (is_atomic(side))
		return;
	if (reason && may_be_packed(side, other))
		raise_to(verdict, may_be_atomic(other) ? TL_POSSIBLE : TL_LIKELY,
			 "the access is not aligned, as those to atomic objects are");
	else if (reason)
		raise_to(verdict, TL_DEFINITE, reason);
	else if (in_libc_string_function(side))
		raise_to(verdict, TL_DEFINITE,
			 "a memory or string function of the C library makes the access");
	else if (frees_in_use(side, other, meeting))
		raise_to(verdict, TL_DEFINITE, "free() or realloc() writes into memory in use");
	else if (orders_nothing(side, other, meeting))
		raise_to(verdict, TL_DEFINITE,
			 "a function of the C library makes the access that orders nothing");
	else if (may_be_whole_vector(side))
		add_evidence(verdict, "an aligned move of 16 bytes, which may be an atomic access");
	if (side->atomicity == TL_ATOMICITY_PLAIN)
		raise_to(verdict, TL_LIKELY,
			 side->reason ? side->reason
				      : "debug information says that it is a plain access");
}

static bool is_plain(const struct rule_side *side)
{
	return !is_atomic(side) &&
	       (side->atomicity == TL_ATOMICITY_PLAIN || side->atomicity == TL_ATOMICITY_VOLATILE);
}

/* Whatever it is taken for: the language knows no atomic operation in it. */
static bool is_ordinary(const struct rule_side *side)
{
	return is_plain(side) || side->atomicity == TL_ATOMICITY_ORDERED;
}

/*
 * A relaxed load and a relaxed store in a row lose an update as a plain one does, and are no race.
 * A value that was lost proves one where the source shows ordinary accesses, of a volatile say.
 * Without the source it does in code that nobody optimised: there each plain `x++` is a load and a
 * store, and most atomic ones are calls of functions. Optimised, most plain ones are one
 * instruction.
 */
static bool loss_tells(const struct rule_side *first, const struct rule_side *second)
{
	const unsigned traits = first->access->traits | second->access->traits;

	return !may_be_atomic(first) && !may_be_atomic(second) &&
	       (is_ordinary(first) || is_ordinary(second) || (traits & TL_TRAIT_UNOPTIMISED));
}

/* One plain side is a race whatever the other is; a volatile one only if the other is not meant to
 * be atomic: a lock's own code may have fences on one side alone. */
static void weigh_volatile(const struct rule_side *first, const struct rule_side *second,
			   struct verdict *verdict)
{
	if (!is_plain(first) || !is_plain(second))
		return;
	if (first->atomicity == TL_ATOMICITY_VOLATILE && first->reason)
		raise_to(verdict, TL_LIKELY, first->reason);
	if (second->atomicity == TL_ATOMICITY_VOLATILE && second->reason)
		raise_to(verdict, TL_LIKELY, second->reason);
}

/*
 * An update without LOCK loses another thread's write. Clang and rustc make one of a relaxed load
 * and a relaxed store in a row (and of volatile ones), so there it says nothing by itself.
 */
static bool update_tells(const struct rule_side *side)
{
	/* What a compiler makes of atomics says nothing of assembly and macros of the program's. */
	return side->atomicity == TL_ATOMICITY_PLAIN ||
	       (side->updates_tell && side->atomicity != TL_ATOMICITY_MIXED);
}

/*
 * May the other's LOCK take what an inline assembly gives back by the update without? Of more or
 * fewer bytes it takes a lock of a union's halves: compilers do not access one object so. Of the
 * same bytes an attempt leaves what is held as it is, so that the update loses nothing.
 */
static bool gives_back(const struct rule_side *side, const struct rule_side *other)
{
	return (other->access->access & TL_ATOMIC) && side->atomicity != TL_ATOMICITY_PLAIN &&
	       (other->access->length != side->access->length ||
		(other->access->traits & TL_TRAIT_ATTEMPT));
}

static void weigh_update(const struct rule_side *side, const struct rule_side *other,
			 struct verdict *verdict)
{
	if (!(side->access->traits & TL_TRAIT_UPDATE) || side->atomicity == TL_ATOMICITY_ATOMIC ||
	    !update_tells(side) || gives_back(side, other))
		return;
	if (other->access->access & TL_WRITE)
		raise_to(verdict, TL_DEFINITE,
			 "a read-modify-write without LOCK loses the other thread's write");
}

static bool writes(const struct rule_side *side)
{
	return side->access->access & TL_WRITE;
}

static bool is_scalar(const struct rule_side *side)
{
	return !(side->access->access & TL_KERNEL) &&
	       (side->access->traits & (TL_TRAIT_PLAIN | TL_TRAIT_UPDATE));
}

/*
 * A lock of a union's parts is accessed by parts and as a whole, atomically, and no source tells.
 * Who has it stores without LOCK: a part, while others look at the whole, as a ticket lock or a
 * queued spin lock is given back; or the whole, while others wait for a part, as folly's
 * RWTicketSpinLock is. Nobody else stores then.
 */
static bool may_be_unions(const struct rule_side *first, const struct rule_side *second)
{
	return !is_plain(first) && !is_plain(second) && !(writes(first) && writes(second));
}

/*
 * Compilers read or write a part of an object where that is enough; of an atomic or a volatile one
 * they never do. Only locks by hand, of unions, have such pairs, and inline assembly for them.
 */
static void weigh_sizes(const struct rule_side *first, const struct rule_side *second,
			struct verdict *verdict)
{
	if (is_atomic(first) || is_atomic(second) || !is_scalar(first) || !is_scalar(second) ||
	    first->access->length == second->access->length ||
	    (may_be_atomic(first) && may_be_atomic(second)))
		return;
	if (!may_be_unions(first, second))
		raise_to(verdict, TL_LIKELY,
			 "the accesses are of different sizes: an atomic object is accessed as a "
			 "whole");
	else if (verdict->certainty == TL_POSSIBLE)
		add_evidence(verdict,
			     "the accesses are of different sizes, as those to a lock's parts are");
}

/*
 * The earlier of the two was made; its thread is held before it does anything more. That orders
 * nothing, unless the access itself is what a lock, a flag or a count of references is released
 * by: whoever reads it then is free to clear, free or reuse the memory, by any means. Plain and
 * not able to be atomic, it releases nothing; neither does a thread that still stands before it.
 * An update without LOCK may be an inline assembly's that gives a lock back, `incw` of the number
 * that is served, where nothing shows its source. A system call that sends what it reads gives the
 * buffer back by the message itself: who receives that may write there before the call returns.
 */
static bool may_release(const struct rule_side *side, const struct rule_side *other,
			const struct rule_meeting *meeting)
{
	if (side->access->traits & TL_TRAIT_SENT)
		return true;
	if (!(side->access->access & TL_WRITE) || side->access->before)
		return false;
	if (is_atomic(side))
		return true;
	return side->atomicity != TL_ATOMICITY_PLAIN && !not_atomic(side) &&
	       !orders_nothing(side, other, meeting);
}

/* What one side shows of itself, once it is known that neither was released by the other. */
static void weigh(const struct rule_side *first, const struct rule_side *second,
		  const struct rule_meeting *meeting, struct verdict *verdict)
{
	weigh_side(first, second, meeting, verdict);
	weigh_side(second, first, meeting, verdict);
	weigh_volatile(first, second, verdict);
	weigh_update(first, second, verdict);
	weigh_update(second, first, verdict);
	weigh_sizes(first, second, verdict);
}

/* Only by a mask is a store one of what it may not write. */
static bool is_of_some(const struct rule_side *side)
{
	return (side->access->traits & TL_TRAIT_DISCARDED) && writes(side);
}

static bool is_part_of_vector(const struct rule_side *side)
{
	return (side->access->traits & TL_TRAIT_DISCARDED) &&
	       (side->access->traits & TL_TRAIT_VECTOR);
}

static const char *reason_of_discarded(const struct rule_side *first,
				       const struct rule_side *second)
{
	if (is_of_some(first) || is_of_some(second))
		return "which elements of a vector are stored says a mask that is not known";
	if (is_part_of_vector(first) || is_part_of_vector(second))
		return "what the other wrote is not seen to be used of the vector that is loaded: "
		       "a mask may leave it out, and compilers load what the program does not";
	return "what the other wrote is loaded and not seen to be used, as compilers load what the "
	       "program does not";
}

static const char *hiding_rule(const struct rule_side *first, const struct rule_side *second,
			       const struct rule_meeting *meeting, bool released)
{
	if ((first->access->access | second->access->access) & TL_GUESSED)
		return "hidden-guessed";
	if (is_hidden_place(first, second, meeting) || is_hidden_place(second, first, meeting) ||
	    is_library_matter(first, second, meeting))
		return "hidden-libc";
	if (is_atomic(first) && is_atomic(second))
		return "hidden-atomic";
	/* `if (c) v = x;` without a branch: the compiler's load, which the program does not make.
	 */
	if ((first->access->traits | second->access->traits) & TL_TRAIT_NOT_TAKEN)
		return "hidden-not-taken";
	/* A stack slot in use by its owner's call is no variable another thread names. */
	if ((first->access->traits | second->access->traits) & TL_TRAIT_STACK)
		return "hidden-call-stack";
	if (released && (is_atomic(first) || is_atomic(second)))
		return "hidden-released";
	return NULL;
}

void rules_judge(const struct rule_side *first, const struct rule_side *second,
		 const struct rule_meeting *meeting, struct verdict *verdict)
{
	bool released = (meeting->first_seen && may_release(first, second, meeting)) ||
			(meeting->second_seen && may_release(second, first, meeting));

	memset(verdict, 0, sizeof(*verdict));
	verdict->certainty = TL_POSSIBLE;
	verdict->rule = hiding_rule(first, second, meeting, released);
	verdict->hidden = verdict->rule != NULL;
	if (verdict->hidden)
		return;
	verdict->released = released;
	if ((first->access->traits | second->access->traits) & TL_TRAIT_UNBOUNDED) {
		add_evidence(verdict, "a string function of the C library may have loaded this "
				      "behind the end of what it reads");
		return;
	}
	/* A neighbour of a bit-field, what `c ? x : y` does not take, or members that a loop of
	 * vectors passes over: the machine accesses it, the program does not. Where the source
	 * itself takes the value and drops it, the race is one all the same. */
	if ((first->access->traits | second->access->traits) & TL_TRAIT_DISCARDED) {
		add_evidence(verdict, reason_of_discarded(first, second));
		return;
	}
	/* The compiler's store, which changes nothing: no access of the program's, as long as the
	 * object is of that class. */
	if ((first->access->traits | second->access->traits) & TL_TRAIT_CLASS_KEPT) {
		add_evidence(verdict, "a destructor stores the pointer to its class's virtual "
				      "functions, which stands there already");
		return;
	}
	if (released)
		add_evidence(
			verdict,
			(first->access->traits | second->access->traits) & TL_TRAIT_SENT
				? "a system call sends it: the message could let the other go on"
				: "the store could be an atomic one that lets the other go on");
	else
		weigh(first, second, meeting, verdict);
	verdict->lost = meeting->changed;
	if (meeting->changed && loss_tells(first, second))
		raise_to(verdict, TL_LIKELY,
			 "the value changed between a thread's read and its write");
}

/* ------------------------------------------------------------------------------------------- */
/* Which of those that are possible come first */

/* The numbers stand in files: a new rank takes one between two others. */
enum {
	RANK_LOST = 5,
	RANK_UPDATE = 10,
	RANK_STORES = 20,
	RANK_UPDATE_READ = 30,
	RANK_STORE_READ = 40,
	RANK_RELEASED = 50,
	RANK_SAME_STORES = 60,
	RANK_ATOMIC_STORE = 70,
	RANK_ATOMIC_READ = 80,
	RANK_BEHIND = 85,
	RANK_RETRY = 90
};

static void rank(struct verdict *verdict, unsigned number, const char *reason)
{
	verdict->rank = number;
	if (reason)
		add_evidence(verdict, reason);
}

static bool is_unlocked_update(const struct rule_side *side)
{
	return !is_atomic(side) &&
	       ((side->access->traits & TL_TRAIT_UPDATE) || (side->around & TL_AROUND_UPDATE));
}

/* Both stores are made by then, and what each had written was read in its handler. */
static bool wrote_the_same(const struct rule_side *first, const struct rule_side *second)
{
	const struct tl_access *a = first->access, *b = second->access;

	return a->value_known && b->value_known && !a->before && !b->before &&
	       a->address == b->address && a->length == b->length && a->value == b->value;
}

/* One side is atomic: the other is not, or the pair were hidden. */
static void rank_beside_atomic(const struct rule_side *plain, struct verdict *verdict)
{
	if (writes(plain))
		rank(verdict, RANK_ATOMIC_STORE,
		     "an atomic operation meets a store: plain, or relaxed as the end of a lock is");
	else
		rank(verdict, RANK_ATOMIC_READ,
		     "an atomic operation meets a load of the same object: plain, or relaxed");
}

static void rank_plain(const struct rule_side *first, const struct rule_side *second,
		       struct verdict *verdict)
{
	if (writes(first) && writes(second) && wrote_the_same(first, second))
		rank(verdict, RANK_SAME_STORES, "two stores of the same value");
	else if (writes(first) && writes(second))
		rank(verdict, RANK_STORES,
		     first->access->value_known && second->access->value_known
			     ? "two stores of different values, neither with LOCK"
			     : "two stores, neither with LOCK");
	else if (is_unlocked_update(first) || is_unlocked_update(second))
		rank(verdict, RANK_UPDATE_READ, "an update without LOCK meets a load");
	else
		rank(verdict, RANK_STORE_READ, "a store meets a load, neither with LOCK");
}

void rules_rank(const struct rule_side *first, const struct rule_side *second,
		struct verdict *verdict)
{
	if (verdict->hidden || verdict->certainty != TL_POSSIBLE)
		return;
	if ((first->around | second->around) & TL_AROUND_RETRY)
		rank(verdict, RANK_RETRY,
		     "a load proposes the value that a LOCK CMPXCHG then compares");
	else if ((first->access->traits | second->access->traits) &
		 (TL_TRAIT_UNBOUNDED | TL_TRAIT_DISCARDED | TL_TRAIT_CLASS_KEPT))
		rank(verdict, RANK_BEHIND, NULL); /* its reason is there */
	else if (verdict->lost)
		rank(verdict, RANK_LOST,
		     "the value changed between a thread's read and its write: an update was lost, of "
		     "plain accesses or of relaxed ones in a row");
	else if (verdict->released)
		rank(verdict, RANK_RELEASED, NULL); /* as here */
	else if ((is_unlocked_update(first) && writes(second)) ||
		 (is_unlocked_update(second) && writes(first)))
		rank(verdict, RANK_UPDATE,
		     "an update without LOCK can lose the other thread's write");
	else if (is_atomic(first) || is_atomic(second))
		rank_beside_atomic(is_atomic(first) ? second : first, verdict);
	else
		rank_plain(first, second, verdict);
}
