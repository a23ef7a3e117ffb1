/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/ahead.h"

#include "base/clock.h"
#include "sample/order.h"
#include "sample/spreading.h"

#include <errno.h>
#include <string.h>

#define CALLS_MAX 24
/* Times that a path may pass a branch which is not foretold; after them it is taken to be in a
 * loop. */
#define BRANCH_PASSES 3
#define STEPS_TIMED 4	/* instructions between two looks at the clock: one may ask for a name */
#define WRITES_A_STEP 8 /* at most, or some are forgotten earlier than others */
#define LOOP_PASSES 3	/* passes after which a tour leaves a loop */

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
				       .read = looking_read,
				       .tell = tell,
				       .context = &looking};
	struct ahead_end found = {0};
	unsigned calls = 0, steps = 0;
	bool leaves = false;
	int err = 0;

	looking_begin(&looking, space, each, context);
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

static void find_access(void *context, const struct insn_forward_access *access, unsigned steps)
{
	(void)steps;
	spreading_find(context, access->pc, access->address, access->length, access->access);
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
	return spreading->whole || forward->pc > pc || now != stack ||
	       leave_loop(spreading, pc, bytes, available);
}

static bool is_overwritten(const struct insn_forward *forward, unsigned number)
{
	const struct insn_forward_write *write = &forward->write[number];

	for (unsigned i = number + 1; i < forward->writes; i++)
		if (forward->write[i].address == write->address &&
		    forward->write[i].length == write->length)
			return true;
	return false;
}

/* What functions that have returned wrote to their frames is read by nobody, nor is what was
 * overwritten; neither takes room from writes that are: unoptimised code writes in every second
 * instruction. */
static void forget_writes(struct insn_forward *forward)
{
	uint64_t stack = forward->general[insn_arch.stack_pointer] - insn_arch.red_zone;
	unsigned kept = 0;

	if (forward->writes < INSN_FORWARD_WRITES - WRITES_A_STEP ||
	    forward->writes > INSN_FORWARD_WRITES)
		return;
	for (unsigned i = 0; i < forward->writes; i++)
		if ((forward->write[i].address - (stack - CALLEES) >= CALLEES ||
		     forward->write[i].length > CALLEES) &&
		    !is_overwritten(forward, i))
			forward->write[kept++] = forward->write[i];
	forward->writes = kept;
}

/* False: nothing more is known of this path. */
static bool step_path(struct spreading *spreading)
{
	struct path *path = &spreading->path;
	struct space *space = spreading->looking.space;
	uint8_t bytes[INSN_MAX_LENGTH];
	uint64_t pc = path->forward.pc, stack = path->forward.general[insn_arch.stack_pointer];
	size_t available = space_code(space, pc, bytes, sizeof(bytes));
	enum spreading_stub stub;
	bool leaves;

	if (pc < 4096)
		return false;
	if (spreading->tour && path->forward.known >> insn_arch.stack_pointer & 1)
		forget_writes(&path->forward);
	if (insn_forward_step(&path->forward, bytes, available, &leaves))
		return false;
	if (path->forward.other)
		return fork_path(spreading, pc);
	if (leaves && path->forward.general[insn_arch.stack_pointer] != stack)
		path->call = pc;
	if (spreading->tour && !leaves)
		return tour_on(spreading, pc, bytes, available, stack);
	if (spreading->tour && !spreading->returns &&
	    path->forward.general[insn_arch.stack_pointer] > spreading->tour)
		return false;
	if (!leaves || !space_is_libc(space, path->forward.pc))
		return true;
	stub = spreading->tour ? spreading_bind(spreading) : SPREADING_NO_STUB;
	if (stub == SPREADING_LOST)
		return false;
	if (stub == SPREADING_BOUND && !space_is_libc(space, path->forward.pc))
		return true;
	return !spreading_pass(spreading);
}

static void spread(struct spreading *spreading, unsigned most)
{
	for (unsigned steps = 0; steps < most; steps++) {
		if (steps % STEPS_TIMED == 0 && clock_now() > spreading->until)
			break;
		if (step_path(spreading))
			continue;
		if (!spreading->paths)
			return;
		spreading->path = spreading->left[--spreading->paths];
	}
	spreading->view->cut = true;
}

static struct spreading *begin_spreading(struct space *space, const struct insn_registers *from,
					 uint16_t known, struct ahead_view *view)
{
	static struct spreading spreading; /* one thread; large */

	looking_begin(&spreading.looking, space, find_access, &spreading);
	spreading.paths = spreading.branches = spreading.exits = view->accesses = view->births = 0;
	view->creates = view->waits = view->cut = false;
	spreading.tour = 0;
	spreading.until = UINT64_MAX;
	spreading.returns = spreading.awake = spreading.whole = false;
	spreading.blocks = spreading.bindings = 0;
	spreading.view = view;
	spreading.path = (struct path){.forward = {.pc = from->pc,
						   .known = known,
						   .read = looking_read,
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

/* From where the tour begins, with nothing found yet on this way. */
static void start(struct spreading *spreading, const struct ahead_start *from)
{
	struct path *path = &spreading->path;

	spreading->paths = spreading->branches = spreading->exits = spreading->blocks = 0;
	memset(path->lock, 0, sizeof(path->lock));
	path->call = path->phase = 0;
	path->waited = false;
	path->forward.pc = from->registers.pc;
	path->forward.known = from->known;
	path->forward.flags_known = false;
	path->forward.writes = 0;
	memcpy(path->forward.general, from->registers.general, sizeof(path->forward.general));
}

void ahead_tour(struct space *space, const struct ahead_start *from, unsigned most,
		struct ahead_view *view)
{
	struct spreading *spreading = begin_spreading(space, &from->registers, from->known, view);
	bool cut;

	spreading->tour = from->registers.general[insn_arch.stack_pointer];
	spreading->returns = from->returns;
	spreading->awake = from->awake;
	if (from->time)
		spreading->until = clock_now() + from->time;
	spreading->path.forward.fs_base = from->registers.fs_base;
	spread(spreading, most);
	if (!from->whole)
		return;
	cut = view->cut;
	start(spreading, from);
	spreading->whole = true;
	spread(spreading, most);
	view->cut = cut; /* who walks whole loops may do so for ever */
}
