/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/goal_tree.h"

#include <stdio.h>
#include <string.h>

#define NEST_MOST 3 /* calls followed into or out of from one load */

struct standpoint {
	uint32_t reader;
	const struct flow_store *load;
	unsigned frame;	  /* of the load's, whose function it is in */
	bool deeper;	  /* in a function that it calls: no frame yet */
	uint64_t context; /* where the function returns to; 0: not known */
	unsigned nest;
	bool bypassed; /* control may have gone other ways between the load and here */
	bool computed; /* something else may have been made of the value */
};

static void follow_uses(struct flow_goals *goals, const struct standpoint *from,
			const struct flow_uses *uses);

static struct flow_spot_of_value spot_below(const struct flow_goals *goals,
					    const struct standpoint *from)
{
	return (struct flow_spot_of_value){
		.reader = from->reader,
		.pid = from->load->pid,
		.depth = goals->spot[goals->reader[from->reader].spot].depth + 1,
		.context = from->context,
	};
}

static void add_spot(struct flow_goals *goals, const struct flow_spot_of_value *spot)
{
	for (uint32_t i = 0; i < goals->spots; i++)
		if (goals->spot[i].reader == spot->reader && goals->spot[i].state == spot->state &&
		    goals->spot[i].filler == spot->filler &&
		    goals->spot[i].context == spot->context &&
		    goals->spot[i].argument.number == spot->argument.number &&
		    strcmp(goals->spot[i].end, spot->end) == 0)
			return;
	if (goals->spots == FLOW_VALUES)
		goals->tree.services->count(goals->tree.host, "flow-values-refused", 1);
	else
		goals->spot[goals->spots++] = *spot;
}

static void add_end(struct flow_goals *goals, const struct standpoint *from, const char *format,
		    const char *text)
{
	struct flow_spot_of_value spot = spot_below(goals, from);

	spot.state = FLOW_VALUE_ENDED;
	spot.context = 0;
	snprintf(spot.end, sizeof(spot.end), format, text);
	add_spot(goals, &spot);
}

/* "function file:12" */
static void place_text(struct flow_goals *goals, pid_t pid, uint64_t pc, char *text, size_t size)
{
	static struct tl_frame frames[16];
	int count = goals->tree.services->symbolise(goals->tree.host, pid, pc, frames, 16);
	const char *slash = count > 0 && frames[0].file ? strrchr(frames[0].file, '/') : NULL;

	if (count > 0 && frames[0].function && frames[0].file)
		snprintf(text, size, "%.48s %.24s:%u", frames[0].function,
			 slash ? slash + 1 : frames[0].file, frames[0].line);
	else
		snprintf(text, size, "%.64s",
			 count > 0 && frames[0].function ? frames[0].function : "?");
}

/*
 * How many arguments functions of the C library take: what stands in the register of another is
 * left from before. Of those that are not listed nothing is told.
 */
static bool takes_argument(const char *name, uint8_t number)
{
	static const struct {
		const char *name;
		unsigned arguments;
	} functions[] = {
		{"write", 3},  {"send", 4},    {"pwrite", 4}, {"writev", 3},  {"sendto", 6},
		{"printf", 6}, {"fprintf", 6}, {"fputs", 2},  {"fputc", 2},   {"putc", 2},
		{"puts", 1},   {"memcpy", 3},  {"memset", 3}, {"memmove", 3}, {"malloc", 1},
		{"free", 1},   {"realloc", 2}, {"calloc", 2}, {"strlen", 1},  {"strcmp", 2},
	};
	/* rdi rsi rdx rcx r8 r9: which argument a register is, from 1 on. */
	static const uint8_t order[16] = {[7] = 1, [6] = 2, [2] = 3, [1] = 4, [8] = 5, [9] = 6};

	while (*name == '_')
		name++;
	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		size_t length = strlen(functions[i].name);

		if (strncmp(name, functions[i].name, length) == 0 &&
		    (!name[length] || name[length] == ' ' || name[length] == '_'))
			return number < 16 && order[number] &&
			       order[number] <= functions[i].arguments;
	}
	return false;
}

/* Where the call goes is seen when it runs after the load. */
static void add_called(struct flow_goals *goals, const struct standpoint *from,
		       const struct flow_use *use)
{
	struct flow_spot_of_value spot = spot_below(goals, from);

	if (use->jump || from->nest >= NEST_MOST) {
		add_end(goals, from, "%s",
			"in a register of an argument at a call by a pointer: not followed");
		return;
	}
	spot.state = FLOW_VALUE_SOUGHT;
	spot.filler = use->pc;
	spot.bypassed = from->bypassed;
	spot.copies = !from->computed;
	spot.called = true;
	spot.argument = use->place;
	spot.nest = from->nest;
	add_spot(goals, &spot);
}

