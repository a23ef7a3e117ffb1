/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/frames.h"

#include "base/clock.h"
#include "insn/insn.h"
#include "process/entry_point.h"
#include "uninit/ahead.h"
#include "uninit/body.h"

#include <stdlib.h>
#include <string.h>
#include <trapline/event.h>

#define MILLISECOND 1000000ull
#define HOLD (5 * MILLISECOND)
#define HOLD_ALL (200 * MILLISECOND) /* however busy the machine is */
#define WINDOW (50 * MILLISECOND)
#define WINDOW_ALL (1000 * MILLISECOND)
#define PAUSE (20 * MILLISECOND) /* until the next look: doubled for each that came to nothing */
#define PAUSES 10
#define SPENT_MOST 95 /* percent of the budget: above it no new function is watched */
/* Looks that are made with `--all` whatever they cost; after that the budget counts. */
#define LOOKS_ANYWAY 1000
/* How often one function is looked at in the order of calls, and where no other one is ahead: it
 * may take another branch this time. */
#define LOOKS_ALL 3
#define LOOKS_RARE 128
#define PROCESSES 64
#define ENTRIES 4096 /* functions remembered */
#define PROBES 8
#define ARMED 64
#define STEPS_BEGIN 64 /* of the program's first function, up to the first call */
#define COOKIE (1ull << 63)
#define WORD 8

struct entry {
	uint64_t pc; /* 0: free */
	pid_t pid;
	uint32_t looks, idle;
	uint64_t next; /* not looked at again before: ns */
	bool called; /* a call that leads there was seen: so it is a function's first instruction */
	bool refused; /* a thread came there other than by a call: no function begins there */
	bool place; /* a place within a function where a thread is met to see what it comes to next
		     */
};

struct armed {
	uint64_t cookie; /* 0: free */
	pid_t pid;
	uint64_t pc;
};

/* Words that are watched as soon as the thread comes to the function's body (body.h). */
struct staged {
	uint64_t cookie;
	pid_t pid, tid;
	uint64_t stack; /* the stack pointer there */
	struct origin origin;
	struct predict_word word[FRAMES_WORDS];
	unsigned count; /* 0: there is nothing */
};

struct frames {
	struct tl_host *host;
	const struct tl_services *services;
	bool on;  /* the user asked for it: what it costs at default options has not been measured
		     yet */
	bool all; /* in the order of calls */
	pid_t process[PROCESSES];
	struct entry entry[ENTRIES];
	struct armed armed[ARMED];
	uint64_t cookies;
	uint64_t looks;
	struct ahead ahead;   /* the prediction for the function that was entered last, … */
	uint64_t next_return; /* … and where that returns to, if it is to be watched */
	struct staged staged;
};

/* ------------------------------------------------------------------------------------------- */

struct frames *frames_create(struct tl_host *host, const struct tl_services *services)
{
	struct frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return NULL;
	frames->host = host;
	frames->services = services;
	frames->all = services->option(host, "all");
	frames->on = services->option(host, "frames") || frames->all;
	ahead_begin(&frames->ahead, host, services);
	return frames;
}

void frames_destroy(struct frames *frames)
{
	free(frames);
}

static void count(struct frames *frames, const char *name)
{
	frames->services->count(frames->host, name, 1);
}

bool frames_in_order(const struct frames *frames)
{
	return frames->all;
}

uint64_t frames_hold(const struct frames *frames)
{
	return frames->all ? HOLD_ALL : HOLD;
}

/* ------------------------------------------------------------------------------------------- */
/* Functions */

static struct entry *entry_of(struct frames *frames, pid_t pid, uint64_t pc)
{
	uint64_t hash = (pc ^ (uint64_t)pid << 32) * 0x9e3779b97f4a7c15ull >> 40;

	for (unsigned i = 0; i < PROBES; i++) {
		struct entry *entry = &frames->entry[(hash + i) % ENTRIES];

		if (entry->pc == pc && entry->pid == pid)
			return entry;
		if (entry->pc)
			continue;
		*entry = (struct entry){.pc = pc, .pid = pid};
		return entry;
	}
	count(frames, "functions-full");
	return NULL;
}

void frames_see(struct frames *frames, pid_t pid, uint64_t pc)
{
	uint64_t start, end;

	if (!frames->on)
		return;
	ahead_look_at(&frames->ahead, pid);
	if (!ahead_is_outside(&frames->ahead, pc) &&
	    !frames->services->function(frames->host, pid, pc, &start, &end))
		entry_of(frames, pid, start);
}

