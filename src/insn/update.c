/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/update.h"

#include "insn/effect.h"

#include <trapline/event.h>

static uint32_t registers_of(const struct insn_operand *operand)
{
	uint32_t set = 0;

	if (operand->base >= 0)
		set |= 1u << operand->base;
	if (operand->index >= 0)
		set |= 1u << operand->index;
	return set;
}

/* The operand that the object is accessed by, if it is. */
static const struct insn_operand *operand_at(const struct insn *insn, unsigned access,
					     const struct insn_registers *registers,
					     const struct insn_bytes *object)
{
	for (unsigned i = 0; i < insn->operand_count; i++) {
		uint64_t first, length;

		if (insn->operand[i].access == access &&
		    insn_operand_before(insn, i, registers, &first, &length) == 0 &&
		    first == object->address && length == object->length)
			return &insn->operand[i];
	}
	return NULL;
}

/* Where what was loaded has gone. */
struct flow {
	uint32_t general, vectors;
	bool flags;
	bool stack; /* somewhere there */
};

#define STACK_REGISTERS (1u << insn_arch.stack_pointer | 1u << insn_arch.frame_pointer)

static struct flow loaded_by(const struct insn *load)
{
	if (load->loaded >= 0)
		return (struct flow){.general = 1u << load->loaded};
	return (struct flow){.vectors = load->written_vectors};
}

/* What is found through a pointer that was loaded comes of it, too. */
static bool comes_of(const struct flow *flow, const struct insn_effect *effect,
		     const struct insn_place *place)
{
	uint32_t address;

	switch (place->kind) {
	case INSN_PLACE_GENERAL:
		return flow->general >> place->number & 1;
	case INSN_PLACE_VECTOR:
		return flow->vectors >> place->number & 1;
	case INSN_PLACE_FLAGS:
		return flow->flags;
	case INSN_PLACE_MEMORY:
		address = registers_of(&effect->insn.operand[place->number]);
		return (flow->general & address) || (flow->stack && (address & STACK_REGISTERS));
	default:
		return false;
	}
}

static bool result_comes_of(const struct flow *flow, const struct insn_effect *effect,
			    const struct insn_result *result)
{
	if (result->operation == INSN_CONSTANT)
		return false;
	for (unsigned i = 0; i < result->source_count; i++)
		if (comes_of(flow, effect, &result->source[i]))
			return true;
	return false;
}

static void set_bit(uint32_t *set, unsigned number, bool to)
{
	*set = (*set & ~(1u << number)) | (uint32_t)to << number;
}

static void flow_on(struct flow *flow, const struct insn_effect *effect)
{
	const struct flow before = *flow;

	for (unsigned i = 0; i < effect->count; i++) {
		const struct insn_result *result = &effect->result[i];
		const struct insn_place *to = &result->to;
		bool comes = result_comes_of(&before, effect, result);
		/* What is left of the register as it was. */
		bool kept = result->conditional || (to->length < 4 && !result->clears);

		if (to->kind == INSN_PLACE_GENERAL)
			set_bit(&flow->general, to->number,
				comes || (kept && before.general >> to->number & 1));
		else if (to->kind == INSN_PLACE_VECTOR)
			set_bit(&flow->vectors, to->number,
				comes || (kept && before.vectors >> to->number & 1));
		else if (to->kind == INSN_PLACE_FLAGS)
			flow->flags = comes;
		else if (to->kind == INSN_PLACE_MEMORY)
			flow->stack |= comes && (registers_of(&effect->insn.operand[to->number]) &
						 STACK_REGISTERS);
	}
}

static bool stores_what_comes_of(const struct flow *flow, const struct insn_effect *effect,
				 const struct insn_operand *stored)
{
	for (unsigned i = 0; i < effect->count; i++) {
		const struct insn_result *result = &effect->result[i];

		if (result->to.kind == INSN_PLACE_MEMORY &&
		    &effect->insn.operand[result->to.number] == stored)
			return result_comes_of(flow, effect, result);
	}
	return false;
}

