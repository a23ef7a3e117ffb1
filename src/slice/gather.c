/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is what a loop has loaded always in what is stored, whatever it loads then?
 *
 *	while (isdigit(*text)) number = 10 * number + *text++ - '0';
 *	stored = number;
 *
 * Forwards from the load along every way, with the registers that depend on the value: wherever the
 * store comes, it is made of them. What a byte tells of its own way, by the comparisons right
 *behind its load, is foretold for each of the 256: those with which the value gets lost, as the one
 *behind the last digit, do not count. Where the load is come to again, the way goes on as each of
 *the 256 leads. Of a loop that keeps the last one alone nothing is told: its reader may be seen to
 *read one that is not the last.
 */
#include "slice/gather.h"

#include "slice/code.h"
#include "slice/passes.h"

#include "insn/forward.h"

#include <errno.h>
#include <string.h>

#define STEPS 16
#define CLASSES 8
#define BYTES 256

/* Values of the loaded byte, behind whose load control takes the same way, as far as they decide
 * it. */
struct class
{
	uint16_t index; /* the instruction that comes next, the first that they do not decide */
	uint16_t step[STEPS];
	unsigned steps;
	uint64_t held; /* registers that depend there on what was loaded */
	bool lost;     /* with these values the store need not be made of what was loaded */
	uint64_t bytes[BYTES / 64];
};

struct gather {
	struct flow_slice_work *work;
	uint64_t start;
	uint16_t load;
	const struct slice_arrival *arrival;
	struct class class[CLASSES];
	unsigned classes, count;
	bool reached;
};

static int read_nothing(void *context, uint64_t address, void *to, size_t length)
{
	(void)context, (void)address, (void)to, (void)length;
	return -EFAULT;
}

/* Does the instruction load one byte into a whole register? Then *value is what the register holds
 * after loading `byte`. */
static bool loads_byte(const struct insn_effect *effect, uint8_t byte, uint64_t *value)
{
	const struct insn_result *result = &effect->result[0];

	if (!effect->insn.plain_move || effect->insn.loaded < 0 || effect->insn.loaded > 15 ||
	    effect->insn.operand_count != 1 || effect->insn.operand[0].size != 1 ||
	    effect->count != 1 || result->to.length + 4 * result->clears < 8)
		return false;
	*value = byte;
	if (result->operation != INSN_COPY_SIGN)
		return result->operation == INSN_COPY;
	*value = (uint64_t)(int64_t)(int8_t)byte;
	if (result->to.length < 8)
		*value &= (1ull << 8 * result->to.length) - 1;
	return true;
}

/* Carries out one instruction. False: it is not known which one comes next, or the load or the
 * arrival has been reached. */
static bool foretell(const struct gather *gather, struct insn_forward *forward, uint16_t index)
{
	const struct flow_slice_work *work = gather->work;
	const struct insn *insn = &work->effect[index].insn;
	uint64_t offset = work->pc[index] - gather->start;
	bool leaves = false;

	if (index == gather->load || index == gather->arrival->index ||
	    (insn->flow != INSN_FLOW_NEXT && insn->flow != INSN_FLOW_BRANCH))
		return false;
	forward->other = 0;
	return !insn_forward_step(forward, work->code + offset, work->length - offset, &leaves) &&
	       !forward->other && !leaves &&
	       slice_index(work, gather->start, forward->pc) != SLICE_NOWHERE;
}

/* Finds the way behind the load when it has put `value` into register `number`; -1: the value is
 * not known, so the way is empty. */
static void take_way(const struct gather *gather, int number, uint64_t value, struct class *class)
{
	const struct insn_effect *effect = &gather->work->effect[gather->load];
	struct insn_forward forward = {.pc = gather->work->pc[gather->load] + effect->insn.length,
				       .read = read_nothing};

	*class = (struct class){.index = slice_index(gather->work, gather->start, forward.pc),
				.held = slice_loaded_by(effect)};
	if (number < 0)
		return;
	forward.known = (uint16_t)(1u << number);
	forward.general[number] = value;
	while (class->index != SLICE_NOWHERE && class->steps < STEPS &&
	       foretell(gather, &forward, class->index)) {
		class->held = slice_behind(&gather->work->effect[class->index], class->held);
		class->step[class->steps++] = class->index;
		class->index = slice_index(gather->work, gather->start, forward.pc);
	}
}

static bool is_same_way(const struct class *a, const struct class *b)
{
	return a->index == b->index && a->steps == b->steps &&
	       !memcmp(a->step, b->step, a->steps * sizeof(a->step[0]));
}

/* Adds the byte to the class of its way. False: there are too many ways, or the way leads out of
 * the function. */
static bool add_class(struct gather *gather, const struct class *found, unsigned byte)
{
	unsigned i = 0;

	while (i < gather->classes && !is_same_way(&gather->class[i], found))
		i++;
	if (i == CLASSES || found->index == SLICE_NOWHERE)
		return false;
	if (i == gather->classes)
		gather->class[gather->classes++] = *found;
	gather->class[i].bytes[byte / 64] |= 1ull << byte % 64;
	return true;
}

