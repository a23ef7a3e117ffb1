/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `trapline flow from EXPR`: which values of the tree are watched when, and what their hits mean.
 *
 * A known value is watched for reads and writes: the last store before its reader reads there, in
 * the right caller, is an answer. A sought value takes two watches: its load's code, and the store
 * that it goes into; the load before that store, in the same thread, tells the address.
 */
#include "flow/flow.h"

#include "flow/expression.h"
#include "flow/origin_tree.h"
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
	uint32_t value;		      /* FLOW_NONE: free */
	uint64_t cookie, code_cookie; /* 0: over; code: of a sought value */
	uint64_t deadline;
	struct flow_store last; /* there, since it is watched */
	/* Of a sought value: what the load that came last would have read. */
	pid_t tid;
	uint64_t address, length;
	bool found;
};

struct from {
	struct tl_host *host;
	const struct tl_services *services;
	struct flow_expression expression;
	struct flow_tree *tree;
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
	struct from *from = calloc(1, sizeof(*from));

	if (from)
		from->tree = calloc(1, sizeof(*from->tree));
	if (!from || !from->tree) {
		free(from);
		return -ENOMEM;
	}
	from->host = host;
	from->services = services;
	from->tree->host = host;
	from->tree->services = services;
	flow_places_init(&from->tree->places, host, services);
	for (unsigned i = 0; i < WATCHES; i++)
		from->asked[i].value = FLOW_NONE;
	*state = from;
	return flow_expression_init(&from->expression, host, services, "from");
}

static void add_root(void *context, pid_t pid, uint64_t address, uint64_t length)
{
	struct from *from = context;
	struct flow_tree *tree = from->tree;

	if (tree->values < FLOW_VALUES)
		tree->value[tree->values++] = (struct flow_value){
			.writer = FLOW_NONE, .pid = pid, .address = address, .length = length};
}

static void process_began(void *state, pid_t pid)
{
	struct from *from = state;

	flow_expression_began(&from->expression, pid, add_root, from);
}

static void on_born(void *state, const struct tl_block *block)
{
	struct from *from = state;

	flow_expression_born(&from->expression, block, add_root, from);
}

static uint64_t arm(struct from *from, const struct flow_value *value, uint64_t address,
		    uint64_t length, unsigned access)
{
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = value->pid,
				 .address = address,
				 .length = access == TL_EXEC ? 1
							     : flow_piece_length(address, length),
				 .access = access,
				 .hits = HITS,
				 .window = WINDOW,
				 .cookie = ++from->cookie};

	if (from->services->arm(from->host, &watch) == 0)
		return watch.cookie;
	from->services->count(from->host, "flow-not-armed", 1);
	return 0;
}

static bool ask(struct from *from, struct asked *asked, uint32_t index)
{
	struct flow_tree *tree = from->tree;
	struct flow_value *value = &tree->value[index];
	bool sought = value->state == FLOW_VALUE_SOUGHT;
	uint64_t address = value->address, length = value->length;

	if (sought) {
		const struct flow_value *parent = &tree->value[tree->writer[value->writer].value];

		address = parent->address;
		length = parent->length;
	}
	*asked = (struct asked){.value = FLOW_NONE};
	value->visits++;
	asked->cookie = arm(from, value, address, length,
			    sought || !value->reader ? TL_WRITE : TL_READ | TL_WRITE);
	if (asked->cookie && sought)
		asked->code_cookie = arm(
			from, value, value->copied ? value->copy_call : value->reader, 1, TL_EXEC);
	if (asked->cookie && sought && !asked->code_cookie) {
		from->services->disarm(from->host, asked->cookie);
		return false;
	}
	if (!asked->cookie)
		return false;
	asked->value = index;
	asked->deadline = now() + 2 * WINDOW;
	return true;
}

static void stop(struct from *from, struct asked *asked)
{
	if (asked->cookie)
		from->services->disarm(from->host, asked->cookie);
	if (asked->code_cookie)
		from->services->disarm(from->host, asked->code_cookie);
	asked->value = FLOW_NONE;
}

static bool is_asked(const struct from *from, uint32_t value)
{
	for (unsigned i = 0; i < WATCHES; i++)
		if (from->asked[i].value == value)
			return true;
	return false;
}

/* Those that were visited least, then those nearest to the expression. */
static uint32_t choose(const struct from *from)
{
	const struct flow_tree *tree = from->tree;
	uint32_t best = FLOW_NONE;

	for (uint32_t i = 0; i < tree->values; i++) {
		const struct flow_value *value = &tree->value[i];
		uint64_t turns = value->visits + (value->confirmed >= ENOUGH ? 16 : 0);

		if (value->state == FLOW_VALUE_ENDED || is_asked(from, i))
			continue;
		if (best == FLOW_NONE ||
		    turns < tree->value[best].visits +
				    (tree->value[best].confirmed >= ENOUGH ? 16 : 0))
			best = i;
	}
	return best;
}