static bool is_due(const struct entry *entry, pid_t pid, uint64_t now)
{
	return entry->pc && entry->pid == pid && !entry->refused && !entry->place &&
	       now >= entry->next;
}

/* The function that is due and was looked at least often. */
static struct entry *find_due(struct frames *frames, pid_t pid)
{
	uint64_t now = clock_now();
	struct entry *best = NULL;

	for (unsigned i = 0; i < ENTRIES; i++) {
		struct entry *entry = &frames->entry[i];

		if (is_due(entry, pid, now) && (!best || entry->looks < best->looks))
			best = entry;
	}
	return best;
}

/* ------------------------------------------------------------------------------------------- */
/* Watches */

static struct armed *armed_find(struct frames *frames, uint64_t cookie)
{
	for (unsigned i = 0; i < ARMED; i++)
		if (frames->armed[i].cookie == cookie)
			return &frames->armed[i];
	return NULL;
}

static bool is_armed(const struct frames *frames, pid_t pid, uint64_t pc)
{
	for (unsigned i = 0; i < ARMED; i++)
		if (frames->armed[i].cookie && frames->armed[i].pid == pid &&
		    frames->armed[i].pc == pc)
			return true;
	return false;
}

static bool watch_entry(struct frames *frames, struct entry *entry)
{
	struct armed *armed = armed_find(frames, 0);
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = entry->pid,
				 .address = entry->pc,
				 .access = TL_EXEC,
				 .hits = 1,
				 .hold = frames_hold(frames),
				 .window = frames->all ? WINDOW_ALL : WINDOW,
				 .urgent = frames->all && frames->looks < LOOKS_ANYWAY,
				 .cookie = COOKIE | (frames->cookies + 1)};

	if (!armed || is_armed(frames, entry->pid, entry->pc))
		return false;
	if (frames->services->arm(frames->host, &watch)) {
		count(frames, "functions-unarmed");
		return false;
	}
	frames->cookies++;
	frames->looks++;
	*armed = (struct armed){.cookie = watch.cookie, .pid = entry->pid, .pc = entry->pc};
	entry->looks++;
	entry->idle++;
	entry->next = clock_now() + (PAUSE << (entry->idle < PAUSES ? entry->idle : PAUSES));
	count(frames, "functions-watched");
	return true;
}

static void forget(struct frames *frames, struct armed *armed)
{
	if (armed->cookie == frames->staged.cookie)
		frames->staged.count = 0;
	armed->cookie = 0;
}

static void unwatch(struct frames *frames, struct armed *armed)
{
	frames->services->disarm(frames->host, armed->cookie);
	forget(frames, armed);
}

bool frames_owns(uint64_t cookie)
{
	return cookie & COOKIE;
}

void frames_unwatched(struct frames *frames, uint64_t cookie)
{
	struct armed *armed = armed_find(frames, cookie);

	if (armed)
		forget(frames, armed);
}

unsigned frames_slots(const struct frames *frames, pid_t pid)
{
	unsigned slots = 0;

	for (unsigned i = 0; i < ARMED; i++)
		slots += frames->armed[i].cookie && frames->armed[i].pid == pid;
	return slots;
}

bool frames_give_way(struct frames *frames, pid_t pid)
{
	struct armed *last = NULL;

	for (unsigned i = 0; i < ARMED; i++)
		if (frames->armed[i].cookie && frames->armed[i].pid == pid &&
		    (!last || frames->armed[i].cookie > last->cookie))
			last = &frames->armed[i];
	if (last)
		unwatch(frames, last);
	return last;
}

void frames_tick(struct frames *frames, unsigned (*used)(void *context, pid_t pid), void *context)
{
	for (unsigned i = 0; i < PROCESSES; i++) {
		pid_t pid = frames->process[i];
		struct entry *entry;

		/* Two slots are needed: one in which a thread is held as it enters, and one for a
		 * word of its frame. */
		if (!pid || frames->services->spent(frames->host) > SPENT_MOST ||
		    frames_slots(frames, pid) || frames->services->slots(frames->host, pid) < 2 ||
		    used(context, pid) >= frames->services->slots(frames->host, pid))
			continue;
		entry = find_due(frames, pid);
		if (entry)
			watch_entry(frames, entry);
	}
}

/* ------------------------------------------------------------------------------------------- */
/* A thread has come */

