/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions that the program has taken from us by restricting its own system calls. Here they are
 * counted (tl_stats(3)); the preload library has a function of its own under this name, which tells
 * the controller (handler/region.c).
 */
#ifndef REGION_LOST_H
#define REGION_LOST_H

#include <stdbool.h>
#include <stddef.h>

/* `frozen`: they stay watched, and can be neither closed nor opened anew. Async-signal-safe. */
void region_note_lost(size_t count, bool frozen);

#endif
