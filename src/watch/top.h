/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --top: places by how often they touch what is watched, refreshed in the terminal. Output of the
 * program that would go to the same terminal is kept meanwhile, and shown when the table is left.
 */
#ifndef WATCH_TOP_H
#define WATCH_TOP_H

#include <stdbool.h>

struct top;
struct watch;

/* 0, or -errno: -ENXIO when there is no terminal. */
int top_open(struct top **top);
/* The descriptor for the program's output that is meant for the terminal. */
int top_output(const struct top *top);
/* Draws when it is time, and takes keys. False: the user wants to quit. */
bool top_tick(struct top *top, struct watch *watch);
/* Puts the terminal back as it was and shows what the program has written since. Each later tick
 * passes on what the program writes from then on. */
void top_leave(struct top *top);
void top_close(struct top *top);

#endif
