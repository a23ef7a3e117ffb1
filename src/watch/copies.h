/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread's own copy of a thread-local variable. */
#ifndef WATCH_COPIES_H
#define WATCH_COPIES_H

#include "notice/notice.h"
#include "watch/piece.h"

struct trace;

void copies_open(struct watch *watch, struct watched *process);
int copies_begin(struct watch *watch, struct watched *process, unsigned index);
void copies_notice(struct watch *watch, struct watched *process, const struct notice *notice);
void copies_look_again(struct watch *watch, struct watched *process);
/* The piece that a hit in an each_thread slot belongs to; NULL: it cannot be told which. */
struct piece *copies_piece(struct watched *process, const struct trace *trace);
void copies_resume(struct watch *watch, struct watched *process, unsigned slot);
void copies_close(struct watched *process);

#endif
