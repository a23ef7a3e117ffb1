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

/* Where the function that makes the access has no name, the function that the program called
 * decides. */
bool rules_is_libc_internal(const struct rule_code *code)
{
	if (!code->module || !library_is(code->module))
		return false;
	return library_is_runtime(code->module) || library_is_internal(code->function) ||
	       (!library_is_string(code->function) && library_is_internal(code->entry));
}

/* What such a function accesses is nevertheless its caller's, judged by whose memory it is: an
 * attribute, a thread's id, a result. */
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

/* What free() and realloc() write into a block that they are handed races with whoever uses it
 * then. They write to no other block in use: apart from that they write the headers of blocks
 * and free memory. Their reads say nothing, since they may load a word of the block in front
 * without acting on it. */
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

/* A system call's buffer belongs to the caller, whichever wrapper of libc made the call. */
static bool is_hidden_place(const struct rule_side *side, const struct rule_side *other,
			    const struct rule_meeting *meeting)
{
	return !(side->access->access & TL_KERNEL) && is_internal(side, other, meeting);
}

/* The C library's functions make no atomic access to what they are handed, except those whose
 * purpose is order. */
static bool orders_nothing(const struct rule_side *side, const struct rule_side *other,
			   const struct rule_meeting *meeting)
{
	return in_library(side) && (side->code.function || side->code.entry) &&
	       !is_internal(side, other, meeting);
}

/* Is the function known to access what it was handed, in memory that could just as well be the
 * library's own? */
static bool works_for_caller(const struct rule_side *side)
{
	if (library_is_string(side->code.function))
		return true;
	return library_works_for_caller(side->code.entry) &&
	       !(library_reads_stream(side->code.entry) && side->access->access == TL_READ);
}

/* Both accesses are made by the C library. To data of its own, in its file, they are its own
 * matter, except for functions that only one thread at a time may be in. Data of the program or
 * of another library was handed to it. The heap holds both kinds: there the functions that are
 * known to access what they were handed decide. */
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

/* No compiler implements an atomic operation of the language by such an instruction. */
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

/* GCC 13 and later, Clang, libatomic and libraries with assembly of their own load and store
 * atomic objects of 16 bytes by one aligned vector move. Compilers copy structures in the same
 * way, so only the source shows that it is no atomic access. Any other kind of move is never an
 * atomic one. */
static bool may_be_whole_vector(const struct rule_side *side)
{
	return (side->access->traits & TL_TRAIT_WHOLE_VECTOR) &&
	       side->atomicity != TL_ATOMICITY_PLAIN;
}

/* Where the access's statement has an atomic operation, the access may be that one: of 16 bytes
 * by one vector move, or of an object whose type allows any alignment. */
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

/* A member of a packed structure may be handed to an atomic operation: no language allows that,
 * and GCC emits the same move for it, which the processor makes in one piece within a cache
 * line. Both sides then access the very same object. */
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

	/* An instruction with LOCK is atomic, whatever statement its line holds. */
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

/* Whatever the instruction may be taken for: the source line is known to hold no atomic
 * operation. */
static bool is_ordinary(const struct rule_side *side)
{
	return is_plain(side) || side->atomicity == TL_ATOMICITY_ORDERED;
}

/* A relaxed load followed by a relaxed store loses an update as a plain one does, and is no
 * race. A lost value proves a race where the source shows ordinary accesses, such as volatile
 * ones. Without the source it proves one only in unoptimised code: there each plain `x++` is a
 * load and a store, and most atomic operations are calls of functions. In optimised code most
 * plain ones are one instruction. */
static bool loss_tells(const struct rule_side *first, const struct rule_side *second)
{
	const unsigned traits = first->access->traits | second->access->traits;

	return !may_be_atomic(first) && !may_be_atomic(second) &&
	       (is_ordinary(first) || is_ordinary(second) || (traits & TL_TRAIT_UNOPTIMISED));
}

/* One plain side makes it a race whatever the other side is. A volatile side does so only if the
 * other is not meant to be atomic: the code of a lock may have fences on one side alone. */
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

/* An update without LOCK loses another thread's write. Clang and rustc emit one for a relaxed
 * load followed by a relaxed store (and for volatile ones), so in their code it says nothing by
 * itself. */
