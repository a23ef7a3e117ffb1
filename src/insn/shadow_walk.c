/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values are carried out by insn/forward.h and shadows by shadow_apply(), instruction by
 * instruction. Where a branch's direction is not known, both ways are followed; one that depends on
 * the value itself is what is looked for, and ends the walk.
 */
#include "insn/values.h"
#include "insn/operand.h"
#include "insn/shadow.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <trapline/event.h>

#define STRING_MOST 65536 /* bytes of one repeated string instruction */
#define STACK_BELOW 65536 /* below the stack pointer: what returned functions left */
#define CALL_NUMBER 6	  /* `argument` of one */

struct walking {
	struct shadow_walk *walk;
	struct shadow_found *found;
	struct shadow_state *state;
	const struct shadow_load *load;
	unsigned forks; /* waiting to be followed */
	unsigned ways, ways_found;
};

static void tell_nobody(void *context, const struct insn_forward_access *access)
{
	(void)context;
	(void)access;
}

/* ------------------------------------------------------------------------------------------- */
/* Where operands are */

static void locate(const struct insn *insn, const struct insn_registers *registers, uint16_t known,
		   bool after, struct shadow_operands *operands)
{
	for (unsigned i = 0; i < insn->operand_count; i++) {
		const struct insn_operand *operand = &insn->operand[i];
		uint64_t first, length;
		int err;

		operands->known[i] = false;
		if ((operand->base >= 0 && operand->base < INSN_GENERAL &&
		     !(known >> operand->base & 1)) ||
		    (operand->index >= 0 && !(known >> operand->index & 1)) ||
		    operand->vector_index >= 0 || (operand->segment && !registers->fs_base))
			continue;
		err = after ? insn_operand_after(insn, i, registers, &first, &length)
			    : insn_operand_before(insn, i, registers, &first, &length);
		operands->known[i] = !err;
		operands->address[i] = first;
	}
}

static void locate_next(const struct shadow_state *state, const struct insn *insn,
			struct shadow_operands *operands)
{
	struct insn_registers registers = {.pc = state->forward.pc,
					   .fs_base = state->forward.fs_base};

	memcpy(registers.general, state->forward.general, sizeof(registers.general));
	locate(insn, &registers, state->forward.known, false, operands);
}

/* ------------------------------------------------------------------------------------------- */
/* What is looked for */

static void note(struct walking *walking, enum shadow_sink sink, bool vague)
{
	struct shadow_found *found = walking->found;

	walking->ways_found += !walking->state->late;
	if (found->sink && !(found->vague && !vague))
		return;
	found->sink = (uint8_t)sink;
	found->pc = walking->state->forward.pc;
	found->vague = vague;
}

static bool is_shadowed(const struct shadow *shadow, int number)
{
	return number >= 0 && number < INSN_GENERAL && shadow->general[number];
}

/* An address that is made of the value. Of masked or conditional operands too. */
static enum shadow_sink address_sink(const struct shadow *shadow, const struct insn *insn,
				     bool *vague)
{
	for (unsigned i = 0; i < insn->operand_count; i++) {
		const struct insn_operand *operand = &insn->operand[i];

		if (!operand->access)
			continue;
		if (is_shadowed(shadow, operand->base)) {
			*vague = shadow->vague_general >> operand->base & 1;
			return SHADOW_SINK_ADDRESS;
		}
		if (is_shadowed(shadow, operand->index)) {
			*vague = shadow->vague_general >> operand->index & 1;
			return SHADOW_SINK_INDEX;
		}
	}
	return SHADOW_SINK_NONE;
}

static enum shadow_sink decision_sink(const struct shadow *shadow, const struct insn_effect *effect,
				      const struct shadow_operands *operands, bool *vague)
{
	if (effect->decides.kind == INSN_PLACE_NONE ||
	    !shadow_of_place(shadow, &effect->decides, operands, vague))
		return SHADOW_SINK_NONE;
	return effect->insn.conditional ? SHADOW_SINK_BRANCH : SHADOW_SINK_TARGET;
}

/* ------------------------------------------------------------------------------------------- */
/* System calls */

