/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/ahead.h"

#include "base/lines.h"
#include "memory/binding.h"
#include "sample/handed.h"
#include "sample/order.h"

#include <errno.h>
#include <string.h>

#define LINES 32 /* of the program's memory, kept while one look lasts */
#define CALLS_MAX 24
#define PATHS_MAX 8 /* branched off, and still to be walked */
#define BRANCHES_MAX 64
#define BRANCH_PASSES 3 /* by a branch that is not foretold; after them the path is in a loop */
#define LOOP_PASSES 3	/* after which a tour leaves a loop */
#define EXITS_MAX 8	/* of a tour: the branches passed last, by which a loop may be left */
#define CALLEES 1048576 /* bytes below a frame that are taken for frames of functions it calls */
/* What a stub has pushed when it asks the dynamic linker to bind a call: module and number. */
#define RESOLVER_WORDS 2

struct looking {
	struct space *space;
	ahead_fn *each;
	void *context;
	unsigned steps;
	struct lines lines;
	struct line line[LINES];
};

static bool read_line(void *context, uint64_t address, uint8_t *bytes)
{
	return space_read(context, address, bytes, LINES_BYTES) == (ssize_t)LINES_BYTES;
}

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	struct looking *looking = context;

	return lines_read(&looking->lines, address, to, length);
}

static void begin(struct looking *looking, struct space *space, ahead_fn *each, void *context)
{
	looking->space = space;
	looking->each = each;
	looking->context = context;
	looking->lines = (struct lines){looking->line, LINES, read_line, space};
	lines_forget(&looking->lines);
}

static void tell(void *context, const struct insn_forward_access *access)
{
	const struct looking *looking = context;

	if (access->address >= 4096 && !(access->address >> 47))
		looking->each(looking->context, access, looking->steps);
}

/* Functions of the C library are not followed: what they return is not known. */
static int arrive(struct space *space, struct insn_forward *forward, struct ahead_end *end)
{
	enum order_effect effect;
	int err;

	if (!space_is_libc(space, forward->pc))
		return 0;
	effect = order_effect(space, forward->pc);
	err = insn_forward_return(forward);
	if (err)
		return err;
	if (effect == ORDER_RELEASES && !end->released)
		end->released = forward->pc;
	return effect == ORDER_WAITS ? -EAGAIN : 0;
}

bool ahead_walk(struct space *space, const struct insn_registers *from, unsigned most,
		ahead_fn *each, void *context, struct ahead_end *end)
{
	static struct looking looking; /* one thread; large */
	struct insn_forward forward = {.pc = from->pc,
				       .known = 0xffff,
				       .read = read_memory,
				       .tell = tell,
				       .context = &looking};
	struct ahead_end found = {0};
	unsigned calls = 0, steps = 0;
	bool leaves = false;
	int err = 0;

	begin(&looking, space, each, context);
	memcpy(forward.general, from->general, sizeof(forward.general));
	for (; steps < most && calls < CALLS_MAX && !err; steps++) {
		uint8_t bytes[INSN_MAX_LENGTH];
		size_t available = space_code(space, forward.pc, bytes, sizeof(bytes));

		looking.steps = steps;
		err = insn_forward_step(&forward, bytes, available, &leaves);
		calls += leaves;
		if (!err && leaves)
			err = arrive(space, &forward, &found);
	}
	found.waited = err == -EAGAIN;
	found.pc = !err || found.waited ? forward.pc : 0;
	if (end)
		*end = found;
	return steps > 1 || !err;
}

/* One way that the thread may take. */
struct path {
	struct insn_forward forward;
	uint64_t lock[AHEAD_LOCKS];
	uint64_t call; /* pc of its last call; 0: none */
};

