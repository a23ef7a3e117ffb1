/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which findings are shown: the surest first. Those that are possible stand together
 * by the object that they are about, since one variable of a program makes dozens of them.
 */
#ifndef STORE_GROUP_H
#define STORE_GROUP_H

#include "record/finding.h"

#define GROUP_NAME_SIZE 256

/* The object that a finding is about, without members and elements: "global server". "" if it is
 * not of class `possible`, or nothing is known of its object. */
void finding_group(const struct finding *finding, char name[GROUP_NAME_SIZE]);

/* Are all its places in libraries of the system, and none in the program? */
bool finding_is_of_libraries(const struct finding *finding);

/* Those in libraries of the system come after the program's own. 0 or -ENOMEM. */
int finding_groups_sort(struct finding **findings, size_t count);

#endif