/* A system call or a function of the C library is a goal; one of the program's is followed. */
static void follow_call(struct flow_goals *goals, const struct standpoint *from,
			const struct flow_use *use, uint64_t target)
{
	struct flow_tree *tree = &goals->tree;
	pid_t pid = from->load->pid;
	struct standpoint callee = *from;
	struct flow_uses uses;
	struct flow_code code;
	struct insn insn;
	char name[80];

	place_text(goals, pid, target, name, sizeof(name));
	callee.deeper = true;
	callee.nest++;
	if (flow_in_c_library(tree, pid, target) ||
	    flow_is_own_module(tree->services->module(tree->host, pid, target))) {
		if (takes_argument(name, use->place.number))
			add_end(goals, from, "an argument of %s", name);
		return;
	}
	if (callee.nest > NEST_MOST || !flow_decode_at(tree, pid, use->pc, &insn) ||
	    flow_tree_code(tree, pid, target, &code) ||
	    flow_uses_of_place(code.bytes, code.length, code.start, target, use->place, &tree->work,
			       &uses)) {
		add_end(goals, from, "in a register of an argument at a call of %s", name);
		return;
	}
	callee.context = use->jump ? from->context : use->pc + insn.length;
	follow_uses(goals, &callee, &uses);
}

static void follow_argument(struct flow_goals *goals, const struct standpoint *from,
			    const struct flow_use *use)
{
	if (use->target)
		follow_call(goals, from, use,
			    flow_resolve_stub(&goals->tree, from->load->pid, use->target));
	else
		add_called(goals, from, use);
}

void flow_goals_called(struct flow_goals *goals, uint32_t index, uint64_t target)
{
	struct flow_spot_of_value *spot = &goals->spot[index];
	const struct flow_store load = {.pid = spot->pid, .pc = goals->reader[spot->reader].pc};
	const struct standpoint from = {.reader = spot->reader,
					.load = &load,
					.deeper = true,
					.context = spot->context,
					.nest = spot->nest,
					.bypassed = spot->bypassed,
					.computed = !spot->copies};
	const struct flow_use use = {
		.kind = FLOW_USE_ARGUMENT, .pc = spot->filler, .place = spot->argument};
	uint64_t to = flow_resolve_stub(&goals->tree, spot->pid, target);

	spot->confirmed++;
	for (unsigned i = 0; i < spot->targets; i++)
		if (spot->target[i] == to)
			return;
	if (spot->targets == FLOW_TARGETS) {
		goals->tree.services->count(goals->tree.host, "flow-values-refused", 1);
		return;
	}
	spot->target[spot->targets++] = to;
	follow_call(goals, &from, &use, to);
}

/* Behind the call, in the function that the load's returns to. */
static void follow_return(struct flow_goals *goals, const struct standpoint *from,
			  const struct insn_place *place)
{
	const struct flow_store *load = from->load;
	struct standpoint caller = *from;
	struct flow_uses uses;
	struct flow_code code;

	caller.frame++;
	caller.nest++;
	/* What is in a vector register may be left there of an argument. */
	if (from->deeper || caller.nest > NEST_MOST || caller.frame >= load->frames) {
		if (place->kind == INSN_PLACE_GENERAL)
			add_end(goals, from, "%s", "returned to its caller: not followed");
		return;
	}
	caller.context = caller.frame + 1 < load->frames ? load->frame[caller.frame + 1].pc : 0;
	if (flow_tree_code(&goals->tree, load->pid, load->frame[caller.frame].pc, &code) ||
	    flow_uses_of_place(code.bytes, code.length, code.start, load->frame[caller.frame].pc,
			       *place, &goals->tree.work, &uses)) {
		add_end(goals, from, "returned to its caller, not followed there: %s",
			flow_why_unread(&goals->tree, load->pid, load->frame[caller.frame].pc));
		return;
	}
	follow_uses(goals, &caller, &uses);
}

/* Does the store run right behind the load, or with it? Then the registers are at hand. */
static bool is_at_once(struct flow_goals *goals, const struct flow_store *load, uint64_t filler)
{
	struct insn insn;

	return flow_decode_at(&goals->tree, load->pid, load->pc, &insn) &&
	       (filler == load->pc || filler == load->pc + insn.length);
}

static void add_store(struct flow_goals *goals, const struct standpoint *from,
		      const struct flow_use *use)
{
	struct flow_spot_of_value spot = spot_below(goals, from);

	spot.state = FLOW_VALUE_SOUGHT;
	spot.filler = use->pc;
	spot.bypassed = from->bypassed;
	spot.copies = !from->computed;
	spot.at_once = is_at_once(goals, from->load, use->pc);
	spot.fixed = flow_is_fixed(&goals->tree, spot.pid, use->pc, use->operand);
	spot.operand = use->operand;
	spot.first = use->first;
	spot.wanted = use->length;
	add_spot(goals, &spot);
}

