/* SPDX-License-Identifier: Apache-2.0 */
/* The limits that this process was started with are the program's. Where it has the right it takes
 * more for itself, and hands the program what it found. */
#ifndef PROGRAM_OWN_LIMITS_H
#define PROGRAM_OWN_LIMITS_H

#include "record/area.h"

#include <stdbool.h>

/* Descriptors of a controller that watches one thread by one watchpoint; with 16 it could not. */
#define OWN_DESCRIPTORS_LEAST 24

/* Called before anything is opened. False: fewer descriptors than that may be had. */
bool own_limits_allow_descriptors(void);

/* area_create(). A memory file counts as a file: meanwhile the size of files is not limited, if
 * that may be. */
int own_limits_create_area(struct area **area, int *fd);

/* Called in the process that is about to become the program. */
void own_limits_inherit(void);

#endif
