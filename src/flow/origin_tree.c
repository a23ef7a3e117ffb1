/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/standpoint.h"

#include <stdio.h>
#include <string.h>

static uint32_t add_value(struct flow_tree *tree, const struct flow_value *value)
{
	if (tree->values == FLOW_VALUES) {
		tree->services->count(tree->host, "flow-values-refused", 1);
		return FLOW_NONE;
	}
	tree->value[tree->values] = *value;
	return tree->values++;
}

static struct flow_value value_below(const struct flow_tree *tree,
				     const struct flow_standpoint *from)
{
	struct flow_value value = {
		.writer = from->writer,
		.pid = from->store->pid,
		.depth = tree->value[tree->writer[from->writer].value].depth + 1,
		.context = from->context,
		.callers = from->callers,
		.computed = from->computed,
	};

	for (unsigned i = 0; i < from->callers; i++)
		value.beyond[i] = from->caller[i].context;
	return value;
}

static void add_end(struct flow_tree *tree, const struct flow_standpoint *from, const char *format,
		    const char *text)
{
	struct flow_value value = value_below(tree, from);

	value.state = FLOW_VALUE_ENDED;
	snprintf(value.end, sizeof(value.end), format, text);
	for (uint32_t i = 0; i < tree->values; i++)
		if (tree->value[i].writer == from->writer &&
		    tree->value[i].state == FLOW_VALUE_ENDED &&
		    strcmp(tree->value[i].end, value.end) == 0)
			return;
	add_value(tree, &value);
}

static bool is_known(int number, uint16_t known)
{
	return number < 0 || number > 15 || known >> number & 1;
}

static void follow_slice(struct flow_tree *tree, const struct flow_standpoint *from,
			 const struct flow_slice *slice);

/* The store's own instruction has loaded it. */
static bool compute_own(struct flow_tree *tree, const struct flow_standpoint *from,
			const struct insn *insn, const struct insn_registers *after,
			struct flow_value *value)
{
	const struct flow_value *stored = &tree->value[tree->writer[from->writer].value];

	if (flow_string_source(insn, after, stored->address, &value->address)) {
		value->length = stored->length;
		return true;
	}
	if (insn_operand_after(insn, value->operand, after, &value->address, &value->length) ||
	    !value->length)
		return false;
	flow_take_part(value, &value->address, &value->length);
	return true;
}

/* No register says where it is. */
static bool is_variable(const struct insn_operand *operand)
{
	return operand->base == INSN_PC && operand->index < 0 && operand->vector_index < 0 &&
	       !operand->segment;
}

/* Are the registers that the operand's address is made of known, as they were at the load? */
static bool are_known(struct flow_tree *tree, const struct flow_standpoint *from,
		      const struct flow_end *end, const struct insn_operand *operand,
		      struct insn_registers *registers)
{
	const int frame_pointer = insn_arch.frame_pointer;
	uint16_t known = 0;

	if (!end->address_kept || !flow_registers_at(from, registers, &known) ||
	    !is_known(operand->base, known) || !is_known(operand->index, known) ||
	    (operand->segment && !registers->fs_base))
		return false;
	return !from->returned || (operand->base == frame_pointer &&
				   flow_is_fixed(tree, from->store->pid, end->pc, end->operand));
}

/* The address of a load whose registers are unchanged where the slice was taken. */
static bool compute_address(struct flow_tree *tree, const struct flow_standpoint *from,
			    const struct flow_end *end, struct flow_value *value)
{
	struct insn_registers registers = {0};
	struct insn insn;

	if (!flow_decode_at(tree, from->store->pid, end->pc, &insn) ||
	    end->operand >= insn.operand_count ||
	    (!are_known(tree, from, end, &insn.operand[end->operand], &registers) &&
	     !is_variable(&insn.operand[end->operand])))
		return false;
	registers.pc = end->pc;
	if (from->frame == 0 && !from->gone && end->pc == from->store->pc) {
		registers.pc = end->pc + insn.length;
		return compute_own(tree, from, &insn, &registers, value);
	}
	if (insn_operand_before(&insn, end->operand, &registers, &value->address, &value->length) ||
	    !value->length)
		return false;
	flow_take_part(value, &value->address, &value->length);
	return true;
}

