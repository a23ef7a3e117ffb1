/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/origin_tree.h"

#include <stdio.h>
#include <string.h>

#define NEST_MOST 4 /* calls followed into or out of from one store */

/* Where in a stopped activation a slice was taken. */
struct standpoint {
	uint32_t writer;
	const struct flow_store *store;
	unsigned frame;	   /* of the store's, whose function it is in; 0: its own */
	bool gone;	   /* its activation has ended: no registers */
	bool jumped;	   /* it has jumped to the one of `frame` */
	uint64_t function; /* of one that is gone: its start */
	uint64_t context;  /* where the function returns to; 0: not known */
	unsigned nest;
};

static const char *function_name(struct flow_tree *tree, pid_t pid, uint64_t pc)
{
	static struct tl_frame frames[16];
	int count = tree->services->symbolise(tree->host, pid, pc, frames, 16);

	return count > 0 && frames[count - 1].function ? frames[count - 1].function : NULL;
}

static uint32_t add_value(struct flow_tree *tree, const struct flow_value *value)
{
	if (tree->values == FLOW_VALUES) {
		tree->services->count(tree->host, "flow-values-refused", 1);
		return FLOW_NONE;
	}
	tree->value[tree->values] = *value;
	return tree->values++;
}

static struct flow_value value_below(const struct flow_tree *tree, const struct standpoint *from)
{
	return (struct flow_value){
		.writer = from->writer,
		.pid = from->store->pid,
		.depth = tree->value[tree->writer[from->writer].value].depth + 1,
		.context = from->context,
	};
}

