/* SPDX-License-Identifier: Apache-2.0 */
/* Can the library be loaded into a program that is about to be executed? */
#ifndef EXECUTION_ENTER_H
#define EXECUTION_ENTER_H

#include <stdbool.h>

/* As execveat(2) names it, which may be what nobody can read. False in doubt. */
bool agent_can_enter(int directory, const char *path);

/* As execvp(3) looks for it. */
bool agent_can_enter_file(const char *file);

#endif