static bool update_tells(const struct rule_side *side)
{
	/* What a compiler does with atomics says nothing of the program's own assembly and
	 * macros. */
	return side->atomicity == TL_ATOMICITY_PLAIN ||
	       (side->updates_tell && side->atomicity != TL_ATOMICITY_MIXED);
}

/* May the other side's LOCK take a lock that an inline assembly releases by the update without
 * LOCK? If it accesses more or fewer bytes it takes a lock made of a union's halves: compilers
 * do not access one object in this way. If it accesses the same bytes, an attempt leaves a held
 * lock as it is, so that the update loses nothing. */
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

/* A lock in a union is accessed by parts and as a whole, atomically, and no source shows it. Its
 * holder stores without LOCK: to a part, while others look at the whole, as when a ticket lock
 * or a queued spin lock is released; or to the whole, while others wait for a part, as in
 * folly's RWTicketSpinLock. Nobody else stores then. */
static bool may_be_unions(const struct rule_side *first, const struct rule_side *second)
{
	return !is_plain(first) && !is_plain(second) && !(writes(first) && writes(second));
}

/* Compilers read or write a part of an object where that is enough, but never of an atomic or a
 * volatile one. Only hand-written locks in unions, and inline assembly for them, have such
 * pairs. */
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

/* The earlier of the two accesses was made; its thread is held before it does anything more.
 * That orders nothing, unless the access itself releases a lock, a flag or a reference count:
 * whoever reads it then is free to clear, free or reuse the memory, by any means. An access that
 * is plain and cannot be atomic releases nothing; neither does a thread that still stands before
 * it. An update without LOCK may be an inline assembly that releases a lock, `incw` of the
 * number that is served, where no source is there to show it. A system call that sends what it
 * reads gives the buffer back by the message itself: whoever receives that may write there
 * before the call returns. */
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

/* Applies what one side shows by itself, once it is known that neither access released the
 * other's thread. */
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

/* A store that is marked as discarded is one by a mask, which may write some elements only. */
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
		return "a mask that is not known says which elements of a vector are stored";
	if (is_part_of_vector(first) || is_part_of_vector(second))
		return "the part that the other wrote of the vector that is loaded is not seen to be "
		       "used: "
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
	/* A stack slot in use by a call of its owner is no variable that another thread can
	 * name. */
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
	/* A neighbour of a bit-field, the operand that `c ? x : y` does not take, or members
	 * that a vectorised loop passes over: the machine accesses it, the program does not.
	 * Where the source itself takes the value and drops it, it is a race all the same. */
	if ((first->access->traits | second->access->traits) & TL_TRAIT_DISCARDED) {
		add_evidence(verdict, reason_of_discarded(first, second));
		return;
	}
	/* A store that the compiler added and that changes nothing: it is no access of the
	 * program's, as long as its object is of that class. */
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
/* Which of the possible races come first */

/* Findings in files hold these numbers: a new rank takes a number between two others. */
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

/* Both stores have been made by then, and each thread's handler read what its store had written. */
static bool wrote_the_same(const struct rule_side *first, const struct rule_side *second)
{
	const struct tl_access *a = first->access, *b = second->access;

	return a->value_known && b->value_known && !a->before && !b->before &&
	       a->address == b->address && a->length == b->length && a->value == b->value;
}

/* One side is atomic; the other is not, since the pair would be hidden otherwise. */
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
		rank(verdict, RANK_BEHIND, NULL); /* the rule that decided has added its reason */
	else if (verdict->lost)
		rank(verdict, RANK_LOST,
		     "the value changed between a thread's read and its write: an update was lost, of "
		     "plain accesses or of relaxed ones in a row");
	else if (verdict->released)
		rank(verdict, RANK_RELEASED, NULL); /* likewise */
	else if ((is_unlocked_update(first) && writes(second)) ||
		 (is_unlocked_update(second) && writes(first)))
		rank(verdict, RANK_UPDATE,
		     "an update without LOCK can lose the other thread's write");
	else if (is_atomic(first) || is_atomic(second))
		rank_beside_atomic(is_atomic(first) ? second : first, verdict);
	else
		rank_plain(first, second, verdict);
}
