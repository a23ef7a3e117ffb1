/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/use.h"

#include "base/clock.h"
#include "stack/escape.h"
#include "stack/expect.h"
#include "stack/foretell.h"
#include "stack/frames.h"
#include "stack/judge.h"
#include "stack/leave.h"
#include "stack/owner.h"
#include "tool/registers.h"
#include "stack/suspect.h"
#include "stack/tell.h"

#include <trapline/event.h>

#define WORD 8

#define HOLD (3 * MILLISECOND) /* at most: until the hit was looked at */
/* How long a site is watched. At first that is brief, which is enough for code that runs all the
 * time.
 */
#define SITE_WINDOW_FIRST (10 * MILLISECOND)
#define SITE_DOUBLINGS 3
#define SITE_WINDOW (40 * MILLISECOND)
#define SITE_WINDOW_LATER (160 * MILLISECOND) /* after SITE_EARLY looks */
#define SITE_EARLY 6
#define LANDING_HITS 32 /* setjmp() itself returns there, too */
#define RETURN_WINDOW (1000 * MILLISECOND)
#define RETURN_HITS 64 /* other calls that return to the same place: recursion */
/* For a load of a dangling address; it may come late, since such addresses are rare. */
#define HOLDER_WINDOW (2000 * MILLISECOND)
#define HOLDER_HITS 512
#define LOADS_MOST 16 /* loads from there without a foretold use: then it is given up */
#define OTHERS_MOST 8 /* stores there in a row by others than the site: the same */
#define OBJECT_WINDOW (100 * MILLISECOND) /* for a use by who has just loaded the address */
#define OBJECT_HITS 16
#define OPEN_WINDOW (100 * MILLISECOND) /* the same for an address that is in registers only */
#define OPEN_HITS 24
/* The pause before the next look at a site is doubled for each look in a row that came to nothing,
 * so often at most: PAUSES_LEAVE times where no address is known to leave the frame. */
#define PAUSE (2 * MILLISECOND)
#define PAUSES 9
#define PAUSES_LEAVE 11
#define PAUSE_TOLD (1000 * MILLISECOND) /* added where a use was told: others are less urgent */
#define STACK_REACH (8ull << 20) /* bytes above the stack pointer that may be its own stack */
#define FRAME_REACH 65536 /* bytes below it that a frame that has just returned may have had */
#define CALLERS_SEEN 8	  /* callers of a site whose functions are noted as in use */
#define UNKEPT_EVERY 4 /* of frames whose address is in no known word one in so many is watched */

static void rest(struct task *task, bool idle)
{
	struct site *site = task->site;
	unsigned most;

	if (!site)
		return;
	most = site->kind == SITE_LEAVE ? PAUSES_LEAVE : PAUSES;
	site->idle = idle ? site->idle + 1 : 0;
	site->next = clock_now() + (site->told ? PAUSE_TOLD : 0) +
		     (PAUSE << (site->idle < most ? site->idle : most));
}

static void end(struct stack *stack, struct task *task, bool idle)
{
	rest(task, idle);
	task_end(stack, task);
}

bool use_begin_at(struct stack *stack, struct process *process, struct site *site)
{
	struct tl_watch watch = {.access = TL_EXEC,
				 .hits = 1,
				 .hold = process->ahead ? HOLD_AHEAD : HOLD,
				 .window = SITE_WINDOW};
	struct task *task = task_begin(stack, process);

	if (!task)
		return false;
	if (site->met ? site->looks >= SITE_EARLY : site->looks > SITE_DOUBLINGS)
		watch.window = SITE_WINDOW_LATER;
	else if (!site->met)
		watch.window = SITE_WINDOW_FIRST << site->looks;
	if (process->ahead)
		watch.window = WINDOW_AHEAD;
	if (site->kind == SITE_LANDING)
		watch.hits = LANDING_HITS;
	watch.address = site->pc;
	task->site = site;
	site->watched = true;
	site->looks++;
	if (task_arm(stack, task, STAGE_SITE, &watch)) {
		end(stack, task, false);
		return false;
	}
	stack->services->count(stack->host, "stack-sites-watched", 1);
	return true;
}

bool use_begin(struct stack *stack, struct process *process, uint64_t now)
{
	struct site *site = functions_site(process->functions, now, process->turns++ % 4 != 0);

	return site && use_begin_at(stack, process, site);
}

static bool read_word(struct stack *stack, pid_t pid, uint64_t address, uint64_t *word)
{
	return stack->services->read(stack->host, pid, address, word, sizeof(*word)) ==
	       sizeof(*word);
}

