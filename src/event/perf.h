/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One kernel event on one task: attributes, opening, modifying. The task may be of this process or
 * of any other that we may ptrace; a sigtrap signal is delivered in that task.
 * Kernel source: include/uapi/linux/perf_event.h, kernel/events/core.c, hw_breakpoint.c.
 */
#ifndef EVENT_PERF_H
#define EVENT_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_request {
	uintptr_t addr;	   /* data or code address; ignored for a counter */
	unsigned length;   /* 1, 2, 4 or 8, addr a multiple of it; ignored for code */
	unsigned access;   /* TL_READ | TL_WRITE, or TL_EXEC; 0 for a counter */
	unsigned counter;  /* enum tl_counter */
	uint64_t period;   /* of a counter */
	bool signal;	   /* SIGTRAP in the task that trips, synchronously */
	bool inherit;	   /* the task's later children too … */
	bool threads_only; /* … but only those of the same process */
	bool kernel;	   /* accesses by the kernel too */
	bool disabled;
	int cpu;	/* 1 + the only CPU to count on; 0: all */
	unsigned noted; /* each hit is noted in a ring, with the user's registers and so many
			 * bytes of stack; 0: not */
	uint64_t data;	/* siginfo's perf data */
};

/* 0, or -EINVAL for a counter this library does not know. A read watch is a read+write one
 * where the hardware has no trigger for reads alone. */
int perf_fill_attributes(struct perf_event_attr *attributes, const struct perf_request *request);

/* A descriptor (close-on-exec), or -errno. tid 0: the calling thread. Async-signal-safe. */
int perf_open(const struct perf_request *request, pid_t tid);

/* Is the call refused before the kernel has looked at what is asked for? Known only after
 * perf_open() was refused: then the call has returned, and no seccomp filter ends us for it. */
bool perf_is_refused_whatever(void);

/* Make an open breakpoint watch another place, in inherited copies too. */
int perf_modify(int fd, const struct perf_request *request);

int perf_enable(int fd);
int perf_disable(int fd);

/* Times it has fired, children included; 0 where it cannot be read. */
uint64_t perf_count(int fd);

/* How many breakpoint slots could still be opened on a task (0 to 16): opens disabled ones. */
int perf_free_slots(pid_t tid);

#endif
