/* SPDX-License-Identifier: Apache-2.0 */
/* Do the limits of this process's memory leave room for the library in what it executes? */
#ifndef EXECUTION_ROOM_H
#define EXECUTION_ROOM_H

#include <stdbool.h>

bool room_is_enough(void);

#endif
