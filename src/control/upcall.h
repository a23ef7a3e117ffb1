/* SPDX-License-Identifier: Apache-2.0 */
/* What the program tells besides hits (control/notice.h), from its records to the observer. */
#ifndef CONTROL_UPCALL_H
#define CONTROL_UPCALL_H

#include "target/target.h"

void notice_tell(struct control *control, struct target *target, const struct area_hit *record);
/* The record has been taken back: whoever waits for that goes on. */
void notice_answer(struct control *control, uint32_t process);
/* Slots that watch an address of its own in each thread: those of threads that have ended. */
void threads_check(struct target *target);

#endif