static unsigned slots_in_use(const struct from *from)
{
	unsigned count = 0;

	for (unsigned i = 0; i < WATCHES; i++)
		if (from->asked[i].value != FLOW_NONE)
			count += (from->asked[i].cookie != 0) + (from->asked[i].code_cookie != 0);
	return count;
}

static void on_tick(void *state)
{
	struct from *from = state;
	uint64_t time = now();

	flow_expression_tick(&from->expression, add_root, from);
	for (unsigned i = 0; i < WATCHES && from->expression.pid > 0; i++) {
		struct asked *asked = &from->asked[i];
		uint32_t value;
		unsigned needed;

		if (asked->value != FLOW_NONE && time > asked->deadline)
			stop(from, asked);
		if (asked->value != FLOW_NONE)
			continue;
		value = choose(from);
		if (value == FLOW_NONE)
			return;
		needed = from->tree->value[value].state == FLOW_VALUE_SOUGHT ? 2 : 1;
		if (slots_in_use(from) + needed >
			    from->services->slots(from->host, from->expression.pid) ||
		    !ask(from, asked, value))
			return;
	}
}

/* Frames only of what is new: unwinding is dear. */
static bool is_known(const struct from *from, uint32_t value, uint64_t pc)
{
	for (uint32_t i = 0; i < from->tree->writers; i++)
		if (from->tree->writer[i].value == value && from->tree->writer[i].pc == pc)
			return true;
	return false;
}

static void note_store(struct from *from, uint32_t value, const struct tl_access *access,
		       struct flow_store *store)
{
	int count = 0;

	*store = (struct flow_store){.known = true,
				     .kernel = access->access & TL_KERNEL,
				     .updates = access->access & TL_READ,
				     .pid = access->pid,
				     .tid = access->tid,
				     .pc = access->pc,
				     .address = access->address,
				     .length = access->length};
	if (!access->registers || is_known(from, value, access->pc))
		return;
	memcpy(store->general, access->registers->general, sizeof(store->general));
	store->fs_base = access->registers->fs_base;
	count = from->services->unwind(from->host, access, store->frame, FLOW_FRAMES);
	store->frames = count > 0 ? (unsigned)count : 0;
}

/* Is it the piece of code that was asked about, called from where it was then? */
static bool is_reader(struct from *from, const struct flow_value *value,
		      const struct tl_access *access)
{
	struct tl_frame_place frames[2];

	if (access->pc < value->reader || access->pc >= value->reader_end ||
	    access->traits & TL_TRAIT_BEYOND)
		return false;
	return !value->context || (from->services->unwind(from->host, access, frames, 2) == 2 &&
				   frames[1].pc == value->context);
}

static void on_value(struct from *from, struct asked *asked, const struct tl_access *access)
{
	struct flow_tree *tree = from->tree;
	uint32_t index = asked->value;
	struct flow_value *value = &tree->value[index];

	if (value->reader && access->access & TL_READ && is_reader(from, value, access)) {
		value->reads++;
		if (asked->last.known)
			flow_tree_confirm(tree, index, &asked->last, access);
		asked->last.known = false;
	}
	if (!(access->access & TL_WRITE))
		return;
	note_store(from, index, access, &asked->last);
	if (!value->reader)
		flow_tree_confirm(tree, index, &asked->last, access);
}

/* The store that the sought value goes into. */
static void on_goal(struct from *from, struct asked *asked, const struct tl_access *access)
{
	struct flow_tree *tree = from->tree;
	struct flow_value *value = &tree->value[asked->value];
	const struct flow_writer *writer = &tree->writer[value->writer];

	if (!(access->access & TL_WRITE) || access->pc != writer->pc)
		return;
	if (!asked->found || asked->tid != access->tid) {
		asked->found = false;
		return;
	}
	value->address = asked->address;
	value->length = asked->length;
	value->state = FLOW_VALUE_KNOWN;
	value->visits = 0;
	stop(from, asked);
}

static void on_code(struct from *from, struct asked *asked, const struct tl_access *access)
{
	struct flow_value *value = &from->tree->value[asked->value];
	struct tl_frame_place frames[2];

	if (value->context && !value->copied &&
	    (from->services->unwind(from->host, access, frames, 2) < 2 ||
	     frames[1].pc != value->context))
		return;
	asked->found =
		flow_tree_address(from->tree, value, access, &asked->address, &asked->length);
	asked->tid = access->tid;
}

static void on_hit(void *state, const struct tl_access *access)
{
	struct from *from = state;

	if (access->access & TL_LATE) {
		from->services->count(from->host, "flow-hits-late", 1);
		return;
	}
	for (unsigned i = 0; i < WATCHES; i++) {
		struct asked *asked = &from->asked[i];

		if (asked->value == FLOW_NONE || !access->cookie)
			continue;
		if (access->cookie == asked->code_cookie)
			on_code(from, asked, access);
		else if (access->cookie != asked->cookie)
			continue;
		else if (access->access & TL_GUESSED && !(access->access & TL_KERNEL))
			from->services->count(from->host, "flow-hits-guessed", 1);
		else if (from->tree->value[asked->value].state == FLOW_VALUE_SOUGHT)
			on_goal(from, asked, access);
		else
			on_value(from, asked, access);
		return;
	}
}