/* Did the thread come here by a direct call, in front of the return address on its stack? */
static bool was_called(struct frames *frames, const struct tl_registers *registers)
{
	uint64_t to;
	uint8_t bytes[5];
	struct insn insn;

	return !ahead_read(&frames->ahead, registers->general[insn_arch.stack_pointer], &to,
			   sizeof(to)) &&
	       !ahead_read(&frames->ahead, to - sizeof(bytes), bytes, sizeof(bytes)) &&
	       !insn_decode(bytes, sizeof(bytes), to - sizeof(bytes), &insn) &&
	       insn.flow == INSN_FLOW_CALL && (uint64_t)insn.target == registers->pc;
}

static void note_calls(struct frames *frames, pid_t pid)
{
	for (unsigned i = 0; i < frames->ahead.predict.calls; i++) {
		struct entry *entry = entry_of(frames, pid, frames->ahead.predict.call[i].pc);

		if (!entry)
			continue;
		entry->called |= !frames->ahead.predict.call[i].before;
		entry->place |= frames->ahead.predict.call[i].before;
	}
}

static void note_origin(struct frames *frames, const struct tl_access *access,
			struct origin *origin)
{
	struct tl_frame_place place[WORD_FRAMES];
	int frames_found = frames->services->unwind(frames->host, access, place, WORD_FRAMES);

	*origin = (struct origin){.pid = access->pid,
				  .tid = access->tid,
				  .address = frames->ahead.predict.top - PREDICT_FRAME,
				  .length = PREDICT_FRAME,
				  .time = access->time,
				  .context = access->pc,
				  .frame = access->pc,
				  .yields = true};
	for (int i = 0; i < frames_found; i++)
		origin->pcs[origin->count++] = place[i].pc;
}

static unsigned choose(const struct predict *predict, struct predict_word words[FRAMES_WORDS],
		       unsigned most)
{
	const struct predict_load *load;
	unsigned chosen = 0;

	while (chosen < FRAMES_WORDS && chosen < most && (load = predict_best(predict, chosen)))
		words[chosen++] =
			(struct predict_word){.address = load->address & ~(uint64_t)(WORD - 1),
					      .straight = load->straight};
	return chosen;
}

static void unwatch_all(struct frames *frames, pid_t pid)
{
	for (unsigned i = 0; i < ARMED; i++)
		if (frames->armed[i].cookie && frames->armed[i].pid == pid)
			unwatch(frames, &frames->armed[i]);
}

static void plan_return(struct frames *frames, pid_t pid)
{
	struct entry *entry = frames->next_return ? entry_of(frames, pid, frames->next_return)
						  : NULL;

	if (!entry || entry->called)
		return;
	entry->place = true;
	watch_entry(frames, entry);
}

void frames_plan(struct frames *frames, pid_t pid, unsigned room)
{
	unsigned planned = 0;

	if (pid != frames->ahead.pid || (frames->staged.count && frames->staged.pid == pid))
		return;
	for (unsigned most = LOOKS_ALL; most <= LOOKS_RARE; most += LOOKS_RARE - LOOKS_ALL)
		for (unsigned i = 0; i < frames->ahead.predict.calls && planned < room; i++) {
			struct entry *entry =
				entry_of(frames, pid, frames->ahead.predict.call[i].pc);

			if (entry && entry->looks < most)
				planned += watch_entry(frames, entry);
		}
	if (!planned)
		plan_return(frames, pid);
}

/* Notes for frames_plan() where the function that is being entered returns to. */
static void note_next(struct frames *frames)
{
	uint64_t to;

	frames->next_return = 0;
	if (!ahead_read(&frames->ahead, frames->ahead.predict.top, &to, sizeof(to)) &&
	    !ahead_is_outside(&frames->ahead, to))
		frames->next_return = to;
}

/* Puts the words aside until the thread comes to the function's body (body.h). False: they are to
 * be watched at once, since waiting is not needed or would not help. */
static bool stage(struct frames *frames, const struct tl_access *access,
		  const struct origin *origin, const struct predict_word words[FRAMES_WORDS],
		  unsigned count)
{
	uint64_t stack, body;
	struct entry *entry;

	body = body_find(&frames->ahead, access->registers, words, count, &stack);
	entry = body ? entry_of(frames, access->pid, body) : NULL;
	if (!entry)
		return false;
	entry->place |= !entry->called;
	if (!watch_entry(frames, entry))
		return false;
	frames->staged = (struct staged){.cookie = COOKIE | frames->cookies,
					 .pid = access->pid,
					 .tid = access->tid,
					 .stack = stack,
					 .origin = *origin,
					 .count = count};
	memcpy(frames->staged.word, words, count * sizeof(words[0]));
	return true;
}

