/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `trapline flow from EXPR`: which values of the tree are watched when, and what their hits mean.
 *
 * A known value is watched for reads and writes: the last store before its reader reads there, in
 * the right caller, is an answer, if the value then goes on (flow/passage.h). A sought value takes
 * two watches: its load's code, and the store that it goes into; the load before that store, in the
 * same thread, tells the address. Where that store's own place is one that values pass through on
 * their way to several others, a third watch tells which of them went on to the goal.
 */
#include "flow/flow.h"

#include "flow/counts.h"
#include "flow/from.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void forget(void *state, unsigned question)
{
	struct flow_told *told = &((struct flow_from *)state)->told[question];

	told->last.known = false;
	flow_passage_forget(&told->passage);
	told->found = told->taken = told->arrived = false;
	told->stored_length = told->parent_length = told->goal_length = 0;
}

static const struct flow_asker asker = {
	.item = flow_from_item, .ask = flow_from_ask, .forget = forget, .add = flow_from_add_root};

static int start(struct tl_host *host, const struct tl_services *services, void **state)
{
	struct flow_from *from = calloc(1, sizeof(*from));

	if (from)
		from->tree = calloc(1, sizeof(*from->tree));
	if (!from || !from->tree) {
		free(from);
		return -ENOMEM;
	}
	from->host = host;
	from->services = services;
	flow_tree_init(from->tree, host, services);
	from->asking = (struct flow_asking){
		.host = host, .services = services, .asker = &asker, .state = from};
	flow_places_init(&from->tree->places, host, services);
	*state = from;
	return flow_asking_init(&from->asking, "from");
}

static void process_began(void *state, pid_t pid)
{
	struct flow_from *from = state;

	flow_asking_began(&from->asking, pid);
	flow_expression_began(&from->asking.expression, pid, flow_from_add_root, from);
}

static void on_born(void *state, const struct tl_block *block)
{
	struct flow_from *from = state;

	flow_expression_born(&from->asking.expression, block, flow_from_add_root,
			     flow_from_move_roots, from);
}

static void on_freed(void *state, const struct tl_block *block)
{
	struct flow_from *from = state;

	(void)block;
	flow_expression_look(&from->asking.expression, flow_from_move_roots, from);
}

static void on_tick(void *state)
{
	struct flow_from *from = state;

	flow_asking_tick(&from->asking);
}

/* Frames only of what is new: unwinding is dear. */
static bool is_known(const struct flow_from *from, uint32_t value, uint64_t pc)
{
	for (uint32_t i = 0; i < from->tree->writers; i++)
		if (from->tree->writer[i].value == value && from->tree->writer[i].pc == pc &&
		    !from->tree->writer[i].revoked)
			return true;
	return false;
}

