/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller: one struct of each room below it, and what the loop itself remembers. Made by
 * control_create(), which also says what each room is handed as callbacks (control/events.h). One
 * thread runs all of it, the one that called control_run(); only what is _Atomic may be touched by
 * another, or by a signal handler.
 */
#ifndef CONTROL_STATE_H
#define CONTROL_STATE_H

#include "account/account.h"
#include "arrival/linger.h"
#include "choice/requests.h"
#include "control/control.h"
#include "cost/budget.h"
#include "explore/explorer.h"
#include "explore/strategy.h"
#include "history/looked.h"
#include "hit/collect.h"
#include "lasting/lasting.h"
#include "limit/events.h"
#include "notice/notice.h"
#include "placed/placed.h"
#include "sample/windows.h"
#include "team/team.h"
#include "usage/foresee.h"

struct control {
	struct program program;
	struct control_observer observer;
	struct windows windows;
	bool child_ended;
	bool child_ends_ignored; /* SIGCHLD was, when we were started: the program inherits that */
	bool lingering;		 /* the program's first process has ended, and others go on */
	/* Ns: how long these are watched at most; 0: until the last has ended. */
	uint64_t linger_until;
	struct linger linger;
	int child_status;
	struct hits hits;
	struct placed placed;
	struct lasting lasting;
	struct notices notices;
	uint64_t next_drain, next_check;
	_Atomic bool roused; /* the observer's tick() is to be called soon: control_rouse() */
	bool observing;	     /* the watched process ran before and is observed from outside */
	struct limits limits;
	struct explorer explorer;
	struct requests requests;
	struct foreseer foreseer;
	struct team_loan team_loan;
	struct looked looked;
	const struct strategy *strategy;
	struct budget budget;
	struct account account;
};

#endif