struct spreading {
	struct looking looking;
	struct path path;	     /* the one that is walked now */
	struct path left[PATHS_MAX]; /* those that are still to be walked */
	unsigned paths;
	struct branch {
		uint64_t pc;
		unsigned passes;
	} branch[BRANCHES_MAX];
	unsigned branches;
	uint64_t tour;	     /* of ahead_tour(): the stack pointer that it began with; else 0 */
	bool returns, awake; /* of struct ahead_start */
	struct exit {
		uint64_t pc, to; /* a branch, and where it did not lead */
	} exit[EXITS_MAX];
	unsigned exits;
	struct ahead_view *view;
};

static void find(struct spreading *spreading, uint64_t pc, uint64_t address, uint64_t length,
		 unsigned access)
{
	struct ahead_view *view = spreading->view;
	struct ahead_access *found;

	if (view->accesses == AHEAD_ACCESSES ||
	    (address < spreading->tour && address + CALLEES >= spreading->tour))
		return;
	found = &view->access[view->accesses++];
	*found = (struct ahead_access){
		.pc = pc, .address = address, .length = length, .access = access};
	memcpy(found->lock, spreading->path.lock, sizeof(found->lock));
}

static void find_access(void *context, const struct insn_forward_access *access, unsigned steps)
{
	(void)steps;
	find(context, access->pc, access->address, access->length, access->access);
}

static void take_lock(struct path *path, uint64_t lock)
{
	for (unsigned i = 0; i < AHEAD_LOCKS; i++)
		if (path->lock[i] == lock)
			return;
	for (unsigned i = 0; i < AHEAD_LOCKS; i++)
		if (!path->lock[i]) {
			path->lock[i] = lock;
			return;
		}
}

/* A lock is released. One that was not taken on the way was held from the start: all accesses so
 * far were made with it. */
static void give_lock(struct spreading *spreading, uint64_t lock)
{
	struct path *path = &spreading->path;
	bool taken = false;

	for (unsigned i = 0; i < AHEAD_LOCKS; i++)
		if (path->lock[i] == lock) {
			path->lock[i] = 0;
			taken = true;
		}
	for (unsigned i = 0; i < spreading->view->accesses && !taken; i++)
		for (unsigned j = 0; j < AHEAD_LOCKS; j++)
			if (!spreading->view->access[i].lock[j]) {
				spreading->view->access[i].lock[j] = lock;
				break;
			}
}

static bool is_known(const struct insn_forward *forward, int number)
{
	return forward->known >> number & 1;
}

/* `argument`: which one of the call's is the function. */
static void note_birth(struct spreading *spreading, unsigned argument)
{
	const struct insn_forward *forward = &spreading->path.forward;
	struct ahead_view *view = spreading->view;
	int start = insn_arch.function_argument[argument],
	    handed = insn_arch.function_argument[argument + 1];

	view->creates = true;
	if (view->births < AHEAD_BIRTHS && is_known(forward, start) && is_known(forward, handed))
		view->birth[view->births++] =
			(struct ahead_birth){forward->general[start], forward->general[handed]};
}

/* A function is called for the first time, by a stub that asks the dynamic linker to bind it: the
 * path goes on in the function that it would find. */
static bool bind_call(struct spreading *spreading)
{
	struct insn_forward *forward = &spreading->path.forward;
	struct symbol_memory memory = {read_memory, &spreading->looking};
	uint64_t *stack = &forward->general[insn_arch.stack_pointer], map, index;
	const char *name = space_function_name(spreading->looking.space, forward->pc);
	struct symbol_binding binding;

	if (!name || strncmp(name, "_dl_runtime_resolve", 19) ||
	    !insn_forward_read(forward, *stack, 8, &map) ||
	    !insn_forward_read(forward, *stack + 8, 8, &index) ||
	    !symbol_binding_of_call(&memory, map, index, &binding) || binding.indirect)
		return false;
	*stack += 8ull * RESOLVER_WORDS;
	forward->pc = binding.address;
	return true;
}

/* Is what is called, whose effect this is, the end of a tour? */
static bool ends_tour(const struct spreading *spreading, enum order_effect effect)
{
	struct space *space = spreading->looking.space;
	uint64_t function = spreading->path.forward.pc;

	if (spreading->awake && order_is_sleep(space, function))
		return true;
	return spreading->tour && effect == ORDER_WAITS && !order_is_lock(space, function);
}

