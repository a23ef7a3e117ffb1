/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which findings are shown: the surest first. Possible ones that are about the same
 * object stand together, since one variable of a program makes dozens of them.
 */
#ifndef STORE_GROUP_H
#define STORE_GROUP_H

#include "record/finding.h"

#define GROUP_NAME_SIZE 256

/* The object that a finding is about, without members and elements: "global server". "" if it is
 * not of class `possible`, or nothing is known of its object. */
void finding_group(const struct finding *finding, char name[GROUP_NAME_SIZE]);

/* Do all its places lie in the system's libraries, and none in the program? */
bool finding_is_of_libraries(const struct finding *finding);

/* Sorts the findings; those of the system's libraries come after the program's own. 0 or
 * -ENOMEM. */
int finding_groups_sort(struct finding **findings, size_t count);

#endif
