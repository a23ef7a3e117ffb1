/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hold costs those who wait for the thread that is held.
 *
 * A thread that is held while it owns a lock, or while requests queue up for it, holds everybody
 * who waits; one of many that compute holds itself alone. Nobody sees who waits for whom, but all
 * of them together use less CPU time: what the process used during holds is compared with what it
 * uses at other times. The part that is missing was lost, and is paid for by the whole process
 * (src/agent/credit.h) beside what the thread that is held pays for itself.
 *
 * Accepted loss: threads that spin while they wait use as much as before and are not seen to wait.
 * Nor is a program that uses less than a tenth of one CPU: that nobody ran meanwhile says nothing
 * there.
 *
 * Pure arithmetic, run by the controller's thread some ten times a second; one for each process.
 */
#ifndef COST_STALL_H
#define COST_STALL_H

#include <stdint.h>

#define STALL_ALL 10000 /* parts: the whole program stood still */

/* ns, since the process began; they never fall. */
struct stall_counts {
	uint64_t now;
	uint64_t cpu;  /* CPU time of the process */
	uint64_t held; /* holds whose effect was measured, of all its threads together … */
	uint64_t busy; /* … and the CPU time that it used meanwhile */
};

struct stall {
	struct stall_counts seen; /* at the last look */
	double held, busy;	  /* ns, of late */
	double time, cpu;	  /* ns, of late, without holds */
};

/* Returns what was lost since the last look, ns of time: the whole program standing still. */
uint64_t stall_look(struct stall *stall, const struct stall_counts *counts);
/* Of a hold's time so much is lost to the whole program, parts of STALL_ALL. 0 until that is known.
 */
uint32_t stall_parts(const struct stall *stall);

#endif
