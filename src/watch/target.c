/* SPDX-License-Identifier: Apache-2.0 */
/* From expressions to hardware slots, done again whenever modules are loaded or pointers change. */
#include "watch/target.h"

#include "base/clock.h"
#include "control/control.h"
#include "lasting/regions.h"
#include "lasting/threads.h"
#include "module/modules.h"
#include "observe/observe.h"
#include "record/utf8.h"
#include "symbol/target.h"
#include "watch/copies.h"
#include "watch/data.h"
#include "watch/heap.h"
#include "watch/heap_entered.h"
#include "watch/linker.h"
#include "watch/piece.h"
#include "watch/region.h"
#include "watch/scouts.h"
#include "watch/state.h"
#include "watch/wanted.h"
#include "watch/watched.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <trapline/error.h>

static int arm_code(struct watch *watch, struct watched *process, unsigned wanted)
{
	const struct symbol_target *target = &process->target[wanted];
	int err = 0;

	for (unsigned i = 0; i < target->code_count && !err; i++) {
		struct piece wish = {.wanted = wanted,
				     .start = target->code[i],
				     .address = target->code[i],
				     .length = 1};

		err = watch_arm_wish(watch, process, &wish);
	}
	return err;
}

static int arm_target(struct watch *watch, struct watched *process, unsigned wanted,
		      struct symbol_modules *modules, char error[SYMBOL_ERROR_MAX])
{
	const struct symbol_target *target = &process->target[wanted];
	uint64_t address;
	int err;

	if (target->kind == SYMBOL_TARGET_CODE_PLACES)
		return arm_code(watch, process, wanted);
	if (target->kind == SYMBOL_TARGET_HEAP_BLOCKS && watch->options.entered)
		return heap_entered_begin(process, wanted, modules, error);
	if (target->kind == SYMBOL_TARGET_HEAP_BLOCKS)
		return heap_begin(watch, process, wanted);
	if (target->tls)
		return copies_begin(watch, process, wanted);
	err = symbol_target_evaluate(modules, target, symbol_modules_memory(modules), 0, &address,
				     NULL);
	return err ? err : watch_arm_data(watch, process, wanted, address, 0);
}

static void describe(struct wanted *wanted, const struct symbol_target *target)
{
	wanted->access = target->access;
	wanted->is_signed = target->is_signed;
	wanted->is_pointer = target->is_pointer;
}

static const char *why_no_region(const struct watch *watch, const struct watched *process)
{
	if (!watch->options.regions)
		return ", and a region needs a processor with protection keys and a program that "
		       "trapline starts, without --gdb";
	if (!lasting_opens_regions(watch->program, process->pid))
		return ", and a region needs a program that a library can be loaded into, which is "
		       "not one that is statically linked or for another C library";
	return "";
}

static void explain_room(const struct watch *watch, const struct watched *process,
			 const struct wanted *wanted, const struct symbol_target *target)
{
	char what[64];

	if (target->kind == SYMBOL_TARGET_CODE_PLACES)
		snprintf(what, sizeof(what), "%u places in the code", target->code_count);
	else
		snprintf(what, sizeof(what), "%llu bytes", (unsigned long long)target->length);
	utf8_fprintf(
		stderr,
		"trapline: %s is %s, for which hardware is missing: of the %d watchpoints, each "
		"for 8 aligned bytes or one place, %u are left%s; name a part that fits "
		"(EXPR:LEN) or less beside it\n",
		wanted->text, what, AREA_SLOTS, pieces_free(process),
		why_no_region(watch, process));
}

static bool is_denial(int err)
{
	return err == -EPERM || err == -EACCES || err == -ENOSYS;
}

static void explain(const struct watch *watch, const struct watched *process,
		    const struct wanted *wanted, const struct symbol_target *target, int err,
		    const char *error)
{
	if (err == -ENOSPC) {
		explain_room(watch, process, wanted, target);
	} else if (*error) {
		utf8_fprintf(stderr, "trapline: %s: %s%s\n", wanted->text, error,
			     err == -EAGAIN || err == -ENOENT
				     ? "; with --later it may come with what is loaded later"
				     : "");
	} else {
		utf8_fprintf(stderr, "trapline: %s cannot be watched: %s\n", wanted->text,
			     is_denial(err) ? tl_explain(err) : strerror(-err));
	}
}

