/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `heap:SIZE@FUNCTION` in a process that no library of ours is in. One block at a time, in phases;
 * each step is taken while the thread that led to it is held, so that nothing is missed in between:
 *
 * - ASKING: a breakpoint at FUNCTION.
 * - CALLED: it was called, and breakpoints are at malloc(), calloc() and realloc(), for a short
 *   while. A call for that size with FUNCTION on its stack leads to
 * - MAKING: a breakpoint where that call returns. There the block is known.
 * - LIVE: the block's bytes are watched, and the word before it, which holds glibc's size of it:
 *   free() and realloc() read that before they do anything. Whoever touches it ends the watch, so
 *   that what is told was the block's. That is sooner than need be where the allocator looks at
 *   the size because a block beside it is freed.
 *
 * The next block is asked for at a tick, so that a program which allocates all the time is delayed
 * some 50 times a second at most; one whose FUNCTION does not allocate, less often.
 *
 * Where the controller is stopped, threads are held at the first CALLS_MOST hits of a slot alone.
 *
 * Accepted: a thread that has SIGTRAP blocked as it frees the block is heard of late; what it, or
 * who is given the memory meanwhile, does with it is told. A thread that is in creation while a
 * slot is armed may be left without it (event/coverage.h).
 */
#include "watch/heap_entered.h"

#include "base/clock.h"
#include "control/control.h"
#include "lasting/lasting.h"
#include "libc/malloc_chunk.h"
#include "symbol/lookup.h"
#include "tool/complete.h"
#include "watch/data.h"
#include "watch/heap.h"
#include "watch/piece.h"
#include "watch/state.h"
#include "watch/wanted.h"
#include "watch/watched.h"

#include <errno.h>
#include <stdio.h>

#define STACK_FRAMES 64
#define WORD MALLOC_CHUNK_WORD
/* ns that a thread is held at most while its hit is answered; 0.1 ms is usual */
#define HOLD 20000000ull
#define WINDOW 20000000ull /* ns to wait for a call of the allocator, and again for its return */
/* ns until the next block is asked for, after a window that led to none */
#define PAUSE 200000000ull
/* ns that one expression waits for its FUNCTION, until it is the next one's turn */
#define TURN 500000000ull
#define CALLS_MOST 64 /* calls of the allocator looked at in a window; also hits of one slot */
/* slots beside the block's: one where the call returns, one at the word before it */
#define SLOTS_LOOKING 2u
#define C_LIBRARY "libc.so.6"

#define PAGE 4096u

/* Indices of registers, in the order of struct tl_registers. */
enum { RESULT = 0, STACK_POINTER = 4, ARGUMENT_2 = 6, ARGUMENT_1 = 7 };

/* ---- slots ---------------------------------------------------------------------------------- */

static bool place(struct watch *watch, struct watched *process, enum heap_role role,
		  uint64_t address)
{
	const struct lasting_judging judging = {.unfiltered = true};
	const bool code = role != HEAP_HEADER;
	struct tl_watch request = {.size = sizeof(request),
				   .pid = process->pid,
				   .address = address,
				   .length = code ? 1 : WORD,
				   .access = code ? TL_EXEC : TL_READ | TL_WRITE,
				   .hits = CALLS_MOST,
				   .hold = HOLD};
	int index = piece_free(process);
	struct piece *piece;

	if (index < 0 || !address)
		return false;
	piece = &process->piece[index];
	*piece = (struct piece){.wanted = WATCH_EXPRESSIONS,
				.scout = true,
				.role = role,
				.address = address,
				.length = request.length};
	lasting_judge(watch->program, process->pid, (unsigned)index, &judging);
	piece->armed = !lasting_arm(watch->program, process->pid, (unsigned)index, &request);
	return piece->armed;
}

/* Is the word before the block watched in every thread? A thread without that watch, as one in a
 * handler of its own, could free the block unseen. */
static bool sees_end(const struct watch *watch, const struct watched *process)
{
	for (unsigned i = 0; i < AREA_SLOTS; i++)
		if (process->piece[i].armed && process->piece[i].role == HEAP_HEADER)
			return lasting_is_whole(watch->program, process->pid, i);
	return false;
}

/* Disarms the slots of a role. A thread that is held at one of them goes on at once, so callers arm
 * what it is to meet next before they call this. */
static void drop(struct watch *watch, struct watched *process, enum heap_role role)
{
	for (unsigned i = 0; i < AREA_SLOTS; i++) {
		struct piece *piece = &process->piece[i];

		if (!piece->armed || piece->role != role)
			continue;
		lasting_disarm(watch->program, process->pid, i);
		*piece = (struct piece){.armed = false};
	}
}

