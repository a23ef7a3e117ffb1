/* SPDX-License-Identifier: Apache-2.0 */
/* Regions as lasting watches: slots that the watched process opens itself. */
#ifndef LASTING_REGIONS_H
#define LASTING_REGIONS_H

#include "target/target.h"

/* Regions, by slots from AREA_SLOTS on: the program opens them when it is answered next. */
bool lasting_has_regions(void);
/* No library of ours is in a program that was entered. */
bool lasting_opens_regions(struct program *program, pid_t pid);
int lasting_arm_region(struct program *program, pid_t pid, unsigned slot,
		       const struct tl_watch *watch);
/* Why the program could not; 0: it could, or has not tried yet. */
int lasting_region_error(struct program *program, pid_t pid, unsigned slot);
/* How many the program has taken from us by restricting its own calls: `ended` are watched no
 * longer, `frozen` stay watched and can be neither closed nor opened anew. */
struct lasting_regions_lost {
	uint32_t ended, frozen;
};
struct lasting_regions_lost lasting_regions_lost(struct program *program, pid_t pid);

#endif
