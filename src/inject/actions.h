/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a program's handlers run on alternate stacks (sigaltstack(2)). Nothing tells that from
 * outside, so a stopped thread is made to ask. */
#ifndef INJECT_ACTIONS_H
#define INJECT_ACTIONS_H

#include "inject/inject.h"
#include "inject/remote.h"
#include "record/injected.h"

#include <stdint.h>

#define ACTIONS_BIT(signal) (1ull << ((signal)-1))

/* The signals that a thread gets for what it does itself, as bits. */
extern const uint64_t actions_of_faults;
/* Signals, as bits, whose handlers run no code of the program's: ours, and 32 and 33, which C
 * libraries keep for themselves (glibc's SIGSETXID has SA_ONSTACK in every program with
 * threads). */
extern const uint64_t actions_not_the_programs;

/* Asks for the action of `signal`. `at`: memory of the process for the answer. 0 or -errno. */
int actions_ask(struct remote *remote, uint64_t at, int signal, struct injected_action *action);

/* The signals, as bits, by whose actions it is decided where a handler of ours may run. `caught`:
 * those that have handlers. */
uint64_t actions_telling(uint64_t caught);

/*
 * Where a handler of ours may run. A runtime that keeps the stacks of its language small and in
 * the register that is the kernel's stack pointer too lets no handler run there, since what lies
 * below is other data: each of its handlers has SA_ONSTACK. Where one has not, stacks are as the
 * kernel wants them. action[signal - 1]: of those that tell.
 */
enum actions_stack actions_stack(uint64_t caught, const struct injected_action action[]);

#endif