static bool is_region(const struct watched *process, unsigned index)
{
	for (unsigned i = AREA_SLOTS; i < AREA_WATCHES; i++)
		if (process->piece[i].armed && process->piece[i].wanted == index)
			return true;
	return false;
}

static void say_pieces(const struct watch *watch, const struct watched *process, unsigned index)
{
	const struct symbol_target *target = &process->target[index];
	unsigned count = pieces_needed(target);

	if (is_region(process, index))
		fprintf(watch->options.lines,
			"trapline: %s: its %llu bytes are watched as a region, by a protection "
			"key\n",
			watch->wanted[index].text, (unsigned long long)target->length);
	else if (count > 1 && count <= AREA_SLOTS && target->kind != SYMBOL_TARGET_CODE_PLACES)
		fprintf(watch->options.lines,
			"trapline: %s: its %llu bytes take %u of the %d hardware watchpoints\n",
			watch->wanted[index].text, (unsigned long long)target->length, count,
			AREA_SLOTS);
	fflush(watch->options.lines);
}

/* Prints a note of the resolver, such as what else the name could have meant. */
static void note(const struct watch *watch, const struct wanted *wanted, const char *text)
{
	fprintf(watch->options.lines, "trapline: %s: ", wanted->text);
	utf8_print(watch->options.lines, text);
	fputc('\n', watch->options.lines);
	fflush(watch->options.lines);
}

/* 0: it is watched; -EAGAIN: it may become watchable later; another error: it will not. */
static int resolve_one(struct watch *watch, struct watched *process, unsigned index,
		       struct symbol_modules *modules, char error[SYMBOL_ERROR_MAX])
{
	struct wanted *wanted = &watch->wanted[index];
	struct symbol_target *target = &process->target[index];
	int err = symbol_target_resolve(modules, &wanted->expression, target, error);

	if (err)
		return err;
	if (process->begun && target->module && !linker_has(process, modules, target->module))
		return -EAGAIN;
	if (watch->options.entered && target->tls) {
		snprintf(error, SYMBOL_ERROR_MAX,
			 "thread-local variables and blocks of the heap take two commands in a "
			 "program that runs already");
		return -EINVAL;
	}
	describe(wanted, target);
	scouts_give_way(watch, process, pieces_needed(target));
	err = arm_target(watch, process, index, modules, error);
	if (err)
		watch_disarm_wanted(watch, process, index);
	if (err == -EFAULT) {
		snprintf(error, SYMBOL_ERROR_MAX, "a pointer on the way is NULL");
		return -EAGAIN;
	}
	return err;
}

/* May an expression that means nothing now mean something later? A pointer on its way may be set,
 * or a module that the expression names may be loaded; any other name only if the user said so
 * (options.later). */
static bool may_wait(const struct watch *watch, const struct wanted *wanted,
		     const struct symbol_target *target)
{
	return watch->options.later || target->link_count ||
	       (wanted->expression.qualifier && strstr(wanted->expression.qualifier, ".so"));
}

/* Was the process about to become another program when names were looked up in it? Only a process
 * that we attached to can be, and then a missing name says nothing. */
static bool has_changed(const struct watch *watch)
{
	return watch->options.outside && !watch->options.entered &&
	       !observe_is_itself(watch->program);
}

int watch_resolve(struct watch *watch, struct watched *process, bool first)
{
	struct space *space = control_space(watch->control, process->pid);

	if (!space)
		return 0;
	for (unsigned i = 0; i < watch->options.expressions; i++) {
		struct wanted *wanted = &watch->wanted[i];
		char error[SYMBOL_ERROR_MAX] = "";
		int err;

		if (process->resolved[i] || process->given_up[i])
			continue;
		err = resolve_one(watch, process, i, space_modules(space), error);
		process->resolved[i] = !err;
		if (!err && first)
			say_pieces(watch, process, i);
		if (!err && first && *error)
			note(watch, wanted, error);
		if (!err)
			continue;
		if ((err == -EAGAIN && may_wait(watch, wanted, &process->target[i])) ||
		    (err == -ENOENT && watch->options.later)) {
			/* A library that is loaded later may have the name as a thread-local
			 * variable. Its copies can only be watched if each thread tells when it
			 * begins, so threads are told to do that now. */
			lasting_announce_threads(watch->program, process->pid);
			continue;
		}
		process->given_up[i] = true;
		/* Nothing is said of later processes: they may run other programs, which lack the
		 * names, and a process that executes a program in between announces itself as a new
		 * one. */
		if (!first && (err == -EAGAIN || err == -ENOENT || err == -ESRCH))
			continue;
		watch->changed = first && has_changed(watch);
		if (!watch->changed)
			explain(watch, process, wanted, &process->target[i], err, error);
		else
			utf8_fprintf(
				stderr,
				"trapline: process %d was ending or executing another program at "
				"that moment: try again\n",
				(int)process->pid);
		if (first)
			return -EINVAL;
	}
	return 0;
}

