/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller: one struct of each room below it, and what the loop itself remembers. Made by
 * control_create(), which also says what each room is handed as callbacks (control/events.h). One
 * thread runs all of it, the one that called control_run(); only what is _Atomic may be touched by
 * another, or by a signal handler.
 */
#ifndef CONTROL_STATE_H
#define CONTROL_STATE_H

#include "control/control.h"
#include "cost/budget.h"
#include "cost/pace.h"
#include "explore/explorer.h"
#include "explore/looked.h"
#include "explore/strategy.h"
#include "hit/collect.h"
#include "limit/events.h"
#include "sample/windows.h"

struct control {
	struct program program;
	struct control_observer observer;
	struct pace pace;
	struct windows windows;
	bool child_ended;
	bool lingering;	      /* it has, and others of the program go on */
	uint64_t alone_since; /* nobody is watched since then */
	int child_status;
	struct hits hits;
	struct slot *telling; /* whose hit a tool is being told, its thread held; NULL: none */
	uint64_t next_drain, next_check;
	_Atomic bool roused; /* the observer is to be called soon: control_rouse() */
	bool observing;	     /* a process that ran before, from outside */
	bool duty;	     /* lasting watches keep to the budget */
	uint64_t trap_cost;  /* ns of a hit outside the handler */
	struct limits limits;
	struct explorer explorer;
	struct looked looked;
	const struct strategy *strategy;
	struct budget budget;
};

#endif
