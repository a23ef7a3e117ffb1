/* SPDX-License-Identifier: Apache-2.0 */
/* Regions as lasting watches: slots that the watched process opens itself. */
#ifndef LASTING_REGIONS_H
#define LASTING_REGIONS_H

#include "target/target.h"

/* Does this machine have protection keys? */
bool lasting_has_regions(void);
/* Can this process open regions? Not one that was entered, since no library of ours is in it. */
bool lasting_opens_regions(struct program *program, pid_t pid);
/* Arms a slot from AREA_SLOTS on: the program opens its region when it is answered next. 0 or
 * -errno. */
int lasting_arm_region(struct program *program, pid_t pid, unsigned slot,
		       const struct tl_watch *watch);
/* Why the program could not open the slot's region, -errno; 0: it could, or has not tried yet. */
int lasting_region_error(struct program *program, pid_t pid, unsigned slot);
/* How many regions the program has taken from us by restricting its own calls: `ended` are watched
 * no longer, `frozen` stay watched and can be neither closed nor opened anew. */
struct lasting_regions_lost {
	uint32_t ended, frozen;
};
struct lasting_regions_lost lasting_regions_lost(struct program *program, pid_t pid);

#endif
