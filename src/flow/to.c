/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `trapline flow to EXPR`: which spots of the tree are watched when, and what their hits mean.
 *
 * A known spot is watched for reads and writes: who reads there what its filler has stored last is
 * an answer. A sought spot takes two watches: the place that its value is read from, and the code
 * of the store; the store after that very load, in the same thread, tells the address.
 */
#include "flow/flow.h"

#include "flow/expression.h"
#include "flow/goal_tree.h"
#include "flow/tell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MILLISECOND 1000000ull
#define WINDOW (100 * MILLISECOND)
#define HITS 48u   /* of a watch: what comes by all the time costs no more */
#define ENOUGH 48u /* answers to a question, after which others come first */
#define WATCHES 3

struct asked {
	uint32_t spot;		      /* FLOW_NONE: free */
	uint64_t cookie, code_cookie; /* 0: over; code: of a sought spot */
	uint64_t deadline;
	bool filled; /* the last store there was the filler's */
	pid_t tid;   /* whose load of the parent's spot was the last; 0: none */
};

struct to {
	struct tl_host *host;
	const struct tl_services *services;
	struct flow_expression expression;
	struct flow_goals *goals;
	struct asked asked[WATCHES];
	uint64_t cookie;
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

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
	to->goals->tree.host = host;
	to->goals->tree.services = services;
	flow_places_init(&to->goals->tree.places, host, services);
	for (unsigned i = 0; i < WATCHES; i++)
		to->asked[i].spot = FLOW_NONE;
	*state = to;
	return flow_expression_init(&to->expression, host, services, "to");
}

static void add_root(void *context, pid_t pid, uint64_t address, uint64_t length)
{
	struct to *to = context;
	struct flow_goals *goals = to->goals;

	if (goals->spots < FLOW_VALUES)
		goals->spot[goals->spots++] = (struct flow_spot_of_value){
			.reader = FLOW_NONE, .pid = pid, .address = address, .length = length};
}

static void process_began(void *state, pid_t pid)
{
	struct to *to = state;

	flow_expression_began(&to->expression, pid, add_root, to);
}

static void on_born(void *state, const struct tl_block *block)
{
	struct to *to = state;

	flow_expression_born(&to->expression, block, add_root, to);
}

static uint64_t arm(struct to *to, pid_t pid, uint64_t address, uint64_t length, unsigned access)
{
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = pid,
				 .address = address,
				 .length = access == TL_EXEC ? 1
							     : flow_piece_length(address, length),
				 .access = access,
				 .hits = HITS,
				 .window = WINDOW,
				 .cookie = ++to->cookie};

	if (to->services->arm(to->host, &watch) == 0)
		return watch.cookie;
	to->services->count(to->host, "flow-not-armed", 1);
	return 0;
}

static void stop(struct to *to, struct asked *asked)
{
	if (asked->cookie)
		to->services->disarm(to->host, asked->cookie);
	if (asked->code_cookie)
		to->services->disarm(to->host, asked->code_cookie);
	asked->spot = FLOW_NONE;
}

static bool ask(struct to *to, struct asked *asked, uint32_t index)
{
	struct flow_goals *goals = to->goals;
	struct flow_spot_of_value *spot = &goals->spot[index];
	const struct flow_spot_of_value *watched =
		spot->state == FLOW_VALUE_SOUGHT ? &goals->spot[goals->reader[spot->reader].spot]
						 : spot;

	*asked = (struct asked){.spot = FLOW_NONE};
	spot->visits++;
	asked->cookie = arm(to, spot->pid, watched->address, watched->length, TL_READ | TL_WRITE);
	if (!asked->cookie)
		return false;
	if (spot->state == FLOW_VALUE_SOUGHT) {
		asked->code_cookie = arm(to, spot->pid, spot->filler, 1, TL_EXEC);
		if (!asked->code_cookie) {
			to->services->disarm(to->host, asked->cookie);
			return false;
		}
	}
	asked->spot = index;
	asked->filled = !spot->filler;
	asked->deadline = now() + 2 * WINDOW;
	return true;
}

