/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling windows: when samples are taken.
 *
 * A task-clock event sets a timer each time a thread of the program gets a CPU and cancels it when
 * the thread leaves, whatever its period: in a server that sleeps and wakes tens of thousands of
 * times a second that costs a fifth of its CPU time in a virtual machine. So the events are on for
 * short windows, with a short period, and off between: as many samples as watches can be made of.
 *
 * To switch them interrupts a CPU per thread. The more threads, the longer the rest. Run by the
 * controller's thread.
 */
#ifndef SAMPLE_WINDOWS_H
#define SAMPLE_WINDOWS_H

#include "target/target.h"
#include "sample/samples.h"

struct windows {
	struct program *program;
	const struct budget *budget;
	sample_fn *take; /* each sample is handed to it, with `context` */
	void *context;
	struct samples *samples; /* NULL: none is open */
	uint64_t opened;	 /* when their events were opened; CLOCK_BOOTTIME ns */
	bool on;
	uint64_t until;	      /* when the window, or the rest, is over; CLOCK_MONOTONIC ns */
	uint64_t first_until; /* till then windows are short and frequent; 0: none has begun */
	unsigned firsts;      /* processes that began with such windows */
	uint64_t since, time; /* ns that they were on, not yet charged */
	uint64_t switching;   /* ns that a switch on or off takes, lately: more with more threads */
	bool transient;	      /* the events are open only while they are on */
};

/* ns of CPU time between samples. */
uint64_t windows_period(const struct control_options *options);
/* On a process that is about to begin, and all that descends from it. 0 or -errno. */
int windows_launch(struct windows *windows, pid_t pid);
/* On a process that runs already, unless it inherited its events from one where they are open. */
void windows_attach(struct windows *windows, pid_t pid);
/* A process is about to be let go. Windows begin anew, so that the first shows the program, not the
 * loading of its libraries. */
void windows_welcome(struct windows *windows);
/* Opens or closes a window that is due. */
void windows_run(struct windows *windows);
/* When the next one is; UINT64_MAX: never. */
uint64_t windows_next(const struct windows *windows);
/* ns that samples were on since the last call. */
uint64_t windows_take_time(struct windows *windows);
/* Is the run in its first seconds, when all that samples show is new? */
bool windows_are_new(const struct program *program, uint64_t now);
/* Hands to `take` the samples that the kernel has written since the last call. */
void windows_drain(struct windows *windows);
void windows_close(struct windows *windows);

#endif