static void follow_use(struct flow_goals *goals, const struct standpoint *from,
		       const struct flow_use *use)
{
	char place[80];

	switch (use->kind) {
	case FLOW_USE_STORE:
		add_store(goals, from, use);
		break;
	case FLOW_USE_ARGUMENT:
		follow_argument(goals, from, use);
		break;
	case FLOW_USE_RETURN:
		follow_return(goals, from, &use->place);
		break;
	default:
		place_text(goals, from->load->pid, use->pc, place, sizeof(place));
		add_end(goals, from,
			use->kind == FLOW_USE_COMPARE ? "a comparison, in %s" : "an address, in %s",
			place);
	}
}

static void follow_uses(struct flow_goals *goals, const struct standpoint *from,
			const struct flow_uses *uses)
{
	struct standpoint at = *from;

	at.computed |= !uses->copies;
	for (unsigned i = 0; i < uses->count; i++) {
		at.bypassed = from->bypassed || uses->use[i].bypassed;
		follow_use(goals, &at, &uses->use[i]);
	}
	if (uses->more)
		add_end(goals, from, "%s", "not followed: there are too many uses");
}

/* The C library's copying: its call's arguments tell whither. */
static bool follow_copy(struct flow_goals *goals, const struct standpoint *from)
{
	struct flow_spot_of_value spot = spot_below(goals, from);
	const struct flow_store *load = from->load;
	const char *name = flow_function_name(&goals->tree, load->pid, load->pc);

	if (!flow_copies_memory(name) || load->frames < 2 ||
	    goals->tree.services->function(goals->tree.host, load->pid, load->pc, &spot.filler,
					   &spot.filler_end))
		return false;
	spot.sized = strstr(name, "mem");
	spot.copies = true;
	spot.copy_call = flow_call_of(&goals->tree, load->pid, load->frame[1].pc, spot.filler);
	spot.state = FLOW_VALUE_SOUGHT;
	if (!spot.copy_call)
		return false;
	add_spot(goals, &spot);
	return true;
}

static void expand(struct flow_goals *goals, uint32_t reader, const struct flow_store *load)
{
	struct standpoint from = {.reader = reader,
				  .load = load,
				  .context = load->frames > 1 ? load->frame[1].pc : 0};
	const struct flow_spot_of_value *spot = &goals->spot[goals->reader[reader].spot];
	unsigned first = spot->address > load->address ? (unsigned)(spot->address - load->address)
						       : 0;
	unsigned wanted = (unsigned)(spot->address + spot->length - load->address) - first;
	struct flow_uses uses;
	struct flow_code code;
	char place[80];

	place_text(goals, load->pid, load->pc, place, sizeof(place));
	if (load->kernel)
		add_end(goals, &from, "the kernel, in %s()", place);
	else if (flow_in_c_library(&goals->tree, load->pid, load->pc) && follow_copy(goals, &from))
		return;
	else if (flow_in_c_library(&goals->tree, load->pid, load->pc))
		add_end(goals, &from, "read by the C library, in %s: not followed", place);
	else if (flow_tree_code(&goals->tree, load->pid, load->pc, &code) ||
		 flow_uses_of_load(code.bytes, code.length, code.start, load->pc, first, wanted,
				   &goals->tree.work, &uses))
		add_end(goals, &from, "not followed: %s",
			flow_why_unread(&goals->tree, load->pid, load->pc));
	else
		follow_uses(goals, &from, &uses);
}

/* The same code further up: a loop of the program, told once. What only moves a value on, from
 * place to place, is followed until it leaves. */
static uint32_t find_above(const struct flow_goals *goals, uint32_t below, uint64_t pc)
{
	const struct flow_spot_of_value *spot = &goals->spot[below];

	while (spot->reader != FLOW_NONE) {
		uint32_t index = spot->reader;
		const struct flow_spot_of_value *above = &goals->spot[goals->reader[index].spot];

		if (goals->reader[index].pc == pc &&
		    !(spot->copies && above->address != goals->spot[below].address))
			return index;
		spot = above;
	}
	return FLOW_NONE;
}

void flow_goals_confirm(struct flow_goals *goals, uint32_t spot, const struct flow_store *load)
{
	struct flow_reader *reader;

	goals->spot[spot].confirmed++;
	for (uint32_t i = 0; i < goals->readers; i++)
		if (goals->reader[i].spot == spot && goals->reader[i].pc == load->pc &&
		    !goals->reader[i].revoked) {
			goals->reader[i].count++;
			return;
		}
	if (goals->readers == FLOW_WRITERS) {
		goals->tree.services->count(goals->tree.host, "flow-writers-refused", 1);
		return;
	}
	reader = &goals->reader[goals->readers++];
	*reader = (struct flow_reader){
		.spot = spot,
		.pc = load->pc,
		.count = 1,
		.place = flow_place_find(&goals->tree.places, load->pid, load->pc),
		.way = flow_way_to(load),
		.kernel = load->kernel,
		.repeats = find_above(goals, spot, load->pc),
	};
	if (reader->repeats == FLOW_NONE && goals->spot[spot].depth < FLOW_DEPTH)
		expand(goals, goals->readers - 1, load);
}
