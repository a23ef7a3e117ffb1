/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process and its controller, as seen by the process: its entry in the area is claimed,
 * announced to the controller, waited for and given back.
 *
 * The room also holds notices (notice.h) and births of threads (birth.h), which wait for the
 * controller's answer; the rules of every wait (patience.h); and how the area is asked for where it
 * cannot be opened (ask.h). It promises that no wait outlasts its bound, whether the controller is
 * slow, stopped or dead, and that a process which is not answered runs on unwatched. Called by any
 * thread of the program, outside handlers unless a function says otherwise.
 */
#ifndef CONTACT_ANNOUNCE_H
#define CONTACT_ANNOUNCE_H

#include "record/area.h"

/* Claims an entry, announces this process and waits, bounded, until the controller has opened its
 * events; or goes on at once where processes have waited as long as they may (struct area_waits).
 * Async-signal-safe: also called in forked children. */
void agent_announce(void);

/* For a process that went on at once (agent_is_late()) and now has something to tell: announces it
 * after all, and waits as agent_announce() does. */
void agent_hurry(struct area_process *process);
/* Gives the entry back before this process ends or executes another program. False: the process is
 * watched already, or the entry is no longer its own. Async-signal-safe. */
bool agent_take_back(void);
/* The same for a process that ends, counted in area_waits.ended. */
bool agent_end_late(void);

/* End the watching of this process and wait, bounded, until its events are gone. */
void agent_withdraw(void);

/* The same, counted: what the program is about to do cannot be combined with being watched. */
void agent_give_up(void);

/* Ends the watching of another process, in its name. That process notices nothing. */
void agent_give_up_other(struct area_process *process);

/* From now on handlers make no system call: a seccomp filter is about to be set. */
void agent_be_quiet(void);

#endif