bool insn_update_follows(const uint8_t *code, size_t available, const struct insn *load,
			 const struct insn_registers *registers, const struct insn_bytes *object)
{
	struct insn_registers at = *registers;
	struct flow flow = loaded_by(load);
	uint32_t changed = 0;
	size_t done = 0;

	while (done < INSN_UPDATE_BYTES) {
		const struct insn_operand *stored;
		struct insn_effect effect;

		at.pc = registers->pc + done;
		if (insn_effect_decode(code + done, available - done, at.pc, &effect) ||
		    effect.insn.flow != INSN_FLOW_NEXT)
			return false;
		stored = operand_at(&effect.insn, TL_WRITE, &at, object);
		if (stored && !(registers_of(stored) & changed))
			return stores_what_comes_of(&flow, &effect, stored);
		flow_on(&flow, &effect);
		changed |= effect.insn.written_registers;
		done += effect.insn.length;
	}
	return false;
}

/* The prefixes of one instruction, its opcode behind them. */
static const uint8_t *opcode_of(const uint8_t *code, const struct insn *insn, bool *lock,
				uint8_t *rex)
{
	const uint8_t *end = code + insn->length;

	*lock = false;
	*rex = 0;
	for (; code < end; code++) {
		if (*code == 0xf0)
			*lock = true;
		else if ((*code & 0xf0) == 0x40)
			*rex = *code;
		else if (*code != 0x66 && *code != 0x67 && *code != 0x64 && *code != 0x65 &&
			 *code != 0xf2 && *code != 0xf3)
			break;
	}
	return code;
}

static bool is_lock_cmpxchg(const uint8_t *code, const struct insn *insn)
{
	bool lock;
	uint8_t rex;
	const uint8_t *opcode = opcode_of(code, insn, &lock, &rex);

	return lock && opcode + 1 < code + insn->length && opcode[0] == 0x0f &&
	       (opcode[1] & 0xfe) == 0xb0;
}

/* Which register `mov %from,%to` copies to which; false: it is another instruction. */
static bool is_copy(const uint8_t *code, const struct insn *insn, unsigned *from, unsigned *to)
{
	bool lock;
	uint8_t rex;
	const uint8_t *opcode = opcode_of(code, insn, &lock, &rex);
	unsigned reg, rm;

	if (opcode + 1 >= code + insn->length || (opcode[0] != 0x89 && opcode[0] != 0x8b) ||
	    opcode[1] >> 6 != 3)
		return false;
	reg = (opcode[1] >> 3 & 7) | (rex & 4) << 1;
	rm = (opcode[1] & 7) | (rex & 1) << 3;
	*from = opcode[0] == 0x89 ? reg : rm;
	*to = opcode[0] == 0x89 ? rm : reg;
	return true;
}

/* Which registers hold the value, after one more instruction. */
static uint32_t carry(uint32_t holding, const uint8_t *code, const struct insn *insn)
{
	unsigned from, to;
	bool copied = is_copy(code, insn, &from, &to) && holding >> from & 1;

	holding &= ~(uint32_t)insn->written_registers;
	return copied ? holding | 1u << to : holding;
}

bool insn_retry_follows(const uint8_t *code, size_t available,
			const struct insn_registers *registers, int loaded,
			const struct insn_bytes *object)
{
	struct insn_registers at = *registers;
	uint32_t changed = 0, holding = loaded >= 0 ? 1u << loaded : 0;
	size_t done = 0;

	while (done < INSN_UPDATE_BYTES && holding) {
		const struct insn_operand *operand;
		struct insn insn;

		at.pc = registers->pc + done;
		if (insn_decode(code + done, available - done, at.pc, &insn) ||
		    insn.flow != INSN_FLOW_NEXT)
			return false;
		operand = operand_at(&insn, TL_READ | TL_WRITE, &at, object);
		if (operand && !(registers_of(operand) & changed) && insn.atomic)
			return (holding & 1) && is_lock_cmpxchg(code + done, &insn);
		holding = carry(holding, code + done, &insn);
		changed |= insn.written_registers;
		done += insn.length;
	}
	return false;
}

/* Direct jumps from anywhere in the function to behind `load`, up to `store`, or any indirect one:
 * the thread may have come by one of them. */