enum passes { NOTHING, BUFFER, VECTORS, MESSAGE };

/* How many arguments count, and what is passed on of the memory they name. Others: the first. */
static const struct system_call {
	uint16_t number;
	uint8_t arguments;
	uint8_t passes;
} system_calls[] = {
	{SYS_read, 3, NOTHING},	   {SYS_write, 3, BUFFER},    {SYS_close, 1, NOTHING},
	{SYS_lseek, 3, NOTHING},   {SYS_mmap, 6, NOTHING},    {SYS_mprotect, 3, NOTHING},
	{SYS_munmap, 2, NOTHING},  {SYS_brk, 1, NOTHING},     {SYS_ioctl, 2, NOTHING},
	{SYS_pread64, 4, NOTHING}, {SYS_pwrite64, 4, BUFFER}, {SYS_readv, 3, NOTHING},
	{SYS_writev, 3, VECTORS},  {SYS_dup, 1, NOTHING},     {SYS_nanosleep, 2, NOTHING},
	{SYS_socket, 3, NOTHING},  {SYS_connect, 3, NOTHING}, {SYS_sendto, 4, BUFFER},
	{SYS_sendmsg, 3, MESSAGE}, {SYS_bind, 3, NOTHING},    {SYS_listen, 2, NOTHING},
	{SYS_exit, 1, NOTHING},	   {SYS_kill, 2, NOTHING},    {SYS_exit_group, 1, NOTHING},
	{SYS_openat, 3, NOTHING},  {SYS_pwritev, 3, VECTORS},
#ifdef SYS_open /* newer architectures do without */
	{SYS_open, 2, NOTHING},	   {SYS_poll, 3, NOTHING},    {SYS_dup2, 2, NOTHING},
#endif
};

static struct system_call describe_call(const struct insn_forward *forward)
{
	uint64_t number = forward->general[insn_arch.call_number];

	for (unsigned i = 0; i < sizeof(system_calls) / sizeof(*system_calls); i++)
		if ((forward->known >> insn_arch.call_number & 1) &&
		    system_calls[i].number == number)
			return system_calls[i];
	return (struct system_call){0, 1, NOTHING};
}

static bool argument(const struct insn_forward *forward, unsigned number, uint64_t *value)
{
	*value = forward->general[insn_arch.call_argument[number]];
	return forward->known >> insn_arch.call_argument[number] & 1;
}

static bool find_vectors(const struct walking *walking, uint64_t vectors, uint64_t count,
			 struct shadow_range *bytes)
{
	const struct insn_forward *forward = &walking->state->forward;

	for (uint64_t i = 0; i < count && i < 64; i++) {
		struct value address = forward_read_memory(forward, vectors + 16 * i, 8);
		struct value length = forward_read_memory(forward, vectors + 16 * i + 8, 8);

		if (address.known && length.known &&
		    shadow_find(&walking->state->shadow, address.bits, length.bits, &bytes->address,
				&bytes->length))
			return true;
	}
	return false;
}

static bool find_sent(const struct walking *walking, const struct system_call *call,
		      struct shadow_range *bytes)
{
	const struct insn_forward *forward = &walking->state->forward;
	struct value vectors, count;
	uint64_t address, length;

	if (call->passes == NOTHING || !argument(forward, 1, &address))
		return false;
	if (call->passes == MESSAGE) {
		vectors = forward_read_memory(forward, address + 16, 8);
		count = forward_read_memory(forward, address + 24, 8);
		return vectors.known && count.known &&
		       find_vectors(walking, vectors.bits, count.bits, bytes);
	}
	if (!argument(forward, 2, &length))
		return false;
	if (call->passes == VECTORS)
		return find_vectors(walking, address, length, bytes);
	return shadow_find(&walking->state->shadow, address, length, &bytes->address,
			   &bytes->length);
}

