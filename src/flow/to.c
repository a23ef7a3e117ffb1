/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `trapline flow to EXPR`: which spots of the tree are watched when, and what their hits mean.
 *
 * A known spot is watched for reads and writes: who reads there what its filler has stored last is
 * an answer. A sought spot takes two watches: the place that its value is read from, and the code
 * of the store; the store after that very load, in the same thread, tells the address. Where the
 * load may run again before the store, for another value, the load's code is watched instead of the
 * place: the last load before the store must be of the place.
 */
#include "flow/flow.h"

#include "flow/asking.h"
#include "flow/goal_tree.h"
#include "flow/tell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* What a question has told so far. */
struct told {
	bool filled; /* the last store there, or to the parent of a sought one, was the filler's */
	pid_t tid; /* whose load of the parent's spot was the last; 0: none. Of copying: whose call
		    */
	uint64_t copied_to; /* where the last call of copying puts the parent's first byte */
};

struct to {
	struct tl_host *host;
	const struct tl_services *services;
	struct flow_asking asking;
	struct flow_goals *goals;
	struct told told[FLOW_QUESTIONS];
};

static void add_root(void *context, pid_t pid, uint64_t address, uint64_t length)
{
	struct to *to = context;
	struct flow_goals *goals = to->goals;

	for (uint32_t i = 0; i < goals->spots && !length; i++)
		if (goals->spot[i].reader == FLOW_NONE &&
		    goals->spot[i].address - address < 8 * FLOW_PIECES)
			goals->spot[i].state = FLOW_VALUE_ENDED;
	if (length && goals->spots < FLOW_VALUES)
		goals->spot[goals->spots++] = (struct flow_spot_of_value){
			.reader = FLOW_NONE, .pid = pid, .address = address, .length = length};
}

static bool item(void *state, uint32_t index, struct flow_item *item)
{
	const struct to *to = state;
	const struct flow_spot_of_value *spot = &to->goals->spot[index];

	if (index >= to->goals->spots)
		return false;
	*item = (struct flow_item){.visits = spot->visits,
				   .confirmed = spot->confirmed,
				   .ended = spot->state == FLOW_VALUE_ENDED,
				   .watches = spot->state == FLOW_VALUE_SOUGHT ? 2 : 1};
	return true;
}

static bool ask(void *state, unsigned number, uint32_t index)
{
	struct to *to = state;
	struct flow_question *question = &to->asking.question[number];
	struct flow_goals *goals = to->goals;
	struct flow_spot_of_value *spot = &goals->spot[index];
	bool sought = spot->state == FLOW_VALUE_SOUGHT;
	const struct flow_spot_of_value *watched =
		sought ? &goals->spot[goals->reader[spot->reader].spot] : spot;

	to->told[number] = (struct told){.filled = !watched->filler};
	spot->visits++;
	question->cookie = sought && spot->bypassed
				   ? flow_asking_arm(&to->asking, spot->pid,
						     goals->reader[spot->reader].pc, 1, TL_EXEC)
				   : flow_asking_arm(&to->asking, spot->pid, watched->address,
						     watched->length, TL_READ | TL_WRITE);
	if (question->cookie && sought)
		question->code_cookie = flow_asking_arm(
			&to->asking, spot->pid, spot->copy_call ? spot->copy_call : spot->filler, 1,
			TL_EXEC);
	if (question->cookie && (!sought || question->code_cookie))
		return true;
	flow_asking_stop(&to->asking, question);
	return false;
}

/* Is it but one store after which the memory that the question watches holds the value? */
static bool has_filler(const struct to *to, uint32_t index)
{
	const struct flow_spot_of_value *spot = &to->goals->spot[index];

	if (spot->state == FLOW_VALUE_SOUGHT)
		spot = &to->goals->spot[to->goals->reader[spot->reader].spot];
	return spot->filler;
}

static void forget(void *state, unsigned question)
{
	struct to *to = state;
	struct told *told = &to->told[question];

	told->tid = 0;
	told->filled &= !has_filler(to, to->asking.question[question].item);
}

static const struct flow_asker asker = {
	.item = item, .ask = ask, .forget = forget, .add = add_root};

