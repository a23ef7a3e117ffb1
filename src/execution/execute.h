/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that this one starts are watched too. */
#ifndef EXECUTION_EXECUTE_H
#define EXECUTION_EXECUTE_H

#include <spawn.h>

/* posix_spawn(3). */
int agent_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const environment[]);

#endif
