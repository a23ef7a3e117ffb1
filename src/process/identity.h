/* SPDX-License-Identifier: Apache-2.0 */
/* Which process is meant by an id that the program told, and whether it is one of the program's. */
#ifndef PROCESS_IDENTITY_H
#define PROCESS_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Does process `pid` map our area, this very file? Else its id means another process here (a pid
 * namespace), or somebody writes into the area what is not so: only processes that we started, or
 * that these started, can have opened it.
 */
bool process_maps(int area_fd, pid_t pid);

/* Its id in its own pid namespace; 0: not known. */
pid_t process_name_inside(pid_t pid);

/* 0: not known. */
pid_t process_parent(pid_t pid);

/* Does it call itself `inside`, as it would without a namespace? */
bool process_is_named(pid_t pid, pid_t inside);

/* Also while its parent has not waited for it, which may be waiting for us. Of another pid
 * namespace, or where there is no descriptor left: false. */
bool process_has_ended(pid_t pid);

#endif