static int start(struct tl_host *host, const struct tl_services *services, void **state)
{
	struct to *to = calloc(1, sizeof(*to));

	if (to)
		to->goals = calloc(1, sizeof(*to->goals));
	if (!to || !to->goals) {
		free(to);
		return -ENOMEM;
	}
	to->host = host;
	to->services = services;
	flow_tree_init(&to->goals->tree, host, services);
	to->asking = (struct flow_asking){
		.host = host, .services = services, .asker = &asker, .state = to};
	flow_places_init(&to->goals->tree.places, host, services);
	*state = to;
	return flow_asking_init(&to->asking, "to");
}

static void process_began(void *state, pid_t pid)
{
	struct to *to = state;

	flow_expression_began(&to->asking.expression, pid, add_root, to);
}

static void on_born(void *state, const struct tl_block *block)
{
	struct to *to = state;

	flow_expression_born(&to->asking.expression, block, add_root, to);
}

static void on_tick(void *state)
{
	struct to *to = state;

	flow_asking_tick(&to->asking);
}

static bool is_known(const struct to *to, uint32_t spot, uint64_t pc)
{
	for (uint32_t i = 0; i < to->goals->readers; i++)
		if (to->goals->reader[i].spot == spot && to->goals->reader[i].pc == pc)
			return true;
	return false;
}

static void on_read(struct to *to, uint32_t index, const struct tl_access *access)
{
	struct flow_store load = {.known = true,
				  .kernel = access->access & TL_KERNEL,
				  .pid = access->pid,
				  .tid = access->tid,
				  .pc = access->pc,
				  .address = access->address,
				  .length = access->length};
	int count;

	if (!is_known(to, index, access->pc)) {
		count = to->services->unwind(to->host, access, load.frame, FLOW_FRAMES);
		load.frames = count > 0 ? (unsigned)count : 0;
	}
	flow_goals_confirm(to->goals, index, &load);
}

/* Was its function called from where it was when the spot became known of? */
static bool is_called_there(struct to *to, const struct flow_spot_of_value *spot,
			    const struct tl_access *access)
{
	struct tl_frame_place frames[2];

	return !spot->context || (to->services->unwind(to->host, access, frames, 2) == 2 &&
				  frames[1].pc == spot->context);
}

static void on_spot(struct to *to, uint32_t index, struct told *told,
		    const struct tl_access *access)
{
	const struct flow_spot_of_value *spot = &to->goals->spot[index];

	if (access->access & TL_READ && told->filled && !(access->traits & TL_TRAIT_BEYOND))
		on_read(to, index, access);
	if (access->access & TL_WRITE && spot->filler)
		told->filled = flow_is_filler(spot, access->pc) &&
			       (!spot->copy_call || is_called_there(to, spot, access));
}

/* Is the thread about to load from the spot? */
static bool loads_from(struct to *to, const struct flow_spot_of_value *spot,
		       const struct tl_access *access)
{
	struct flow_value load = {.pid = access->pid};
	struct insn insn;

	if (!flow_decode_at(&to->goals->tree, access->pid, access->pc, &insn))
		return false;
	for (load.operand = 0; load.operand < insn.operand_count; load.operand++) {
		uint64_t address, length;

		if (insn.operand[load.operand].access & TL_READ &&
		    flow_tree_address(&to->goals->tree, &load, access, &address, &length) &&
		    address < spot->address + spot->length && spot->address < address + length)
			return true;
	}
	return false;
}

/* A thread is about to call the copying. */
static void on_copy_call(struct told *told, const struct flow_spot_of_value *spot,
			 const struct flow_spot_of_value *parent, const struct tl_access *access)
{
	uint64_t to, from;

	told->tid = 0;
	if (!access->registers)
		return;
	to = access->registers->general[7];
	from = access->registers->general[6];
	if (parent->address - from >= (spot->sized ? access->registers->general[2] : UINT32_MAX))
		return;
	told->tid = access->tid;
	told->copied_to = to + (parent->address - from);
}

