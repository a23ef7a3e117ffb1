/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On its way back from a hit a thread reads its handler's frames. Where those lie in what is
 * watched, that is the next hit, so that the thread goes on only while the watch rests (REST).
 * Accepted: other threads' hits during the rest are not seen. Each rest costs the thread some 16
 * hits and what the controller takes to answer, a few milliseconds where it must first get a CPU; a
 * thread which comes to that place again and again is delayed by a few parts in a hundred.
 */
#include "lasting/framed.h"
#include "lasting/duty.h"

#include "base/clock.h"
#include "process/say.h"

#include <stdatomic.h>

#define REST (100 * MILLISECOND)

static void tell(const struct target *target, const struct slot *slot)
{
	char name[PROCESS_NAME];

	process_name(target->pid, name);
	say("%s (%d) came to 0x%lx with its stack pointer above it, where the handler of each hit "
	    "reads its own frame: each time that is not watched for %u ms",
	    name, (int)target->pid, (unsigned long)slot->watch.address,
	    (unsigned)(REST / MILLISECOND));
}

static void look(struct target *target, struct slot *slot, uint64_t now)
{
	struct duty *duty = &target->duty[slot->index];
	struct area_slot *shared = &target->shared->slot[slot->index];

	if (!duty->framed_until && atomic_load(&shared->framed) == slot->generation) {
		if (!duty->framed)
			tell(target, slot);
		duty->framed = true;
		duty->framed_until = now + REST;
		count_one(target->program, COUNT_WATCHES_FRAMED);
		if (!slot->resting)
			duty_rest(target, slot, now);
	} else if (duty->framed_until && now >= duty->framed_until) {
		duty->framed_until = 0;
		atomic_store(&shared->framed, 0);
		if (slot->resting)
			duty_wake(target, slot, now);
	}
}

void framed_run(struct program *program)
{
	uint64_t now = clock_now();

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		struct target *target = program->target[i];

		for (unsigned j = 0; target && !target->observed && j < target->slots; j++)
			if (target->slot[j].armed)
				look(target, &target->slot[j], now);
	}
}

uint64_t framed_next(const struct program *program)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = program->target[i];

		for (unsigned j = 0; target && j < target->slots; j++)
			if (target->slot[j].armed && target->duty[j].framed_until &&
			    target->duty[j].framed_until < next)
				next = target->duty[j].framed_until;
	}
	return next;
}
