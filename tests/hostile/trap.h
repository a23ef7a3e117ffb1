/* SPDX-License-Identifier: Apache-2.0 */
/* SIGTRAP of a program's own: handled and counted, blocked or not. */
#ifndef TRAP_H
#define TRAP_H

#include "hostile.h"

static volatile sig_atomic_t handled;

static inline void on_trap(int number)
{
	(void)number;
	handled++;
}

static inline sigset_t trap_alone(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	return set;
}

static inline void set_trap(int how)
{
	sigset_t set = trap_alone();

	expect(pthread_sigmask(how, &set, NULL) == 0);
}

static inline int trap_is_blocked(void)
{
	sigset_t mask;

	expect(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
	return sigismember(&mask, SIGTRAP);
}

#endif
