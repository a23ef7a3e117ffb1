/* SPDX-License-Identifier: Apache-2.0 */
/* Slots that tell when an expression may have come to mean something else. */
#ifndef WATCH_SCOUTS_H
#define WATCH_SCOUTS_H

struct watch;
struct watched;

/* Places scouts after each look at the expressions. Scouts give way when others need their
 * slots. */
void scouts_place(struct watch *watch, struct watched *process);
void scouts_give_way(struct watch *watch, struct watched *process, unsigned needed);

#endif