/* Resolves what could not be resolved before. What comes with a module that was loaded later may go
 * away with it, so that is marked. */
static void resolve_later(struct watch *watch, struct watched *process)
{
	bool before[WATCH_EXPRESSIONS];

	memcpy(before, process->resolved, sizeof(before));
	watch_resolve(watch, process, false);
	for (unsigned i = 0; i < watch->options.expressions; i++)
		if (process->resolved[i] && !before[i])
			process->may_unload[i] = process->target[i].module != NULL;
}

static void follow_pointers(struct watch *watch, struct watched *process, unsigned index,
			    struct symbol_modules *modules)
{
	const struct symbol_target *target = &process->target[index];
	uint64_t address;
	int err = symbol_target_evaluate(modules, target, symbol_modules_memory(modules), 0,
					 &address, NULL);

	for (unsigned i = 0; i < AREA_WATCHES && !err; i++)
		if (process->piece[i].armed && !process->piece[i].scout &&
		    process->piece[i].wanted == index && process->piece[i].start == address)
			return;
	watch_disarm_wanted(watch, process, index);
	process->resolved[index] = !err && !watch_arm_data(watch, process, index, address, 0);
}

static bool is_loaded(const struct symbol_modules *modules, const struct symbol_module *module)
{
	const struct symbol_module *other;

	for (size_t i = 0; (other = symbol_modules_at(modules, i)) && !other->gone; i++)
		if (other == module)
			return true;
	return false;
}

/* Disarms what lay in an unloaded module: something else may be mapped there soon, and the module
 * may come back elsewhere. */
static void forget_unloaded(struct watch *watch, struct watched *process,
			    struct symbol_modules *modules)
{
	bool refreshed = false;

	for (unsigned i = 0; i < watch->options.expressions; i++) {
		const struct symbol_target *target = &process->target[i];

		if (!process->resolved[i] || !process->may_unload[i] || target->tls)
			continue;
		if (!refreshed)
			symbol_modules_refresh(modules);
		refreshed = true;
		if (is_loaded(modules, target->module))
			continue;
		watch_disarm_wanted(watch, process, i);
		process->resolved[i] = false;
	}
}

/* Looks at everything that may have changed. `now`: a scout has seen a change. */
static void look_again(struct watch *watch, struct watched *process, bool now)
{
	struct space *space = control_space(watch->control, process->pid);
	bool waiting = false;

	if (!space)
		return;
	now |= symbol_modules_may_refresh(space_modules(space), 0);
	if (now)
		forget_unloaded(watch, process, space_modules(space));
	for (unsigned i = 0; i < watch->options.expressions; i++) {
		if (!process->resolved[i] && !process->given_up[i])
			waiting = true;
		else if (watch->options.repoint && process->resolved[i] &&
			 process->target[i].link_count && !process->target[i].tls)
			follow_pointers(watch, process, i, space_modules(space));
	}
	copies_look_again(watch, process);
	region_report(watch, process);
	if (waiting && now) {
		symbol_modules_refresh(space_modules(space));
		resolve_later(watch, process);
	}
}

void watch_scout_tripped(struct watch *watch, struct watched *process)
{
	look_again(watch, process, true);
	scouts_place(watch, process);
}

/* Even with scouts out this looks now and then: scouts see accesses by the process's own threads
 * alone, and nothing while their slot is missing. */
void watch_look_again(struct watch *watch, struct watched *process)
{
	uint64_t now = clock_now();

	if (process->scouted && now < process->next_look) {
		copies_look_again(watch, process);
		return;
	}
	process->next_look = now + WATCH_LOOK_NS;
	look_again(watch, process, false);
	scouts_place(watch, process);
}
