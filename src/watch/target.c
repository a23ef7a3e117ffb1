/* SPDX-License-Identifier: Apache-2.0 */
/* From expressions to hardware slots, again and again while modules come and pointers move. */
#include "record/utf8.h"
#include "watch/private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SLOT_BYTES 8u
#define LOOK_NS 1000000000u /* between looks where scouts are out */

/* The largest naturally aligned piece at `address` within `length` bytes. */
unsigned piece_length(uint64_t address, uint64_t length)
{
	unsigned piece = SLOT_BYTES;

	while (address % piece || piece > length)
		piece /= 2;
	return piece;
}

int piece_free(const struct watched *process)
{
	for (unsigned i = 0; i < AREA_SLOTS; i++)
		if (!process->piece[i].armed)
			return (int)i;
	return -ENOSPC;
}

unsigned pieces_free(const struct watched *process)
{
	unsigned count = 0;

	for (unsigned i = 0; i < AREA_SLOTS; i++)
		count += !process->piece[i].armed;
	return count;
}

unsigned pieces_needed(const struct symbol_target *target)
{
	uint64_t offset = 0;
	unsigned count = 0;

	if (target->kind == SYMBOL_TARGET_CODE_PLACES)
		return target->code_count;
	while (offset < target->length && count <= AREA_SLOTS) {
		uint64_t at = target->kind == SYMBOL_TARGET_HEAP_BLOCKS
				      ? (uint64_t)target->offset[0] + offset
				      : offset;

		offset += piece_length(at, target->length - offset);
		count++;
	}
	return count;
}

unsigned slot_access(unsigned access)
{
	if (access & SYMBOL_ACCESS_EXECUTE)
		return TL_EXEC;
	return access & SYMBOL_ACCESS_READ ? TL_READ | TL_WRITE : TL_WRITE;
}

/* Actions happen while the thread is still at its access. */
uint64_t watch_hold(const struct watch *watch)
{
	if (watch->options.action == WATCH_DEBUG)
		return WATCH_DEBUG_HOLD;
	return watch->options.action >= WATCH_STOP ? 1000000000u : 0;
}

int watch_arm_piece(struct watch *watch, struct watched *process, unsigned index)
{
	struct piece *piece = &process->piece[index];
	struct tl_watch request = {.size = sizeof(request),
				   .pid = process->pid,
				   .address = piece->address,
				   .length = piece->length,
				   .access = slot_access(watch->wanted[piece->wanted].access),
				   .hold = watch_hold(watch)};
	int err = 0;

	piece->armed = true;
	filter_slot_begin(watch, process, index);
	if (!process->silent && piece->each_thread)
		err = control_arm_threads(watch->control, process->pid, index, &request);
	else if (!process->silent)
		err = control_arm(watch->control, process->pid, index, &request);
	piece->armed = !err;
	return err;
}

static int arm(struct watch *watch, struct watched *process, const struct piece *wish)
{
	int index = piece_free(process);

	if (index < 0)
		return index;
	process->piece[index] = *wish;
	return watch_arm_piece(watch, process, (unsigned)index);
}

void watch_silence(struct watch *watch, struct watched *process)
{
	process->silent = true;
	for (unsigned i = 0; i < AREA_SLOTS; i++) {
		if (!process->piece[i].armed)
			continue;
		watch->wanted[process->piece[i].wanted].kernel +=
			control_slot_count(watch->control, process->pid, i);
		control_close(watch->control, process->pid, i);
	}
}

void watch_resume(struct watch *watch, struct watched *process)
{
	process->silent = false;
	for (unsigned i = 0; i < AREA_SLOTS; i++) {
		struct piece *piece = &process->piece[i];
		int err = piece->armed ? watch_arm_piece(watch, process, i) : -ESRCH;

		if (err == -ESRCH) /* or the process has ended */
			continue;
		if (err)
			fprintf(watch->options.lines,
				"trapline: %s can no longer be watched in process %d\n",
				watch->wanted[piece->wanted].text, (int)process->pid);
		else if (piece->each_thread)
			copies_resume(watch, process, i);
	}
	fflush(watch->options.lines);
}

void watch_disarm_piece(struct watch *watch, struct watched *process, unsigned index)
{
	struct piece *piece = &process->piece[index];

	watch->wanted[piece->wanted].kernel +=
		control_slot_count(watch->control, process->pid, index);
	filter_estimate(watch, process, index);
	control_disarm(watch->control, process->pid, index);
	if (!piece->region)
		filter_collect(watch, process, (int)index);
	region_forget(piece);
	piece->armed = false;
}

static void disarm(struct watch *watch, struct watched *process, unsigned wanted)
{
	for (unsigned i = 0; i < AREA_WATCHES; i++)
		if (process->piece[i].armed && !process->piece[i].scout &&
		    process->piece[i].wanted == wanted)
			watch_disarm_piece(watch, process, i);
}

void watch_disarm_block(struct watch *watch, struct watched *process, uint64_t block)
{
	for (unsigned i = 0; i < AREA_WATCHES; i++)
		if (process->piece[i].armed && process->piece[i].block == block)
			watch_disarm_piece(watch, process, i);
}

static void disarm_whole(struct watch *watch, struct watched *process, unsigned wanted,
			 uint64_t start)
{
	for (unsigned i = 0; i < AREA_WATCHES; i++)
		if (process->piece[i].armed && !process->piece[i].scout &&
		    process->piece[i].wanted == wanted && process->piece[i].start == start)
			watch_disarm_piece(watch, process, i);
}

