/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/output.h"

#include "libc/c_format.h"
#include "uninit/call.h"

#include <string.h>

#define WORD 8u
#define VECTOR_ARGUMENTS 8u
#define ROOM_MOST 65536u
#define REACH 4096u	       /* bytes of a string in which shadows are looked for */
#define STACK_REACH (8u << 20) /* bytes above a stack pointer that are taken for its stack */

struct output {
	const struct shadow_state *state;
	struct uninit_call call;
	unsigned general, vectors, stacked; /* arguments that were taken so far */
	bool depends, vague;
	bool passes;	 /* a character that depends on the value goes out as it is */
	uint64_t before; /* the argument that was taken last, … */
	bool before_known;
};

static void depend(struct output *output, bool depends, bool vague)
{
	if (!depends)
		return;
	output->vague = vague && (!output->depends || output->vague);
	output->depends = true;
}

static uint64_t low(unsigned bits)
{
	return bits < 64 ? (1ull << bits) - 1 : UINT64_MAX;
}

/* Where the caller has put the next argument that found no register. */
static uint64_t next_on_stack(struct output *output)
{
	return output->state->forward.general[insn_arch.stack_pointer] +
	       WORD * (1 + output->stacked++);
}

static void take_from_stack(struct output *output, unsigned bits)
{
	uint64_t address = next_on_stack(output), shadow = 0;

	shadow_read(&output->state->shadow, address, (uint8_t *)&shadow, sizeof(shadow));
	depend(output, shadow & low(bits), output->state->shadow.vague_memory);
	output->before_known =
		insn_forward_read(&output->state->forward, address, WORD, &output->before);
}

static void take_register(struct output *output, unsigned number, unsigned bits)
{
	const struct shadow *shadow = &output->state->shadow;
	unsigned place = insn_arch.function_argument[number];

	depend(output, shadow->general[place] & low(bits), shadow->vague_general >> place & 1);
	output->before = output->state->forward.general[place];
	output->before_known = output->state->forward.known >> place & 1;
}

static void take_general(struct output *output, unsigned bits)
{
	if (output->general < INSN_FUNCTION_ARGUMENTS)
		take_register(output, output->general++, bits);
	else
		take_from_stack(output, bits);
}

/* A character that depends on the value is copied to the stream's buffer: nothing is decided by it
 * yet. */
static void take_character(struct output *output, unsigned bits)
{
	take_general(output, bits);
	output->passes |= output->depends;
	output->depends = output->vague = false;
}

static void take_double(struct output *output)
{
	const struct shadow *shadow = &output->state->shadow;
	unsigned number = output->vectors;
	bool depends = false;

	if (number >= VECTOR_ARGUMENTS) {
		take_from_stack(output, 64);
		return;
	}
	output->vectors++;
	for (unsigned i = 0; i < WORD && shadow->vectors >> number & 1; i++)
		depends |= shadow->vector[number][i] != 0;
	depend(output, depends, shadow->vague_vectors >> number & 1);
}

/* The string at `address`, at most `most` bytes of it. False: it is not known where it ends. */
static bool take_string(struct output *output, uint64_t address, int64_t most)
{
	struct c_call *call = &output->call.call;
	uint64_t first, length, start = address;

	call->function = c_function_find(most < 0 ? "strlen" : "strnlen");
	call->argument[0] = address;
	call->argument[1] = (uint64_t)most;
	call->known = 3;
	while (shadow_find(&output->state->shadow, start, address + REACH - start, &first,
			   &length)) {
		enum c_extent extent;

		start = first + length;
		extent = c_extent(call, &first, &length);
		if (extent == C_EXTENT_UNKNOWN)
			return false;
		depend(output, extent == C_EXTENT_WITHIN, output->state->shadow.vague_memory);
	}
	return true;
}

static bool take(struct output *output, const struct c_format_taken *taken)
{
	int64_t most = taken->most;

	if (taken->kind == C_FORMAT_DOUBLE) {
		take_double(output);
		return true;
	}
	if (taken->kind == C_FORMAT_CHARACTER) {
		take_character(output, taken->bits);
		return true;
	}
	if (most == C_FORMAT_BEFORE)
		most = output->before_known ? (int32_t)output->before : C_FORMAT_BEFORE;
	take_general(output, taken->bits);
	if (taken->kind != C_FORMAT_STRING || output->depends)
		return true;
	return output->before_known && most != C_FORMAT_BEFORE &&
	       take_string(output, output->before, most);
}

/* Is every conversion of the format known, and none of them of wide characters? */
static bool is_known_whole(const struct c_format *format)
{
	for (int i = 0; i < format->count; i++)
		if (format->taken[i].kind == C_FORMAT_WIDE)
			return false;
	return format->whole;
}

static bool take_format(struct output *output, unsigned number)
{
	struct c_format format;

	take_register(output, number, 64);
	if (output->depends || !output->before_known)
		return output->depends;
	c_format_read(&output->call.memory, output->before, &format);
	if (!is_known_whole(&format))
		return false;
	output->general = number + 1;
	for (int i = 0; i < format.count && !output->depends; i++)
		if (!take(output, &format.taken[i]))
			return false;
	return true;
}

/* Goes through all arguments that are printed. False: it is not known which these are. */
static bool take_all(struct output *output, const struct c_output *function)
{
	if (function->format >= 0)
		return take_format(output, (unsigned)function->format);
	if (function->character >= 0) {
		output->general = (unsigned)function->character;
		take_character(output, 8);
		return true;
	}
	output->general = (unsigned)function->string;
	return take(output, &(struct c_format_taken){C_FORMAT_STRING, 64, C_FORMAT_ANY});
}

/* Does the value lie on the stack alone? Else a stream's buffer may hold it, which this call may
 * pass on. */
static bool is_all_on_stack(const struct shadow_state *state)
{
	uint64_t stack = state->forward.general[insn_arch.stack_pointer];

	for (unsigned i = 0; i < SHADOW_LINES; i++)
		if (state->shadow.line[i].address &&
		    state->shadow.line[i].address + SHADOW_LINE - stack >= STACK_REACH)
			return false;
	return !state->shadow.lost;
}

static bool argument(const struct shadow_state *state, int8_t number, uint64_t *value)
{
	unsigned place = insn_arch.function_argument[number];

	*value = state->forward.general[place];
	return state->forward.known >> place & 1;
}

/* sprintf() and its like: the buffer holds other bytes from then on, however few are printed. */
static bool fill(const struct c_output *function, const struct shadow_state *state,
		 struct shadow_answer *answer)
{
	return function->to < 0 ||
	       (argument(state, function->to, &answer->to) &&
		argument(state, function->room, &answer->length) && answer->length <= ROOM_MOST);
}

bool uninit_output(const struct c_output *function, const struct shadow_state *state,
		   const struct uninit_streams *streams, struct shadow_answer *answer)
{
	struct output output = {.state = state};
	uint64_t stream;

	if (function->stream >= 0 && (!argument(state, function->stream, &stream) ||
				      !streams->is_one(streams->context, stream)))
		return false;
	uninit_call_begin(&output.call, &state->forward);
	if (!take_all(&output, function) || (output.passes && !output.depends))
		return false;
	answer->depends = output.depends;
	answer->vague = output.vague;
	answer->prints = true;
	return output.depends ||
	       ((!streams->followed || is_all_on_stack(state)) && fill(function, state, answer));
}
