/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment of a program that is executed: the caller's, and our two variables. It is made in
 * the caller's own stack frame (AGENT_EXTEND), since the caller may be a vfork()ed child, which has
 * its parent's memory, and since what the program has is not to change for anybody else.
 *
 * Another thread may change the environment meanwhile. What is read of it is read by the kernel,
 * which refuses where a plain access would fault, each word once; so nothing worse can come of it
 * than what execve(2) would have made of the same race.
 */
#ifndef AGENT_EXTENSION_H
#define AGENT_EXTENSION_H

#include "agent/state.h"

#include <alloca.h>
#include <stddef.h>

struct agent_extension {
	size_t count;	  /* variables */
	size_t place;	  /* of LD_PRELOAD among them; count: it is not there */
	size_t user_size; /* bytes of what the user preloads, without the final zero */
	const char *user;
};

/* Is there a library to load where the new image will look for it (another user, chroot,
 * namespaces)? */
bool agent_can_follow(void);

size_t agent_extension_count(char *const environment[]);
/* `to` has room for `count` + 3 pointers. */
struct agent_extension agent_extension_copy(char *const environment[], size_t count, char **to);
size_t agent_extension_size(const struct agent_extension *extension);
/* `text` has room for agent_extension_size() bytes. */
void agent_extension_fill(const struct agent_extension *extension, char **to, char *text);

/* Declares `extended`: the environment to hand on, where `can_enter`. */
#define AGENT_EXTEND(environment, can_enter)                                             \
	char **extended = (char **)(environment);                                        \
	if (agent_can_follow() && (can_enter)) {                                         \
		size_t extended_count = agent_extension_count(environment);              \
		struct agent_extension extension;                                        \
		extended = alloca((extended_count + 3) * sizeof(char *));                \
		extension = agent_extension_copy(environment, extended_count, extended); \
		agent_extension_fill(&extension, extended,                               \
				     alloca(agent_extension_size(&extension)));          \
	}

#endif
