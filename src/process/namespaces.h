/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ids here of processes that call themselves something else, in pid namespaces of their own.
 * Every process of the machine is looked at for that, so one list serves all that ask in one round
 * of the controller: what a program can make it read does not grow with how often it asks. A list
 * tells of the processes that were there when it was first asked.
 */
#ifndef PROCESS_NAMESPACES_H
#define PROCESS_NAMESPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process_names {
	struct process_name {
		pid_t pid, inside;
	} * name;
	size_t count, room;
	bool listed;
};

/* The next process that calls itself `inside`, from the `*at`th on, which goes on behind it; 0:
 * none. An empty list is filled first; without memory or /proc it stays short. */
pid_t process_names_next(struct process_names *names, pid_t inside, size_t *at);

/* The list is empty again. */
void process_names_clear(struct process_names *names);

#endif
