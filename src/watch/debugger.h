/* SPDX-License-Identifier: Apache-2.0 */
/* gdb, started on the process whose hit was to start it. */
#ifndef WATCH_DEBUGGER_H
#define WATCH_DEBUGGER_H

#include <stdbool.h>

struct trace;
struct watch;
struct watched;

void debugger_start(struct watch *watch, struct watched *process, const struct trace *trace);
/* Notes whether gdb has ended; with `wait` it waits until it has. */
void debugger_check(struct watch *watch, bool wait);

#endif