static void add_load(struct flow_tree *tree, const struct flow_standpoint *from,
		     const struct flow_end *end)
{
	struct flow_value value = value_below(tree, from);

	value.reader = end->pc;
	value.reader_end = end->pc + 1;
	value.operand = end->operand;
	value.first = end->first;
	value.wanted = end->length;
	value.bits = end->bits == UINT64_MAX ? 0 : end->bits;
	value.chosen = from->chosen;
	value.barred_count = end->barred_count;
	memcpy(value.barred, end->barred, sizeof(value.barred));
	value.bytes_lost = end->bytes_lost;
	memcpy(value.byte_lost, end->byte_lost, sizeof(value.byte_lost));
	value.kept = from->gone || from->frame ? 0 : end->kept;
	if (from->returned) /* Behind that call others may have changed them. */
		value.kept &= (uint16_t)(1u << insn_arch.stack_pointer);
	/* What is made of one of a variable's values, of which others are loaded later, tells not
	 * of which. */
	if (!compute_address(tree, from, end, &value) ||
	    (end->earlier_pass && value.computed && !value.chosen)) {
		value.gathers = end->gathers && !value.chosen;
		if (end->earlier_pass)
			add_end(tree, from, "not followed: %s",
				value.gathers
					? "what a loop loads before the last"
					: "a loop loads many, and which of them was kept is not known");
		if (end->earlier_pass && !value.gathers)
			return;
		value.state = FLOW_VALUE_SOUGHT;
		add_value(tree, &value);
		return;
	}
	if (flow_tree_end_constant(tree, &value)) {
		add_end(tree, from, "%s", value.end);
		return;
	}
	add_value(tree, &value);
}

/* Where a call by a pointer goes, as far as the registers of its function and memory tell now. Of a
 * call that has returned its registers are known no more: 0, so that it is seen when it runs. */
static uint64_t pointed_to(struct flow_tree *tree, const struct flow_standpoint *from,
			   uint64_t call, const struct insn *insn)
{
	const struct insn_operand *operand = &insn->operand[0];
	struct insn_registers registers;
	uint16_t known = 0;
	uint64_t to;

	if (insn->target_register >= 0 && INSN_KEPT_BY_CALLS >> insn->target_register & 1)
		return !from->returned && flow_registers_at(from, &registers, &known) &&
				       known >> insn->target_register & 1
			       ? registers.general[insn->target_register]
			       : 0;
	if (insn->target_register >= 0)
		return flow_loaded_pointer(tree, from->store->pid, call, insn->target_register);
	if (!insn->operand_count || operand->base != INSN_PC || operand->index >= 0)
		return 0;
	return tree->services->read(tree->host, from->store->pid,
				    call + insn->length + (uint64_t)operand->displacement, &to,
				    sizeof(to)) == (ssize_t)sizeof(to)
		       ? to
		       : 0;
}

static uint64_t target_of(struct flow_tree *tree, const struct flow_standpoint *from, uint64_t call,
			  const struct insn *insn)
{
	uint64_t target = insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_BRANCH
				  ? (uint64_t)insn->target
				  : pointed_to(tree, from, call, insn);

	return target ? flow_resolve_stub(tree, from->store->pid, target) : 0;
}

/* What the call by a pointer led to is seen later: before the next store. `at`: who calls. */
static void add_called(struct flow_tree *tree, const struct flow_standpoint *from,
		       const struct flow_standpoint *at, uint64_t call,
		       const struct insn_place *place, bool argument)
{
	struct flow_value value = value_below(tree, at);

	value.state = FLOW_VALUE_SOUGHT;
	value.called = true;
	value.reader = call;
	value.reader_end = call + 1;
	value.call.from = *from;
	value.call.from.store = NULL;
	value.call.argument = argument;
	value.call.place = *place;
	add_value(tree, &value);
}

/* The call went to another function, which jumped here at its end and is gone. */
static void follow_jump(struct flow_tree *tree, const struct flow_standpoint *from, uint64_t called,
			uint64_t own, const struct insn_place *place)
{
	struct flow_standpoint between = *from;
	struct flow_slice slice;
	struct flow_code code;
	uint64_t jump;

	between.jumped = !from->gone || from->jumped;
	between.gone = true;
	between.nest++;
	jump = own ? flow_find_jump(tree, from->store->pid, called, own) : 0;
	if (!jump || flow_tree_code(tree, from->store->pid, jump, &code) ||
	    flow_slice_place(code.bytes, code.length, code.start, jump, *place, &tree->work,
			     &slice)) {
		add_end(tree, from, "%s", "an argument; who jumped here is not known");
		return;
	}
	between.function = code.start;
	follow_slice(tree, &between, &slice);
}

