/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/load.h"

#include "base/clock.h"
#include "tool/set.h"
#include "uninit/describe.h"
#include "uninit/unseen.h"

#include <trapline/event.h>

#define CALLERS 8	       /* looked at for whose access it is */
#define STACK_REACH (8u << 20) /* bytes above a stack pointer that are taken for its stack */
#define FRAMES_MOST 32	       /* of a stack, among which the frame is looked for */
#define RED_ZONE 128
#define POP_FIRST 0x58 /* into one of the first eight registers */
#define POP_LAST 0x5f
/* How often values are followed without a finding: for the same bytes of a block at one place, and
 * for all bytes there. */
#define VAIN 4
#define VAIN_MOST 64
#define UPDATES_MOST 256 /* loads at one place that update what they load */

static struct uninit_place *find_place(struct uninit *uninit, uint64_t pc, uint64_t context)
{
	struct uninit_place *place = &uninit->place[uninit_mix(pc ^ context) % UNINIT_PLACES];

	if (place->pc != pc || place->context != context)
		*place = (struct uninit_place){.pc = pc, .context = context};
	return place;
}

/* The entry for these bytes of a block at this place: where a loop or a copy of a structure loads
 * many bytes at one place, each counts by itself. */
static struct uninit_place *find_bytes(struct uninit *uninit, const struct tl_access *access,
				       const struct word *word, uint8_t bytes)
{
	uint64_t offset = word->address - word->origin.address;

	return find_place(uninit, access->pc,
			  uninit_mix(word->origin.context ^ (offset << 8 | bytes)));
}

static bool has_changed(struct uninit *uninit, const struct word *word, uint8_t bytes)
{
	bool known;
	uint64_t value = uninit_read_word(uninit, word->origin.pid, word->address, &known);

	return word->initial_known && known &&
	       ((value ^ word->initial) & word->fresh & words_bits(bytes));
}

static bool is_stack(const struct tl_access *access, uint64_t address)
{
	return address - (access->registers->general[insn_arch.stack_pointer] - STACK_REACH / 64) <
	       STACK_REACH;
}

/* The serial of the live guarded block that `address` lies in; 0: none is known. */
static uint64_t find_block(struct uninit *uninit, pid_t pid, uint64_t address)
{
	struct tl_guarded block = {.size = sizeof(block)};

	return uninit->services->guarded(uninit->host, pid, address, &block) && !block.freed
		       ? block.serial
		       : 0;
}

/*
 * Does the word still hold the copy? An allocator may have given a large block back to the system,
 * unseen, and the memory may have come again with zeroes. The copy is certainly there in three
 * cases: it is not all zeroes and has not changed; the block that it lies in is still the same; or
 * it lies in a variable of the program.
 */
static bool is_there_still(struct uninit *uninit, const struct word *word)
{
	if (word->initial_known && word->initial & word->fresh &&
	    !has_changed(uninit, word, words_bytes(word->fresh)))
		return true;
	if (word->block && find_block(uninit, word->origin.pid, word->address) == word->block)
		return true;
	return uninit->services->module(uninit->host, word->origin.pid, word->address);
}

/* Retires words of other blocks at that address of which the copy is about to overwrite all fresh
 * bytes. */
static void give_way_to_copy(struct uninit *uninit, const struct word *from, uint64_t address,
			     uint8_t bytes)
{
	for (struct word *word = words_next(uninit->words, NULL); word;
	     word = words_next(uninit->words, word))
		if (word != from && !word->copied && word->address == address &&
		    word->origin.pid == from->origin.pid && !(words_bytes(word->fresh) & ~bytes))
			uninit_retire(uninit, word);
}

/*
 * Was every access that the kernel has counted at the word told to us? Hits of threads that block
 * SIGTRAP by a system call of their own are counted and not told. So are, harmlessly, further words
 * that one told instruction trips (`shared`), and the up to eight touches of one told system call;
 * the latter is believed only while no thread blocks SIGTRAP. Accepted: such a thread may have
 * written and ended by then.
 */