static bool enter_kernel(struct walking *walking)
{
	struct shadow_state *state = walking->state;
	struct system_call call = describe_call(&state->forward);
	struct shadow_range bytes;
	unsigned number = CALL_NUMBER;

	if (!is_shadowed(&state->shadow, insn_arch.call_number))
		for (number = 0; number < call.arguments; number++)
			if (is_shadowed(&state->shadow, insn_arch.call_argument[number]))
				break;
	if (number < call.arguments || number == CALL_NUMBER) {
		note(walking, SHADOW_SINK_ARGUMENT, false);
		walking->found->argument = number;
		walking->found->call = state->forward.general[insn_arch.call_number];
		return true;
	}
	if (find_sent(walking, &call, &bytes)) {
		note(walking, SHADOW_SINK_SENT, state->shadow.vague_memory);
		walking->found->call = call.number;
		walking->found->bytes = bytes;
		return true;
	}
	/* What it returns and writes is not known. */
	forward_forget_register(&state->forward, insn_arch.call_result);
	for (unsigned i = 0; i < INSN_GENERAL; i++)
		if (insn_arch.call_destroys >> i & 1) {
			forward_forget_register(&state->forward, (int)i);
			state->shadow.general[i] = 0;
		}
	state->late = true;
	return false;
}

/* ------------------------------------------------------------------------------------------- */
/* Repeated string instructions, as a whole */

static void move_shadow(struct shadow *shadow, uint64_t to, uint64_t from, uint64_t length)
{
	uint8_t bits[SHADOW_LINE];

	for (uint64_t done = 0; done < length; done += sizeof(bits)) {
		size_t part = length - done < sizeof(bits) ? (size_t)(length - done) : sizeof(bits);

		shadow_read(shadow, from + done, bits, part);
		shadow_write(shadow, to + done, bits, part);
	}
}

/* movs and stos, forwards as compilers and libraries use them. False: not such a one, or its extent
 * is not known. */
static bool repeat(struct walking *walking, const struct insn_effect *effect)
{
	struct insn_forward *forward = &walking->state->forward;
	const struct insn *insn = &effect->insn;
	const struct insn_result *first = &effect->result[0];
	unsigned element = insn->operand[0].size;
	uint64_t length = forward->general[insn_arch.repeat_count] * element;
	bool moves = insn->operand_count == 2;

	if (!insn->repeated || !effect->count || first->to.kind != INSN_PLACE_MEMORY ||
	    !(forward->known >> insn_arch.repeat_count & 1) ||
	    !(forward->known >> insn_arch.string_to & 1) ||
	    (moves && !(forward->known >> insn_arch.string_from & 1)) ||
	    forward->general[insn_arch.repeat_count] > STRING_MOST || length > STRING_MOST)
		return false;
	if (moves)
		move_shadow(&walking->state->shadow, forward->general[insn_arch.string_to],
			    forward->general[insn_arch.string_from], length);
	else
		shadow_fill(&walking->state->shadow, forward->general[insn_arch.string_to],
			    walking->state->shadow.general[insn_arch.string_value] ? 0xff : 0,
			    length);
	forward_write_memory(forward, forward->general[insn_arch.string_to], (unsigned)length,
			     value_unknown);
	forward->general[insn_arch.string_to] += length;
	if (moves)
		forward->general[insn_arch.string_from] += length;
	forward->general[insn_arch.repeat_count] = 0;
	forward->pc += insn->length;
	return true;
}

/* ------------------------------------------------------------------------------------------- */
/* One way */

static void drop_old_frames(struct shadow_state *state)
{
	uint64_t top = state->forward.general[insn_arch.stack_pointer] - insn_arch.red_zone;

	for (unsigned i = 0; i < SHADOW_LINES; i++) {
		uint64_t end = state->shadow.line[i].address + SHADOW_LINE;

		if (state->shadow.line[i].address && top - end < STACK_BELOW)
			memset(&state->shadow.line[i], 0, sizeof(state->shadow.line[i]));
	}
}

static bool within(const struct shadow_load *load, uint64_t address)
{
	return address - load->address < load->length;
}

/* Memory other than the value's own holds a copy. */
static bool has_copies(const struct walking *walking)
{
	const struct shadow *shadow = &walking->state->shadow;

	for (unsigned i = 0; i < SHADOW_LINES; i++)
		for (unsigned j = 0; shadow->line[i].address && j < SHADOW_LINE; j++)
			if (shadow->line[i].bits[j] &&
			    !within(walking->load, shadow->line[i].address + j))
				return true;
	return false;
}

