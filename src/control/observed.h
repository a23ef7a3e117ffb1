/* SPDX-License-Identifier: Apache-2.0 */
/* Observing (control/observe.h), for the files of this folder. */
#ifndef CONTROL_OBSERVED_H
#define CONTROL_OBSERVED_H

#include "control/family.h"
#include "control/observed_count.h"
#include "control/rings.h"
#include "control/state.h"
#include "control/thread_names.h"

#define OBSERVED_NAMES                                                            \
	4096 /* of threads; a power of two. Two that meet: one is asked for again \
	      */

struct observed_thread {
	pid_t tid;
	uint64_t pointer; /* 0: it is not known */
	bool looked_again;
};

struct observed_copy {
	pid_t tid;
	unsigned slot;
	uint64_t address;
};

struct observed_copies {
	bool wanted;
	struct observed_thread *thread; /* those that were there at the last look */
	size_t threads, thread_capacity;
	struct observed_copy *copy;
	size_t count, capacity;
	uint64_t due; /* the next look; CLOCK_MONOTONIC, ns */
};

struct observed {
	struct family family;
	struct thread_set threads; /* of all of these: covered, or not to be tried again */
	struct rings rings;
	struct observed_copies copies;
	struct thread_names names;
	unsigned looks;
	uint64_t lost;
	bool over; /* it has become another program */
};

/* What is asked of the kernel for a slot's watch at this address, disabled and not inherited. */
static inline struct perf_request observed_request(const struct target *target,
						   const struct slot *slot, uint64_t address)
{
	return (struct perf_request){.addr = address,
				     .length = slot->watch.length,
				     .access = slot->watch.access,
				     .kernel = target->program->options.kernel &&
					       !(slot->watch.access & TL_EXEC),
				     .noted = observed_stack(target),
				     .disabled = true};
}

int observed_arm(struct target *target, struct slot *slot, const struct tl_watch *watch);
void observed_disarm(struct target *target, struct slot *slot);
void observed_drain(struct target *target);
/* The last hits, so that the kernel's counts and ours are of the same. */
void observed_settle(struct target *target);
uint64_t observed_lost(const struct target *target);
void observed_close(struct observed *observed);
void observe_step(struct control *control);
void observe_check(struct target *target);
void observe_wait(struct control *control, uint64_t until);
bool observe_is_stopped(void); /* by control_stop() */
bool observe_is_over(const struct control *control);

#endif
