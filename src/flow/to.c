/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `trapline flow to EXPR`: which spots of the tree are watched when, and what their hits mean.
 *
 * A known spot is watched for reads and writes, together with the one above that its value is read
 * from: who reads there what was stored there after that very read, in the same thread, is an
 * answer (flow/onward.h). A sought spot takes two watches: the place that its value is read from,
 * and the code of the store; the store after that very load, in the same thread, tells the address.
 * Where the load may run again before the store, for another value, the load's code is watched
 * instead of the place: the last load before the store must be of the place.
 *
 * Where values of several origins pass through the spot above, a third watch tells which of them
 * came from where they all do.
 */
#include "flow/flow.h"

#include "flow/counts.h"
#include "flow/to.h"

#include <errno.h>
#include <stdlib.h>

static void forget(void *state, unsigned question)
{
	struct flow_to *to = state;

	flow_to_forget(&to->told[question]);
}

static const struct flow_asker asker = {
	.item = flow_to_item, .ask = flow_to_ask, .forget = forget, .add = flow_to_add_root};

static int start(struct tl_host *host, const struct tl_services *services, void **state)
{
	struct flow_to *to = calloc(1, sizeof(*to));

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
	struct flow_to *to = state;

	flow_expression_began(&to->asking.expression, pid, flow_to_add_root, to);
}

static void on_born(void *state, const struct tl_block *block)
{
	struct flow_to *to = state;

	flow_expression_born(&to->asking.expression, block, flow_to_add_root, flow_to_move_roots,
			     to);
}

static void on_freed(void *state, const struct tl_block *block)
{
	struct flow_to *to = state;

	(void)block;
	flow_expression_look(&to->asking.expression, flow_to_move_roots, to);
}

static void on_tick(void *state)
{
	struct flow_to *to = state;

	flow_asking_tick(&to->asking);
}

static bool is_known(const struct flow_to *to, uint32_t spot, uint64_t pc)
{
	for (uint32_t i = 0; i < to->goals->readers; i++)
		if (to->goals->reader[i].spot == spot && to->goals->reader[i].pc == pc &&
		    !to->goals->reader[i].revoked)
			return true;
	return false;
}

static void on_read(struct flow_to *to, uint32_t index, const struct tl_access *access)
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
static bool is_called_there(struct flow_to *to, const struct flow_spot_of_value *spot,
			    const struct tl_access *access)
{
	struct tl_frame_place frames[2];

	return !spot->context || (to->services->unwind(to->host, access, frames, 2) == 2 &&
				  frames[1].pc == spot->context);
}

/* Is it the store that fills the spot, called from where it was when the spot became known of? */
static bool is_fill(struct flow_to *to, const struct flow_spot_of_value *spot,
		    const struct tl_access *access)
{
	return flow_is_filler(spot, access->pc) && is_called_there(to, spot, access);
}

/* Is it the load that the spot's value is taken with? */
static bool is_taken(struct flow_to *to, const struct flow_spot_of_value *spot,
		     const struct tl_access *access)
{
	if (access->traits & TL_TRAIT_BEYOND)
		return false;
	return spot->copy_call ? is_fill(to, spot, access)
			       : access->pc == to->goals->reader[spot->reader].pc;
}

/* What the access tells of the value at the spot, which it may touch in part. */
static struct flow_told_bytes bytes_at(const struct flow_spot_of_value *spot,
				       const struct tl_access *access)
{
	uint64_t begin = access->address > spot->address ? access->address : spot->address;
	uint64_t end = spot->address + spot->length;
	struct flow_told_bytes told = {0};

	if (begin >= end)
		return told;
	told.first = begin - spot->address;
	told.length = flow_bytes_at(access, begin, end - begin, &told.bytes);
	return told;
}

/* The same of what it has read there: not known where it has stored as well. */
static struct flow_told_bytes bytes_read(const struct flow_spot_of_value *spot,
					 const struct tl_access *access)
{
	struct flow_told_bytes nothing = {0};

	return access->access & TL_WRITE ? nothing : bytes_at(spot, access);
}

static bool are_known(const struct flow_told_bytes *a, const struct flow_told_bytes *b)
{
	return a->length && b->length && a->first < b->first + b->length &&
	       b->first < a->first + a->length;
}

/* As far as both are known. `unknown`: where they have no such bytes in common. */
static bool are_same(const struct flow_told_bytes *a, const struct flow_told_bytes *b, bool unknown)
{
	uint64_t first = a->first > b->first ? a->first : b->first;
	uint64_t end = a->first + a->length < b->first + b->length ? a->first + a->length
								   : b->first + b->length;

	if (!are_known(a, b))
		return unknown;
	return !((a->bytes >> 8 * (first - a->first) ^ b->bytes >> 8 * (first - b->first))
		 << (64 - 8 * (end - first)));
}

