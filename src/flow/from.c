/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `trapline flow from EXPR`: which values of the tree are watched when, and what their hits mean.
 *
 * A known value is watched for reads and writes: the last store before its reader reads there, in
 * the right caller, is an answer. A sought value takes two watches: its load's code, and the store
 * that it goes into; the load before that store, in the same thread, tells the address.
 */
#include "flow/flow.h"

#include "flow/asking.h"
#include "flow/origin_tree.h"
#include "flow/tell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RSP 4
#define CALLS_ENOUGH 16 /* of one call by a pointer, after which new targets are rare */

/* What a question has told so far. */
struct told {
	struct flow_store last; /* there, since it is watched */
	/* Of a sought value: what the load that came last would have read, and what the one did
	 * that came before the last store to the parent. */
	pid_t tid;
	uint64_t address, length;
	bool found;
	uint64_t stored_address, stored_length; /* length 0: not known */
	/* Of one of several: what was read there last, by whom, and the store before it. */
	struct flow_store candidate;
	pid_t reader;
	uint64_t read;
	uint64_t general[16]; /* of a sought value: the registers before that load, or call */
};

struct from {
	struct tl_host *host;
	const struct tl_services *services;
	struct flow_asking asking;
	struct flow_tree *tree;
	struct told told[FLOW_QUESTIONS];
};

static void add_root(void *context, pid_t pid, uint64_t address, uint64_t length)
{
	struct from *from = context;
	struct flow_tree *tree = from->tree;

	for (uint32_t i = 0; i < tree->values && !length; i++)
		if (tree->value[i].writer == FLOW_NONE &&
		    tree->value[i].address - address < 8 * FLOW_PIECES)
			tree->value[i].state = FLOW_VALUE_ENDED;
	if (length && tree->values < FLOW_VALUES)
		tree->value[tree->values++] = (struct flow_value){
			.writer = FLOW_NONE, .pid = pid, .address = address, .length = length};
}

static bool item(void *state, uint32_t index, struct flow_item *item)
{
	const struct from *from = state;
	const struct flow_value *value = &from->tree->value[index];

	if (index >= from->tree->values)
		return false;
	*item = (struct flow_item){.visits = value->visits,
				   .confirmed = value->confirmed,
				   .ended = value->state == FLOW_VALUE_ENDED ||
					    (value->called && value->confirmed > CALLS_ENOUGH),
				   .sought = value->state == FLOW_VALUE_SOUGHT || value->chosen};
	return true;
}

/* Of what was chosen from several the parent is watched, too. */
static bool ask_known(struct from *from, unsigned index, const struct flow_value *value)
{
	struct flow_question *question = &from->asking.question[index];
	const struct flow_tree *tree = from->tree;
	const struct flow_value *parent =
		value->chosen ? &tree->value[tree->writer[value->writer].value] : NULL;

	question->cookie = flow_asking_arm(&from->asking, value->pid, value->address, value->length,
					   value->reader ? TL_READ | TL_WRITE : TL_WRITE);
	if (!question->cookie || !value->chosen)
		return question->cookie;
	question->code_cookie = flow_asking_arm(&from->asking, value->pid, parent->address,
						parent->length, TL_WRITE);
	if (question->code_cookie)
		return true;
	flow_asking_stop(&from->asking, question);
	return false;
}

static bool ask_sought(struct from *from, unsigned index, const struct flow_value *value)
{
	struct flow_question *question = &from->asking.question[index];
	const struct flow_tree *tree = from->tree;
	const struct flow_value *parent = &tree->value[tree->writer[value->writer].value];

	question->cookie = flow_asking_arm(&from->asking, value->pid, parent->address,
					   parent->length,
					   parent->reader ? TL_READ | TL_WRITE : TL_WRITE);
	if (question->cookie)
		question->code_cookie = flow_asking_arm(
			&from->asking, value->pid, value->copied ? value->copy_call : value->reader,
			1, TL_EXEC);
	if (question->code_cookie)
		return true;
	flow_asking_stop(&from->asking, question);
	return false;
}

