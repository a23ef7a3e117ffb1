/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of where the program's threads spend CPU time: one task-clock event for each CPU on the
 * first process, inherited by all that descends from it, written by the kernel to a ring that only
 * we map. No signal, no thread, no descriptor in the program.
 */
#ifndef SAMPLE_SAMPLES_H
#define SAMPLE_SAMPLES_H

#include "insn/insn.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sample {
	pid_t pid, tid;
	uint64_t time; /* CLOCK_MONOTONIC, ns */
	struct insn_registers registers;
};

struct samples;

/* 0, or -errno when not one CPU could be opened. `period` in ns of CPU time. */
int samples_open(struct samples **samples, pid_t pid, uint64_t period, bool kernel);
/* Samples another thread of the program, which no event covers yet, into the same rings; it begins
 * silent or not, as the others are now. 0 or -errno. */
int samples_add(struct samples *samples, pid_t tid);
/* Enables or disables all events, which are opened disabled. 0, or -errno of the last that could
 * not be switched. */
int samples_switch(struct samples *samples, bool on);
/* Calls `take` for each sample since the last call; returns how many. */
typedef void sample_fn(void *context, const struct sample *sample);
unsigned samples_drain(struct samples *samples, sample_fn *take, void *context);
/* How many CPUs there are beyond CPUS_MAX: what runs there is not sampled. */
unsigned samples_cpus_left_out(const struct samples *samples);
/* Samples that found no room in their ring since the last call. */
uint64_t samples_take_lost(struct samples *samples);
/* In a forked process. 0 or -errno. */
int samples_map_again(struct samples *samples);
void samples_close(struct samples *samples);

#endif
