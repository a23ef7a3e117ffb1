/* SPDX-License-Identifier: Apache-2.0 */
/* Can the library be loaded into a program that is about to be executed? */
#ifndef EXECUTION_ENTER_H
#define EXECUTION_ENTER_H

enum agent_entry {
	AGENT_ENTRY_NONE,	/* not into such a program; or it could not be told */
	AGENT_ENTRY_UNREADABLE, /* the library cannot be read here: another user, chroot, landlock
				 */
	AGENT_ENTRY_OPEN,
};

/* As execveat(2) names it, which may be what nobody can read. */
enum agent_entry agent_can_enter(int directory, const char *path);

/* As execvp(3) looks for it. */
enum agent_entry agent_can_enter_file(const char *file);

#endif