/* A function of the C library is entered. It is not followed. */
static int pass_library(struct spreading *spreading)
{
	struct path *path = &spreading->path;
	struct insn_forward *forward = &path->forward;
	struct space *space = spreading->looking.space;
	enum order_effect effect = order_effect(space, forward->pc);
	const uint8_t *arguments = insn_arch.function_argument;
	struct handed handed = {{0, 0}};
	unsigned birth = order_birth_argument(space, forward->pc);

	if (!birth && ends_tour(spreading, effect)) {
		spreading->view->waits = true;
		return -EAGAIN;
	}
	if (birth)
		note_birth(spreading, birth);
	else if (effect == ORDER_NONE)
		handed = handed_to(space, forward->pc);
	else if (is_known(forward, arguments[0]) && order_is_lock(space, forward->pc) &&
		 effect == ORDER_WAITS)
		take_lock(path, forward->general[arguments[0]]);
	else if (is_known(forward, arguments[0]) && order_is_lock(space, forward->pc))
		give_lock(spreading, forward->general[arguments[0]]);
	for (unsigned i = 0; i < HANDED_ARGUMENTS; i++)
		if (handed.access[i] && is_known(forward, arguments[i]))
			find(spreading, path->call, forward->general[arguments[i]], 8,
			     handed.access[i]);
	return insn_forward_return(forward);
}

/* Which way the branch at `pc` goes is not known: one way is walked, the other put aside. False:
 * the path has come by there BRANCH_PASSES times. */
static bool fork_path(struct spreading *spreading, uint64_t pc)
{
	struct branch *branch = NULL;

	for (unsigned i = 0; i < spreading->branches && !branch; i++)
		if (spreading->branch[i].pc == pc)
			branch = &spreading->branch[i];
	if (branch)
		return branch->passes++ < BRANCH_PASSES;
	if (spreading->branches == BRANCHES_MAX || spreading->paths == PATHS_MAX)
		return true;
	spreading->branch[spreading->branches++] = (struct branch){.pc = pc, .passes = 1};
	spreading->left[spreading->paths] = spreading->path;
	spreading->left[spreading->paths++].forward.pc = spreading->path.forward.other;
	return true;
}

static void note_exit(struct spreading *spreading, uint64_t pc)
{
	if (spreading->path.forward.beside)
		spreading->exit[spreading->exits++ % EXITS_MAX] =
			(struct exit){pc, spreading->path.forward.beside};
}

/* A jump leads back to the start of a loop whose condition stands in the middle, as compilers put
 * it, too: the branch out of it that the path passed last is taken instead. */
static bool take_exit(struct spreading *spreading, uint64_t pc)
{
	struct insn_forward *forward = &spreading->path.forward;
	unsigned kept = spreading->exits < EXITS_MAX ? spreading->exits : EXITS_MAX;

	for (unsigned i = 1; i <= kept; i++) {
		const struct exit *exit = &spreading->exit[(spreading->exits - i) % EXITS_MAX];

		if (exit->pc < forward->pc || exit->pc > pc ||
		    (exit->to >= forward->pc && exit->to <= pc))
			continue;
		forward->pc = exit->to;
		return true;
	}
	return false;
}

/* A branch that leads back has been carried out. False: there is no way out of its loop that is
 * known. */
static bool leave_loop(struct spreading *spreading, uint64_t pc, const uint8_t *bytes,
		       size_t available)
{
	struct branch *branch = NULL;
	struct insn insn;

	for (unsigned i = 0; i < spreading->branches && !branch; i++)
		if (spreading->branch[i].pc == pc)
			branch = &spreading->branch[i];
	if (!branch && spreading->branches == BRANCHES_MAX)
		return false;
	if (!branch) {
		branch = &spreading->branch[spreading->branches++];
		*branch = (struct branch){.pc = pc};
	}
	if (branch->passes++ < LOOP_PASSES - 1)
		return true;
	if (insn_decode(bytes, available, pc, &insn) || insn.flow != INSN_FLOW_BRANCH)
		return false;
	if (!insn.conditional)
		return take_exit(spreading, pc);
	spreading->path.forward.pc = pc + insn.length;
	return true;
}