static void enter(struct watched *process, enum heap_phase phase, uint64_t time)
{
	process->heap.phase = phase;
	process->heap.until = clock_now() + time;
}

static void rest(struct watch *watch, struct watched *process, uint64_t pause)
{
	for (unsigned role = HEAP_FUNCTION; role <= HEAP_HEADER; role++)
		drop(watch, process, (enum heap_role)role);
	watch_disarm_block(watch, process, process->heap.block);
	process->heap.block = 0;
	enter(process, HEAP_IDLE, pause);
}

/* ---- the allocator -------------------------------------------------------------------------- */

static uint64_t entry_of(struct symbol_modules *modules, const char *module, const char *name)
{
	char error[SYMBOL_ERROR_MAX];
	struct symbol_found found;

	return symbol_lookup(modules, module, name, &found, error) || !found.function
		       ? 0
		       : found.address;
}

/* Is the module that has malloc() glibc? It has another name for the function, too. Of no other
 * allocator is it known what stands before a block. */
static bool is_glibc(struct symbol_modules *modules, const char *module)
{
	uint64_t own = entry_of(modules, module, "__libc_malloc");

	return own && own == entry_of(modules, module, "malloc");
}

static bool has_room(const struct watched *process, unsigned index)
{
	return pieces_needed(&process->target[index]) + SLOTS_LOOKING <= pieces_free(process);
}

int heap_entered_begin(struct watched *process, unsigned index, struct symbol_modules *modules,
		       char error[SYMBOL_ERROR_MAX])
{
	static const char *const names[HEAP_ENTRIES] = {"malloc", "calloc", "realloc"};
	const char *module = is_glibc(modules, C_LIBRARY) ? C_LIBRARY : NULL;

	if (!module && !is_glibc(modules, NULL)) {
		snprintf(error, SYMBOL_ERROR_MAX,
			 "the program has no malloc() of glibc's, as far as its symbols tell: "
			 "its blocks can be watched from a start under trapline only");
		return -EINVAL;
	}
	if (!has_room(process, index)) {
		snprintf(error, SYMBOL_ERROR_MAX,
			 "of a block in a program that runs already 16 aligned bytes can be "
			 "watched (EXPR:LEN), less beside other expressions: the other hardware "
			 "watchpoints find it");
		return -EINVAL;
	}
	for (unsigned i = 0; i < HEAP_ENTRIES; i++)
		process->heap.entry[i] = entry_of(modules, module, names[i]);
	return 0;
}

/* How many bytes a call of the allocator asks for, which depends on the function that it enters; 0:
 * none. */