/* One that a function must leave as it was is no parameter: what it holds at the function's first
 * instruction is its caller's, and nothing of this function's is made of it. */
static bool is_unset(const struct insn_place *place)
{
	return place->kind == INSN_PLACE_GENERAL && INSN_KEPT_BY_CALLS >> place->number & 1;
}

/* Into the caller: what the register held at the call. `called`: where the call went; 0: unknown.
 */
static void follow_argument(struct flow_tree *tree, const struct flow_standpoint *from,
			    const struct insn_place *place, uint64_t called)
{
	const struct flow_store *store = from->store;
	struct flow_standpoint caller;
	struct flow_slice slice;
	struct flow_code code;
	uint64_t call, own = flow_own_function(tree, from);
	struct insn insn;

	if (!flow_step_out(from, &caller) || caller.nest > FLOW_CALLERS || !from->context) {
		add_end(tree, from, "%s", "an argument; the caller is not known");
		return;
	}
	call = flow_call_before(tree, store->pid, from->context);
	if (!call || !flow_decode_at(tree, store->pid, call, &insn)) {
		add_end(tree, from, "an argument; in its caller not followed: %s",
			flow_why_unread(tree, store->pid, from->context - 1));
		return;
	}
	if (!called)
		called = target_of(tree, &caller, call, &insn);
	if (!called) {
		add_called(tree, from, &caller, call, place, true);
		return;
	}
	if (called != own) {
		follow_jump(tree, from, called, own, place);
		return;
	}
	if (is_unset(place)) {
		tree->services->count(tree->host, "flow-unset", 1);
		return;
	}
	if (flow_tree_code(tree, store->pid, call, &code) ||
	    flow_slice_place(code.bytes, code.length, code.start, call, *place, &tree->work,
			     &slice)) {
		add_end(tree, from, "an argument; in its caller not followed: %s",
			flow_why_unread(tree, store->pid, call));
		return;
	}
	follow_slice(tree, &caller, &slice);
}

/* A text that the C library's call reads, whose first argument points to it. */
static void add_parsed(struct flow_tree *tree, const struct flow_standpoint *from, uint64_t call,
		       uint64_t context, uint64_t caller, enum flow_parsed parsed)
{
	struct flow_value value = value_below(tree, from);

	value.state = FLOW_VALUE_SOUGHT;
	value.copied = true;
	value.parsed = parsed;
	value.computed = true;
	value.reader = value.copy_call = call;
	value.reader_end = call + 1;
	value.copy_offset = tree->value[tree->writer[from->writer].value].address;
	value.caller = caller;
	value.context = context;
	add_value(tree, &value);
}

/* Not another part of the same function, as compilers lay out what is rare. */
static bool is_function(struct flow_tree *tree, pid_t pid, uint64_t target)
{
	uint64_t start, end;

	return !tree->services->function(tree->host, pid, target, &start, &end) && start == target;
}

/* What `target` returned to the call, which returns to `context`; 0: it was jumped to, at the end
 * of this function. */
static void follow_function(struct flow_tree *tree, const struct flow_standpoint *from,
			    const struct insn_place *place, uint64_t target, uint64_t call,
			    uint64_t context)
{
	struct flow_standpoint callee;
	struct flow_slice slice;
	struct flow_code code;
	const char *name = flow_function_name(tree, from->store->pid, target);
	bool jump = !context;

	if (jump)
		context = from->context;
	if (flow_in_c_library(tree, from->store->pid, target) && flow_reads_number(name)) {
		add_parsed(tree, from, call, context, from->context, FLOW_PARSED_NUMBER);
		return;
	}
	if (flow_in_c_library(tree, from->store->pid, target) || from->nest >= FLOW_CALLERS ||
	    flow_tree_code(tree, from->store->pid, target, &code) ||
	    flow_slice_return(code.bytes, code.length, code.start, *place, &tree->work, &slice)) {
		add_end(tree, from, "what %s() returned", name ? name : "a function");
		return;
	}
	callee = flow_step_in(tree, from, code.start, context, jump);
	follow_slice(tree, &callee, &slice);
}

