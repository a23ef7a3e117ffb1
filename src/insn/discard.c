/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/discard.h"

#include "insn/hoist_aside.h"
#include "insn/shadow_step.h"

#include <errno.h>
#include <string.h>

struct straight {
	const uint8_t *code;
	size_t length; /* up to the first instruction that leads elsewhere */
	uint64_t pc;
};

static size_t straight_length(const uint8_t *code, size_t available, uint64_t pc)
{
	size_t at = 0;
	struct insn insn;

	while (at < available && insn_decode(code + at, available - at, pc + at, &insn) == 0 &&
	       insn.flow == INSN_FLOW_NEXT)
		at += insn.length;
	return at;
}

static size_t read_code(void *context, uint64_t pc, uint8_t *bytes, size_t max)
{
	const struct straight *straight = context;
	uint64_t at = pc - straight->pc;
	size_t left = at < straight->length ? straight->length - (size_t)at : 0;
	size_t count = left < max ? left : max;

	memcpy(bytes, straight->code + (straight->length - left), count);
	return count;
}

/* What memory holds decides nothing here. */
static int read_nothing(void *context, uint64_t address, void *to, size_t length)
{
	(void)context;
	(void)address;
	(void)to;
	(void)length;
	return -ENODATA;
}

static enum shadow_function follow_none(void *context, const struct shadow_state *state,
					struct shadow_answer *answer)
{
	(void)context;
	(void)state;
	(void)answer;
	return SHADOW_END;
}

#define NARROW 16 /* bytes: what SSE has, and leaves nothing above */

/* The load in question. */
struct discarding {
	const struct insn_hoist *beyond;
	uint64_t length;
	bool vector;
};

static bool is_vector(const uint8_t *code, size_t available, uint64_t pc)
{
	struct insn insn;

	return insn_decode(code, available, pc, &insn) == 0 && insn.vector;
}

enum use { UNUSED, DOUBTFUL, USED };

#define RETURNED 8 /* bytes: a number, or two floats; longer ones are what is left of loops */

static bool is_any(const uint8_t *bytes, unsigned length)
{
	for (unsigned i = 0; i < length; i++)
		if (bytes[i])
			return true;
	return false;
}

/* Which registers hold it for certain. */
static struct hoist_holders certain_holders(const struct shadow_state *state, uint64_t loaded)
{
	const struct shadow *shadow = &state->shadow;
	struct hoist_holders holders = {.pc = state->forward.pc,
					.vectors = shadow->vectors & ~shadow->vague_vectors};

	for (unsigned i = 0; i < INSN_GENERAL; i++)
		if (shadow->general[i] && !(shadow->vague_general >> i & 1))
			holders.general |= (uint16_t)(1u << i);
	holders.returned = loaded <= RETURNED && is_any(shadow->vector[0], RETURNED);
	return holders;
}

/* What is left in registers where the straight code ends. A loop of vectors has some there that
 * each pass loads anew. */
static enum use use_of_rest(const struct shadow_state *state, const struct discarding *discarding)
{
	const struct shadow *shadow = &state->shadow;
	const struct hoist_holders holders = certain_holders(state, discarding->length);
	bool used = shadow->flags && !shadow->vague_flags;

	if (holders.general || holders.vectors)
		used |= !discarding->vector || !hoist_is_dropped(&holders, discarding->beyond,
								 discarding->length <= NARROW);
	if (used)
		return USED;
	for (unsigned i = 0; i < INSN_GENERAL; i++)
		used |= shadow->general[i] && shadow->vague_general >> i & 1;
	for (unsigned i = 0; i < 8; i++)
		used |= shadow->mask[i] != 0;
	return used || shadow->flags || (shadow->vectors & shadow->vague_vectors) ? DOUBTFUL
										  : UNUSED;
}

/* Does anything become of the bytes, or is anything left of them where the straight code ends? */
static enum use use_of(struct shadow_walk *walk, const struct shadow_load *load,
		       const struct discarding *discarding)
{
	const struct shadow *shadow = &walk->state.shadow;
	struct shadow_found found;

	if (shadow_follow(walk, load, &found) != 0)
		return USED;
	if (found.sink)
		return found.vague ? DOUBTFUL : USED;
	if (found.copies || shadow->lost)
		return shadow->certain_memory || !shadow->vague_memory ? USED : DOUBTFUL;
	return use_of_rest(&walk->state, discarding);
}

/* Is it a conditional move that the walk carried out last? */
static bool ends_by_choice(const struct straight *straight, uint64_t end)
{
	uint64_t at = straight->pc;
	struct insn insn = {.move_condition = -1};

	while (at < end) {
		size_t done = (size_t)(at - straight->pc);

		if (insn_decode(straight->code + done, straight->length - done, at, &insn))
			return false;
		at += insn.length;
	}
	return at == end && insn.move_condition >= 0;
}

/* What a plain move is about to overwrite is not known behind it; it changes no flags. Flags that
 * are made of a vector are made of what is loaded. */
static bool move_on(const uint8_t *code, size_t available, struct insn_registers *registers,
		    uint16_t *known)
{
	struct insn insn;

	if (insn_decode(code, available, registers->pc, &insn) ||
	    (!insn.plain_move && !insn.vector))
		return false;
	registers->pc += insn.length;
	*known &= (uint16_t)~insn.written_registers;
	return true;
}

bool insn_discards(const uint8_t *code, size_t available, uint64_t pc,
		   const struct insn_hoist *beyond, const struct insn_registers *registers,
		   bool before, const struct insn_bytes *loaded, const struct insn_bytes *part)
{
	static struct shadow_walk walk; /* large; one thread */
	static uint8_t bits[INSN_DISCARD_MOST];
	struct straight straight = {code, straight_length(code, available, pc), pc};
	struct insn_registers after = *registers;
	struct shadow_load load = {.pc = pc,
				   .bits = bits,
				   .address = part->address,
				   .length = part->length,
				   .accessed = loaded->address,
				   .after = &after,
				   .known = 0xffff,
				   .taken = is_vector(code, available, pc)};
	const struct discarding discarding = {beyond, loaded->length, load.taken};
	enum use use;

	memset(bits, 0xff, sizeof(bits));
	if (loaded->length > sizeof(bits) || part->length > loaded->length ||
	    (before && !move_on(code, available, &after, &load.known)))
		return false;
	walk.read = read_nothing;
	walk.code = read_code;
	walk.function = follow_none;
	walk.context = &straight;
	walk.steps = INSN_DISCARD_BYTES;
	walk.compare = false;
	use = use_of(&walk, &load, &discarding);
	if (use == USED)
		return false;
	/* What the rest is for need not be seen. */
	if (discarding.vector && part->length < loaded->length)
		return true;
	if (use == DOUBTFUL)
		return false;
	if (ends_by_choice(&straight, walk.state.forward.pc))
		return true;
	load.address = loaded->address;
	load.length = loaded->length;
	return use_of(&walk, &load, &discarding) != UNUSED;
}