static bool in_registers(const struct shadow *shadow)
{
	uint64_t any = shadow->vectors | shadow->flags;

	for (unsigned i = 0; i < INSN_GENERAL; i++)
		any |= shadow->general[i];
	for (unsigned i = 0; i < 8; i++)
		any |= shadow->mask[i];
	return any;
}

/* Registers that a called function may change hold nothing of the value when it returns. */
static bool skip_function(struct walking *walking, const struct shadow_answer *answer)
{
	struct shadow_state *state = walking->state;

	if (answer->depends) {
		note(walking, SHADOW_SINK_BRANCH, false);
		return false;
	}
	for (unsigned i = 0; i < INSN_GENERAL; i++)
		if (!(INSN_KEPT_BY_CALLS >> i & 1))
			state->shadow.general[i] = 0;
	memset(state->shadow.vector, 0, sizeof(state->shadow.vector));
	memset(state->shadow.mask, 0, sizeof(state->shadow.mask));
	state->shadow.vectors = 0;
	state->shadow.flags = 0;
	if (answer->length) {
		if (answer->from)
			move_shadow(&state->shadow, answer->to, answer->from, answer->length);
		else
			shadow_fill(&state->shadow, answer->to, 0, answer->length);
		forward_write_memory(&state->forward, answer->to, (unsigned)answer->length,
				     value_unknown);
	}
	if (insn_forward_return(&state->forward))
		return false;
	state->late |= !answer->known;
	if (answer->known)
		forward_know_register(&state->forward, insn_arch.function_result, answer->value);
	return true;
}

/* A way that the thread may take as well. */
static void fork_way(struct walking *walking, uint64_t pc)
{
	struct shadow_state *other;

	if (walking->forks == SHADOW_FORKS)
		return;
	other = &walking->walk->fork[walking->forks++];
	*other = *walking->state;
	other->forward.pc = pc;
}

/* Where a call or an indirect jump has led. False: the way ends. */
static bool arrive(struct walking *walking)
{
	struct shadow_state *state = walking->state;
	struct shadow_answer answer = {0};
	enum shadow_function function =
		walking->walk->function(walking->walk->context, state, &answer);

	if (function == SHADOW_DETOUR) {
		state->forward.general[insn_arch.stack_pointer] += answer.discards;
		state->forward.pc = answer.target;
		answer = (struct shadow_answer){0};
		function = walking->walk->function(walking->walk->context, state, &answer);
	}
	switch (function) {
	case SHADOW_DIES:
		walking->ways--;
		return false;
	case SHADOW_DETOUR:
	case SHADOW_END:
		return false;
	case SHADOW_SKIP:
		return skip_function(walking, &answer);
	default:
		return true;
	}
}

static enum shadow_sink sink_of(const struct walking *walking, const struct insn_effect *effect,
				const struct shadow_operands *operands, bool *vague)
{
	enum shadow_sink sink = address_sink(&walking->state->shadow, &effect->insn, vague);

	return sink ? sink : decision_sink(&walking->state->shadow, effect, operands, vague);
}

/* False: the way ends, at a sink or since it cannot be followed. */
static bool step(struct walking *walking)
{
	struct shadow_state *state = walking->state;
	struct shadow_operands operands = {0};
	struct insn_effect effect;
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = walking->walk->code(walking->walk->context, state->forward.pc, bytes,
					       sizeof(bytes));
	bool vague = false, leaves, unknown;
	enum shadow_sink sink;

	if (!available || insn_effect_decode(bytes, available, state->forward.pc, &effect) ||
	    effect.insn.flow == INSN_FLOW_TRAP)
		return false;
	locate_next(state, &effect.insn, &operands);
	sink = sink_of(walking, &effect, &operands, &vague);
	if (sink) {
		note(walking, sink, vague);
		return false;
	}
	if (effect.insn.flow == INSN_FLOW_SYSCALL) {
		state->forward.pc += effect.insn.length;
		return !enter_kernel(walking);
	}
	if (repeat(walking, &effect))
		return true;
	shadow_apply(&state->shadow, &effect, &operands, &state->forward);
	unknown = effect.insn.flow == INSN_FLOW_BRANCH && effect.insn.conditional &&
		  !state->forward.flags_known;
	if (unknown)
		fork_way(walking, (uint64_t)effect.insn.target);
	if (insn_forward_step(&state->forward, bytes, available, &leaves))
		return false;
	if (effect.insn.flow == INSN_FLOW_RETURN)
		drop_old_frames(state);
	return !leaves || effect.insn.flow == INSN_FLOW_RETURN || arrive(walking);
}