static bool is_all_told(struct uninit *uninit, const struct tl_access *access,
			const struct word *word)
{
	uint64_t untold = uninit->services->untold(uninit->host, access->pid, word->cookie);

	if (untold == UINT64_MAX)
		return false;
	return untold <= word->shared ||
	       (word->kernel_read && !unseen_blocks(access->pid, access->tid));
}

/* Is this the load that was predicted, by the thread for which the block was made or that entered
 * the frame? Then it has made no system call on its way here. */
static bool came_straight(const struct tl_access *access, const struct word *word)
{
	return word->straight && word->straight == access->pc && access->tid == word->origin.tid;
}

/* Is it certain that nobody wrote to the word that is being copied? */
static bool is_source_sure(struct uninit *uninit, const struct tl_access *access,
			   const struct word *from)
{
	return (!from->copied || from->sure) &&
	       (came_straight(access, from) || is_all_told(uninit, access, from));
}

/* Watches where the held thread is about to store copies of the value. Copies are known by bytes
 * and not by bits, so a word of which only some bits of a byte are fresh (a bit-field's) has none
 * watched. */
static void watch_copies(struct uninit *uninit, const struct tl_access *access,
			 const struct word *from, const struct shadow_found *found)
{
	if (found->copies && from->fresh != words_bits(words_bytes(from->fresh))) {
		uninit_count(uninit, "copies-of-bits");
		return;
	}
	for (unsigned i = 0; i < found->copies; i++) {
		uint64_t address = found->copy[i].address & ~(uint64_t)(WORD_LENGTH - 1);
		struct origin origin = from->origin;
		struct word span = {.address = address};
		uint8_t bytes = words_touched(&span, found->copy[i].address, found->copy[i].length);
		struct word *word;

		if (!is_stack(access, found->copy[i].address))
			give_way_to_copy(uninit, from, address, bytes);
		if (is_stack(access, found->copy[i].address) ||
		    !uninit_watch_word(uninit, &origin, address, bytes, from, &word))
			continue;
		word->copied = true;
		word->pending = true;
		word->sure = found->copied_surely[i] && is_source_sure(uninit, access, from);
		word->block = find_block(uninit, origin.pid, address);
		word->tid = access->tid;
		word->copied_at = found->copied_at[i];
		uninit_count(uninit, "copies-watched");
		if (!uninit_arm(uninit, word))
			continue;
		if (clock_now() - access->time > frames_hold(uninit->frames))
			uninit_retire(uninit, word);
		return;
	}
}

static void tell(struct uninit *uninit, const struct tl_access *access, const struct word *word,
		 uint8_t bytes, const struct shadow_found *found,
		 const struct rules_verdict *verdict)
{
	struct uninit_place *place = find_place(uninit, access->pc, word->origin.context);
	struct describe_load load = {.access = access,
				     .word = word,
				     .bytes = bytes,
				     .found = found,
				     .sent = access->access & TL_KERNEL};

	if (verdict->certainty <= place->certainty)
		return;
	place->certainty = verdict->certainty;
	uninit_describe(uninit->host, uninit->services, &load, verdict);
}

/*
 * Who may have written to the word without a hit; NULL: nobody. Nobody has where the thread came
 * straight from the block's birth or the frame's entry: it has made no system call, and no other
 * thread knows the memory yet.
 */
static const char *find_unseen(struct uninit *uninit, const struct tl_access *access,
			       const struct word *word)
{
	if (came_straight(access, word))
		return NULL;
	if (!tool_kernel_told(uninit->host))
		return "what system calls write cannot be seen here";
	if (!is_all_told(uninit, access, word)) {
		uninit_count(uninit, "loads-behind-untold");
		return "what was done to the bytes may not all have been seen: a thread blocks "
		       "SIGTRAP, or the process has discarded memory or lent it to a child";
	}
	return unseen_writer(&word->origin, word->address);
}

/* A system call has read the bytes: a finding if they are data that it passes on. Structures that
 * only describe the call are handed over with their padding (sockaddr_in), which is no error. */