static void on_unwatched(void *state, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	struct from *from = state;

	(void)hits, (void)threads;
	for (unsigned i = 0; i < WATCHES; i++) {
		struct asked *asked = &from->asked[i];

		if (asked->value == FLOW_NONE)
			continue;
		if (asked->cookie == watch->cookie)
			asked->cookie = 0;
		else if (asked->code_cookie == watch->cookie)
			asked->code_cookie = 0;
		else
			continue;
		stop(from, asked);
	}
}

/* Nodes that are the same code and ask for the same reader are one finding. */
static uint32_t node_of(const struct flow_tree *tree, uint32_t writer)
{
	uint64_t reader = tree->value[tree->writer[writer].value].reader;

	for (uint32_t i = 0; i < writer; i++)
		if (tree->writer[i].pc == tree->writer[writer].pc &&
		    tree->value[tree->writer[i].value].reader == reader)
			return i;
	return writer;
}

/* What of the writer's sources is no further value, or has no answer. */
static void tell_ends(struct flow_tree *tree, uint32_t writer, struct flow_finding *finding)
{
	static const char *const names[] = {"end-1", "end-2", "end-3", "end-4"};
	unsigned count = 0;

	for (uint32_t i = 0; i < tree->values && count < 4; i++) {
		const struct flow_value *value = &tree->value[i];

		if (value->writer != writer || value->confirmed)
			continue;
		if (value->state == FLOW_VALUE_ENDED)
			flow_detail(finding, names[count++], "%s", value->end);
		else if (value->state == FLOW_VALUE_SOUGHT)
			flow_detail(finding, names[count++],
				    "not followed: its load was not seen before the store");
		else
			flow_detail(finding, names[count++],
				    "memory that nobody was seen to write");
	}
}

static void tell_writer(struct flow_tree *tree, uint32_t index)
{
	const struct flow_writer *writer = &tree->writer[index];
	const struct flow_value *value = &tree->value[writer->value];
	struct flow_finding finding = {.kind = "flow-step", .rank = index + 1};
	uint32_t reader;

	if (writer->place == FLOW_NOWHERE || node_of(tree, index) != index)
		return;
	flow_add_place(&finding, &tree->places.place[writer->place],
		       TL_WRITE | (writer->kernel ? TL_KERNEL : 0), value->address, value->length);
	reader = value->reader ? flow_place_find(&tree->places, value->pid, value->reader)
			       : FLOW_NOWHERE;
	if (reader != FLOW_NOWHERE)
		flow_add_place(&finding, &tree->places.place[reader], TL_READ, value->address,
			       value->length);
	flow_detail(&finding, "node", "%u", index);
	if (value->writer != FLOW_NONE)
		flow_detail(&finding, "parent", "%u", node_of(tree, value->writer));
	flow_detail(&finding, "percent", "%.1f",
		    value->confirmed ? 100 * (double)writer->count / (double)value->confirmed : 0);
	flow_detail(&finding, "seen", "%llu", (unsigned long long)writer->count);
	flow_detail(&finding, "address", "0x%llx", (unsigned long long)value->address);
	if (writer->repeats != FLOW_NONE)
		flow_detail(&finding, "repeats", "%u", node_of(tree, writer->repeats));
	else
		tell_ends(tree, index, &finding);
	flow_tell(tree->host, tree->services, &finding);
}

static void process_ended(void *state, pid_t pid)
{
	struct from *from = state;

	if (!flow_expression_ended(&from->expression, pid))
		return;
	for (unsigned i = 0; i < WATCHES; i++)
		if (from->asked[i].value != FLOW_NONE)
			stop(from, &from->asked[i]);
	for (uint32_t i = 0; i < from->tree->writers; i++)
		tell_writer(from->tree, i);
	if (!from->tree->writers)
		from->services->log(from->host, "%s: nobody was seen to write it",
				    from->expression.text);
}

static void finish(void *state)
{
	struct from *from = state;

	flow_expression_finish(&from->expression);
	flow_places_free(&from->tree->places);
	free(from->tree);
	free(from);
}

#define TOOL                                                                                     \
	.size = sizeof(struct tl_tool), .version = TL_TOOL_VERSION, .name = "from",              \
	.summary = "where the values of an expression come from", .start = start, .hit = on_hit, \
	.unwatched = on_unwatched, .exit = finish, .process_began = process_began,               \
	.process_ended = process_ended, .tick = on_tick, .slots = WATCHES

const struct tl_tool flow_from_tool = {TOOL};
/* Threads wait when they allocate: for heap:SIZE@function alone. */
const struct tl_tool flow_from_heap_tool = {TOOL, .wants = TL_WANTS_BLOCKS, .born = on_born};