static bool is_asked(const struct to *to, uint32_t spot)
{
	for (unsigned i = 0; i < WATCHES; i++)
		if (to->asked[i].spot == spot)
			return true;
	return false;
}

static uint64_t turns(const struct flow_spot_of_value *spot)
{
	return spot->visits + (spot->confirmed >= ENOUGH ? 16 : 0);
}

static uint32_t choose(const struct to *to)
{
	const struct flow_goals *goals = to->goals;
	uint32_t best = FLOW_NONE;

	for (uint32_t i = 0; i < goals->spots; i++) {
		if (goals->spot[i].state == FLOW_VALUE_ENDED || is_asked(to, i))
			continue;
		if (best == FLOW_NONE || turns(&goals->spot[i]) < turns(&goals->spot[best]))
			best = i;
	}
	return best;
}

static unsigned slots_in_use(const struct to *to)
{
	unsigned count = 0;

	for (unsigned i = 0; i < WATCHES; i++)
		if (to->asked[i].spot != FLOW_NONE)
			count += (to->asked[i].cookie != 0) + (to->asked[i].code_cookie != 0);
	return count;
}

static void on_tick(void *state)
{
	struct to *to = state;
	uint64_t time = now();

	flow_expression_tick(&to->expression, add_root, to);
	for (unsigned i = 0; i < WATCHES && to->expression.pid > 0; i++) {
		struct asked *asked = &to->asked[i];
		uint32_t spot;
		unsigned needed;

		if (asked->spot != FLOW_NONE && time > asked->deadline)
			stop(to, asked);
		if (asked->spot != FLOW_NONE)
			continue;
		spot = choose(to);
		if (spot == FLOW_NONE)
			return;
		needed = to->goals->spot[spot].state == FLOW_VALUE_SOUGHT ? 2 : 1;
		if (slots_in_use(to) + needed > to->services->slots(to->host, to->expression.pid) ||
		    !ask(to, asked, spot))
			return;
	}
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

static void on_spot(struct to *to, struct asked *asked, const struct tl_access *access)
{
	const struct flow_spot_of_value *spot = &to->goals->spot[asked->spot];

	if (access->access & TL_READ && asked->filled && !(access->traits & TL_TRAIT_BEYOND))
		on_read(to, asked->spot, access);
	if (access->access & TL_WRITE && spot->filler)
		asked->filled = access->pc == spot->filler;
}

/* The parent's spot is read, from which the sought one is filled. */
static void on_parent(struct to *to, struct asked *asked, const struct tl_access *access)
{
	const struct flow_goals *goals = to->goals;
	const struct flow_spot_of_value *spot = &goals->spot[asked->spot];

	if (access->access & TL_READ && access->pc == goals->reader[spot->reader].pc)
		asked->tid = access->tid;
}

/* A thread is about to store, after it has loaded from the parent's spot. */
static void on_filler(struct to *to, struct asked *asked, const struct tl_access *access)
{
	struct flow_spot_of_value *spot = &to->goals->spot[asked->spot];
	const struct flow_value store = {
		.operand = spot->operand, .first = spot->first, .wanted = spot->wanted};
	struct tl_frame_place frames[2];
	uint64_t address, length;

	if (!asked->tid || asked->tid != access->tid)
		return;
	if (spot->context && (to->services->unwind(to->host, access, frames, 2) < 2 ||
			      frames[1].pc != spot->context))
		return;
	asked->tid = 0;
	if (!flow_tree_address(&to->goals->tree, &store, access, &address, &length))
		return;
	spot->address = address;
	spot->length = length;
	spot->state = FLOW_VALUE_KNOWN;
	spot->visits = 0;
	stop(to, asked);
}

static void on_hit(void *state, const struct tl_access *access)
{
	struct to *to = state;

	for (unsigned i = 0; i < WATCHES && access->cookie; i++) {
		struct asked *asked = &to->asked[i];

		if (asked->spot == FLOW_NONE ||
		    (access->cookie != asked->cookie && access->cookie != asked->code_cookie))
			continue;
		if (access->cookie == asked->code_cookie)
			on_filler(to, asked, access);
		else if (access->access & TL_LATE ||
			 (access->access & TL_GUESSED && !(access->access & TL_KERNEL)))
			to->services->count(to->host, "flow-hits-guessed", 1);
		else if (to->goals->spot[asked->spot].state == FLOW_VALUE_SOUGHT)
			on_parent(to, asked, access);
		else
			on_spot(to, asked, access);
		return;
	}
}

static void on_unwatched(void *state, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	struct to *to = state;

	(void)hits, (void)threads;
	for (unsigned i = 0; i < WATCHES; i++) {
		struct asked *asked = &to->asked[i];

		if (asked->spot == FLOW_NONE)
			continue;
		if (asked->cookie == watch->cookie)
			asked->cookie = 0;
		else if (asked->code_cookie == watch->cookie)
			asked->code_cookie = 0;
		else
			continue;
		stop(to, asked);
	}
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

static void tell_unread(struct flow_goals *goals, const struct flow_spot_of_value *spot,
			const char *name, struct flow_finding *finding)
{
	static struct tl_frame frames[16];
	int count = goals->tree.services->symbolise(goals->tree.host, spot->pid, spot->filler,
						    frames, 16);

	flow_detail(
		finding, name,
		spot->state == FLOW_VALUE_KNOWN
			? "stored by %.48s, line %u, where nobody was seen to read it"
			: "not followed: the store by %.48s, line %u, was not seen after the load",
		count > 0 && frames[0].function ? frames[0].function : "?",
		count > 0 ? frames[0].line : 0);
}

static void tell_ends(struct flow_goals *goals, uint32_t reader, struct flow_finding *finding)
{
	static const char *const names[] = {"end-1", "end-2", "end-3", "end-4"};
	unsigned count = 0;

	for (uint32_t i = 0; i < goals->spots && count < 4; i++) {
		const struct flow_spot_of_value *spot = &goals->spot[i];

		if (spot->reader != reader || spot->confirmed)
			continue;
		if (spot->state == FLOW_VALUE_ENDED)
			flow_detail(finding, names[count++], "%s", spot->end);
		else
			tell_unread(goals, spot, names[count++], finding);
	}
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
		tell_ends(goals, index, &finding);
	flow_tell(goals->tree.host, goals->tree.services, &finding);
}

static void process_ended(void *state, pid_t pid)
{
	struct to *to = state;

	if (!flow_expression_ended(&to->expression, pid))
		return;
	for (unsigned i = 0; i < WATCHES; i++)
		if (to->asked[i].spot != FLOW_NONE)
			stop(to, &to->asked[i]);
	for (uint32_t i = 0; i < to->goals->readers; i++)
		tell_reader(to->goals, i);
	if (!to->goals->readers)
		to->services->log(to->host, "%s: nobody was seen to read it", to->expression.text);
}

static void finish(void *state)
{
	struct to *to = state;

	flow_expression_finish(&to->expression);
	flow_places_free(&to->goals->tree.places);
	free(to->goals);
	free(to);
}

#define TOOL                                                                              \
	.size = sizeof(struct tl_tool), .version = TL_TOOL_VERSION, .name = "to",         \
	.summary = "where the values of an expression go", .start = start, .hit = on_hit, \
	.unwatched = on_unwatched, .exit = finish, .process_began = process_began,        \
	.process_ended = process_ended, .tick = on_tick, .slots = WATCHES

const struct tl_tool flow_to_tool = {TOOL};
/* Threads wait when they allocate: for heap:SIZE@function alone. */
const struct tl_tool flow_to_heap_tool = {TOOL, .wants = TL_WANTS_BLOCKS, .born = on_born};
