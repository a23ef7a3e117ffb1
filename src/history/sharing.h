/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sharing table: which thread comes to which line of memory. What one thread alone was seen at
 * time and again is its own, and to hold it there would show nothing. Lines that fall together in
 * the table take each other's place.
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
		pid_t tid;	 /* who was there first … */
		uint16_t visits; /* … and so often */
		bool shared;	 /* another thread was, too */
	} line[SHARING_LINES];
};

/* A thread comes to memory there. False: it is its own. */
bool sharing_note(struct sharing *sharing, uint64_t address, pid_t tid);

#endif