/* The copying that was called last reads the parent's spot: it is where its call says. */
static bool on_copy(struct to *to, struct flow_spot_of_value *spot, const struct told *told,
		    const struct tl_access *access)
{
	const struct flow_goals *goals = to->goals;

	if (!told->tid || told->tid != access->tid || !flow_is_filler(spot, access->pc) ||
	    !is_called_there(to, spot, access))
		return false;
	spot->address = told->copied_to;
	spot->length = goals->spot[goals->reader[spot->reader].spot].length;
	spot->state = FLOW_VALUE_KNOWN;
	spot->visits = 0;
	return true;
}

/* The parent's spot is read, from which the sought one is filled. True: it is known where. */
static bool on_parent(struct to *to, uint32_t index, struct told *told,
		      const struct tl_access *access)
{
	const struct flow_goals *goals = to->goals;
	struct flow_spot_of_value *spot = &to->goals->spot[index];
	const struct flow_reader *reader = &goals->reader[spot->reader];
	const struct flow_spot_of_value *parent = &goals->spot[reader->spot];

	if (spot->bypassed) {
		if (loads_from(to, parent, access))
			told->tid = access->tid;
		else if (told->tid == access->tid)
			told->tid = 0;
		return false;
	}
	if (access->access & TL_READ && told->filled && spot->copy_call &&
	    on_copy(to, spot, told, access))
		return true;
	if (access->access & TL_READ && access->pc == reader->pc && told->filled &&
	    !spot->copy_call)
		told->tid = access->tid;
	if (access->access & TL_WRITE && parent->filler)
		told->filled = flow_is_filler(parent, access->pc) &&
			       (!parent->copy_call || is_called_there(to, parent, access));
	return false;
}

/* A thread is about to store, after it has loaded from the parent's spot. True: where is known. */
static bool on_filler(struct to *to, uint32_t index, struct told *told,
		      const struct tl_access *access)
{
	struct flow_spot_of_value *spot = &to->goals->spot[index];
	const struct flow_value store = {
		.operand = spot->operand, .first = spot->first, .wanted = spot->wanted};
	uint64_t address, length;

	if (spot->copy_call) {
		on_copy_call(told, spot, &to->goals->spot[to->goals->reader[spot->reader].spot],
			     access);
		return false;
	}
	if (!told->tid || told->tid != access->tid || !is_called_there(to, spot, access))
		return false;
	told->tid = 0;
	if (!flow_tree_address(&to->goals->tree, &store, access, &address, &length))
		return false;
	spot->address = address;
	spot->length = length;
	spot->state = FLOW_VALUE_KNOWN;
	spot->visits = 0;
	return true;
}

static void on_one(void *state, const struct tl_access *access)
{
	struct to *to = state;
	int number = flow_asking_find(&to->asking, access);
	struct flow_question *question;

	if (number < 0)
		return;
	question = &to->asking.question[number];
	if (access->cookie == question->code_cookie) {
		if (on_filler(to, question->item, &to->told[number], access))
			flow_asking_stop(&to->asking, question);
	} else if (access->access & TL_LATE ||
		   (access->access & TL_GUESSED && !flow_is_kernel(access))) {
		/* It may be a store of another value. */
		to->services->count(to->host, "flow-hits-guessed", 1);
		forget(to, (unsigned)number);
	} else if (to->goals->spot[question->item].state == FLOW_VALUE_SOUGHT) {
		if (on_parent(to, question->item, &to->told[number], access))
			flow_asking_stop(&to->asking, question);
	} else {
		on_spot(to, question->item, &to->told[number], access);
	}
}

static void on_hit(void *state, const struct tl_access *access)
{
	struct to *to = state;

	flow_asking_hit(&to->asking, access, on_one);
}

static void on_unwatched(void *state, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	struct to *to = state;

	(void)hits, (void)threads;
	flow_asking_unwatched(&to->asking, watch);
}

/* Nodes that are the same code and read from the same store are one finding. */
static uint32_t node_of(const struct flow_goals *goals, uint32_t reader)
{
	uint64_t filler = goals->spot[goals->reader[reader].spot].filler;

	for (uint32_t i = 0; i < reader; i++)
		if (goals->reader[i].pc == goals->reader[reader].pc &&
		    goals->spot[goals->reader[i].spot].filler == filler)
			return i;
	return reader;
}