static uint64_t asked(const struct heap_entered *heap, const struct tl_access *access)
{
	const uint64_t *general = access->registers->general;
	uint64_t product;

	if (access->pc == heap->entry[0])
		return general[ARGUMENT_1];
	if (access->pc == heap->entry[1])
		return __builtin_mul_overflow(general[ARGUMENT_1], general[ARGUMENT_2], &product)
			       ? 0
			       : product;
	return access->pc == heap->entry[2] ? general[ARGUMENT_2] : 0;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void ask(struct watch *watch, struct watched *process)
{
	struct heap_entered *heap = &process->heap;

	for (unsigned i = 1; i <= watch->options.expressions; i++) {
		unsigned index = (heap->wanted + i) % watch->options.expressions;

		if (!heap_is_wanted(process, index))
			continue;
		heap->wanted = index;
		/* Other expressions may have taken slots since this one was found to have room. */
		if (!has_room(process, index))
			watch->wanted[index].full = true;
		else if (place(watch, process, HEAP_FUNCTION, process->target[index].code[0]))
			enter(process, HEAP_ASKING, TURN);
		return;
	}
}

/* FUNCTION was called. Its own slot is freed last, and is there for the return of the allocator's
 * call. */
static void at_function(struct watch *watch, struct watched *process)
{
	if (process->heap.phase != HEAP_ASKING)
		return;
	for (unsigned i = 0; i < HEAP_ENTRIES; i++)
		place(watch, process, HEAP_ENTRY, process->heap.entry[i]);
	drop(watch, process, HEAP_FUNCTION);
	process->heap.calls = 0;
	enter(process, HEAP_CALLED, WINDOW);
}

/* Does the stack of this call lead through FUNCTION? Addresses decide, not names: FUNCTION has code
 * of its own, or its breakpoint would not have been hit. Frames that were guessed do not count,
 * since they may belong to a call that is over. */
static bool is_from_function(struct watch *watch, const struct watched *process,
			     const struct trace *trace)
{
	const struct symbol_target *target = &process->target[process->heap.wanted];
	struct space *space = control_space(watch->control, process->pid);
	struct symbol_stack_frame frames[STACK_FRAMES];
	size_t count = space ? complete_stack(space, trace->access, frames, STACK_FRAMES) : 0;

	for (size_t i = 1; i < count && !frames[i].guessed; i++)
		if (frames[i].pc >= target->code[0] && frames[i].pc <= target->code_end)
			return true;
	return false;
}

static void at_entry(struct watch *watch, struct watched *process, const struct trace *trace)
{
	struct heap_entered *heap = &process->heap;
	struct space *space = control_space(watch->control, process->pid);
	uint64_t stack = trace->access->registers->general[STACK_POINTER], back;

	if (heap->phase != HEAP_CALLED)
		return;
	if (asked(heap, trace->access) != process->target[heap->wanted].block_size ||
	    !is_from_function(watch, process, trace) || !space ||
	    space_read(space, stack, &back, sizeof(back)) != (ssize_t)sizeof(back)) {
		if (++heap->calls == CALLS_MOST)
			rest(watch, process, PAUSE);
		return;
	}
	heap->maker = trace->access->identity;
	heap->frame = stack + WORD;
	if (!place(watch, process, HEAP_RETURN, back) || !lasting_holds(watch->program)) {
		rest(watch, process, PAUSE);
		return;
	}
	drop(watch, process, HEAP_ENTRY);
	enter(process, HEAP_MAKING, WINDOW);
}

/* Does the word before the block say what glibc notes of a block for which so many bytes were
 * asked? Another allocator may have taken glibc's names, and its free() need not read that word. */
static bool is_of_glibc(struct space *space, uint64_t block, uint64_t asked)
{
	uint64_t head, size;

	if (!space || !block || block % MALLOC_CHUNK_ALIGNMENT ||
	    space_read(space, block - WORD, &head, sizeof(head)) != (ssize_t)sizeof(head))
		return false;
	size = head & ~MALLOC_CHUNK_FLAGS;
	return head & MALLOC_CHUNK_MAPPED ? size % PAGE == 0 && size > asked
					  : malloc_chunk_suits(size, asked);
}

static bool watch_block(struct watch *watch, struct watched *process, uint64_t block)
{
	struct heap_entered *heap = &process->heap;
	const struct symbol_target *target = &process->target[heap->wanted];

	if (!is_of_glibc(control_space(watch->control, process->pid), block, target->block_size))
		return false;
	heap->block = block;
	heap->dropped = lasting_dropped(watch->program, process->pid);
	if (!place(watch, process, HEAP_HEADER, block - WORD))
		return false;
	if (!sees_end(watch, process)) {
		watch->wanted[heap->wanted].endless = true;
		return false;
	}
	return !watch_arm_data(watch, process, heap->wanted, block + (uint64_t)target->offset[0],
			       block) &&
	       lasting_holds(watch->program);
}

static void at_return(struct watch *watch, struct watched *process, const struct trace *trace)
{
	struct heap_entered *heap = &process->heap;
	const struct tl_access *access = trace->access;

	if (heap->phase != HEAP_MAKING || access->identity != heap->maker ||
	    access->registers->general[STACK_POINTER] != heap->frame)
		return;
	if (!watch_block(watch, process, access->registers->general[RESULT])) {
		rest(watch, process, PAUSE);
		return;
	}
	watch->wanted[heap->wanted].blocks++;
	drop(watch, process, HEAP_RETURN);
	enter(process, HEAP_LIVE, 0);
}

void heap_entered_hit(struct watch *watch, struct watched *process, const struct piece *piece,
		      const struct trace *trace)
{
	enum heap_role role = piece->role;

	if (role == HEAP_HEADER)
		rest(watch, process, 0);
	else if (trace->late || !trace->access->registers)
		return;
	else if (role == HEAP_FUNCTION)
		at_function(watch, process);
	else if (role == HEAP_ENTRY)
		at_entry(watch, process, trace);
	else
		at_return(watch, process, trace);
}

bool heap_entered_is_live(struct watch *watch, struct watched *process)
{
	if (sees_end(watch, process) &&
	    lasting_dropped(watch->program, process->pid) == process->heap.dropped)
		return true;
	rest(watch, process, 0);
	return false;
}

void heap_entered_tick(struct watch *watch, struct watched *process)
{
	const struct heap_entered *heap = &process->heap;
	bool idle = heap->phase == HEAP_IDLE;

	/* The module with FUNCTION may have been unloaded. */
	if (!idle && !heap_is_wanted(process, heap->wanted))
		rest(watch, process, 0);
	else if (heap->phase == HEAP_LIVE)
		(void)heap_entered_is_live(watch, process);
	else if (clock_now() < heap->until)
		return;
	else if (idle)
		ask(watch, process);
	else
		rest(watch, process, heap->phase == HEAP_ASKING ? 0 : PAUSE);
}
