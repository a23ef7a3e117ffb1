/* SPDX-License-Identifier: Apache-2.0 */
/* This process ends as another did, so that whoever waits for it sees no difference. */
#ifndef PROGRAM_ENDING_H
#define PROGRAM_ENDING_H

/* Ends this process by the signal that ended the one whose wait status this is. It returns where no
 * signal did, and where that signal does not end this one: the first process of a pid namespace. No
 * core file is left, since it would be this program's. Async-signal-safe. */
void ending_by_signal_of(int status);

/* The exit status that a shell gives for a process that a signal ended: 128 and the signal's
 * number. */
int ending_code(int status);

#endif