static bool find_classes(struct gather *gather)
{
	const struct insn_effect *effect = &gather->work->effect[gather->load];
	struct class class;
	uint64_t value;
	bool known = loads_byte(effect, 0, &value);

	if (!known) {
		take_way(gather, -1, 0, &class);
		return add_class(gather, &class, 0);
	}
	for (unsigned byte = 0; byte < BYTES; byte++) {
		loads_byte(effect, (uint8_t)byte, &value);
		take_way(gather, effect->insn.loaded, value, &class);
		if (!add_class(gather, &class, byte))
			return false;
	}
	return true;
}

/* Control comes to instruction `index`, with the value in registers `held`, of which there may be
 * none. False: it has left the function, or there are more ways than there is room for. */
static bool come(struct gather *gather, uint16_t index, uint64_t held)
{
	return slice_come(gather->work, &gather->count, index, held);
}

/* The load runs again. Control goes on along the way of each class, and registers that hold the
 * older value's traces carry them along. */
static bool load_again(struct gather *gather, uint64_t held)
{
	struct flow_slice_work *work = gather->work;
	bool good = true;

	held = slice_behind(&work->effect[gather->load], held);
	for (unsigned i = 0; i < gather->classes && good; i++) {
		const struct class *class = &gather->class[i];
		uint64_t behind = held;

		for (unsigned j = 0; j < class->steps; j++) {
			behind = slice_behind(&work->effect[class->step[j]], behind);
			work->changed |= slice_changed_by(&work->effect[class->step[j]]);
		}
		good = come(gather, class->index, behind);
	}
	return good;
}

static bool go_on(struct gather *gather, uint16_t index, uint64_t held)
{
	struct flow_slice_work *work = gather->work;
	const struct insn *insn = &work->effect[index].insn;
	bool good = true, came = insn->flow != INSN_FLOW_JUMP_INDIRECT;

	held = slice_behind(&work->effect[index], held);
	work->changed |= slice_changed_by(&work->effect[index]);
	if (slice_falls_through(insn))
		good &= come(gather,
			     slice_index(work, gather->start, work->pc[index] + insn->length),
			     held);
	if (insn->flow == INSN_FLOW_BRANCH)
		good &= come(gather, slice_index(work, gather->start, (uint64_t)insn->target),
			     held);
	for (unsigned i = 0; i < work->count && insn->flow == INSN_FLOW_JUMP_INDIRECT; i++)
		if (work->label[i]) {
			came = true;
			good &= come(gather, (uint16_t)i, held);
		}
	return good && came;
}

/* Is the store made of the class's bytes wherever they lead to it? */
static bool is_kept(struct gather *gather, const struct class *class)
{
	struct flow_slice_work *work = gather->work;
	const struct slice_arrival *arrival = gather->arrival;
	bool good, reached = false;

	memset(work->visited, 0, sizeof(work->visited));
	gather->count = 0;
	good = come(gather, class->index, class->held);
	for (unsigned i = 0; i < class->steps; i++)
		work->changed |= slice_changed_by(&work->effect[class->step[i]]);
	for (unsigned i = 0; i < gather->count && good; i++) {
		uint16_t index = work->pass[i].index;
		uint64_t held = work->pass[i].held;

		if (slice_is_there(work, arrival, index)) {
			good = slice_is_made_of(work, arrival, index, held);
			reached = true;
		} else {
			good = index == gather->load ? load_again(gather, held)
						     : go_on(gather, index, held);
		}
	}
	gather->reached |= good && reached;
	return good;
}

/* Finds the classes that get lost. Leaves in work->changed what changes on the ways of the
 * others. */
static void find_lost(struct gather *gather)
{
	struct flow_slice_work *work = gather->work;

	for (unsigned i = 0; i < gather->classes; i++) {
		struct class *class = &gather->class[i];
		uint16_t changed = work->changed;

		class->lost = !is_kept(gather, class);
		if (class->lost)
			work->changed = changed;
	}
}

bool slice_gathers(struct flow_slice_work *work, uint64_t start, struct flow_end *load,
		   const struct slice_arrival *arrival)
{
	struct gather gather = {.work = work,
				.start = start,
				.load = slice_index(work, start, load->pc),
				.arrival = arrival};

	if (gather.load == SLICE_NOWHERE || gather.load == arrival->index || !find_classes(&gather))
		return false;
	work->changed = slice_changed_by(&work->effect[gather.load]);
	if (arrival->index != SLICE_NOWHERE)
		work->changed |= slice_changed_by(&work->effect[arrival->index]);
	find_lost(&gather);
	if (!gather.reached)
		return false;
	for (unsigned i = 0; i < gather.classes; i++) {
		load->bytes_lost |= gather.class[i].lost;
		for (unsigned j = 0; j < BYTES / 64 && gather.class[i].lost; j++)
			load->byte_lost[j] |= gather.class[i].bytes[j];
	}
	return true;
}