/* Watches the local itself, in thread `tid` (0: any). */
static bool watch_object(struct stack *stack, struct task *task, pid_t tid, uint64_t address,
			 bool open)
{
	struct tl_watch watch = {.access = TL_READ | TL_WRITE,
				 .address = address & ~(uint64_t)(WORD - 1),
				 .length = WORD,
				 .tid = tid,
				 .hits = open ? OPEN_HITS : OBJECT_HITS,
				 .hold = HOLD,
				 .window = open ? OPEN_WINDOW : OBJECT_WINDOW};

	return task_arm(stack, task, STAGE_OBJECT, &watch) == 0;
}

/* Watches for the foretold use at its instruction, else at the memory. */
static bool watch_use(struct stack *stack, struct task *task, bool open)
{
	if (task->foretold && expect_begin(stack, task, task->reader))
		return true;
	return watch_object(stack, task, task->reader,
			    task->foretold ? task->use.address : task->address, open);
}

static bool awaits_use(const struct task *task)
{
	return task->armed & (1u << STAGE_OBJECT | 1u << STAGE_USE);
}

static void disarm_use(struct stack *stack, struct task *task)
{
	task_disarm(stack, task, STAGE_OBJECT);
	task_disarm(stack, task, STAGE_USE);
}

/* ------------------------------------------------------------------------------------------- */
/* The address leaves its frame */

static bool watch_return(struct stack *stack, struct task *task, const struct tl_access *access)
{
	struct tl_watch watch = {.access = TL_EXEC,
				 .address = task->returns_to,
				 .tid = access->tid,
				 .hits = RETURN_HITS,
				 .hold = HOLD,
				 .window = RETURN_WINDOW};

	return task_arm(stack, task, STAGE_RETURN, &watch) == 0;
}

static void see_escape(struct stack *stack, struct task *task, const struct tl_access *access)
{
	struct space *space = stack_space(stack, access->pid);

	task->holder = task->site->kind == SITE_STORE ? judge_stored_to(space, access) : 0;
	if (!escape_note_frame(space, task, access)) {
		stack->services->count(stack->host, "stack-escapes-unknown", 1);
		end(stack, task, true);
	} else if (!watch_return(stack, task, access))
		end(stack, task, false);
}

/* ------------------------------------------------------------------------------------------- */
/* The frame is gone */

/* The address is in no known word; registers or a thread's stack may still hold it. */
static void watch_unkept(struct stack *stack, struct task *task)
{
	bool turn = task->site->kind == SITE_THREAD || task->site->looks % UNKEPT_EVERY == 0;

	if (!turn || !watch_object(stack, task, 0, task->address, true))
		end(stack, task, true);
}

/* Was the holder found by searching memory, so that it is not known which instruction stored the
 * address? */
static bool was_searched(const struct task *task)
{
	return task->site->kind == SITE_LEAVE || task->site->kind == SITE_LANDING ||
	       task->site->kind == SITE_RETURN;
}

static bool arm_holder(struct stack *stack, struct task *task)
{
	struct tl_watch watch = {.access = TL_READ | TL_WRITE,
				 .address = task->holder,
				 .length = WORD,
				 .hits = HOLDER_HITS,
				 .hold = HOLD,
				 .window = was_searched(task) ? leave_window(task) : HOLDER_WINDOW};

	return task->armed >> STAGE_HOLDER & 1 || !task_arm(stack, task, STAGE_HOLDER, &watch);
}

/* Watches the word that holds the dangling address. `ended`: the frame's thread has ended; else it
 * was held as this began. */
static void watch_holder(struct stack *stack, struct task *task, bool ended)
{
	uint64_t word;

	/* The word is read once more, since a store before the watch was armed is not told. A
	 * thread that is no longer held may have called the function again, and have stored the
	 * same address for a live frame. */
	if (!arm_holder(stack, task) ||
	    !read_word(stack, task->process->pid, task->holder, &word) || word != task->address ||
	    (!ended && !stack->services->held(stack->host))) {
		end(stack, task, false);
		return;
	}
	task->kept = true;
	task->site->dangling = true;
	stack->services->count(stack->host, "stack-dangling", 1);
}

static void see_gone(struct stack *stack, struct task *task, bool ended)
{
	uint64_t word;

	if (task->holder && task->holder % WORD == 0 &&
	    read_word(stack, task->process->pid, task->holder, &word) && word == task->address)
		watch_holder(stack, task, ended);
	else if (!(task->armed >> STAGE_HOLDER & 1))
		watch_unkept(stack, task);
	/* Else the word stays watched: the site may store there again. */
}

