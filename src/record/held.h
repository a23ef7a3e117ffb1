/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is held at a hit now, as the controller sees it in the area. A thread changes its record's
 * state before it goes on. So where the answer is yes, whatever the caller has read of the
 * program's memory was read while that thread stood there.
 */
#ifndef RECORD_HELD_H
#define RECORD_HELD_H

#include "record/area.h"

/* Is it a record that the caller looks for? Asked of what the program may be changing. */
typedef bool area_hit_is(const struct area_hit *record, const void *wanted);

/* Of one record that the caller keeps track of. */
bool area_hit_is_held(const struct area_hit *record);

/* Of any record that the process of this index has claimed. */
bool area_holds(const struct area *area, uint32_t process, area_hit_is *is, const void *wanted);

#endif
