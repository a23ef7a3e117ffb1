/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scouts: hardware slots left over that watch for the moment at which an expression comes to mean
 * something else, so that nothing in between is missed. One is on the function that the dynamic
 * linker calls when the modules have changed; others are on the pointers that an expression
 * follows. The thread that trips one waits until everything is looked at again and armed.
 *
 * Whoever wants a slot takes a scout's. Where one is missing, looking again from time to time is
 * all there is.
 */
#include "watch/scouts.h"

#include "control/control.h"
#include "lasting/lasting.h"
#include "module/modules.h"
#include "symbol/target.h"
#include "watch/linker.h"
#include "watch/piece.h"
#include "watch/state.h"
#include "watch/watched.h"

#include <string.h>

#define HOLD_NS 1000000000u /* ns, at most: the hold ends as soon as everything has been armed */

struct posts {
	uint64_t address[AREA_SLOTS];
	unsigned access[AREA_SLOTS];
	unsigned count;
	bool complete;
};

static void add_post(struct posts *posts, uint64_t address, unsigned access)
{
	for (unsigned i = 0; i < posts->count; i++)
		if (posts->address[i] == address)
			return;
	if (posts->count == AREA_SLOTS || (!(access & TL_EXEC) && address % sizeof(uint64_t))) {
		posts->complete = false;
		return;
	}
	posts->address[posts->count] = address;
	posts->access[posts->count++] = access;
}

static bool is_waiting(const struct watched *process, unsigned index)
{
	return !process->resolved[index] && !process->given_up[index];
}

/* Adds the pointers that an expression follows. Those of thread-local variables are left out, since
 * each thread has its own. */
static void add_pointers(struct watch *watch, struct watched *process, unsigned index,
			 struct symbol_modules *modules, struct posts *posts)
{
	const struct symbol_target *target = &process->target[index];
	uint64_t pointers[SYMBOL_TARGET_LINKS] = {0}, address;

	if (!target->link_count || target->tls ||
	    (!is_waiting(process, index) && !watch->options.repoint))
		return;
	symbol_target_evaluate(modules, target, symbol_modules_memory(modules), 0, &address,
			       pointers);
	for (unsigned i = 0; i < target->link_count; i++)
		if (pointers[i])
			add_post(posts, pointers[i], TL_WRITE);
}

static struct posts wanted_posts(struct watch *watch, struct watched *process,
				 struct symbol_modules *modules)
{
	struct posts posts = {.complete = true};
	bool modules_wanted = false;

	for (unsigned i = 0; i < watch->options.expressions; i++) {
		/* An expression with links has been found, so what it waits for is a pointer, not a
		 * module. */
		modules_wanted |= is_waiting(process, i) && !process->target[i].link_count;
		modules_wanted |= process->resolved[i] && process->may_unload[i];
		add_pointers(watch, process, i, modules, &posts);
	}
	if (!modules_wanted)
		return posts;
	if (linker_call(process, modules))
		add_post(&posts, process->linker_call, TL_EXEC);
	else
		posts.complete = false;
	return posts;
}

static void dismiss(struct watch *watch, struct watched *process, unsigned index)
{
	lasting_disarm(watch->program, process->pid, index);
	process->piece[index].armed = process->piece[index].scout = false;
}

static bool is_posted(const struct posts *posts, uint64_t address)
{
	for (unsigned i = 0; i < posts->count; i++)
		if (posts->address[i] == address)
			return true;
	return false;
}

static bool has_scout(const struct watched *process, uint64_t address)
{
	for (unsigned i = 0; i < AREA_SLOTS; i++)
		if (process->piece[i].armed && process->piece[i].scout &&
		    process->piece[i].address == address)
			return true;
	return false;
}

static bool send_out(struct watch *watch, struct watched *process, uint64_t address,
		     unsigned access)
{
	struct lasting_judging judging = {.unfiltered = true};
	struct tl_watch request = {.size = sizeof(request),
				   .pid = process->pid,
				   .address = address,
				   .length = access & TL_EXEC ? 1 : sizeof(uint64_t),
				   .access = access,
				   .hold = HOLD_NS};
	int index = piece_free(process);
	struct piece *piece;

	if (index < 0)
		return false;
	piece = &process->piece[index];
	*piece = (struct piece){.wanted = WATCH_EXPRESSIONS,
				.scout = true,
				.armed = true,
				.address = address,
				.length = request.length};
	lasting_judge(watch->program, process->pid, (unsigned)index, &judging);
	piece->armed = !lasting_arm(watch->program, process->pid, (unsigned)index, &request);
	return piece->armed;
}

/* New scouts are armed before old ones are dismissed, because a thread that is held at a dismissed
 * one goes on at once. */
void scouts_place(struct watch *watch, struct watched *process)
{
	struct space *space = control_space(watch->control, process->pid);
	struct posts posts;

	if (!space || watch->options.outside || process->silent)
		return;
	posts = wanted_posts(watch, process, space_modules(space));
	process->scouted = posts.complete;
	for (unsigned i = 0; i < posts.count; i++)
		if (!has_scout(process, posts.address[i]) &&
		    !send_out(watch, process, posts.address[i], posts.access[i]))
			process->scouted = false;
	for (unsigned i = 0; i < AREA_SLOTS; i++)
		if (process->piece[i].armed && process->piece[i].scout &&
		    !is_posted(&posts, process->piece[i].address))
			dismiss(watch, process, i);
	for (unsigned i = 0; i < posts.count && !process->scouted; i++)
		if (!has_scout(process, posts.address[i]))
			send_out(watch, process, posts.address[i], posts.access[i]);
}

void scouts_give_way(struct watch *watch, struct watched *process, unsigned needed)
{
	for (unsigned i = 0; i < AREA_SLOTS && pieces_free(process) < needed; i++)
		if (process->piece[i].armed && process->piece[i].scout && !process->piece[i].role)
			dismiss(watch, process, i);
}