/* What of the reader's uses is no further spot, or has no answer. */
static bool end_of_use(void *state, uint32_t reader, uint32_t index, char *text)
{
	static struct tl_frame frames[16];
	const struct flow_goals *goals = state;
	const struct flow_spot_of_value *spot = &goals->spot[index];
	int count;

	if (spot->reader != reader || spot->confirmed)
		return false;
	if (spot->state == FLOW_VALUE_ENDED) {
		snprintf(text, FLOW_DETAIL_TEXT, "%s", spot->end);
		return true;
	}
	count = goals->tree.services->symbolise(goals->tree.host, spot->pid, spot->filler, frames,
						16);
	snprintf(text, FLOW_DETAIL_TEXT,
		 spot->state == FLOW_VALUE_KNOWN
			 ? "stored by %.48s, line %u, where nobody was seen to read it"
			 : "not followed: the store by %.48s, line %u, was not seen after the load",
		 count > 0 && frames[0].function ? frames[0].function : "?",
		 count > 0 ? frames[0].line : 0);
	return true;
}

static void tell_reader(struct flow_goals *goals, uint32_t index)
{
	const struct flow_reader *reader = &goals->reader[index];
	const struct flow_spot_of_value *spot = &goals->spot[reader->spot];
	struct flow_finding finding = {.kind = "flow-step", .rank = index + 1};
	uint32_t filler;

	if (reader->place == FLOW_NOWHERE || node_of(goals, index) != index)
		return;
	flow_add_place(&finding, &goals->tree.places.place[reader->place],
		       TL_READ | (reader->kernel ? TL_KERNEL : 0), spot->address, spot->length);
	filler = spot->filler ? flow_place_find(&goals->tree.places, spot->pid, spot->filler)
			      : FLOW_NOWHERE;
	if (filler != FLOW_NOWHERE)
		flow_add_place(&finding, &goals->tree.places.place[filler], TL_WRITE, spot->address,
			       spot->length);
	flow_detail(&finding, "node", "%u", index);
	if (spot->reader != FLOW_NONE)
		flow_detail(&finding, "parent", "%u", node_of(goals, spot->reader));
	flow_detail(&finding, "percent", "%.1f",
		    spot->confirmed ? 100 * (double)reader->count / (double)spot->confirmed : 0);
	flow_detail(&finding, "seen", "%llu", (unsigned long long)reader->count);
	flow_detail(&finding, "address", "0x%llx", (unsigned long long)spot->address);
	if (reader->repeats != FLOW_NONE)
		flow_detail(&finding, "repeats", "%u", node_of(goals, reader->repeats));
	else
		flow_add_ends(&finding, goals, index, goals->spots, end_of_use);
	flow_tell(goals->tree.host, goals->tree.services, &finding);
}

static void process_ended(void *state, pid_t pid)
{
	struct to *to = state;

	if (!flow_asking_ended(&to->asking, pid))
		return;
	for (uint32_t i = 0; i < to->goals->readers; i++)
		tell_reader(to->goals, i);
	if (!to->goals->readers)
		to->services->log(to->host, "%s: nobody was seen to read it",
				  to->asking.expression.text);
}

static void finish(void *state)
{
	struct to *to = state;

	flow_asking_finish(&to->asking);
	flow_places_free(&to->goals->tree.places);
	free(to->goals);
	free(to);
}

#define TOOL                                                                              \
	.size = sizeof(struct tl_tool), .version = TL_TOOL_VERSION, .name = "to",         \
	.summary = "where the values of an expression go", .start = start, .hit = on_hit, \
	.unwatched = on_unwatched, .exit = finish, .process_began = process_began,        \
	.process_ended = process_ended, .tick = on_tick, .slots = FLOW_QUESTIONS

const struct tl_tool flow_to_tool = {TOOL};
/* Threads wait when they allocate: for heap:SIZE@function alone. */
const struct tl_tool flow_to_heap_tool = {TOOL, .wants = TL_WANTS_BLOCKS, .born = on_born};