static bool ask(void *state, unsigned question, uint32_t index)
{
	struct from *from = state;
	struct flow_value *value = &from->tree->value[index];

	from->told[question] = (struct told){0};
	value->visits++;
	return value->state == FLOW_VALUE_SOUGHT ? ask_sought(from, question, value)
						 : ask_known(from, question, value);
}

static void forget(void *state, unsigned question)
{
	struct told *told = &((struct from *)state)->told[question];

	told->last.known = false;
	told->candidate.known = false;
	told->found = false;
	told->stored_length = 0;
}

static const struct flow_asker asker = {
	.item = item, .ask = ask, .forget = forget, .add = add_root};

static int start(struct tl_host *host, const struct tl_services *services, void **state)
{
	struct from *from = calloc(1, sizeof(*from));

	if (from)
		from->tree = calloc(1, sizeof(*from->tree));
	if (!from || !from->tree) {
		free(from);
		return -ENOMEM;
	}
	from->host = from->tree->host = host;
	from->services = from->tree->services = services;
	from->asking = (struct flow_asking){
		.host = host, .services = services, .asker = &asker, .state = from};
	flow_places_init(&from->tree->places, host, services);
	*state = from;
	return flow_asking_init(&from->asking, "from");
}

static void process_began(void *state, pid_t pid)
{
	struct from *from = state;

	flow_expression_began(&from->asking.expression, pid, add_root, from);
}

static void on_born(void *state, const struct tl_block *block)
{
	struct from *from = state;

	flow_expression_born(&from->asking.expression, block, add_root, from);
}

static void on_tick(void *state)
{
	struct from *from = state;

	flow_asking_tick(&from->asking);
}

/* Frames only of what is new: unwinding is dear. */
static bool is_known(const struct from *from, uint32_t value, uint64_t pc)
{
	for (uint32_t i = 0; i < from->tree->writers; i++)
		if (from->tree->writer[i].value == value && from->tree->writer[i].pc == pc)
			return true;
	return false;
}

static void note_store(struct from *from, const struct tl_access *access, bool known,
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
	if (!access->registers || known)
		return;
	memcpy(store->general, access->registers->general, sizeof(store->general));
	store->fs_base = access->registers->fs_base;
	count = from->services->unwind(from->host, access, store->frame, FLOW_FRAMES);
	store->frames = count > 0 ? (unsigned)count : 0;
}

/* Is it the C library's, in the call at which the value was sought? */
static bool is_called_in_library(struct from *from, const struct flow_value *value,
				 const struct tl_access *access)
{
	struct tl_frame_place frames[FLOW_FRAMES];
	int count;

	if (!flow_in_c_library(from->tree, access->pid, access->pc))
		return false;
	count = from->services->unwind(from->host, access, frames, FLOW_FRAMES);
	for (int i = 1; i < count; i++)
		if (!flow_in_c_library(from->tree, access->pid, frames[i].pc))
			return frames[i].pc == value->context;
	return false;
}

/* Is it the piece of code that was asked about, called from where it was then? */
static bool is_reader(struct from *from, const struct flow_value *value,
		      const struct tl_access *access)
{
	struct tl_frame_place frames[2];

	if (value->parsed)
		return is_called_in_library(from, value, access);
	if (access->pc < value->reader || access->pc >= value->reader_end ||
	    access->traits & TL_TRAIT_BEYOND)
		return false;
	return !value->context || (from->services->unwind(from->host, access, frames, 2) == 2 &&
				   frames[1].pc == value->context);
}

/* The value's own bytes, of those that the access tells: how many, 0: none. */
static uint64_t bytes_of(const struct flow_value *value, const struct tl_access *access,
			 uint64_t *bytes)
{
	uint64_t first = value->address - access->address, length = value->length;

	if (!access->value_known || first >= 8 || access->access & (TL_GUESSED | TL_LATE))
		return 0;
	*bytes = access->value >> 8 * first;
	if (length > 8 - first)
		length = 8 - first;
	return first + length > access->length ? access->length - first : length;
}

