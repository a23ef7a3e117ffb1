/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers with which a thread waits in a page fault.
 *
 * While userfaultfd(2) holds it nothing outside tells them. Once the page is there, the kernel
 * accounts the fault before the access is made, and a software event that counts it notes
 * registers, address and stack: as a minor fault where the thread had only locked its mapping when
 * it began to wait (since Linux 6.4), else as a major one (mm_account_fault(), mm/memory.c). Both
 * are opened in that thread while it waits, so nobody else pays for them. They need no debug
 * register and send no signal.
 */
#ifndef SAMPLE_FAULT_H
#define SAMPLE_FAULT_H

#include "sample/ring.h"
#include "sample/samples.h"

#define FAULT_STACK 6144u /* bytes of stack that are noted */

struct fault_events {
	struct ring ring; /* of the first; the second writes to it, too */
	int second;
};

struct fault_seen {
	struct sample sample;
	bool kernel; /* made by the kernel for the thread: its registers are those of the call */
	uint64_t address; /* the first byte of the access that is not there yet */
	size_t stack_length;
	uint8_t stack[FAULT_STACK]; /* from the stack pointer on */
};

/* For a thread that waits. Without the privilege to see the kernel's accesses those of the program
 * alone are seen. 0 or -errno. */
int fault_open(struct fault_events *events, pid_t tid);
/* Once the page of `address` is there: waits until the fault is accounted, `milliseconds` at most.
 * False: it was not, or the thread has ended. */
bool fault_take(struct fault_events *events, uint64_t address, int milliseconds,
		struct fault_seen *seen);
void fault_close(struct fault_events *events);

#endif