static void hit_return(struct stack *stack, struct task *task, const struct tl_access *access)
{
	struct tl_frame_place frames[TASK_FRAMES];

	/* Another call of the same function has returned there, from deeper down or on another
	 * stack. */
	if (access->registers->general[SP] != task->end)
		return;
	task_disarm(stack, task, STAGE_RETURN);
	task->returned = access->time;
	if (!task->ended_count)
		task->ended_count = frames_pcs(frames,
					       frames_of(stack_space(stack, access->pid), access,
							 frames, TASK_FRAMES),
					       task->ended, TASK_FRAMES);
	see_gone(stack, task, false);
}

/* Goes on with the tasks whose frames are gone, since the thread has landed above them. */
static void see_left(struct stack *stack, const struct tl_access *access)
{
	const uint64_t pointer = access->registers->general[SP];
	uint64_t start, end;

	if (!space_mapping(stack_space(stack, access->pid), pointer, &start, &end))
		return;
	for (unsigned i = 0; i < TASKS; i++) {
		struct task *task = &stack->task[i];

		if (!task->process || task->process->pid != access->pid || !task->site ||
		    !(task->armed >> STAGE_RETURN & 1) || task->tid != access->tid ||
		    task->end < start || task->end > pointer)
			continue;
		task_disarm(stack, task, STAGE_RETURN);
		task->returned = access->time;
		see_gone(stack, task, false);
	}
}

/* Notes what a finding will tell of the frame that is being left. Behind a landing nothing is known
 * of the frames that were left. */
static void note_left(struct stack *stack, struct task *task, const struct tl_access *access)
{
	struct tl_frame_place frames[TASK_FRAMES];
	uint64_t pointer = access->registers->general[SP];
	int count = frames_of(stack_space(stack, access->pid), access, frames, TASK_FRAMES);
	bool landed = task->site->kind == SITE_LANDING;

	task->tid = access->tid;
	task->end = landed ? pointer : pointer + WORD;
	task->frame_pc = landed ? 0 : access->pc;
	task->frame_stack = pointer;
	task->frame_base = pointer - WORD;
	task->returned = task->made_time = access->time;
	task->ended_count = frames_pcs(frames, count, task->ended, TASK_FRAMES);
}

/* Watches for a use through the function's result: one that is foretold, or any use of what seems
 * to be an address in the frame. */
static void watch_result(struct stack *stack, struct task *task, const struct tl_access *access,
			 bool foretold)
{
	task->result = task->foretold = foretold;
	task->reader = access->tid;
	task->site->dangling = true;
	stack->services->count(stack->host, "stack-dangling", 1);
	if (!watch_use(stack, task, true))
		end(stack, task, false);
}

/* Does the result register hold an address in the frame? Where the code does not say that the
 * function returns one it may be left over, so only some of these are watched. */
static bool returns_frame(const struct task *task, uint64_t pointer)
{
	return (task->site->kind == SITE_RETURN ||
		(task->site->kind == SITE_LEAVE && task->site->looks % UNKEPT_EVERY == 0)) &&
	       task->address < pointer && pointer - task->address <= FRAME_REACH;
}

/* Was the thread held during the passes of foretell.h? Else what it changed between them would be
 * taken for accesses through the pointer. To be asked before anything is armed, since that may
 * release the thread. */
static bool is_held(struct stack *stack)
{
	if (stack->services->held(stack->host))
		return true;
	stack->services->count(stack->host, "stack-foretold-late", 1);
	return false;
}

static void see_leave(struct stack *stack, struct task *task, const struct tl_access *access)
{
	struct leave_gone gone;
	bool known;

	leave_renew(task->process, stack_space(stack, access->pid));
	known = leave_gone(stack, task, access, &gone);
	note_left(stack, task, access);
	task->low = known ? gone.start : task->address;
	if (task->site->kind == SITE_LANDING && known)
		see_left(stack, access);
	if (known && task->site->kind != SITE_LANDING && leave_result(stack, task, access, &gone) &&
	    is_held(stack)) {
		watch_result(stack, task, access, true);
	} else if (returns_frame(task, access->registers->general[SP])) {
		watch_result(stack, task, access, false);
	} else if (known && leave_holder(stack, task, access, &gone)) {
		watch_holder(stack, task, false);
	} else {
		if (!known)
			stack->services->count(stack->host, "stack-leaves-unknown", 1);
		end(stack, task, true);
	}
}