/* One of several was read: it counts when the parent is given that value next. */
static void on_candidate(struct told *told, const struct flow_value *value,
			 const struct tl_access *access)
{
	told->candidate.known = false;
	if (!told->last.known || bytes_of(value, access, &told->read) < value->length)
		return;
	told->candidate = told->last;
	told->reader = access->tid;
}

static void on_chosen(struct from *from, uint32_t index, struct told *told,
		      const struct tl_access *access)
{
	const struct flow_value *value = &from->tree->value[index];
	const struct flow_writer *writer = &from->tree->writer[value->writer];
	const struct flow_value *parent = &from->tree->value[writer->value];
	uint64_t given = 0, length = bytes_of(parent, access, &given);

	if (length > value->length)
		length = value->length;
	if (length && told->candidate.known && access->pc == writer->pc &&
	    access->tid == told->reader && !((given ^ told->read) << (64 - 8 * length)))
		flow_tree_confirm(from->tree, index, &told->candidate, access);
	told->candidate.known = false;
}

static void on_value(struct from *from, uint32_t index, struct told *told,
		     const struct tl_access *access)
{
	struct flow_tree *tree = from->tree;
	struct flow_value *value = &tree->value[index];

	if (value->reader && access->access & TL_READ && is_reader(from, value, access)) {
		value->reads++;
		if (value->chosen)
			on_candidate(told, value, access);
		else if (told->last.known)
			flow_tree_confirm(tree, index, &told->last, access);
		told->last.known = false;
	}
	if (!(access->access & TL_WRITE))
		return;
	note_store(from, access, is_known(from, index, access->pc), &told->last);
	if (!value->reader)
		flow_tree_confirm(tree, index, &told->last, access);
}

/*
 * Was the load, or the call, in the very pass of the code that stores now? Not where registers
 * differ that nothing changes in between: it was an earlier one, which did not come to the store. A
 * call that the storing function has made itself was made with the same stack.
 */
static bool is_same_pass(const struct flow_value *value, const struct told *told,
			 const struct tl_access *access)
{
	uint16_t kept = value->kept;

	if (value->called && !value->call.argument && !value->call.from.frame &&
	    !value->call.from.gone)
		kept = 1u << RSP;
	for (unsigned i = 0; i < 16 && access->registers; i++)
		if (kept >> i & 1 && access->registers->general[i] != told->general[i])
			return false;
	return access->registers || !kept;
}

/* The parent is stored to, as the writer does after the load, or otherwise. */
static void on_goal_store(struct from *from, const struct flow_value *value, struct told *told,
			  const struct tl_access *access)
{
	const struct flow_writer *writer = &from->tree->writer[value->writer];
	bool known = access->pc == writer->pc && told->found && told->tid == access->tid &&
		     is_same_pass(value, told, access);

	if (known && value->called)
		note_store(from, access, false, &told->last);
	told->stored_address = told->address;
	told->stored_length = known ? told->length : 0;
	if (access->pc == writer->pc)
		told->found = false;
}

/*
 * The store that the sought value goes into, and the read of it that was asked about: of the values
 * that a loop stores there in turn that one counts which is read. True: the address is known.
 */
static bool on_goal(struct from *from, uint32_t index, struct told *told,
		    const struct tl_access *access)
{
	struct flow_tree *tree = from->tree;
	struct flow_value *value = &tree->value[index];
	const struct flow_writer *writer = &tree->writer[value->writer];
	const struct flow_value *parent = &tree->value[writer->value];
	bool read = parent->reader && access->access & TL_READ && told->stored_length &&
		    is_reader(from, parent, access);

	if (!read && access->access & TL_WRITE)
		on_goal_store(from, value, told, access);
	if (!read && (parent->reader || !told->stored_length))
		return false;
	if (value->called) {
		flow_tree_called(tree, index, told->stored_address, &told->last);
		return true;
	}
	value->address = told->stored_address;
	value->length = told->stored_length;
	value->state = FLOW_VALUE_KNOWN;
	value->visits = 0;
	return true;
}