static void leak(struct uninit *uninit, const struct tl_access *access, struct word *word,
		 uint8_t bytes)
{
	struct rules_verdict verdict = {
		.certainty = TL_POSSIBLE,
		.evidence = {"the kernel read the bytes for a system call of the program"},
		.evidence_count = 1};
	const char *unseen = find_unseen(uninit, access, word);

	if (access->traits & TL_TRAIT_CONTENT && (!word->copied || word->sure))
		verdict.certainty = TL_LIKELY;
	if (unseen) {
		verdict.certainty = TL_POSSIBLE;
		verdict.evidence[verdict.evidence_count++] = unseen;
	}
	tell(uninit, access, word, bytes, NULL, &verdict);
}

static void end_block(struct uninit *uninit, struct word *word)
{
	if (word->copied)
		uninit_retire(uninit, word);
	else
		uninit_forget_block(uninit, word->origin.pid, word->origin.address);
}

static bool is_hidden(struct uninit *uninit, const struct rules_verdict *verdict, struct word *word)
{
	if (!verdict->hidden)
		return false;
	uninit_count(uninit, verdict->hidden);
	if (verdict->over)
		end_block(uninit, word);
	return true;
}

/* Names the functions in which the access was made. That reads symbols, which may take longer than
 * the thread is held. */
static void name_place(struct uninit *uninit, const struct tl_access *access,
		       struct tl_frame frames[CALLERS], struct rules_place *place)
{
	place->frames = frames;
	place->count = uninit->services->stack(uninit->host, access, frames, CALLERS);
}

/*
 * Follows all fresh bytes of the word together. A comparison may load a word in parts ("abcdef" as
 * four bytes and two), and while the bytes of the other parts are taken for known no part decides
 * by itself.
 */
static void follow_together(struct uninit *uninit, const struct tl_access *access,
			    const struct word *word, uint8_t bytes, struct shadow_found *found)
{
	struct shadow_found whole;

	if (!(word->fresh & ~words_bits(bytes)) ||
	    has_changed(uninit, word, words_bytes(word->fresh)) ||
	    !uninit_follow_load(uninit->follow, access, word->address, word->fresh, FOLLOW_NEAR,
				&whole) ||
	    !whole.sink || !whole.certain || whole.vague)
		return;
	uninit_count(uninit, "loads-together");
	*found = whole;
}

/* Have enough values been followed at this place, so that the load is passed over? */
static bool is_known(struct uninit *uninit, struct uninit_place *place,
		     const struct uninit_place *part, struct word *word)
{
	bool updated = place->updates >= UPDATES_MOST;

	if (place->vain < VAIN_MOST && part->vain < VAIN && place->certainty != TL_DEFINITE &&
	    !updated)
		return false;
	uninit_count(uninit, "loads-known");
	/* Without a walk it is not known what the thread stores next. */
	word->updates = 0;
	if (updated) {
		uninit_count(uninit, "words-updated-often");
		uninit_retire(uninit, word);
	}
	return true;
}

/* The walk comes before all else, since it needs the thread held. */
static void follow(struct uninit *uninit, const struct rules_load *admitted, struct word *word,
		   uint8_t bytes)
{
	struct rules_load load = *admitted;
	const struct tl_access *access = load.access;
	struct uninit_place *place = find_place(uninit, access->pc, word->origin.context);
	struct uninit_place *part = find_bytes(uninit, access, word, bytes);
	struct tl_frame frames[CALLERS];
	struct rules_verdict verdict;
	struct shadow_found found;

	if (is_known(uninit, place, part, word))
		return;
	uninit_count(uninit, "loads-followed");
	if (uninit_follow_load(uninit->follow, access, word->address,
			       word->fresh & words_bits(bytes), FOLLOW_FAR, &found))
		load.found = &found;
	else
		uninit_count(uninit, "loads-not-followed");
	/* A thread that has gone on may have stored already. */
	if (load.found && uninit->services->held(uninit->host))
		words_foretell(word, access->tid, &found);
	else
		word->updates = 0;
	if (load.found && !found.sink)
		follow_together(uninit, access, word, bytes, &found);
	if (load.found && found.alike)
		uninit_count(uninit, "branches-alike");
	/* A thread that has gone on may have changed memory before the walk read it. */
	if (load.found && !uninit->services->held(uninit->host))
		found.certain = false;
	/* Asked while the thread is held: later the process may be gone. */
	if (load.found && found.sink)
		load.unseen = find_unseen(uninit, access, word);
	name_place(uninit, access, frames, &load.place);
	if (load.unseen)
		uninit_count(uninit, "loads-perhaps-written");
	uninit_judge(&load, &verdict);
	if (is_hidden(uninit, &verdict, word))
		return;
	/* Only here, since copies that the allocator makes (realloc()) were hidden above. */
	if (load.found && !found.sink)
		watch_copies(uninit, access, word, &found);
	/* An update of a bit-field does not count as in vain: its walk is short, and the word stays
	 * watched by what it says. */
	place->vain += verdict.again && !word->updates;
	part->vain += verdict.again && !word->updates;
	place->updates += word->updates != 0;
	tell(uninit, access, word, bytes, load.found, &verdict);
}

