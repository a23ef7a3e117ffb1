/* SPDX-License-Identifier: Apache-2.0 */
/* From expressions to hardware slots, again and again while modules come and pointers move. */
#include "watch/private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SLOT_BYTES 8u

/* The largest naturally aligned piece at `address` within `length` bytes. */
static unsigned piece_length(uint64_t address, uint64_t length)
{
	unsigned piece = SLOT_BYTES;

	while (address % piece || piece > length)
		piece /= 2;
	return piece;
}

static int free_piece(const struct watched *process)
{
	for (unsigned i = 0; i < AREA_SLOTS; i++)
		if (!process->piece[i].armed)
			return (int)i;
	return -ENOSPC;
}

static unsigned slot_access(unsigned access)
{
	if (access & SYMBOL_ACCESS_EXECUTE)
		return TL_EXEC;
	return access & SYMBOL_ACCESS_READ ? TL_READ | TL_WRITE : TL_WRITE;
}

static int arm(struct watch *watch, struct watched *process, unsigned wanted, uint64_t address,
	       unsigned length)
{
	struct space *space = control_space(watch->control, process->pid);
	unsigned access = slot_access(watch->wanted[wanted].access);
	struct tl_watch request = {.size = sizeof(request),
				   .pid = process->pid,
				   .address = address,
				   .length = length,
				   .access = access};
	int index = free_piece(process), err;
	struct piece *piece;

	if (index < 0 || !space)
		return index < 0 ? index : -ESRCH;
	/* Actions happen while the thread is still at its access. */
	request.hold = watch->options.action >= WATCH_STOP ? 1000000000u : 0;
	piece = &process->piece[index];
	*piece = (struct piece){
		.wanted = wanted, .armed = true, .address = address, .length = length};
	if (!(access & TL_EXEC))
		piece->value_known = space_read(space, address, &piece->value, length) ==
				     (ssize_t)length;
	err = control_arm(watch->control, process->pid, (unsigned)index, &request);
	piece->armed = !err;
	return err;
}

static void disarm(struct watch *watch, struct watched *process, unsigned wanted)
{
	for (unsigned i = 0; i < AREA_SLOTS; i++) {
		struct piece *piece = &process->piece[i];

		if (!piece->armed || piece->wanted != wanted)
			continue;
		watch->wanted[wanted].kernel += control_slot_count(watch->control, process->pid, i);
		control_disarm(watch->control, process->pid, i);
		piece->armed = false;
	}
}

static int arm_data(struct watch *watch, struct watched *process, unsigned wanted, uint64_t address)
{
	uint64_t left = process->target[wanted].length;

	while (left) {
		unsigned length = piece_length(address, left);
		int err = arm(watch, process, wanted, address, length);

		if (err)
			return err;
		address += length;
		left -= length;
	}
	return 0;
}

static int arm_code(struct watch *watch, struct watched *process, unsigned wanted)
{
	const struct symbol_target *target = &process->target[wanted];
	int err = 0;

	for (unsigned i = 0; i < target->code_count && !err; i++)
		err = arm(watch, process, wanted, target->code[i], 1);
	return err;
}

static int arm_target(struct watch *watch, struct watched *process, unsigned wanted,
		      struct symbol_modules *modules)
{
	const struct symbol_target *target = &process->target[wanted];
	uint64_t address;
	int err;

	if (target->kind == SYMBOL_TARGET_CODE_PLACES)
		return arm_code(watch, process, wanted);
	err = symbol_target_evaluate(modules, target, symbol_modules_memory(modules), 0, &address,
				     NULL);
	return err ? err : arm_data(watch, process, wanted, address);
}

