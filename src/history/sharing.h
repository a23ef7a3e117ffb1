/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sharing table: which thread accesses which line of memory. A line that one thread alone was
 * seen at, again and again, is that thread's own, and to hold it there would show nothing. Lines
 * that share an entry of the table replace each other.
 *
 * Pure arithmetic; one table for each process.
 */
#ifndef HISTORY_SHARING_H
#define HISTORY_SHARING_H

#include "history/weights.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sharing {
	struct sharing_line {
		uint64_t number; /* of the line: address / SHARING_LINE */
		pid_t tid;	 /* the thread that was there first … */
		uint16_t visits; /* … and how often */
		bool shared;	 /* another thread was there, too */
	} line[SHARING_LINES];
};

/* Notes that a thread accesses this line. False: the line is that thread's own. */
bool sharing_note(struct sharing *sharing, uint64_t address, pid_t tid);

#endif
