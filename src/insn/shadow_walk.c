/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values are carried out by insn/forward.h and shadows by shadow_apply(), instruction by
 * instruction. Where a branch's direction is not known, both ways are followed; one that depends on
 * the value itself is what is looked for, and ends the walk.
 */
#include "insn/shadow_step.h"

#include "insn/operand.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <trapline/event.h>

#define CALL_NUMBER 6 /* `argument` of one */
#define MEETINGS 8    /* branches of a walk both ways of which are carried out */

struct walking {
	struct shadow_walk *walk;
	struct shadow_found *found;
	struct shadow_state *state;
	const struct shadow_load *load;
	unsigned forks; /* waiting to be followed */
	unsigned ways, ways_found;
	unsigned stores; /* of the value so far: walk->stored has the last ones */
};

static void tell_nobody(void *context, const struct insn_forward_access *access)
{
	(void)context;
	(void)access;
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

	if (!shadow_is_in(&state->shadow, insn_arch.call_number))
		for (number = 0; number < call.arguments; number++)
			if (shadow_is_in(&state->shadow, insn_arch.call_argument[number]))
				break;
	if (number < call.arguments || number == CALL_NUMBER) {
		note(walking, SHADOW_SINK_ARGUMENT,
		     state->shadow.vague_general >> (number == CALL_NUMBER
							     ? insn_arch.call_number
							     : insn_arch.call_argument[number]) &
			     1);
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
/* One way */

static bool within(const struct shadow_load *load, uint64_t address)
{
	return !load->taken && address - load->address < load->length;
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

/* A way that the thread may take as well. */
static void fork_way(struct walking *walking, uint64_t pc)
{
	struct shadow_state *other;

	if (walking->forks == SHADOW_FORKS) {
		walking->ways++; /* that comes nowhere, as far as is known */
		return;
	}
	other = &walking->walk->fork[walking->forks++];
	*other = *walking->state;
	other->forward.pc = pc;
}

/* What the program ends with is told to its parent, whatever is done before. */
static void note_status(struct walking *walking, bool vague)
{
	note(walking, SHADOW_SINK_ARGUMENT, vague);
	walking->found->argument = 0;
	walking->found->call = SYS_exit_group;
}

/* Where a call or an indirect jump has led. False: the way ends. */
static bool arrive(struct walking *walking)
{
	struct shadow_answer answer;

	switch (shadow_step_arrive(walking->walk, walking->state, &answer)) {
	case SHADOW_DIES:
		if (answer.depends)
			note_status(walking, answer.vague);
		else
			walking->ways--;
		return false;
	case SHADOW_DETOUR:
	case SHADOW_END:
		return false;
	case SHADOW_SKIP:
		if (answer.depends)
			note(walking, SHADOW_SINK_BRANCH, answer.vague);
		return !answer.depends && shadow_step_skip(walking->state, &answer);
	default:
		return true;
	}
}

/* Hand-written comparisons by words, and conditions that a compiler evaluates in another order than
 * they stand in, branch on what they then throw away. */
static bool goes_on(struct walking *walking, enum shadow_sink sink, bool *vague)
{
	if (sink != SHADOW_SINK_BRANCH || !walking->walk->compare)
		return false;
	if (walking->found->alike == MEETINGS) {
		*vague = true; /* not looked at */
		return false;
	}
	if (!shadow_meet(walking->walk, walking->state))
		return false;
	walking->found->alike++;
	return true;
}

/* ------------------------------------------------------------------------------------------- */
/* Stores to where the value was loaded */

/* The thread comes here for certain, and what depends on the value is known bit by bit. */
static bool is_certain(const struct walking *walking)
{
	const struct shadow *shadow = &walking->state->shadow;

	return walking->ways <= 1 && !walking->forks && !walking->found->alike &&
	       !walking->state->late && !shadow->vague_memory && !shadow->lost;
}

static bool stores_there(const struct walking *walking, const struct insn_result *result,
			 const struct shadow_operands *operands)
{
	unsigned number = result->to.number;

	return result->to.kind == INSN_PLACE_MEMORY && !result->conditional &&
	       number < INSN_MAX_OPERANDS && operands->known[number] &&
	       insn_overlap(operands->address[number], result->to.length, walking->load->address,
			    SHADOW_OWN);
}

static void note_stored(struct walking *walking, uint64_t pc, const struct insn_effect *effect,
			const struct shadow_operands *operands)
{
	uint64_t first, found;

	for (unsigned i = 0; i < effect->count; i++) {
		const struct insn_place *to = &effect->result[i].to;

		if (to->kind == INSN_PLACE_MEMORY && to->number < INSN_MAX_OPERANDS &&
		    operands->known[to->number] &&
		    shadow_find(&walking->state->shadow, operands->address[to->number], to->length,
				&first, &found))
			walking->walk->stored[walking->stores++ % SHADOW_STORED] =
				(struct shadow_stored){pc, operands->address[to->number],
						       to->length};
	}
}

/* The instruction at `pc` has been carried out. */
static void note_store(struct walking *walking, uint64_t pc, const struct insn_effect *effect,
		       const struct shadow_operands *operands)
{
	struct shadow_found *found = walking->found;
	uint64_t bits;

	for (unsigned i = 0; i < effect->count; i++) {
		if (!stores_there(walking, &effect->result[i], operands))
			continue;
		if (found->stores == SHADOW_STORES || !is_certain(walking))
			return;
		shadow_read(&walking->state->shadow, walking->load->address, (uint8_t *)&bits,
			    sizeof(bits));
		found->store[found->stores++] = (struct shadow_store){pc, bits};
		return;
	}
}

/* ------------------------------------------------------------------------------------------- */

/* False: the way ends, at a sink or since it cannot be followed. */
static bool step(struct walking *walking)
{
	struct shadow_state *state = walking->state;
	struct shadow_step next;
	bool vague = false, leaves, unknown;
	uint64_t pc = state->forward.pc;
	enum shadow_sink sink;

	if (!shadow_step_decode(walking->walk, state, &next))
		return false;
	sink = shadow_step_sink(state, &next, &vague);
	if (sink && goes_on(walking, sink, &vague))
		return true;
	if (sink) {
		note(walking, sink, vague);
		return false;
	}
	if (next.effect.insn.flow == INSN_FLOW_SYSCALL) {
		state->forward.pc += next.effect.insn.length;
		return !enter_kernel(walking);
	}
	unknown = next.effect.insn.flow == INSN_FLOW_BRANCH && next.effect.insn.conditional &&
		  !state->forward.flags_known;
	if (unknown)
		fork_way(walking, (uint64_t)next.effect.insn.target);
	if (!shadow_step_carry_out(state, &next, &leaves))
		return false;
	note_stored(walking, pc, &next.effect, &next.operands);
	note_store(walking, pc, &next.effect, &next.operands);
	return !leaves || next.effect.insn.flow == INSN_FLOW_RETURN || arrive(walking);
}

/* ------------------------------------------------------------------------------------------- */
/* All of it */

static void add_copy(struct shadow_found *found, uint64_t address)
{
	if (address - SHADOW_NOWHERE < SHADOW_NOWHERE_LENGTH)
		return;
	for (unsigned i = 0; i < found->copies; i++)
		if (address - found->copy[i].address <= found->copy[i].length) {
			if (address - found->copy[i].address == found->copy[i].length)
				found->copy[i].length++;
			return;
		}
	if (found->copies < SHADOW_RANGES)
		found->copy[found->copies++] = (struct shadow_range){address, 1};
}

static uint64_t find_last_store(const struct walking *walking, const struct shadow_range *range)
{
	for (unsigned i = 0; i < SHADOW_STORED && i < walking->stores; i++) {
		const struct shadow_stored *stored =
			&walking->walk->stored[(walking->stores - 1 - i) % SHADOW_STORED];

		if (insn_overlap(stored->address, stored->length, range->address, range->length))
			return stored->pc;
	}
	return 0;
}

/* Of a bit-field's neighbours some bits are another value's. */
static bool is_whole(const struct shadow *shadow, const struct shadow_range *range)
{
	uint8_t bits = 0xff;

	for (uint64_t i = 0; i < range->length && bits == 0xff; i++)
		shadow_read(shadow, range->address + i, &bits, 1);
	return bits == 0xff;
}

static void note_copies(struct walking *walking)
{
	const struct shadow *shadow = &walking->state->shadow;
	struct shadow_found *found = walking->found;

	for (unsigned i = 0; i < SHADOW_LINES; i++)
		for (unsigned j = 0; shadow->line[i].address && j < SHADOW_LINE; j++)
			if (shadow->line[i].bits[j] &&
			    !within(walking->load, shadow->line[i].address + j))
				add_copy(found, shadow->line[i].address + j);
	for (unsigned i = 0; i < found->copies; i++) {
		found->copied_at[i] = find_last_store(walking, &found->copy[i]);
		found->copied_surely[i] = found->copied_at[i] && is_certain(walking) &&
					  is_whole(shadow, &found->copy[i]);
	}
}

static void follow_way(struct walking *walking)
{
	walking->ways++;
	while (walking->found->steps < walking->walk->steps) {
		if (!shadow_in_registers(&walking->state->shadow) && !has_copies(walking))
			return;
		walking->found->steps++;
		if (!step(walking))
			return;
	}
}

static uint16_t overwritten(const struct insn_effect *effect)
{
	unsigned registers = 0;

	for (unsigned i = 0; i < effect->count; i++)
		if (effect->result[i].to.kind == INSN_PLACE_GENERAL)
			registers |= 1u << (effect->result[i].to.number & 15);
	return (uint16_t)registers;
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
	shadow_locate(&effect.insn, &after, load->known, true, &operands);
	/* The load overwrote what its address was made of: it is where the bytes are. */
	for (unsigned i = 0; i < effect.insn.operand_count; i++)
		if (!operands.known[i] && (effect.insn.operand[i].access & TL_READ)) {
			operands.known[i] = true;
			operands.address[i] = load->accessed;
		}
	forward->known &= (uint16_t)~overwritten(&effect);
	for (unsigned i = 0; i < INSN_GENERAL; i++)
		if (load->recovered >> i & ~forward->known >> i & 1)
			forward_know_register(forward, (int)i, load->before[i]);
	shadow_apply(&state->shadow, &effect, &operands, forward, &state->vectors);
	note_stored(walking, load->pc, &effect, &operands);
	note_store(walking, load->pc, &effect, &operands);
	if (load->taken)
		shadow_fill(&state->shadow, load->address, 0, load->length);
	memcpy(forward->general, after.general, sizeof(forward->general));
	forward->known = load->known;
	return 0;
}

int shadow_follow(struct shadow_walk *walk, const struct shadow_load *load,
		  struct shadow_found *found)
{
	struct walking walking = {
		.walk = walk, .found = found, .state = &walk->state, .load = load};
	int err;

	memset(found, 0, sizeof(*found));
	err = begin(&walking);
	if (err)
		return err;
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