/* Does setjmp() return there for the first time? Then no frame is gone. */
static bool is_first_return(const struct site *site, const struct tl_access *access)
{
	return site->kind == SITE_LANDING && site->number < INSN_GENERAL &&
	       (uint32_t)access->registers->general[site->number] == 0;
}

/* Notes the functions that the thread is in as in use, so that what they call is looked at first.
 */
static void see_callers(struct stack *stack, const struct process *process,
			const struct tl_access *access)
{
	struct space *space = stack_space(stack, access->pid);
	struct tl_frame_place frames[TASK_FRAMES];
	int count = frames_of(space, access, frames, TASK_FRAMES);

	for (int i = 0; i < count && i < CALLERS_SEEN; i++)
		functions_use(process->functions, space, frames[i].pc);
}

static void see_site(struct stack *stack, struct task *task, const struct tl_access *access)
{
	uint64_t pointer = access->registers->general[SP];

	/* The hit was told late: the thread is elsewhere by now. */
	if (access->registers->pc != task->site->pc)
		stack->services->count(stack->host, "stack-sites-passed", 1);
	if (task->site->kind == SITE_CALL || access->registers->pc != task->site->pc) {
		end(stack, task, false);
		return;
	}
	task->address = access->registers->general[task->site->number % INSN_GENERAL];
	if (task->site->kind >= SITE_RETURN && task->site->kind <= SITE_LANDING)
		see_leave(stack, task, access);
	else if (task->address + RULES_RED_ZONE - pointer < STACK_REACH)
		see_escape(stack, task, access);
	else
		end(stack, task, true); /* an object of the heap, this time */
}

/* The callers come last, since the thread need not be held for them. */
static void hit_site(struct stack *stack, struct task *task, const struct tl_access *access)
{
	struct process *process = task->process;
	bool first;

	if (is_first_return(task->site, access))
		return;
	first = !task->site->met++;
	task_disarm(stack, task, STAGE_SITE);
	see_site(stack, task, access);
	if (first)
		see_callers(stack, process, access);
}

/* ------------------------------------------------------------------------------------------- */
/* Somebody loads the address */

/* Counts a load; true where there were so many that the pointer is given up, since to foretell its
 * use holds the thread each time. A watch for a use by the last load stays, unless it was foretold:
 * that one relies on `holder` being watched. */
static bool is_unused(struct stack *stack, struct task *task)
{
	if (++task->loads < LOADS_MOST)
		return false;
	stack->services->count(stack->host, "stack-holders-unused", 1);
	if (awaits_use(task) && !task->foretold)
		task_disarm(stack, task, STAGE_HOLDER);
	else
		end(stack, task, false);
	return true;
}

static void see_load(struct stack *stack, struct task *task, const struct tl_access *access)
{
	struct insn_registers registers = tool_registers(access->registers, access->registers->pc);
	struct space *space = stack_space(stack, access->pid);
	int loaded = foretell_loaded(space, access->pc, task->address, &registers);
	struct foretold use = {0};
	bool foretold;

	stack->services->count(stack->host, "stack-dangling-loads", 1);
	if (loaded < 0)
		stack->services->count(stack->host, "stack-dangling-compared", 1);
	foretold = loaded >= 0 &&
		   foretell_use(space, &registers, (uint16_t)(1u << loaded), task->holder,
				task->low, task->end, &use) &&
		   is_held(stack);
	if (!foretold) {
		use = (struct foretold){0};
		if (loaded < 0 || is_unused(stack, task) || awaits_use(task))
			return;
	}
	/* An earlier load may have been for a comparison only: this one counts now. */
	disarm_use(stack, task);
	if (foretold)
		task->loads = 0;
	task->foretold = foretold;
	task->use = use;
	task->reader = access->tid;
	watch_use(stack, task, false);
}

/* Is it a store by the site, or (where the holder was found by searching) by anybody, of an address
 * on the storing thread's own stack? */
static bool is_next_frame(struct stack *stack, struct task *task, const struct tl_access *access)
{
	uint64_t pointer = access->registers->general[SP];

	return ((was_searched(task) && task->site->kind != SITE_LANDING) ||
		(access->pc == task->site->pc && task->site->kind == SITE_STORE)) &&
	       read_word(stack, task->process->pid, task->holder, &task->address) &&
	       task->address + RULES_RED_ZONE - pointer < STACK_REACH &&
	       escape_note_frame(stack_space(stack, access->pid), task, access);
}

