/* SPDX-License-Identifier: Apache-2.0 */
/* The modules of an address space from within: for this room, and for the room reader, whose two
 * sides keep the same list. */
#ifndef MODULE_MODULES_H
#define MODULE_MODULES_H

#include "module/module.h"

struct symbol_module_list {
	struct symbol_module **module;
	size_t count, room;
};

struct symbol_modules {
	struct symbol_session *session;
	struct symbol_modules *next; /* of the session */
	uint64_t id;		     /* in the session; the reader's is its asker's */
	uint64_t version;	     /* of the list; changes whenever the list does */
	pid_t pid;		     /* 0: recorded */
	struct symbol_memory memory;
	struct symbol_mappings mappings;
	struct symbol_module_list loaded; /* by start */
	struct symbol_module_list gone;	  /* oldest first */
	uint64_t refreshed, took;	  /* the last time: CLOCK_MONOTONIC, and how long; ns */
	struct symbol_answers *answers;	  /* of the reader, kept; NULL: none */
};

struct symbol_module *symbol_module_create(struct symbol_session *session, const char *path,
					   const struct symbol_build_id *id);
void symbol_module_free(struct symbol_module *module);
/* Whether a reader of this session died of the module's file. */
bool symbol_module_is_fatal(const struct symbol_session *session,
			    const struct symbol_module *module);
/* 0 or -ENOMEM. */
int symbol_module_append(struct symbol_module_list *list, struct symbol_module *module);
/* By the number that is unique in a session; NULL: there is none. */
struct symbol_module *symbol_modules_by_id(const struct symbol_modules *modules, uint64_t id);
/* The modules of that id; NULL: there are none. */
struct symbol_modules *symbol_modules_known(const struct symbol_session *session, uint64_t id);

#endif
