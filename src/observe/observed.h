/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a process that is observed (observe/observe.h), for the files of this room. */
#ifndef OBSERVE_OBSERVED_H
#define OBSERVE_OBSERVED_H

#include "observe/family.h"
#include "observe/observe.h"
#include "observe/count.h"
#include "observe/rings.h"
#include "target/target.h"
#include "observe/thread_names.h"

#define OBSERVED_NAMES                                                            \
	4096 /* of threads; a power of two. Two that meet: one is asked for again \
	      */

struct observed_thread {
	pid_t tid;
	uint64_t pointer; /* 0: it is not known */
	uint64_t since; /* ns since when it may have run unwatched; 0: it ran before the watching */
};

/* A thread that the kernel has told of and that no list has shown yet. */
struct observed_birth {
	pid_t tid;
	uint64_t time; /* CLOCK_MONOTONIC ns */
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
	struct observed_birth *birth;
	size_t births, birth_capacity;
	uint64_t looked; /* when the last look began, 0: none has been; CLOCK_MONOTONIC, ns … */
	uint64_t due;	 /* … and when the next is to be */
};

/* The kernel's numbers of open events, by size. */
struct observed_ids {
	struct observed_id {
		uint64_t id;
		unsigned slot;
	} * known;
	size_t count;
	uint64_t opened; /* of the rings, when they were asked for */
};

struct observed {
	const struct observe_events *events;
	struct family family;
	struct thread_set threads; /* of all of these: covered, or not to be tried again */
	struct rings rings;
	struct observed_copies copies;
	struct observed_ids ids;
	struct thread_names names;
	unsigned looks;
	uint64_t lost;
	bool over;	/* it has become another program */
	uint64_t until; /* ns when the watching ends; 0: never by itself */
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

#endif