/*
 * A store to the holder. Mostly it is the site again, with the address of the next call's frame:
 * that frame is followed at once, so that of a function that is called all the time no frame is
 * missed. After any other store the address is there no more, and the site is waited for.
 */
static void see_store(struct stack *stack, struct task *task, const struct tl_access *access)
{
	uint64_t word;

	if (task->kept && access->pc != task->site->pc && access->tid == task->tid &&
	    task->address < access->registers->general[SP] &&
	    read_word(stack, task->process->pid, task->holder, &word) && word == task->address)
		return; /* the same address again, stored by a thread above the frame: it dangles
			   still */
	disarm_use(stack, task);
	task_disarm(stack, task, STAGE_RETURN);
	task->kept = task->foretold = false;
	task->returned = 0;
	if (is_next_frame(stack, task, access)) {
		task->others = 0;
		if (!watch_return(stack, task, access))
			end(stack, task, false);
	} else if (++task->others > OTHERS_MOST) {
		end(stack, task, false);
	}
}

static void hit_holder(struct stack *stack, struct task *task, const struct tl_access *access)
{
	if (access->access & TL_GUESSED || (task->process->copies && was_searched(task)))
		end(stack, task, false);
	else if (access->access & TL_WRITE)
		see_store(stack, task, access);
	else if (task->kept)
		see_load(stack, task, access);
}

static void judge_hit(struct stack *stack, struct task *task, const struct tl_access *access,
		      bool foretold)
{
	struct judge_frame frame = {.tid = task->tid,
				    .returned = task->returned != 0,
				    .made = task->made_time,
				    .stack_start = task->stack_start,
				    .kept = foretold && !task->result,
				    .result = foretold && task->result,
				    .guessed = foretold && task->use.guessed,
				    .held_until = task->thread_stack ? access->time + HOLD : 0};
	struct rules_verdict verdict;

	if (stack_was_reported(stack, access->pc))
		return;
	if (access->access & TL_GUESSED && access->tid != task->tid)
		suspect_note(stack, task->process, access->pc);
	judge_use(stack, task->process, access, &frame, &verdict);
	if (verdict.hidden) {
		stack->services->count(stack->host, verdict.rule, 1);
		return;
	}
	tell_use(stack, access, task, &verdict);
	task->site->told = true;
	end(stack, task, false);
}

static void hit_object(struct stack *stack, struct task *task, const struct tl_access *access)
{
	struct tl_access about = *access;
	bool foretold = expect_touched(task, &about);

	judge_hit(stack, task, &about, foretold);
}

static void hit_use(struct stack *stack, struct task *task, const struct tl_access *access)
{
	struct tl_access about;

	if (expect_hit(stack, task, access, &about))
		judge_hit(stack, task, &about, true);
}

void use_hit(struct stack *stack, struct task *task, enum stage stage,
	     const struct tl_access *access)
{
	switch (stage) {
	case STAGE_SITE:
		hit_site(stack, task, access);
		break;
	case STAGE_RETURN:
		hit_return(stack, task, access);
		break;
	case STAGE_HOLDER:
		hit_holder(stack, task, access);
		break;
	case STAGE_USE:
		hit_use(stack, task, access);
		break;
	default:
		hit_object(stack, task, access);
		break;
	}
}

void use_over(struct stack *stack, struct task *task, enum stage stage)
{
	/* The address is still in memory: the next load is waited for. */
	if (stage != STAGE_HOLDER && task->armed >> STAGE_HOLDER & 1)
		return;
	end(stack, task, stage == STAGE_SITE || stage == STAGE_RETURN || !task->kept);
}

void use_tick(struct stack *stack, struct task *task, uint64_t now)
{
	bool may_be_new;

	if (!(task->armed >> STAGE_RETURN & 1) || !task->thread_stack ||
	    owner_exists(task->process->pid, task->tid))
		return;
	/* The frame has ended without a return: by pthread_exit(), or as the thread's first
	 * function. */
	task_disarm(stack, task, STAGE_RETURN);
	task->returned = now;
	/* A younger thread may have got the stack, and have stored the same address for a live
	 * frame: then only what is stored from now on counts. */
	may_be_new = !(task->armed >> STAGE_HOLDER & 1) &&
		     owner_began_since(task->process->pid, task->made_time);
	if (!may_be_new)
		see_gone(stack, task, true);
	else if (!task->holder || task->holder % WORD || !arm_holder(stack, task))
		end(stack, task, true);
}
