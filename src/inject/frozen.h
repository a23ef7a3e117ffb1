/* SPDX-License-Identifier: Apache-2.0 */
/* Processes whose control group is frozen (cgroups(7)): they come to a stop, and make no call. */
#ifndef INJECT_FROZEN_H
#define INJECT_FROZEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The command that lets it go on is put into `thaw`: for the outermost group that is frozen. False
 * too where that cannot be known: other places of the group's files, or another namespace of
 * groups. */
bool frozen_is(pid_t pid, char *thaw, size_t size);

#endif