/* What comes to the origin, where it is not the spot above the one that is asked about. */
static void on_origin(struct flow_to *to, struct flow_told_onward *told,
		      const struct tl_access *access)
{
	const struct flow_spot_of_value *origin = &to->goals->spot[told->origin];

	if (access->access & TL_READ && is_taken(to, &to->goals->spot[told->below], access)) {
		flow_onward_origin_read(&told->onward, access->identity, true);
		told->origin_read = bytes_read(origin, access);
	}
	if (access->access & TL_WRITE && origin->filler)
		told->onward.filled = is_fill(to, origin, access);
}

/* What is stored to the spot above. */
static void on_above_store(struct flow_to *to, struct flow_told_onward *told,
			   const struct flow_spot_of_value *above, const struct tl_access *access)
{
	struct flow_told_bytes stored = bytes_at(above, access);
	bool fill = is_fill(to, above, access);

	if (told->through)
		flow_onward_next_store(&told->onward, access->identity,
				       fill && (!told->copies ||
						(are_same(&stored, &told->origin_read, false) &&
						 flow_is_telling(stored.bytes, stored.length))),
				       !above->copy_call);
	else if (above->filler)
		told->onward.filled = fill;
}

/* What comes to the spot above. */
static void on_above(struct flow_to *to, uint32_t index, struct flow_told_onward *told,
		     const struct tl_access *access)
{
	const struct flow_spot_of_value *spot = &to->goals->spot[index];
	const struct flow_spot_of_value *above =
		&to->goals->spot[to->goals->reader[spot->reader].spot];

	if (access->access & TL_READ && is_taken(to, spot, access)) {
		if (told->through)
			flow_onward_next_read(&told->onward, access->identity);
		else
			flow_onward_origin_read(&told->onward, access->identity, false);
		told->read = bytes_read(above, access);
	}
	if (access->access & TL_WRITE)
		on_above_store(to, told, above, access);
}

/* Is it told by its value alone that what is stored is what was loaded, and does that not tell it?
 */
static bool is_untold(struct flow_spot_of_value *spot, const struct flow_told_onward *told,
		      const struct flow_told_bytes *stored)
{
	if (!spot->copies || told->third != FLOW_TO_NOTHING || (spot->fixed && !spot->bypassed) ||
	    flow_is_telling(stored->bytes, stored->length))
		return false;
	spot->common = true;
	return true;
}

/* What is stored to the spot that is asked about. */
static void on_store(struct flow_to *to, uint32_t index, struct flow_told_onward *told,
		     const struct tl_access *access)
{
	struct flow_spot_of_value *spot = &to->goals->spot[index];
	struct flow_told_bytes stored = bytes_at(spot, access);
	bool filler = flow_is_filler(spot, access->pc);
	bool same = filler && is_called_there(to, spot, access) &&
		    (!spot->copies || are_same(&stored, &told->read, !spot->bypassed));

	told->held = stored;
	if (told->alone) {
		told->onward.holds = !spot->filler || is_fill(to, spot, access);
		return;
	}
	if (filler && is_untold(spot, told, &stored)) {
		flow_onward_drop(&told->onward, access->identity);
		told->onward.holds = false;
		return;
	}
	/* The C library's copying may store in two overlapping parts: the same bytes. */
	if (flow_onward_arrive(&told->onward, access->identity, filler, same,
			       !spot->copy_call || !are_known(&stored, &told->read)))
		flow_goals_stray(to->goals, index);
	else if (told->onward.holds)
		spot->led++;
}

/* Others are read than the store has left that the spot holds: there was one that was not seen, as
 * by a system call, or the order of two threads' hits is not that of their accesses. */
static bool is_of_another(const struct flow_spot_of_value *spot,
			  const struct flow_told_onward *told, const struct tl_access *access)
{
	struct flow_told_bytes read = bytes_read(spot, access);

	return !are_same(&read, &told->held, true);
}

static void on_spot(struct flow_to *to, uint32_t index, struct flow_told_onward *told,
		    const struct tl_access *access)
{
	if (access->access & TL_READ && told->onward.holds && !(access->traits & TL_TRAIT_BEYOND) &&
	    !is_of_another(&to->goals->spot[index], told, access))
		on_read(to, index, access);
	if (access->access & TL_WRITE)
		on_store(to, index, told, access);
}