static void note_store(struct flow_from *from, const struct tl_access *access, bool known,
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

/* Who stored what the reader reads, whether it goes on or not. */
static void note_only(struct flow_value *value, const struct flow_store *store)
{
	if (!store->known)
		return;
	if (!value->only_writer)
		value->only_writer = store->pc;
	value->several |= value->only_writer != store->pc;
	value->sole &= !value->several;
}

/* The value that was asked about is read: it counts when it goes on. */
static void on_passage_read(struct flow_from *from, uint32_t index, struct flow_told *told,
			    const struct tl_access *access)
{
	struct flow_value *value = &from->tree->value[index];

	note_only(value, &told->passage.last);
	told->read_known = flow_from_read(value, access, &told->read);
	if (access->registers)
		memcpy(told->general, access->registers->general, sizeof(told->general));
	if (flow_passage_read(&told->passage, access->identity))
		flow_tree_stray(from->tree, index);
}

static void confirm_led(struct flow_from *from, uint32_t index, const struct flow_told *told,
			const struct flow_store *store)
{
	if (flow_tree_goal(from->tree, &from->tree->value[index]) != told->goal)
		return;
	from->tree->value[index].led++;
	flow_tree_confirm(from->tree, index, store);
}

/* Does the store leave at the goal what is there? Copying may store in two overlapping parts. */
static bool is_same_at_goal(struct flow_told *told, const struct flow_value *goal,
			    const struct tl_access *access)
{
	uint64_t bytes = 0, was = told->goal_bytes, length = told->goal_length;

	told->goal_length = flow_bytes_at(access, goal->address, goal->length, &bytes);
	told->goal_bytes = bytes;
	return length && length == told->goal_length && !((was ^ bytes) << (64 - 8 * length));
}

/*
 * The goal is read. By its reader's code for another caller: then what is there went elsewhere,
 * too, and the value's place is one that values pass through. Windows may be too short to see the
 * next one. The right caller may come for it still.
 */
static void on_goal_read(struct flow_from *from, uint32_t index, struct flow_told *told,
			 const struct flow_value *goal, const struct tl_access *access)
{
	struct flow_passage *passage = &told->passage;

	if (!flow_from_is_left_there(goal, told->goal_bytes, told->goal_length, access)) {
		flow_passage_overwrite(passage);
	} else if (flow_from_is_reader(from, goal, access)) {
		if (flow_passage_goal_read(passage))
			confirm_led(from, index, told, &passage->waiting);
	} else if (!goal->parsed && access->pc >= goal->reader && access->pc < goal->reader_end &&
		   passage->waiting.known) {
		flow_tree_stray_surely(from->tree, index);
	}
}

/*
 * What comes to the goal. `given`: it is stored to by the code that does it after it has read the
 * value. Of what is stored there in turn that counts which is read.
 */
static void on_goal_of_value(struct flow_from *from, uint32_t index, struct flow_told *told,
			     const struct tl_access *access, bool given)
{
	const struct flow_value *value = &from->tree->value[index];
	const struct flow_value *goal = &from->tree->value[from->tree->writer[told->goal].value];
	struct flow_passage *passage = &told->passage;

	if (access->access & TL_READ && flow_from_reader(goal, value->pid))
		on_goal_read(from, index, told, goal, access);
	if (!(access->access & TL_WRITE) ||
	    (is_same_at_goal(told, goal, access) && passage->waiting.known))
		return;
	if (flow_passage_overwrite(passage))
		flow_tree_stray(from->tree, index);
	from->tree->value[index].goal_stores += access->pc == from->tree->writer[told->goal].pc;
	if (!given || !flow_passage_arrive(passage, access->identity, told->goal != value->writer))
		return;
	if (flow_from_reader(goal, value->pid))
		flow_passage_wait(passage);
	else
		confirm_led(from, index, told, &passage->origin);
}

/* The writer that the value goes to stores, perhaps elsewhere; or copies, perhaps something else.
 */
static void on_writer(struct flow_from *from, uint32_t index, struct flow_told *told,
		      const struct tl_access *access)
{
	const struct flow_value *value = &from->tree->value[index];
	const struct flow_writer *writer = &from->tree->writer[value->writer];
	const struct flow_value *next = &from->tree->value[writer->value];
	const struct flow_value store = {.operand = writer->operand};
	uint64_t address, length;

	if (value->copied) {
		if (!flow_tree_address(from->tree, value, access, &address, &length) ||
		    address != value->address)
			flow_passage_drop(&told->passage, access->identity);
		return;
	}
	if (!flow_tree_address(from->tree, &store, access, &address, &length) ||
	    !(next->address - address < length || address - next->address < next->length))
		flow_passage_drop(&told->passage, access->identity);
}

/*
 * Was the load, or the call, in the very pass of the code that stores now? Not where registers
 * differ that nothing changes in between: it was an earlier one, which did not come to the store. A
 * call that the storing function has made itself was made with the same stack.
 */
static bool is_same_pass(const struct flow_value *value, const struct flow_told *told,
			 const struct tl_access *access)
{
	uint16_t kept = value->kept;

	if (value->called && !value->call.argument && !value->call.from.frame &&
	    !value->call.from.gone)
		kept = 1u << insn_arch.stack_pointer;
	for (unsigned i = 0; i < 16 && access->registers; i++)
		if (kept >> i & 1 && access->registers->general[i] != told->general[i])
			return false;
	return access->registers || !kept;
}

/* What comes to the place that the value goes to next. */
static void on_next(struct flow_from *from, uint32_t index, struct flow_told *told,
		    const struct tl_access *access)
{
	struct flow_value *value = &from->tree->value[index];
	const struct flow_value *next = &from->tree->value[from->tree->writer[value->writer].value];
	bool given = access->access & TL_WRITE && flow_from_is_given(from, value, told, access) &&
		     (!value->gathers || is_same_pass(value, told, access));

	if (told->goal == value->writer) {
		on_goal_of_value(from, index, told, access, given);
		return;
	}
	if (access->access & TL_READ && flow_from_is_reader(from, next, access))
		flow_passage_next_read(&told->passage, access->identity);
	if (access->access & TL_WRITE)
		flow_passage_next_store(&told->passage, access->identity, given,
					!value->computed && told->read_known);
}

/* It is no part of what the loop makes of others. */
static bool is_lost(const struct flow_value *value, uint64_t byte)
{
	return value->bytes_lost && value->byte_lost[byte / 64 & 3] >> byte % 64 & 1;
}

/* The reader has seen a value with which it does not go on. */
static bool is_left(const struct flow_value *value, const struct tl_access *access)
{
	uint64_t bytes;

	if ((!value->barred_count && !value->bytes_lost) || !flow_from_read(value, access, &bytes))
		return false;
	if (is_lost(value, bytes))
		return true;
	for (unsigned i = 0; i < value->barred_count; i++)
		if (!((bytes ^ value->barred[i]) << (64 - 8 * value->length)))
			return true;
	return false;
}

/* What is stored to the value's place, in its process or another one that shares it. */
static void on_store(struct flow_from *from, uint32_t index, struct flow_told *told,
		     const struct tl_access *access)
{
	const struct flow_value *value = &from->tree->value[index];

	note_store(from, access, is_known(from, index, access->pc), &told->last);
	told->last.bytes_known = flow_bytes_at(access, value->address, value->length,
					       &told->last.bytes) >= value->length;
	if (told->goal != FLOW_NONE)
		flow_passage_store(&told->passage, &told->last);
	else if (!value->reader)
		flow_tree_confirm(from->tree, index, &told->last);
}

static void on_value(struct flow_from *from, uint32_t index, struct flow_told *told,
		     const struct tl_access *access)
{
	struct flow_tree *tree = from->tree;
	struct flow_value *value = &tree->value[index];
	bool tied = told->goal != FLOW_NONE;

	if (value->reader && access->access & TL_READ && flow_from_is_reader(from, value, access)) {
		value->reads++;
		flow_from_doubt(value, told, access);
		if (is_left(value, access)) {
			flow_passage_drop(&told->passage, access->identity);
			told->last.known = false;
		} else if (tied) {
			on_passage_read(from, index, told, access);
		} else {
			note_only(value, &told->last);
			if (told->last.known && flow_from_goal(from, value) == FLOW_NONE)
				flow_tree_confirm(tree, index, &told->last);
			told->last.known = false;
		}
	}
	if (access->access & TL_WRITE)
		on_store(from, index, told, access);
}

/* The parent is stored to, as the writer does after the load, or otherwise. */
static void on_goal_store(struct flow_from *from, const struct flow_value *value,
			  struct flow_told *told, const struct tl_access *access)
{
	const struct flow_writer *writer = &from->tree->writer[value->writer];
	bool known = access->pc == writer->pc && told->found && told->thread == access->identity &&
		     is_same_pass(value, told, access);

	if (known && value->called)
		note_store(from, access, false, &told->last);
	told->parent_length = flow_bytes_at(access, from->tree->value[writer->value].address,
					    from->tree->value[writer->value].length,
					    &told->parent_bytes);
	told->stored_address = told->address;
	told->stored_length = known ? told->length : 0;
	if (access->pc == writer->pc)
		told->found = false;
}

/* The load, or call, before the store that went on. */
static bool learn(struct flow_from *from, uint32_t index, uint64_t address, uint64_t length,
		  const struct flow_store *store)
{
	struct flow_value *value = &from->tree->value[index];

	if (value->called) {
		flow_tree_called(from->tree, index, address, store);
		return true;
	}
	value->address = address;
	value->length = length;
	value->state = FLOW_VALUE_KNOWN;
	if (!value->was_sought)
		value->visits = 0;
	value->was_sought = true;
	value->tries = value->refused = 0;
	flow_tree_end_constant(from->tree, value);
	return true;
}

/* What is at the parent is read, on its way to the goal. */
static void take(struct flow_told *told, uint64_t thread)
{
	told->taken = told->stored_length && told->thread == thread;
	told->taken_address = told->stored_address;
	told->taken_length = told->stored_length;
	told->taken_store = told->last;
}

/*
 * The store that the sought value goes into, and the read of it that was asked about: of the values
 * that a loop stores there in turn that one counts which is read. True: the address is known.
 */
static bool on_goal(struct flow_from *from, uint32_t index, struct flow_told *told,
		    const struct tl_access *access)
{
	struct flow_tree *tree = from->tree;
	struct flow_value *value = &tree->value[index];
	const struct flow_writer *writer = &tree->writer[value->writer];
	const struct flow_value *parent = &tree->value[writer->value];
	bool reader = flow_from_reader(parent, value->pid);
	bool read = reader && access->access & TL_READ && flow_from_is_reader(from, parent, access);

	if (!flow_from_is_left_there(parent, told->parent_bytes, told->parent_length, access))
		told->stored_length = 0;
	if (read && told->goal != FLOW_NONE)
		take(told, access->identity);
	read &= told->stored_length != 0;
	if (!read && access->access & TL_WRITE)
		on_goal_store(from, value, told, access);
	if (told->goal != FLOW_NONE || (!read && (reader || !told->stored_length)))
		return false;
	return learn(from, index, told->stored_address, told->stored_length, &told->last);
}

/* What was stored to the parent, and read there, went on to the goal, and is read there. */
static bool on_goal_of_sought(struct flow_from *from, uint32_t index, struct flow_told *told,
			      const struct tl_access *access)
{
	const struct flow_value *goal = &from->tree->value[from->tree->writer[told->goal].value];
	bool came = told->taken && told->thread == access->identity &&
		    access->pc == from->tree->writer[told->goal].pc;
	bool reader = flow_from_reader(goal, from->tree->value[index].pid);

	if (!flow_from_is_left_there(goal, told->goal_bytes, told->goal_length, access))
		told->arrived = false;
	if (access->access & TL_READ && reader && told->arrived &&
	    flow_from_is_reader(from, goal, access))
		return learn(from, index, told->arrived_address, told->arrived_length,
			     &told->arrived_store);
	if (!(access->access & TL_WRITE))
		return false;
	told->arrived = came;
	told->goal_length = flow_bytes_at(access, goal->address, goal->length, &told->goal_bytes);
	if (!came)
		return false;
	told->taken = false;
	told->arrived_address = told->taken_address;
	told->arrived_length = told->taken_length;
	told->arrived_store = told->taken_store;
	return !reader && learn(from, index, told->arrived_address, told->arrived_length,
				&told->arrived_store);
}

/* As memory is now: it is compared again with what the reader is seen to read. */
static bool loads_lost(const struct flow_from *from, const struct flow_value *value,
		       uint64_t address)
{
	uint8_t byte;

	return value->bytes_lost &&
	       from->services->read(from->host, value->pid, address, &byte, 1) == 1 &&
	       is_lost(value, byte);
}

static void on_code(struct flow_from *from, uint32_t index, struct flow_told *told,
		    const struct tl_access *access)
{
	struct flow_value *value = &from->tree->value[index];
	uint64_t address, length;

	if (!flow_from_is_called_there(from, value, value->copied ? value->caller : value->context,
				       access))
		return;
	if (value->called) {
		told->address = flow_call_target(from->tree, access);
		told->length = 1;
		told->found = told->address;
	} else if (flow_tree_address(from->tree, value, access, &address, &length)) {
		if (loads_lost(from, value, address))
			return;
		told->found = true;
		told->address = address;
		told->length = length;
	} else {
		told->found = false;
	}
	told->thread = access->identity;
	if (access->registers)
		memcpy(told->general, access->registers->general, sizeof(told->general));
}

/* True: the question is answered. */
static bool on_sought(struct flow_from *from, const struct flow_question *question,
		      struct flow_told *told, const struct tl_access *access)
{
	if (access->cookie == question->cookie)
		return on_goal(from, question->item, told, access);
	if (access->cookie == question->goal_cookie)
		return on_goal_of_sought(from, question->item, told, access);
	on_code(from, question->item, told, access);
	return false;
}

/* It may be a store, or a load, of which nothing is known. */
static bool is_unsure(const struct flow_from *from, const struct tl_access *access)
{
	return access->access & TL_LATE || !access->identity ||
	       (access->access & TL_GUESSED && !flow_is_kernel(access) &&
		!flow_asking_is_code(&from->asking, access->cookie));
}

/*
 * What was the last store before it no longer is. What had been read before, and is on its way, is
 * so still, unless it was the reader that came.
 */
static void on_unsure(struct flow_from *from, unsigned number, const struct tl_access *access)
{
	const struct flow_question *question = &from->asking.question[number];
	const struct flow_value *value = &from->tree->value[question->item];
	struct flow_told *told = &from->told[number];
	bool late = access->access & TL_LATE;

	from->services->count(from->host, late ? "flow-hits-late" : "flow-hits-guessed", 1);
	if (late || !access->identity || told->goal == FLOW_NONE ||
	    access->cookie != question->cookie) {
		forget(from, number);
	} else if (value->state == FLOW_VALUE_SOUGHT) {
		told->taken = told->found = false;
		told->stored_length = 0;
	} else if (access->pc >= value->reader && access->pc <= value->reader_end + 16) {
		forget(from, number);
	} else {
		told->passage.last.known = false;
	}
}

static void on_one(void *state, const struct tl_access *access)
{
	struct flow_from *from = state;
	struct flow_question *question;
	int number;

	number = flow_asking_find(&from->asking, access);
	if (number < 0)
		return;
	question = &from->asking.question[number];
	if (is_unsure(from, access)) {
		on_unsure(from, (unsigned)number, access);
		return;
	}
	if (access->time < from->told[number].since)
		return;
	if (from->tree->value[question->item].state == FLOW_VALUE_SOUGHT) {
		if (on_sought(from, question, &from->told[number], access))
			flow_asking_stop(&from->asking, question);
	} else if (access->cookie == question->cookie) {
		on_value(from, question->item, &from->told[number], access);
	} else if (access->cookie == question->far_cookie) {
		if (access->access & TL_WRITE)
			on_store(from, question->item, &from->told[number], access);
	} else if (access->cookie == question->code_cookie) {
		on_next(from, question->item, &from->told[number], access);
	} else if (flow_asking_is_code(&from->asking, access->cookie)) {
		on_writer(from, question->item, &from->told[number], access);
	} else {
		on_goal_of_value(from, question->item, &from->told[number], access,
				 access->pc == from->tree->writer[from->told[number].goal].pc);
	}
}

static void on_hit(void *state, const struct tl_access *access)
{
	struct flow_from *from = state;

	flow_expression_look(&from->asking.expression, flow_from_move_roots, from);
	flow_asking_hit(&from->asking, access, on_one);
}

static void on_unwatched(void *state, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	struct flow_from *from = state;

	(void)hits, (void)threads;
	flow_asking_unwatched(&from->asking, watch);
}

static void process_ended(void *state, pid_t pid)
{
	struct flow_from *from = state;

	if (!flow_asking_ended(&from->asking, pid))
		return;
	flow_from_tell(from->tree);
	if (!from->tree->writers)
		from->services->log(from->host, "%s: nobody was seen to write it",
				    from->asking.expression.text);
}

static void finish(void *state)
{
	struct flow_from *from = state;

	flow_asking_finish(&from->asking);
	flow_places_free(&from->tree->places);
	free(from->tree);
	free(from);
}

#define TOOL                                                                                     \
	.size = sizeof(struct tl_tool), .version = TL_TOOL_VERSION, .name = "from",              \
	.summary = "where the values of an expression come from", .start = start, .hit = on_hit, \
	.unwatched = on_unwatched, .exit = finish, .process_began = process_began,               \
	.process_ended = process_ended, .tick = on_tick, .slots = FLOW_QUESTIONS,                \
	.counts = flow_counts

const struct tl_tool flow_from_tool = {TOOL};
/* Threads wait when they allocate: for heap:SIZE@function alone. */
const struct tl_tool flow_from_heap_tool = {TOOL, .wants = TL_WANTS_BLOCKS, .born = on_born,
					    .freed = on_freed};
