/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process's entry in the area: claimed, announced to the controller, and given back. Called by
 * any thread of the program, outside handlers but where it says so.
 */
#ifndef CONTACT_ANNOUNCE_H
#define CONTACT_ANNOUNCE_H

#include "record/area.h"

/* Claim a process entry, announce this process and wait, bounded, until the controller has armed;
 * or go on at once where there is nothing left to wait with (struct area_waits).
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

/* The same, counted: what the program is about to do leaves no other way. */
void agent_give_up(void);

/* Another process's entry is given back in its name; it notices nothing. */
void agent_give_up_other(struct area_process *process);

/* Make no further system call in handlers: a seccomp filter is about to be set. */
void agent_be_quiet(void);

#endif