/* The function that the tour began in has returned, to one of the program's that it goes on in. */
static bool is_back(const struct spreading *spreading, uint64_t stack)
{
	const struct insn_forward *forward = &spreading->path.forward;

	return spreading->returns && (forward->general[insn_arch.stack_pointer] <= stack ||
				      !space_is_libc(spreading->looking.space, forward->pc));
}

/* Of an instruction that stays in its function, or returns. False: the tour is over, or nothing
 * more is known. */
static bool tour_on(struct spreading *spreading, uint64_t pc, const uint8_t *bytes,
		    size_t available, uint64_t stack)
{
	const struct insn_forward *forward = &spreading->path.forward;
	uint64_t now = forward->general[insn_arch.stack_pointer];

	if (now > spreading->tour && !is_back(spreading, stack))
		return false;
	note_exit(spreading, pc);
	return forward->pc > pc || now != stack || leave_loop(spreading, pc, bytes, available);
}

/* False: nothing more is known of this path. */
static bool step_path(struct spreading *spreading)
{
	struct path *path = &spreading->path;
	struct space *space = spreading->looking.space;
	uint8_t bytes[INSN_MAX_LENGTH];
	uint64_t pc = path->forward.pc, stack = path->forward.general[insn_arch.stack_pointer];
	size_t available = space_code(space, pc, bytes, sizeof(bytes));
	bool leaves;

	if (insn_forward_step(&path->forward, bytes, available, &leaves))
		return false;
	if (path->forward.other)
		return fork_path(spreading, pc);
	if (leaves && path->forward.general[insn_arch.stack_pointer] != stack)
		path->call = pc;
	if (spreading->tour && !leaves)
		return tour_on(spreading, pc, bytes, available, stack);
	if (!leaves || !space_is_libc(space, path->forward.pc))
		return true;
	if (spreading->tour && bind_call(spreading) && !space_is_libc(space, path->forward.pc))
		return true;
	return !pass_library(spreading);
}

static void spread(struct spreading *spreading, unsigned most)
{
	for (unsigned steps = 0; steps < most; steps++) {
		if (step_path(spreading))
			continue;
		if (!spreading->paths)
			break;
		spreading->path = spreading->left[--spreading->paths];
	}
}

static struct spreading *begin_spreading(struct space *space, const struct insn_registers *from,
					 uint16_t known, struct ahead_view *view)
{
	static struct spreading spreading; /* one thread; large */

	begin(&spreading.looking, space, find_access, &spreading);
	spreading.paths = spreading.branches = spreading.exits = view->accesses = view->births = 0;
	view->creates = view->waits = false;
	spreading.tour = 0;
	spreading.returns = spreading.awake = false;
	spreading.view = view;
	spreading.path = (struct path){.forward = {.pc = from->pc,
						   .known = known,
						   .read = read_memory,
						   .tell = tell,
						   .context = &spreading.looking}};
	memcpy(spreading.path.forward.general, from->general, sizeof(from->general));
	return &spreading;
}

void ahead_spread(struct space *space, const struct insn_registers *from, uint16_t known,
		  unsigned most, struct ahead_view *view)
{
	spread(begin_spreading(space, from, known, view), most);
}

void ahead_tour(struct space *space, const struct ahead_start *from, unsigned most,
		struct ahead_view *view)
{
	struct spreading *spreading = begin_spreading(space, &from->registers, from->known, view);

	spreading->tour = from->registers.general[insn_arch.stack_pointer];
	spreading->returns = from->returns;
	spreading->awake = from->awake;
	spreading->path.forward.fs_base = from->registers.fs_base;
	spread(spreading, most);
}