static void follow_return(struct flow_tree *tree, const struct flow_standpoint *from,
			  const struct flow_end *end)
{
	struct insn insn;
	uint64_t target, context;

	if (!flow_decode_at(tree, from->store->pid, end->pc, &insn)) {
		add_end(tree, from, "%s", "what a function returned whose call could not be read");
		return;
	}
	target = target_of(tree, from, end->pc, &insn);
	context = insn.flow == INSN_FLOW_BRANCH ? 0 : end->pc + insn.length;
	if (insn.flow == INSN_FLOW_BRANCH && !is_function(tree, from->store->pid, target))
		return;
	if (target && !(end->earlier_pass && flow_in_c_library(tree, from->store->pid, target)))
		follow_function(tree, from, &end->place, target, end->pc, context);
	else if (end->earlier_pass)
		add_end(tree, from, "%s",
			"not followed: a loop calls many, and which call returned what was kept "
			"is not known");
	else
		add_called(tree, from, from, end->pc, &end->place, false);
}

static void follow_end(struct flow_tree *tree, const struct flow_standpoint *from,
		       const struct flow_end *end)
{
	char constant[32];

	switch (end->kind) {
	case FLOW_END_LOAD:
		add_load(tree, from, end);
		break;
	case FLOW_END_CONSTANT:
		snprintf(constant, sizeof(constant), "%lld", (long long)end->constant);
		add_end(tree, from, "the constant %s", constant);
		break;
	case FLOW_END_RETURN:
		follow_return(tree, from, end);
		break;
	case FLOW_END_ARGUMENT:
		follow_argument(tree, from, &end->place, 0);
		break;
	case FLOW_END_KERNEL:
		add_end(tree, from, "%s", "what a system call returned");
		break;
	default:
		add_end(tree, from, "not followed: %s", end->reason);
	}
}

/* A call in the slice overwrites the work area, not the slice. */
static void follow_slice(struct flow_tree *tree, const struct flow_standpoint *from,
			 const struct flow_slice *slice)
{
	struct flow_standpoint at = *from;
	bool several = slice->copies && (slice->ends > 1 || slice->more);

	at.computed |= !slice->copies;
	for (unsigned i = 0; i < slice->ends; i++) {
		at.always = from->always && slice->end[i].always;
		at.chosen = from->chosen || (several && !at.always) || slice->end[i].one_of_two;
		follow_end(tree, &at, &slice->end[i]);
	}
	if (slice->more)
		add_end(tree, from, "%s", "not followed: there are too many");
}

/* The C library's copying: its call's arguments tell whence, whatever its instructions do. */
static bool follow_copy(struct flow_tree *tree, const struct flow_standpoint *from)
{
	const struct flow_store *store = from->store;
	struct flow_value value = value_below(tree, from);
	const char *name = flow_function_name(tree, store->pid, store->pc);
	uint64_t start, end;

	if (!flow_in_c_library(tree, store->pid, store->pc) || !flow_copies_memory(name) ||
	    store->frames < 2 ||
	    tree->services->function(tree->host, store->pid, store->pc, &start, &end))
		return false;
	value.copied = true;
	value.sized = strstr(name, "mem");
	value.copy_call = flow_call_of(tree, store->pid, store->frame[1].pc, start);
	value.copy_offset = tree->value[tree->writer[from->writer].value].address;
	value.state = FLOW_VALUE_SOUGHT;
	value.reader = start;
	value.reader_end = end;
	value.context = store->frame[1].pc;
	if (!value.copy_call)
		return false;
	tree->writer[from->writer].copies = true;
	add_value(tree, &value);
	return true;
}

/* sscanf() has stored it: its call's arguments tell which text it reads, and how. */
static bool follow_scan(struct flow_tree *tree, const struct flow_standpoint *from)
{
	const struct flow_store *store = from->store;
	unsigned frame = 0;
	const char *name;
	uint64_t call;

	while (frame < store->frames &&
	       flow_in_c_library(tree, store->pid, frame ? store->frame[frame].pc - 1 : store->pc))
		frame++;
	if (!frame || frame == store->frames)
		return false;
	name = flow_function_name(tree, store->pid,
				  frame > 1 ? store->frame[frame - 1].pc - 1 : store->pc);
	call = name && strstr(name, "sscanf") && !strstr(name, "vsscanf")
		       ? flow_call_before(tree, store->pid, store->frame[frame].pc)
		       : 0;
	if (!call)
		return false;
	add_parsed(tree, from, call, store->frame[frame].pc,
		   frame + 1 < store->frames ? store->frame[frame + 1].pc : 0, FLOW_PARSED_FORMAT);
	return true;
}