static void add_end(struct flow_tree *tree, const struct standpoint *from, const char *format,
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

/* Registers at the slice's own instruction. After the store, or at the call of a frame. */
static bool registers_at(const struct standpoint *from, struct insn_registers *registers,
			 uint16_t *known)
{
	const struct flow_store *store = from->store;

	memset(registers, 0, sizeof(*registers));
	registers->fs_base = store->fs_base;
	if (from->gone || from->frame >= FLOW_FRAMES)
		return false;
	if (from->frame == 0) {
		memcpy(registers->general, store->general, sizeof(registers->general));
		*known = 0xffff;
		return true;
	}
	if (from->frame >= store->frames)
		return false;
	memcpy(registers->general, store->frame[from->frame].general, sizeof(registers->general));
	*known = store->frame[from->frame].known;
	return true;
}

static bool is_known(int number, uint16_t known)
{
	return number < 0 || number > 15 || known >> number & 1;
}

static void follow_slice(struct flow_tree *tree, const struct standpoint *from,
			 const struct flow_slice *slice);

/* The address of a load whose registers are unchanged where the slice was taken. */
static bool compute_address(struct flow_tree *tree, const struct standpoint *from,
			    const struct flow_end *end, uint64_t *address, uint64_t *length)
{
	struct insn_registers registers;
	uint16_t known = 0;
	struct insn insn;

	if (!end->address_kept || !registers_at(from, &registers, &known) ||
	    !flow_decode_at(tree, from->store->pid, end->pc, &insn) ||
	    end->operand >= insn.operand_count ||
	    !is_known(insn.operand[end->operand].base, known) ||
	    !is_known(insn.operand[end->operand].index, known) ||
	    (insn.operand[end->operand].segment && !registers.fs_base))
		return false;
	registers.pc = end->pc;
	if (from->frame == 0 && end->pc == from->store->pc) {
		registers.pc = end->pc + insn.length;
		return !insn_operand_after(&insn, end->operand, &registers, address, length) &&
		       *length;
	}
	return !insn_operand_before(&insn, end->operand, &registers, address, length) && *length;
}

static bool overlaps(uint64_t a, uint64_t a_length, uint64_t b, uint64_t b_length)
{
	return a - b < b_length || b - a < a_length;
}

static bool is_constant_memory(struct flow_tree *tree, pid_t pid, uint64_t address)
{
	struct tl_memory memory;

	return !tree->services->memory(tree->host, pid, address, &memory) && !memory.writable;
}

static void take_part(const struct flow_value *value, uint64_t *address, uint64_t *length)
{
	if (!value->wanted || value->first >= *length)
		return;
	*address += value->first;
	*length -= value->first;
	if (*length > value->wanted)
		*length = value->wanted;
}

static void add_load(struct flow_tree *tree, const struct standpoint *from,
		     const struct flow_end *end)
{
	struct flow_value value = value_below(tree, from);

	value.reader = end->pc;
	value.reader_end = end->pc + 1;
	value.operand = end->operand;
	value.first = end->first;
	value.wanted = end->length;
	if (!compute_address(tree, from, end, &value.address, &value.length)) {
		if (end->earlier_pass) {
			add_end(tree, from, "%s",
				"not followed: a loop loads many, and which of them was kept is "
				"not known");
			return;
		}
		value.state = FLOW_VALUE_SOUGHT;
		add_value(tree, &value);
		return;
	}
	take_part(&value, &value.address, &value.length);
	if (is_constant_memory(tree, value.pid, value.address)) {
		add_end(tree, from, "%s", "a constant in memory that is never written");
		return;
	}
	add_value(tree, &value);
}

/* Where the activation that the argument belongs to was entered: a pc of its function. */
static uint64_t own_function(struct flow_tree *tree, const struct standpoint *from)
{
	const struct flow_store *store = from->store;
	uint64_t start, end, pc = from->frame ? store->frame[from->frame].pc - 1 : store->pc;

	if (from->gone)
		return from->function;
	return tree->services->function(tree->host, store->pid, pc, &start, &end) ? 0 : start;
}

/* Where a call by a pointer goes, as far as the registers of its function and memory tell now. */
static uint64_t pointed_to(struct flow_tree *tree, const struct standpoint *from, uint64_t call,
			   const struct insn *insn)
{
	const struct insn_operand *operand = &insn->operand[0];
	struct insn_registers registers;
	uint16_t known = 0;
	uint64_t to;

	if (insn->target_register >= 0 && INSN_KEPT_BY_CALLS >> insn->target_register & 1)
		return registers_at(from, &registers, &known) && known >> insn->target_register & 1
			       ? registers.general[insn->target_register]
			       : 0;
	if (insn->target_register >= 0)
		return flow_loaded_pointer(tree, from->store->pid, call, insn->target_register);
	if (!insn->operand_count || operand->base != 16 || operand->index >= 0)
		return 0;
	return tree->services->read(tree->host, from->store->pid,
				    call + insn->length + (uint64_t)operand->displacement, &to,
				    sizeof(to)) == (ssize_t)sizeof(to)
		       ? to
		       : 0;
}

static uint64_t target_of(struct flow_tree *tree, const struct standpoint *from, uint64_t call,
			  const struct insn *insn)
{
	uint64_t target = insn->flow == INSN_FLOW_CALL ? (uint64_t)insn->target
						       : pointed_to(tree, from, call, insn);

	return target ? flow_resolve_stub(tree, from->store->pid, target) : 0;
}

/* The call went to another function, which jumped here at its end and is gone. */
static void follow_jump(struct flow_tree *tree, const struct standpoint *from, uint64_t called,
			uint64_t own, const struct insn_place *place)
{
	struct standpoint between = *from;
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

/* Into the caller: what the register held at the call. */
static void follow_argument(struct flow_tree *tree, const struct standpoint *from,
			    const struct insn_place *place)
{
	const struct flow_store *store = from->store;
	struct standpoint caller = *from;
	struct flow_slice slice;
	struct flow_code code;
	uint64_t call, own = own_function(tree, from), called;
	struct insn insn;

	caller.frame = from->gone ? from->frame + (from->jumped ? 1 : 0) : from->frame + 1;
	caller.gone = caller.jumped = false;
	caller.nest++;
	if (caller.nest > NEST_MOST || caller.frame >= store->frames || !from->context) {
		add_end(tree, from, "%s", "an argument; the caller is not known");
		return;
	}
	call = flow_call_before(tree, store->pid, from->context);
	if (!call || !flow_decode_at(tree, store->pid, call, &insn)) {
		add_end(tree, from, "%s", "an argument; the call of it could not be read");
		return;
	}
	called = target_of(tree, &caller, call, &insn);
	if (!called) {
		add_end(tree, from, "%s",
			"an argument; its function was called by a pointer, perhaps through others");
		return;
	}
	if (called != own) {
		follow_jump(tree, from, called, own, place);
		return;
	}
	caller.context = caller.frame + 1 < store->frames ? store->frame[caller.frame + 1].pc : 0;
	if (flow_tree_code(tree, store->pid, call, &code) ||
	    flow_slice_place(code.bytes, code.length, code.start, call, *place, &tree->work,
			     &slice)) {
		add_end(tree, from, "%s", "an argument; the caller could not be read");
		return;
	}
	follow_slice(tree, &caller, &slice);
}

static void follow_return(struct flow_tree *tree, const struct standpoint *from,
			  const struct flow_end *end)
{
	struct standpoint callee = *from;
	struct flow_slice slice;
	struct flow_code code;
	struct insn insn;
	uint64_t target;
	const char *name;

	target = flow_decode_at(tree, from->store->pid, end->pc, &insn)
			 ? target_of(tree, from, end->pc, &insn)
			 : 0;
	if (!target) {
		add_end(tree, from, "%s", "what a function returned that was called by a pointer");
		return;
	}
	name = function_name(tree, from->store->pid, target);
	callee.gone = true;
	callee.nest++;
	if (flow_in_c_library(tree, from->store->pid, target) || callee.nest > NEST_MOST ||
	    flow_tree_code(tree, from->store->pid, target, &code) ||
	    flow_slice_return(code.bytes, code.length, code.start, &tree->work, &slice)) {
		add_end(tree, from, "what %s() returned", name ? name : "a function");
		return;
	}
	callee.context = end->pc + insn.length;
	callee.function = code.start;
	callee.jumped = false;
	follow_slice(tree, &callee, &slice);
}

static void follow_end(struct flow_tree *tree, const struct standpoint *from,
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
		follow_argument(tree, from, &end->place);
		break;
	case FLOW_END_KERNEL:
		add_end(tree, from, "%s", "what a system call returned");
		break;
	default:
		add_end(tree, from, "not followed: %s", end->reason);
	}
}

/* A call in the slice overwrites the work area, not the slice. */
static void follow_slice(struct flow_tree *tree, const struct standpoint *from,
			 const struct flow_slice *slice)
{
	for (unsigned i = 0; i < slice->ends; i++)
		follow_end(tree, from, &slice->end[i]);
	if (slice->more)
		add_end(tree, from, "%s", "not followed: there are too many");
}

/* The wanted bytes of memory among those of the operand at `address`. */
static struct flow_stored part_of(unsigned operand, uint64_t address, uint64_t length,
				  const struct flow_value *wanted)
{
	uint64_t first = wanted->address > address ? wanted->address - address : 0;
	uint64_t end = wanted->address + wanted->length - address;

	if (first >= length)
		first = 0;
	if (end > length || end <= first)
		end = length;
	return (struct flow_stored){operand, (unsigned)first, (unsigned)(end - first)};
}

/* Which of the instruction's operands stored there, and which of its bytes are wanted. */
static bool find_operand(struct flow_tree *tree, const struct flow_store *store,
			 const struct flow_value *wanted, struct flow_stored *stored)
{
	struct insn_registers registers = {.fs_base = store->fs_base};
	struct insn insn;
	uint64_t address, length;
	unsigned candidates = 0;

	if (!flow_decode_at(tree, store->pid, store->pc, &insn))
		return false;
	memcpy(registers.general, store->general, sizeof(registers.general));
	registers.pc = store->pc + insn.length;
	for (unsigned i = 0; i < insn.operand_count; i++) {
		if (!(insn.operand[i].access & TL_WRITE))
			continue;
		if (!insn_operand_after(&insn, i, &registers, &address, &length) &&
		    overlaps(address, length, store->address, store->length)) {
			*stored = part_of(i, address, length, wanted);
			return true;
		}
		*stored = part_of(i, store->address, store->length, wanted);
		candidates++;
	}
	return candidates == 1;
}

static bool copies_memory(const char *name)
{
	static const char *const names[] = {"memcpy", "memmove", "mempcpy",
					    "strcpy", "stpcpy",	 "strncpy"};

	for (unsigned i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(name, names[i]))
			return true;
	return false;
}

/* The C library's copying: its call's arguments tell whence, whatever its instructions do. */
static bool follow_copy(struct flow_tree *tree, const struct standpoint *from)
{
	const struct flow_store *store = from->store;
	struct flow_value value = value_below(tree, from);
	const char *name = function_name(tree, store->pid, store->pc);
	uint64_t start, end;

	if (!flow_in_c_library(tree, store->pid, store->pc) || !copies_memory(name) ||
	    store->frames < 2 ||
	    tree->services->function(tree->host, store->pid, store->pc, &start, &end))
		return false;
	value.copied = true;
	value.sized = strstr(name, "mem");
	value.copy_call = flow_call_before(tree, store->pid, store->frame[1].pc);
	value.copy_offset = tree->value[tree->writer[from->writer].value].address;
	value.state = FLOW_VALUE_SOUGHT;
	value.reader = start;
	value.reader_end = end;
	value.context = store->frame[1].pc;
	if (!value.copy_call)
		return false;
	add_value(tree, &value);
	return true;
}

static void expand(struct flow_tree *tree, uint32_t writer, const struct flow_store *store)
{
	struct standpoint from = {.writer = writer,
				  .store = store,
				  .context = store->frames > 1 ? store->frame[1].pc : 0};
	struct flow_slice slice;
	struct flow_code code;
	struct flow_stored stored;
	const char *name;

	if (store->kernel) {
		name = function_name(tree, store->pid, store->pc);
		add_end(tree, &from, "the kernel, in %s()", name ? name : "a system call");
		return;
	}
	if (follow_copy(tree, &from))
		return;
	if (!find_operand(tree, store, &tree->value[tree->writer[writer].value], &stored) ||
	    flow_tree_code(tree, store->pid, store->pc, &code) ||
	    flow_slice_store(code.bytes, code.length, code.start, store->pc, &stored, &tree->work,
			     &slice)) {
		add_end(tree, &from, "%s", "not followed: its code could not be read");
		return;
	}
	tree->writer[writer].copies = slice.copies;
	follow_slice(tree, &from, &slice);
}

/* The same code further up: a loop of the program, told once. */
static uint32_t find_above(const struct flow_tree *tree, uint32_t value, uint64_t pc)
{
	while (tree->value[value].writer != FLOW_NONE) {
		uint32_t writer = tree->value[value].writer;

		if (tree->writer[writer].pc == pc)
			return writer;
		value = tree->writer[writer].value;
	}
	return FLOW_NONE;
}

void flow_tree_confirm(struct flow_tree *tree, uint32_t value, const struct flow_store *store,
		       const struct tl_access *example)
{
	struct flow_writer *writer;

	tree->value[value].confirmed++;
	for (uint32_t i = 0; i < tree->writers; i++)
		if (tree->writer[i].value == value && tree->writer[i].pc == store->pc) {
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
		.count = 1,
		.kernel = store->kernel,
		.repeats = find_above(tree, value, store->pc),
	};
	if (writer->place != FLOW_NOWHERE) {
		struct flow_place *place = &tree->places.place[writer->place];

		for (unsigned i = 0; i < store->frames && !place->frames; i++)
			place->stack[i] = i ? store->frame[i].pc : store->pc;
		if (!place->frames)
			place->frames = store->frames;
		place->tid = store->tid;
	}
	(void)example;
	tree->writers++;
	if (writer->repeats == FLOW_NONE && tree->value[value].depth < FLOW_DEPTH)
		expand(tree, tree->writers - 1, store);
}

/* At the call of a copy: rdi to rdx. */
static bool copy_address(const struct flow_value *value, const struct tl_registers *registers,
			 uint64_t *address, uint64_t *length)
{
	uint64_t to = registers->general[7], from = registers->general[6];

	if (value->copy_offset - to >= (value->sized ? registers->general[2] : UINT32_MAX))
		return false;
	*address = from + (value->copy_offset - to);
	*length = 1;
	return true;
}

bool flow_tree_address(struct flow_tree *tree, const struct flow_value *value,
		       const struct tl_access *access, uint64_t *address, uint64_t *length)
{
	struct insn_registers registers = {.pc = access->pc};
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;
	ssize_t got;

	if (!access->registers)
		return false;
	if (value->copied)
		return copy_address(value, access->registers, address, length);
	got = tree->services->read(tree->host, access->pid, access->pc, bytes, sizeof(bytes));
	if (got <= 0 || insn_decode(bytes, (size_t)got, access->pc, &insn))
		return false;
	memcpy(registers.general, access->registers->general, sizeof(registers.general));
	registers.flags = access->registers->flags;
	registers.fs_base = access->registers->fs_base;
	if (insn_operand_before(&insn, value->operand, &registers, address, length) || !*length)
		return false;
	take_part(value, address, length);
	return true;
}