/* ------------------------------------------------------------------------------------------- */
/* All of it */

static void add_copy(struct shadow_found *found, uint64_t address)
{
	for (unsigned i = 0; i < found->copies; i++)
		if (address - found->copy[i].address <= found->copy[i].length) {
			if (address - found->copy[i].address == found->copy[i].length)
				found->copy[i].length++;
			return;
		}
	if (found->copies < SHADOW_RANGES)
		found->copy[found->copies++] = (struct shadow_range){address, 1};
}

static void note_copies(struct walking *walking)
{
	const struct shadow *shadow = &walking->state->shadow;

	for (unsigned i = 0; i < SHADOW_LINES; i++)
		for (unsigned j = 0; shadow->line[i].address && j < SHADOW_LINE; j++)
			if (shadow->line[i].bits[j] &&
			    !within(walking->load, shadow->line[i].address + j))
				add_copy(walking->found, shadow->line[i].address + j);
}

static void follow_way(struct walking *walking)
{
	walking->ways++;
	while (walking->found->steps < walking->walk->steps) {
		if (!in_registers(&walking->state->shadow) && !has_copies(walking))
			return;
		walking->found->steps++;
		if (!step(walking))
			return;
	}
}

static int begin(struct walking *walking)
{
	struct shadow_state *state = &walking->walk->state;
	const struct shadow_load *load = walking->load;
	struct insn_forward *forward = &state->forward;
	struct shadow_operands operands = {0};
	struct insn_effect effect;
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available =
		walking->walk->code(walking->walk->context, load->pc, bytes, sizeof(bytes));
	struct insn_registers after = *load->after;
	int err = available ? insn_effect_decode(bytes, available, load->pc, &effect) : -ENODATA;

	if (err)
		return err;
	memset(state, 0, sizeof(*state));
	forward->read = walking->walk->read;
	forward->tell = tell_nobody;
	forward->context = walking->walk->context;
	memcpy(forward->general, after.general, sizeof(forward->general));
	forward->pc = after.pc;
	forward->known = load->known;
	forward->fs_base = after.fs_base;
	insn_forward_set_flags(forward, after.flags);
	shadow_write(&state->shadow, load->address, load->bits, load->length);
	after.pc = load->pc + effect.insn.length;
	locate(&effect.insn, &after, load->known, true, &operands);
	/* The load overwrote what its address was made of: it is where the bytes are. */
	for (unsigned i = 0; i < effect.insn.operand_count; i++)
		if (!operands.known[i] && (effect.insn.operand[i].access & TL_READ)) {
			operands.known[i] = true;
			operands.address[i] = load->accessed;
		}
	shadow_apply(&state->shadow, &effect, &operands, forward);
	return 0;
}

int shadow_follow(struct shadow_walk *walk, const struct shadow_load *load,
		  struct shadow_found *found)
{
	struct walking walking = {.walk = walk, .found = found, .load = load};
	int err;

	memset(found, 0, sizeof(*found));
	err = begin(&walking);
	if (err)
		return err;
	walking.state = &walk->state;
	follow_way(&walking);
	if (!found->sink)
		note_copies(&walking);
	while (walking.forks) {
		/* It is followed in the first one's room, which nobody needs any more. */
		walk->state = walk->fork[--walking.forks];
		follow_way(&walking);
	}
	found->certain = found->sink && walking.ways == walking.ways_found;
	return 0;
}