/* Was the thread held until the word was watched, and is it still held at this load? */
static bool is_held(struct uninit *uninit, const struct tl_access *access, const struct word *word)
{
	struct tl_guarded block = {.size = sizeof(block)};

	if (clock_now() - access->time > frames_hold(uninit->frames))
		return false;
	return word->copied || word->origin.frame ||
	       (uninit->services->guarded(uninit->host, word->origin.pid, word->origin.address,
					  &block) &&
		block.told && !block.freed && block.serial == word->origin.serial);
}

/*
 * Is the frame live, and does the word lie in the frame of a function of the program? Where another
 * function's frame has taken the place of the one that was watched, nobody has written the word for
 * that one either: word->origin.frame then becomes that function.
 */
static bool is_live(struct uninit *uninit, const struct tl_access *access, struct word *word)
{
	struct tl_frame_place places[FRAMES_MOST];
	int count = access->registers
			    ? uninit->services->unwind(uninit->host, access, places, FRAMES_MOST)
			    : 0;
	const char *owner = NULL;
	bool found = false;

	if (!count || access->tid != word->origin.tid ||
	    access->address < access->registers->general[insn_arch.stack_pointer] - RED_ZONE)
		return false;
	for (int i = 0; i < count && places[i].cfa && !found; i++) {
		if (!owner && word->address < places[i].cfa) {
			owner = uninit->services->module(uninit->host, access->pid, places[i].pc);
			word->origin.frame = places[i].function ? places[i].function
								: word->origin.frame;
		}
		found = places[i].cfa == word->origin.address + word->origin.length + WORD_LENGTH;
	}
	return found && owner && !uninit_has_names(owner);
}

static bool is_pop(struct uninit *uninit, const struct tl_access *access)
{
	uint8_t byte;

	return !(access->access & (TL_KERNEL | TL_GUESSED)) && access->length == WORD_LENGTH &&
	       uninit->services->read(uninit->host, access->pid, access->pc, &byte, 1) == 1 &&
	       byte >= POP_FIRST && byte <= POP_LAST;
}

void uninit_loaded(struct uninit *uninit, const struct tl_access *access, struct word *word)
{
	uint8_t bytes = words_bytes(word->fresh) &
			words_touched(word, access->address, access->length);
	struct rules_load load = {.access = access, .copied = word->copied, .sure = word->sure};
	struct rules_verdict verdict;

	if (!bytes || word->pending)
		return;
	if (word->sure && !is_there_still(uninit, word)) {
		uninit_count(uninit, "copies-of-zeroes");
		load.sure = word->sure = false;
	}
	word->kernel_read |= (access->access & TL_KERNEL) != 0;
	load.unheld = !is_held(uninit, access, word);
	load.changed = !(access->access & TL_WRITE) && has_changed(uninit, word, bytes);
	load.popped = word->origin.frame && is_pop(uninit, access);
	if (word->origin.frame)
		load.gone = !word->copied && !is_live(uninit, access, word);
	uninit_admit(&load, &verdict);
	if (is_hidden(uninit, &verdict, word))
		return;
	/* Not told: structures on the stack are handed to the kernel whole, with members that it
	 * only writes (poll()). */
	if ((access->access & TL_KERNEL) && word->origin.frame)
		uninit_count(uninit, "frames-read-by-kernel");
	else if (access->access & TL_KERNEL)
		leak(uninit, access, word, bytes);
	else
		follow(uninit, &load, word, bytes);
	word->straight = 0;
}