static int arm_pieces(struct watch *watch, struct watched *process, struct piece wish)
{
	uint64_t left = process->target[wish.wanted].length;

	while (left) {
		int err;

		wish.length = piece_length(wish.address, left);
		err = arm(watch, process, &wish);
		if (err) {
			disarm_whole(watch, process, wish.wanted, wish.start);
			return err;
		}
		wish.address += wish.length;
		left -= wish.length;
	}
	return 0;
}

int watch_arm_data(struct watch *watch, struct watched *process, unsigned wanted, uint64_t start,
		   uint64_t block)
{
	struct piece wish = {.wanted = wanted, .start = start, .block = block, .address = start};
	uint64_t length = process->target[wanted].length;
	int err = -ENOSPC;

	if (!region_possible(watch, process) || !region_beside(process, start, length))
		err = arm_pieces(watch, process, wish);
	if (err != -ENOSPC || !region_possible(watch, process) || length > UINT32_MAX)
		return err;
	wish.length = (unsigned)length;
	return region_arm(watch, process, &wish);
}

static int arm_code(struct watch *watch, struct watched *process, unsigned wanted)
{
	const struct symbol_target *target = &process->target[wanted];
	int err = 0;

	for (unsigned i = 0; i < target->code_count && !err; i++) {
		struct piece wish = {.wanted = wanted,
				     .start = target->code[i],
				     .address = target->code[i],
				     .length = 1};

		err = arm(watch, process, &wish);
	}
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
	if (target->kind == SYMBOL_TARGET_HEAP_BLOCKS)
		return heap_begin(watch, process, wanted);
	if (target->tls)
		return copies_begin(watch, process, wanted);
	err = symbol_target_evaluate(modules, target, symbol_modules_memory(modules), 0, &address,
				     NULL);
	return err ? err : watch_arm_data(watch, process, wanted, address, 0);
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

static void explain_room(const struct watch *watch, const struct watched *process,
			 const struct wanted *wanted, const struct symbol_target *target)
{
	char what[64];

	if (target->kind == SYMBOL_TARGET_CODE_PLACES)
		snprintf(what, sizeof(what), "%u places in the code", target->code_count);
	else
		snprintf(what, sizeof(what), "%llu bytes", (unsigned long long)target->length);
	fprintf(stderr,
		"trapline: %s is %s, for which hardware is missing: of the %d watchpoints, each "
		"for 8 aligned bytes or one place, %u are left%s; name a part that fits "
		"(EXPR:LEN) or less beside it\n",
		wanted->text, what, AREA_SLOTS, pieces_free(process),
		watch->options.regions
			? ""
			: ", and a region needs a processor with protection keys and a program "
			  "that trapline starts, without --gdb");
}

static void explain(const struct watch *watch, const struct watched *process,
		    const struct wanted *wanted, const struct symbol_target *target, int err,
		    const char *error)
{
	if (err == -ENOSPC) {
		explain_room(watch, process, wanted, target);
	} else if (*error) {
		fprintf(stderr, "trapline: %s: ", wanted->text);
		utf8_print(stderr, error);
		fputc('\n', stderr);
	} else {
		fprintf(stderr, "trapline: %s cannot be watched: %s\n", wanted->text,
			strerror(-err));
	}
}

/* What one name takes is said where it is more than one thing. */
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

/* 0: watched; -EAGAIN: may become so; else not. */
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
	if (watch->options.outside && (target->tls || target->kind == SYMBOL_TARGET_HEAP_BLOCKS)) {
		snprintf(error, SYMBOL_ERROR_MAX,
			 "%s can only be watched in a program that trapline starts: `trapline "
			 "watch EXPR -- PROGRAM`",
			 target->tls ? "a thread-local variable" : "blocks of the heap");
		return -EINVAL;
	}
	describe(wanted, target);
	scouts_give_way(watch, process, pieces_needed(target));
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
		if (!err && first)
			say_pieces(watch, process, i);
		if (!err)
			continue;
		if ((err == -EAGAIN && may_wait(watch, wanted, &process->target[i])) ||
		    (err == -ENOENT && watch->options.later)) {
			/* What comes later may be a thread-local variable. */
			control_announce_threads(watch->control, process->pid);
			continue;
		}
		process->given_up[i] = true;
		/* Children may run other programs, where the names are not; what has just been
		 * executed announces itself as another process. */
		if (!first && (err == -EAGAIN || err == -ENOENT || err == -ESRCH))
			continue;
		explain(watch, process, wanted, &process->target[i], err, error);
		if (first)
			return -EINVAL;
	}
	return 0;
}

/* What came with a module that was loaded since may go with it. */
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

	for (unsigned i = 0; i < AREA_SLOTS && !err; i++)
		if (process->piece[i].armed && !process->piece[i].scout &&
		    process->piece[i].wanted == index && process->piece[i].address <= address &&
		    address < process->piece[i].address + process->piece[i].length)
			return;
	disarm(watch, process, index);
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

/* Where a module was that is unloaded something else may be soon; it may come back elsewhere. */
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
		disarm(watch, process, i);
		process->resolved[i] = false;
	}
}

/* Everything that may have changed. */
static void look_again(struct watch *watch, struct watched *process)
{
	struct space *space = control_space(watch->control, process->pid);
	bool waiting = false;

	if (!space)
		return;
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
	if (waiting) {
		symbol_modules_refresh(space_modules(space));
		resolve_later(watch, process);
	}
}

void watch_scout_tripped(struct watch *watch, struct watched *process)
{
	look_again(watch, process);
	scouts_place(watch, process);
}

/* Scouts see accesses by the process's own threads alone, and not while a slot is missing. */
void watch_look_again(struct watch *watch, struct watched *process)
{
	uint64_t now = watch_now();

	if (process->scouted && now < process->next_look) {
		copies_look_again(watch, process);
		return;
	}
	process->next_look = now + LOOK_NS;
	look_again(watch, process);
	scouts_place(watch, process);
}