static void expand(struct flow_tree *tree, uint32_t writer, const struct flow_store *store)
{
	struct flow_standpoint from = {.writer = writer,
				       .store = store,
				       .always = true,
				       .context = store->frames > 1 ? store->frame[1].pc : 0};
	struct flow_slice slice;
	struct flow_code code;
	struct flow_stored stored;
	const char *name;
	uint32_t before;

	if (store->kernel) {
		name = flow_function_name(tree, store->pid, store->pc);
		add_end(tree, &from, "the kernel, in %s()", name ? name : "a system call");
		return;
	}
	if (follow_copy(tree, &from) || follow_scan(tree, &from))
		return;
	if (!flow_stored_operand(tree, store, &tree->value[tree->writer[writer].value], &stored) ||
	    flow_tree_code(tree, store->pid, store->pc, &code) ||
	    flow_slice_store(code.bytes, code.length, code.start, store->pc, &stored, &tree->work,
			     &slice)) {
		add_end(tree, &from, "not followed: %s",
			flow_why_unread(tree, store->pid, store->pc));
		return;
	}
	tree->writer[writer].copies = slice.copies;
	tree->writer[writer].made = !slice.again;
	tree->writer[writer].operand = stored.operand;
	tree->writer[writer].fixed = flow_is_fixed(tree, store->pid, store->pc, stored.operand);
	before = tree->values;
	follow_slice(tree, &from, &slice);
	if (tree->values == before)
		add_end(tree, &from, "%s", "zeroes, or nothing of this function's");
}

/* The same code further up, called from the same place: a loop of the program, told once. What only
 * moves a value on, from place to place, is gone back along until it came there. */
static uint32_t find_above(const struct flow_tree *tree, uint32_t value,
			   const struct flow_store *store, uint64_t context)
{
	while (tree->value[value].writer != FLOW_NONE) {
		uint32_t index = tree->value[value].writer;
		const struct flow_writer *writer = &tree->writer[index];

		if (writer->pc == store->pc && writer->context == context &&
		    !(writer->copies && writer->address != store->address))
			return index;
		value = writer->value;
	}
	return FLOW_NONE;
}

void flow_tree_confirm(struct flow_tree *tree, uint32_t value, const struct flow_store *store)
{
	struct flow_writer *writer;
	uint64_t context = store->frames > 1 ? store->frame[1].pc : 0;

	tree->value[value].confirmed++;
	for (uint32_t i = 0; i < tree->writers; i++)
		if (tree->writer[i].value == value && tree->writer[i].pc == store->pc &&
		    !tree->writer[i].revoked) {
			tree->writer[i].count++;
			return;
		}
	if (tree->writers == FLOW_WRITERS) {
		tree->services->count(tree->host, "flow-writers-refused", 1);
		return;
	}
	writer = &tree->writer[tree->writers];
	*writer = (struct flow_writer){
		.value = value,
		.pc = store->pc,
		.address = store->address,
		.place = flow_place_find(&tree->places, store->pid, store->pc),
		.way = flow_way_to(store),
		.count = 1,
		.kernel = store->kernel,
		.context = context,
		.repeats = find_above(tree, value, store, context),
	};
	tree->writers++;
	if (writer->repeats == FLOW_NONE && tree->value[value].depth < FLOW_DEPTH)
		expand(tree, tree->writers - 1, store);
}

/* Was the call that the value is sought through made from the same callers as the store's? Of
 * functions that have ended the last caller is the one that has not. */
static bool is_same_way(const struct flow_standpoint *from, const struct flow_store *store)
{
	uint64_t context = from->callers ? from->caller[from->callers - 1].context : from->context;

	if (from->gone && !context)
		return true;
	return store->frames > from->frame + 1 && store->frame[from->frame + 1].pc == context;
}

void flow_tree_called(struct flow_tree *tree, uint32_t index, uint64_t target,
		      const struct flow_store *store)
{
	struct flow_call call = tree->value[index].call;
	uint64_t reader = tree->value[index].reader, to;
	struct insn insn;

	call.from.store = store;
	to = flow_resolve_stub(tree, store->pid, target);
	if (!is_same_way(&call.from, store) || !flow_decode_at(tree, store->pid, reader, &insn))
		return;
	tree->value[index].confirmed++;
	for (unsigned i = 0; i < call.targets; i++)
		if (call.target[i] == to)
			return;
	if (call.targets == FLOW_TARGETS) {
		tree->services->count(tree->host, "flow-values-refused", 1);
		return;
	}
	tree->value[index].call.target[tree->value[index].call.targets++] = to;
	if (call.argument)
		follow_argument(tree, &call.from, &call.place, to);
	else
		follow_function(tree, &call.from, &call.place, to, reader, reader + insn.length);
}
