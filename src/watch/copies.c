/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread-local variables: each thread's own copy, watched in that thread alone. Threads tell when
 * they begin and wait until theirs is armed. A copy that is not there yet (a library's block is
 * made at its first use, a pointer on the way may be NULL) is looked for at each tick.
 */
#include "watch/copies.h"

#include "control/control.h"
#include "lasting/lasting.h"
#include "lasting/threads.h"
#include "module/modules.h"
#include "notice/notice.h"
#include "symbol/target.h"
#include "watch/piece.h"
#include "watch/state.h"
#include "watch/watched.h"

#include <errno.h>
#include <stdlib.h>

#define THREADS_FEW 16

static struct copy *find(const struct watched *process, unsigned slot, pid_t tid)
{
	struct copy *copy = process->copies;

	while (copy && (copy->slot != slot || copy->tid != tid))
		copy = copy->next;
	return copy;
}

/* A thread whose filters permit its handlers no system calls cannot tell its id: its hit is known
 * by the address of its copy alone. */
static struct copy *find_by_address(const struct watched *process, unsigned slot, uint64_t address)
{
	struct copy *copy = process->copies;

	while (copy && (copy->slot != slot || copy->piece.address != address))
		copy = copy->next;
	return copy;
}

struct piece *copies_piece(struct watched *process, const struct trace *trace)
{
	struct copy *copy = find(process, trace->slot, trace->access->tid);

	if (!copy)
		copy = find_by_address(process, trace->slot, trace->address);
	return copy ? &copy->piece : NULL;
}

static void arm_copy(struct watch *watch, struct watched *process, unsigned slot, pid_t tid,
		     uint64_t address)
{
	struct space *space = control_space(watch->control, process->pid);
	const struct piece *shared = &process->piece[slot];
	struct copy *copy = find(process, slot, tid);

	if (copy && copy->piece.armed)
		return;
	if (!copy) {
		copy = calloc(1, sizeof(*copy));
		if (!copy)
			return;
		copy->next = process->copies;
		process->copies = copy;
	}
	copy->slot = slot;
	copy->tid = tid;
	copy->piece = *shared;
	copy->piece.start = address;
	copy->piece.address = address + shared->address;
	copy->piece.value_known = space &&
				  space_read(space, copy->piece.address, &copy->piece.value,
					     shared->length) == (ssize_t)shared->length;
	copy->piece.armed = true;
	if (!process->silent &&
	    lasting_arm_thread(watch->program, process->pid, slot, tid, copy->piece.address))
		watch->wanted[shared->wanted].uncovered++;
}

/* False when the thread has no copy yet. */
static bool arm_thread(struct watch *watch, struct watched *process, unsigned index,
		       const struct thread *thread)
{
	struct space *space = control_space(watch->control, process->pid);
	struct symbol_modules *modules = space ? space_modules(space) : NULL;
	uint64_t address;

	if (!modules ||
	    symbol_target_evaluate(modules, &process->target[index], symbol_modules_memory(modules),
				   thread->pointer, &address, NULL))
		return false;
	for (unsigned i = 0; i < AREA_SLOTS; i++)
		if (process->piece[i].armed && process->piece[i].wanted == index)
			arm_copy(watch, process, i, thread->tid, address);
	return true;
}

static bool is_local(const struct watched *process, unsigned index)
{
	return process->resolved[index] && process->target[index].tls;
}

static void look_at(struct watch *watch, struct watched *process, struct thread *thread)
{
	thread->waits = false;
	for (unsigned i = 0; i < watch->options.expressions; i++)
		if (is_local(process, i) && !arm_thread(watch, process, i, thread))
			thread->waits = true;
}

void copies_look_again(struct watch *watch, struct watched *process)
{
	for (struct thread *thread = process->threads; thread; thread = thread->next)
		if (thread->waits)
			look_at(watch, process, thread);
}

static void add_thread(struct watched *process, pid_t tid, uint64_t pointer)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return;
	*thread = (struct thread){
		.tid = tid, .pointer = pointer, .waits = true, .next = process->threads};
	process->threads = thread;
	process->thread_count++;
}

static void forget_copies(struct watched *process, pid_t tid)
{
	for (struct copy **at = &process->copies; *at;) {
		struct copy *copy = *at;

		if (copy->tid != tid) {
			at = &copy->next;
			continue;
		}
		*at = copy->next;
		free(copy);
	}
}

/* Forgets thread `tid`, whose id is about to be used again. Other threads that have ended are
 * looked for once there are twice as many as were left the last time. */
static void forget_threads(struct watched *process, pid_t tid)
{
	bool all = process->thread_count >= process->thread_sweep;

	for (struct thread **at = &process->threads; *at;) {
		struct thread *thread = *at;

		if (thread->tid != tid &&
		    (!all || lasting_thread_lives(process->pid, thread->tid))) {
			at = &thread->next;
			continue;
		}
		forget_copies(process, thread->tid);
		*at = thread->next;
		free(thread);
		process->thread_count--;
	}
	if (all)
		process->thread_sweep = 2 * process->thread_count + THREADS_FEW;
}

void copies_notice(struct watch *watch, struct watched *process, const struct notice *notice)
{
	forget_threads(process, notice->from->tid);
	add_thread(process, notice->from->tid, notice->address);
	copies_look_again(watch, process);
}

/* Takes slots for the pieces of the variable: their `address` is the offset within it. */
static int reserve(struct watch *watch, struct watched *process, unsigned index)
{
	uint64_t length = process->target[index].length, offset = 0;

	if (pieces_needed(&process->target[index]) > pieces_free(process))
		return -ENOSPC;
	while (offset < length) {
		unsigned slot = (unsigned)piece_free(process);
		struct piece *piece = &process->piece[slot];
		int err;

		*piece = (struct piece){.wanted = index,
					.each_thread = true,
					.address = offset,
					.length = piece_length(offset, length - offset)};
		err = watch_arm_piece(watch, process, slot);
		if (err)
			return err;
		offset += piece->length;
	}
	return 0;
}

int copies_begin(struct watch *watch, struct watched *process, unsigned index)
{
	int err = reserve(watch, process, index);

	if (err)
		return err;
	lasting_announce_threads(watch->program, process->pid);
	for (struct thread *thread = process->threads; thread; thread = thread->next)
		thread->waits |= !arm_thread(watch, process, index, thread);
	return 0;
}

/* Takes a slot again that had been given back. */
void copies_resume(struct watch *watch, struct watched *process, unsigned slot)
{
	for (struct copy *copy = process->copies; copy; copy = copy->next)
		if (copy->slot == slot && copy->piece.armed &&
		    lasting_arm_thread(watch->program, process->pid, slot, copy->tid,
				       copy->piece.address) &&
		    lasting_thread_lives(process->pid, copy->tid))
			watch->wanted[copy->piece.wanted].uncovered++;
}

/* Called when a process begins, where only its first thread exists. */
void copies_open(struct watch *watch, struct watched *process)
{
	uint64_t pointer = lasting_thread_pointer(watch->program, process->pid);

	if (pointer)
		add_thread(process, process->pid, pointer);
}

void copies_close(struct watched *process)
{
	while (process->copies)
		forget_copies(process, process->copies->tid);
	while (process->threads) {
		struct thread *thread = process->threads;

		process->threads = thread->next;
		free(thread);
	}
}