static bool is_jumped_into(const uint8_t *code, size_t available, uint64_t start, uint64_t load,
			   uint64_t store)
{
	for (size_t done = 0; done < available;) {
		struct insn insn;

		if (insn_decode(code + done, available - done, start + done, &insn) ||
		    insn.flow == INSN_FLOW_JUMP_INDIRECT)
			return true;
		if (insn.flow == INSN_FLOW_BRANCH && (uint64_t)insn.target > load &&
		    (uint64_t)insn.target <= store)
			return true;
		done += insn.length;
	}
	return false;
}

/* The last load of the object from which straight code leads to registers->pc; 0: none. What its
 * address is made of must not have changed since. */
static uint64_t find_load(const uint8_t *code, size_t available, uint64_t start,
			  const struct insn_registers *registers, const struct insn_bytes *object,
			  struct flow *flow)
{
	struct insn_registers at = *registers;
	uint32_t made_of = 0;
	uint64_t load = 0;
	size_t done = 0;

	while (done < available && start + done < registers->pc) {
		const struct insn_operand *loaded;
		struct insn_effect effect;
		const struct insn *insn = &effect.insn;

		at.pc = start + done;
		if (insn_effect_decode(code + done, available - done, at.pc, &effect))
			return 0;
		loaded = insn->loaded >= 0 ? operand_at(insn, TL_READ, &at, object) : NULL;
		flow_on(flow, &effect);
		if (loaded) {
			load = at.pc;
			made_of = registers_of(loaded);
			*flow = loaded_by(insn);
		}
		if (insn->flow != INSN_FLOW_NEXT || insn->written_registers & made_of ||
		    operand_at(insn, TL_WRITE, &at, object))
			load = 0;
		done += insn->length;
	}
	return start + done == registers->pc ? load : 0;
}

/* Is it what comes of the load that is stored at registers->pc? */
static bool stores_it(const uint8_t *code, size_t available, uint64_t start,
		      const struct insn_registers *registers, const struct insn_bytes *object,
		      const struct flow *flow)
{
	const size_t done = (size_t)(registers->pc - start);
	const struct insn_operand *stored;
	struct insn_effect effect;

	if (insn_effect_decode(code + done, available - done, registers->pc, &effect))
		return false;
	stored = operand_at(&effect.insn, TL_WRITE, registers, object);
	return stored && stores_what_comes_of(flow, &effect, stored);
}

bool insn_update_begun(const uint8_t *code, size_t available, uint64_t start,
		       const struct insn_registers *registers, const struct insn_bytes *object)
{
	struct flow flow = {0};
	uint64_t load = find_load(code, available, start, registers, object, &flow);

	return load && registers->pc - load <= INSN_UPDATE_BYTES &&
	       stores_it(code, available, start, registers, object, &flow) &&
	       !is_jumped_into(code, available, start, load, registers->pc);
}

/* At the beginning of a function: the frame pointer, and at most one register more that a statement
 * needs. Who optimises keeps variables in registers, and so pushes others. */
#define UNOPTIMISED_PUSHES 2

/* `written`: the registers that the function has changed before. */
static bool keeps_argument(const struct insn *insn, uint32_t written)
{
	const struct insn_operand *to = &insn->operand[0];
	const int frame = insn_arch.frame_pointer;

	return insn->plain_move && to->access == TL_WRITE && to->base == frame && to->index < 0 &&
	       to->displacement < 0 && (written >> frame & 1) && insn->stored >= 0 &&
	       !(written >> insn->stored & 1);
}

bool insn_is_unoptimised(const uint8_t *code, size_t available, uint64_t start)
{
	unsigned pushes = 0;
	uint32_t written = 0;

	for (size_t done = 0; done < available;) {
		struct insn insn;

		if (insn_decode(code + done, available - done, start + done, &insn) ||
		    insn.flow != INSN_FLOW_NEXT)
			return false;
		if (insn.operand_count && insn.operand[0].stack_push)
			pushes++;
		else if (insn.operand_count && insn.operand[0].access)
			return pushes <= UNOPTIMISED_PUSHES && keeps_argument(&insn, written);
		written |= insn.written_registers;
		done += insn.length;
	}
	return false;
}