/* A thread has come to the place where words were put aside for it: hands them out, unless another
 * thread or another call of the same function has come there first. */
static unsigned come_to_body(struct frames *frames, const struct tl_access *access,
			     struct origin *origin, struct predict_word words[FRAMES_WORDS],
			     unsigned most)
{
	struct staged staged = frames->staged;

	unwatch(frames, armed_find(frames, access->cookie));
	if (access->tid != staged.tid ||
	    access->registers->general[insn_arch.stack_pointer] != staged.stack)
		return 0;
	count(frames, "functions-entered-further");
	*origin = staged.origin;
	memcpy(words, staged.word, staged.count * sizeof(words[0]));
	return staged.count < most ? staged.count : most;
}

unsigned frames_entered(struct frames *frames, const struct tl_access *access,
			struct origin *origin, struct predict_word words[FRAMES_WORDS],
			unsigned most)
{
	struct armed *armed = armed_find(frames, access->cookie);
	struct entry *entry = armed ? entry_of(frames, access->pid, armed->pc) : NULL;
	unsigned chosen;

	if (!entry || !access->registers || access->registers->pc != entry->pc)
		return 0;
	if (frames->staged.count && access->cookie == frames->staged.cookie)
		return come_to_body(frames, access, origin, words, most);
	unwatch(frames, armed);
	entry->idle = 0;
	frames->ahead.predict.calls = 0;
	frames->next_return = 0;
	ahead_look_at(&frames->ahead, access->pid);
	count(frames, "functions-entered");
	if (!entry->called && !entry->place && !was_called(frames, access->registers)) {
		entry->refused = true;
		count(frames, "functions-refused");
		return 0;
	}
	predict(&frames->ahead.predict, access->registers);
	note_calls(frames, access->pid);
	if (frames->all) {
		unwatch_all(frames, access->pid);
		note_next(frames);
	}
	if (entry->place || frames->ahead.predict.top % WORD || !frames->ahead.predict.loads ||
	    !most)
		return 0;
	note_origin(frames, access, origin);
	chosen = choose(&frames->ahead.predict, words, most);
	return stage(frames, access, origin, words, chosen) ? 0 : chosen;
}

/* ------------------------------------------------------------------------------------------- */
/* Processes */

/* The program's first function (_start) hands main()'s address to the C library as the first
 * argument of a call: returns that. */
static uint64_t find_main(struct frames *frames, uint64_t pc)
{
	struct predict *predict = &frames->ahead.predict;
	struct insn_forward *forward = &predict->way.forward;
	bool leaves = false;

	memset(forward, 0, sizeof(*forward));
	forward->read = ahead_read;
	forward->tell = predict_tell_nobody;
	forward->context = &frames->ahead;
	forward->pc = pc;
	for (unsigned i = 0; i < STEPS_BEGIN; i++) {
		uint8_t bytes[INSN_MAX_LENGTH];
		size_t available = ahead_code(&frames->ahead, forward->pc, bytes, sizeof(bytes));
		uint64_t first = forward->general[insn_arch.function_argument[0]];
		bool known = forward->known >> insn_arch.function_argument[0] & 1;

		if (!available || insn_forward_step(forward, bytes, available, &leaves))
			return leaves && known ? first : 0;
		if (leaves)
			return known ? first : 0;
	}
	return 0;
}

void frames_process_began(struct frames *frames, pid_t pid)
{
	struct entry *entry;
	uint64_t main;

	for (unsigned i = 0; frames->on && i < PROCESSES; i++)
		if (!frames->process[i]) {
			frames->process[i] = pid;
			break;
		}
	if (!frames->all)
		return;
	ahead_look_at(&frames->ahead, pid);
	main = find_main(frames, process_entry_point(pid));
	entry = main && !ahead_is_outside(&frames->ahead, main) ? entry_of(frames, pid, main)
								: NULL;
	if (!entry)
		return;
	entry->called = true;
	watch_entry(frames, entry);
}

void frames_process_ended(struct frames *frames, pid_t pid)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		if (frames->process[i] == pid)
			frames->process[i] = 0;
	for (unsigned i = 0; i < ARMED; i++)
		if (frames->armed[i].pid == pid)
			forget(frames, &frames->armed[i]);
	for (unsigned i = 0; i < ENTRIES; i++)
		if (frames->entry[i].pid == pid)
			frames->entry[i].pc = 0;
}