static void on_code(struct from *from, uint32_t index, struct told *told,
		    const struct tl_access *access)
{
	struct flow_value *value = &from->tree->value[index];
	uint64_t context = value->copied ? value->caller : value->context;
	struct tl_frame_place frames[2];

	if (context &&
	    (from->services->unwind(from->host, access, frames, 2) < 2 || frames[1].pc != context))
		return;
	if (value->called) {
		told->address = flow_call_target(from->tree, access);
		told->length = 1;
		told->found = told->address;
	} else {
		told->found =
			flow_tree_address(from->tree, value, access, &told->address, &told->length);
	}
	told->tid = access->tid;
	if (access->registers)
		memcpy(told->general, access->registers->general, sizeof(told->general));
}

static void on_one(void *state, const struct tl_access *access)
{
	struct from *from = state;
	struct flow_question *question;
	int number;

	number = flow_asking_find(&from->asking, access);
	if (number < 0)
		return;
	question = &from->asking.question[number];
	if (access->access & TL_LATE || (access->cookie != question->code_cookie &&
					 access->access & TL_GUESSED && !flow_is_kernel(access))) {
		/* It may be a store, or a load, of which nothing is known: what was the last one
		 * before it no longer is. */
		from->services->count(
			from->host,
			access->access & TL_LATE ? "flow-hits-late" : "flow-hits-guessed", 1);
		forget(from, (unsigned)number);
		return;
	}
	if (access->cookie == question->code_cookie &&
	    from->tree->value[question->item].state == FLOW_VALUE_KNOWN)
		on_chosen(from, question->item, &from->told[number], access);
	else if (access->cookie == question->code_cookie)
		on_code(from, question->item, &from->told[number], access);
	else if (from->tree->value[question->item].state != FLOW_VALUE_SOUGHT)
		on_value(from, question->item, &from->told[number], access);
	else if (on_goal(from, question->item, &from->told[number], access))
		flow_asking_stop(&from->asking, question);
}

static void on_hit(void *state, const struct tl_access *access)
{
	struct from *from = state;

	flow_asking_hit(&from->asking, access, on_one);
}

static void on_unwatched(void *state, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	struct from *from = state;

	(void)hits, (void)threads;
	flow_asking_unwatched(&from->asking, watch);
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
				    value->called
					    ? "not followed: the call by a pointer that it came "
					      "through was not seen before the store"
					    : "not followed: its load was not seen before the "
					      "store");
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

	if (!flow_asking_ended(&from->asking, pid))
		return;
	for (uint32_t i = 0; i < from->tree->writers; i++)
		tell_writer(from->tree, i);
	if (!from->tree->writers)
		from->services->log(from->host, "%s: nobody was seen to write it",
				    from->asking.expression.text);
}

static void finish(void *state)
{
	struct from *from = state;

	flow_asking_finish(&from->asking);
	flow_places_free(&from->tree->places);
	free(from->tree);
	free(from);
}

#define TOOL                                                                                     \
	.size = sizeof(struct tl_tool), .version = TL_TOOL_VERSION, .name = "from",              \
	.summary = "where the values of an expression come from", .start = start, .hit = on_hit, \
	.unwatched = on_unwatched, .exit = finish, .process_began = process_began,               \
	.process_ended = process_ended, .tick = on_tick, .slots = FLOW_QUESTIONS

const struct tl_tool flow_from_tool = {TOOL};
/* Threads wait when they allocate: for heap:SIZE@function alone. */
const struct tl_tool flow_from_heap_tool = {TOOL, .wants = TL_WANTS_BLOCKS, .born = on_born};