/* Is the thread about to load from the spot? */
static bool loads_from(struct flow_to *to, const struct flow_spot_of_value *spot,
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
static void on_copy_call(struct flow_told_onward *told, const struct flow_spot_of_value *spot,
			 const struct flow_spot_of_value *above, const struct tl_access *access)
{
	uint64_t to, from;

	told->copier = 0;
	if (!access->registers)
		return;
	to = access->registers->general[insn_arch.function_argument[0]];
	from = access->registers->general[insn_arch.function_argument[1]];
	if (above->address - from >=
	    (spot->sized ? access->registers->general[insn_arch.function_argument[2]] : UINT32_MAX))
		return;
	told->copier = access->identity;
	told->copied_to = to + (above->address - from);
}

static void learn(struct flow_spot_of_value *spot, uint64_t address, uint64_t length)
{
	spot->address = address;
	spot->length = length;
	spot->state = FLOW_VALUE_KNOWN;
	spot->was_sought = true;
	spot->visits = spot->refused = 0;
}

/* The load of a sought spot's value, which runs for others besides. */
static void on_load(struct flow_to *to, struct flow_told_onward *told,
		    const struct flow_spot_of_value *above, const struct tl_access *access)
{
	if (!loads_from(to, above, access)) {
		flow_onward_drop(&told->onward, access->identity);
	} else if (told->through) {
		flow_onward_next_store(&told->onward, access->identity, true, true);
		flow_onward_next_read(&told->onward, access->identity);
	} else {
		told->onward.filled = true;
		flow_onward_origin_read(&told->onward, access->identity, false);
	}
}

/* A thread is about to call with what it has loaded from the spot above. */
static void on_call(struct flow_to *to, const struct flow_spot_of_value *spot,
		    const struct tl_access *access)
{
	uint64_t target = flow_call_target(&to->goals->tree, access);

	if (target)
		flow_goals_called(to->goals, (uint32_t)(spot - to->goals->spot), target);
}

/* A thread is about to store, after it has loaded from the spot above. True: where is known. */
static bool on_filler(struct flow_to *to, struct flow_spot_of_value *spot,
		      struct flow_told_onward *told, const struct tl_access *access)
{
	const struct flow_value store = {
		.operand = spot->operand, .first = spot->first, .wanted = spot->wanted};
	uint64_t address, length;

	if (told->onward.taken != access->identity || !is_called_there(to, spot, access))
		return false;
	told->onward.taken = 0;
	if (spot->called) {
		on_call(to, spot, access);
		return false;
	}
	if (!flow_tree_address(&to->goals->tree, &store, access, &address, &length))
		return false;
	learn(spot, address, length);
	return true;
}

/* The store that runs right behind the load, or with it, whose hit is at hand. */
static bool find_at_once(struct flow_to *to, const struct flow_spot_of_value *spot,
			 const struct flow_spot_of_value *above, const struct tl_access *access,
			 uint64_t *address, uint64_t *length)
{
	const struct flow_value store = {
		.operand = spot->operand, .first = spot->first, .wanted = spot->wanted};
	struct tl_access behind = *access;

	behind.pc = access->registers ? access->registers->pc : 0;
	*length = above->length;
	if (spot->filler != access->pc)
		return behind.pc == spot->filler &&
		       flow_tree_address(&to->goals->tree, &store, &behind, address, length);
	return flow_stored_by(&to->goals->tree, &store, access, above->address, address, length);
}

/* Of a sought spot whose store runs at once, after the hit of its load. */
static bool on_load_at_once(struct flow_to *to, struct flow_spot_of_value *spot,
			    struct flow_told_onward *told, const struct flow_spot_of_value *above,
			    const struct tl_access *access)
{
	uint64_t address, length;

	if (!spot->at_once || told->onward.taken != access->identity ||
	    !is_taken(to, spot, access) || !is_called_there(to, spot, access))
		return false;
	told->onward.taken = 0;
	if (!find_at_once(to, spot, above, access, &address, &length))
		return false;
	learn(spot, address, length);
	return true;
}

/* True: the address is known now. */
static bool on_sought(struct flow_to *to, const struct flow_question *question,
		      struct flow_told_onward *told, const struct tl_access *access)
{
	struct flow_spot_of_value *spot = &to->goals->spot[question->item];
	const struct flow_spot_of_value *above =
		&to->goals->spot[to->goals->reader[spot->reader].spot];

	if (access->cookie == question->goal_cookie) {
		on_origin(to, told, access);
	} else if (access->cookie == question->code_cookie) {
		if (!spot->copy_call)
			return on_filler(to, spot, told, access);
		on_copy_call(told, spot, above, access);
	} else if (spot->bypassed && !spot->copy_call) {
		on_load(to, told, above, access);
	} else {
		on_above(to, question->item, told, access);
		if (spot->copy_call && told->onward.taken && told->copier == access->identity) {
			learn(spot, told->copied_to, above->length);
			return true;
		}
		return access->access & TL_READ && on_load_at_once(to, spot, told, above, access);
	}
	return false;
}

static bool copies_there(struct flow_told_onward *told, const struct flow_spot_of_value *spot,
			 const struct flow_spot_of_value *above, const struct tl_access *access)
{
	on_copy_call(told, spot, above, access);
	return told->copier && told->copied_to == spot->address;
}

/* The code of the load, or of the store, of a known spot runs, perhaps elsewhere. */
static void on_known_code(struct flow_to *to, const struct flow_spot_of_value *spot,
			  struct flow_told_onward *told, const struct tl_access *access)
{
	const struct flow_value store = {
		.operand = spot->operand, .first = spot->first, .wanted = spot->wanted};
	const struct flow_spot_of_value *above =
		&to->goals->spot[to->goals->reader[spot->reader].spot];
	uint64_t address, length;
	bool there;

	if (told->third == FLOW_TO_LOAD)
		there = loads_from(to, above, access);
	else if (spot->copy_call)
		there = copies_there(told, spot, above, access);
	else
		there = flow_tree_address(&to->goals->tree, &store, access, &address, &length) &&
			address == spot->address;
	if (!there)
		flow_onward_drop(&told->onward, access->identity);
}

static void on_known(struct flow_to *to, const struct flow_question *question,
		     struct flow_told_onward *told, const struct tl_access *access)
{
	if (access->cookie == question->goal_cookie) {
		if (told->third == FLOW_TO_ORIGIN)
			on_origin(to, told, access);
		else
			on_known_code(to, &to->goals->spot[question->item], told, access);
		return;
	}
	if (access->cookie == question->code_cookie || told->together)
		on_above(to, question->item, told, access);
	if (access->cookie == question->cookie)
		on_spot(to, question->item, told, access);
}

static void on_one(void *state, const struct tl_access *access)
{
	struct flow_to *to = state;
	int number = flow_asking_find(&to->asking, access);
	struct flow_question *question;
	struct flow_told_onward *told;

	if (number < 0)
		return;
	question = &to->asking.question[number];
	told = &to->told[number];
	if (access->access & TL_LATE || !access->identity ||
	    (access->access & TL_GUESSED && !flow_is_kernel(access) &&
	     !flow_asking_is_code(&to->asking, access->cookie))) {
		/* It may be a store of another value. */
		to->services->count(to->host, "flow-hits-guessed", 1);
		forget(to, (unsigned)number);
		return;
	}
	if (access->time < told->since)
		return;
	if (to->goals->spot[question->item].state != FLOW_VALUE_SOUGHT)
		on_known(to, question, told, access);
	else if (on_sought(to, question, told, access))
		flow_asking_stop(&to->asking, question);
}

static void on_hit(void *state, const struct tl_access *access)
{
	struct flow_to *to = state;

	flow_expression_look(&to->asking.expression, flow_to_move_roots, to);
	flow_asking_hit(&to->asking, access, on_one);
}

static void on_unwatched(void *state, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	struct flow_to *to = state;

	(void)hits, (void)threads;
	flow_asking_unwatched(&to->asking, watch);
}

static void process_ended(void *state, pid_t pid)
{
	struct flow_to *to = state;

	if (!flow_asking_ended(&to->asking, pid))
		return;
	flow_to_tell(to->goals);
	if (!to->goals->readers)
		to->services->log(to->host, "%s: nobody was seen to read it",
				  to->asking.expression.text);
}

static void finish(void *state)
{
	struct flow_to *to = state;

	flow_asking_finish(&to->asking);
	flow_places_free(&to->goals->tree.places);
	free(to->goals);
	free(to);
}

#define TOOL                                                                              \
	.size = sizeof(struct tl_tool), .version = TL_TOOL_VERSION, .name = "to",         \
	.summary = "where the values of an expression go", .start = start, .hit = on_hit, \
	.unwatched = on_unwatched, .exit = finish, .process_began = process_began,        \
	.process_ended = process_ended, .tick = on_tick, .slots = FLOW_QUESTIONS,         \
	.counts = flow_counts

const struct tl_tool flow_to_tool = {TOOL};
/* Threads wait when they allocate: for heap:SIZE@function alone. */
const struct tl_tool flow_to_heap_tool = {TOOL, .wants = TL_WANTS_BLOCKS, .born = on_born,
					  .freed = on_freed};