static bool type_is_signed(const char *type)
{
	static const char *const names[] = {"int", "long", "short", "char", "signed", "ssize_t"};

	if (!type || strstr(type, "unsigned") || strchr(type, '*'))
		return false;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(type, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void describe(struct wanted *wanted, const struct symbol_target *target)
{
	wanted->access = target->access;
	wanted->is_signed = type_is_signed(target->type);
	wanted->is_pointer = target->type && strchr(target->type, '*');
}

/* What this command does not do, in a sentence; NULL: nothing. */
static const char *unsupported(const struct symbol_target *target)
{
	if (target->kind == SYMBOL_TARGET_HEAP_BLOCKS)
		return "blocks of the heap cannot be watched from outside the program yet; name a "
		       "variable or an address";
	if (target->tls)
		return "it is thread-local: every thread has its own; give the address of one "
		       "(0xADDR:LEN)";
	return NULL;
}

static void explain(const struct wanted *wanted, const struct symbol_target *target, int err,
		    const char *error)
{
	if (err == -ENOSPC)
		fprintf(stderr,
			"trapline: %s needs more hardware slots than are left of %d (%llu bytes, "
			"%u places; 8 aligned bytes or one place each). Larger regions need "
			"protection keys, which work inside a program only (tl_event_open)\n",
			wanted->text, AREA_SLOTS, (unsigned long long)target->length,
			target->code_count);
	else if (*error)
		fprintf(stderr, "trapline: %s: %s\n", wanted->text, error);
	else
		fprintf(stderr, "trapline: %s cannot be watched: %s\n", wanted->text,
			strerror(-err));
}

/* 0: watched; -EAGAIN: may become so; else not. */
static int resolve_one(struct watch *watch, struct watched *process, unsigned index,
		       struct symbol_modules *modules, char error[SYMBOL_ERROR_MAX])
{
	struct wanted *wanted = &watch->wanted[index];
	struct symbol_target *target = &process->target[index];
	int err = symbol_target_resolve(modules, &wanted->expression, target, error);

	if (err)
		return err;
	if (unsupported(target)) {
		snprintf(error, SYMBOL_ERROR_MAX, "%s", unsupported(target));
		return -EINVAL;
	}
	describe(wanted, target);
	err = arm_target(watch, process, index, modules);
	if (err)
		disarm(watch, process, index);
	if (err == -EFAULT) {
		snprintf(error, SYMBOL_ERROR_MAX, "a pointer on the way is NULL");
		return -EAGAIN;
	}
	return err;
}

/* May an expression that means nothing now mean something later? A pointer may be set, and a
 * module that the expression names may be loaded; any other name only if the user said so. */
static bool may_wait(const struct watch *watch, const struct wanted *wanted,
		     const struct symbol_target *target)
{
	return watch->options.later || target->link_count ||
	       (wanted->expression.qualifier && strstr(wanted->expression.qualifier, ".so"));
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
		if (!err || (err == -EAGAIN && may_wait(watch, wanted, &process->target[i])) ||
		    (err == -ENOENT && watch->options.later))
			continue;
		process->given_up[i] = true;
		/* Children may run other programs, where the names are not. */
		if (!first && (err == -EAGAIN || err == -ENOENT))
			continue;
		explain(wanted, &process->target[i], err, error);
		if (first)
			return -EINVAL;
	}
	return 0;
}

static void follow_pointers(struct watch *watch, struct watched *process, unsigned index,
			    struct symbol_modules *modules)
{
	const struct symbol_target *target = &process->target[index];
	uint64_t address;
	int err = symbol_target_evaluate(modules, target, symbol_modules_memory(modules), 0,
					 &address, NULL);

	for (unsigned i = 0; i < AREA_SLOTS && !err; i++)
		if (process->piece[i].armed && process->piece[i].wanted == index &&
		    process->piece[i].address <= address &&
		    address < process->piece[i].address + process->piece[i].length)
			return;
	disarm(watch, process, index);
	process->resolved[index] = !err && !arm_data(watch, process, index, address);
}

void watch_look_again(struct watch *watch, struct watched *process)
{
	struct space *space = control_space(watch->control, process->pid);
	bool waiting = false;

	if (!space)
		return;
	for (unsigned i = 0; i < watch->options.expressions; i++) {
		if (!process->resolved[i] && !process->given_up[i])
			waiting = true;
		else if (watch->options.repoint && process->resolved[i] &&
			 process->target[i].link_count)
			follow_pointers(watch, process, i, space_modules(space));
	}
	if (!waiting)
		return;
	symbol_modules_refresh(space_modules(space));
	watch_resolve(watch, process, false);
}
