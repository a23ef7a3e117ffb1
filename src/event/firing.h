/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Some hypervisors take what is written to the debug registers and never deliver a trap: the kernel
 * opens the event, and it stays silent for ever. One that counts, on memory of our own, tells.
 */
#ifndef EVENT_FIRING_H
#define EVENT_FIRING_H

#include <stdbool.h>

/* What to say of it. */
#define FIRING_ABSENT                                                                                \
	"no watchpoint or breakpoint ever fires on this machine, though the kernel takes them: its " \
	"hypervisor hides the debug registers (`trapline doctor`)"

/* access: TL_WRITE or TL_EXEC. True only where an event was opened in the calling thread, tripped
 * and did not count; where none could be opened, which has reasons of its own, nothing is known.
 * For a moment it takes a slot of the calling thread. Thread-safe; not for signal handlers. */
bool firing_is_absent(unsigned access);

#endif
