/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does memory change under a thread that is about to access it?
 *
 * A thread is held before an instruction, and the memory that it is about to access, there and in
 * the next instructions, is read twice from outside. If it has changed, another thread wrote to it,
 * and nothing that the held thread has done since orders that write: so there may be a race, and
 * watching the address in all other threads is worth what it costs. Repeated reads in place of a
 * watchpoint are DataCollider's (Erickson et al., OSDI 2010). Not seen: threads that only read, and
 * those that write the value which was there.
 */
#include "answer/probe.h"

#include "answer/answers.h"
#include "answer/held.h"
#include "choice/code.h"
#include "sample/ahead.h"
#include "usage/in_use.h"

#include <stdatomic.h>

#define LOOK_AHEAD 256 /* instructions */
#define STARTS_LEAST 8
/* ns before the hold's end at which memory is read again: the thread is surely still held then. */
#define LOOK_BEFORE_END (200000u)

struct probing {
	struct target *target;
	struct probe *probe;
	const struct hit *hit;
};

static void add(const struct probing *probing, uint64_t pc, uint64_t address, uint64_t length)
{
	struct probe *probe = probing->probe;

	if (probe->words == PROBE_WORDS || !held_may_share(probing->target, probing->hit, address))
		return;
	probe->word[probe->words++] = (struct probe_word){
		.pc = pc, .address = address, .length = length < 8 ? (unsigned)length : 8};
}

static void add_access(void *context, const struct insn_forward_access *access, unsigned steps)
{
	(void)steps;
	if (!(access->access & TL_ATOMIC))
		add(context, access->pc, access->address, access->length);
}

/* At a call that leaves the program's own code: adds what it is handed to read or write. */
static void add_arguments(const struct probing *probing, const struct insn_registers *registers)
{
	add(probing, registers->pc, registers->general[insn_arch.function_argument[0]], 8);
	add(probing, registers->pc, registers->general[insn_arch.function_argument[1]], 8);
}

/* Reads the words of the probe; returns how many could be read, from the first on. */
static unsigned read_words(struct target *target, const struct probe *probe,
			   uint64_t value[static PROBE_WORDS])
{
	struct space_part part[PROBE_WORDS];

	for (unsigned i = 0; i < probe->words; i++) {
		value[i] = 0;
		part[i] = (struct space_part){probe->word[i].address, &value[i],
					      probe->word[i].length};
	}
	return space_gather(target->space, part, probe->words);
}

/*
 * Look-ahead ended at `end`, where a later probe may begin. It may if `end` is behind a wait for
 * another thread, or behind the release of a lock: a thread that is held with a lock keeps others
 * from the memory which that protects. While fewer than STARTS_LEAST such places are known any
 * other will do: the code may wait nowhere.
 */
static void note_start(struct target *target, pid_t tid, const struct ahead_end *end)
{
	struct sites *starts = code_starts(target, tid);

	if (end->released)
		sites_note(starts, &target->program->random, end->released);
	if (end->pc && (end->waited || starts->used < STARTS_LEAST) &&
	    !space_is_libc(target->space, end->pc))
		sites_note(starts, &target->program->random, end->pc);
}

static bool may_be_shared(struct target *target, const struct probe *probe, pid_t tid)
{
	bool shared = false;

	for (unsigned i = 0; i < probe->words; i++)
		shared |= sharing_note(&target->explored->memory.sharing, probe->word[i].address,
				       tid);
	return shared;
}

void probe_begin(struct target *target, struct slot *slot, const struct hit *hit)
{
	struct probe *probe = &target->explored->answers->probe[slot->index];
	struct probing probing = {target, probe, hit};
	struct insn_registers registers = hit_registers(&hit->stack.registers);
	uint64_t value[PROBE_WORDS];
	struct ahead_end end;

	count_one(target->program, COUNT_PROBES);
	*probe = (struct probe){.hit = hit};
	choice_of(target, slot)->probed_until = hit->entry + slot->watch.hold - LOOK_BEFORE_END;
	ahead_walk(target->space, &registers, LOOK_AHEAD, add_access, &probing, &end);
	note_start(target, hit->access.tid, &end);
	if (!probe->words)
		add_arguments(&probing, &registers);
	if (!may_be_shared(target, probe, hit->access.tid)) {
		choice_of(target, slot)->probed_until = 0;
		slot_disarm(target, slot);
		code_tell(target, slot, false);
		count_one(target->program, COUNT_PROBES_PRIVATE);
		return;
	}
	probe->words = read_words(target, probe, value);
	for (unsigned i = 0; i < probe->words; i++)
		probe->word[i].value = value[i];
}

void probe_end(struct target *target, struct slot *slot)
{
	struct probe *probe = &target->explored->answers->probe[slot->index];
	uint64_t value[PROBE_WORDS];
	bool changed = false;
	unsigned known = read_words(target, probe, value);

	choice_of(target, slot)->probed_until = 0;
	if (!hits_is_held(explorer_of(target)->hits, probe->hit)) {
		count_one(target->program, COUNT_PROBES_LATE);
		return;
	}
	slot_release(target, slot);
	for (unsigned i = 0; i < known; i++) {
		if (value[i] == probe->word[i].value)
			continue;
		code_changed(target, probe->word[i].pc, probe->hit->access.tid);
		changed = true;
	}
	code_tell(target, slot, changed);
	if (changed)
		count_one(target->program, COUNT_PROBES_CHANGED);
}
