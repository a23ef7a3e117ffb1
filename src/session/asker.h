/* SPDX-License-Identifier: Apache-2.0 */
/* In the reader of files, which opens nothing and sees no other process: what its asker does for
 * it. In every other process a session's `asker` is NULL, and the session does the work itself. */
#ifndef SESSION_ASKER_H
#define SESSION_ASKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_build_id;
struct symbol_mapping;
struct symbol_module;
struct symbol_modules;

struct symbol_asker {
	/* As symbol_modules_refresh(). */
	int (*refresh)(struct symbol_modules *modules);
	/* The asker's mapping around `address`, among the modules of the question. */
	bool (*mapping)(uint64_t address, struct symbol_mapping *mapping);
	/* Tells the asker which module's file to blame if this process dies from now on. */
	void (*blame)(const struct symbol_module *module);
	/* A descriptor of the module's file, or -errno. The caller frees *path. */
	int (*held_file)(const struct symbol_module *module);
	int (*module_file)(const struct symbol_module *module, unsigned attempt, char **path);
	int (*download)(const struct symbol_build_id *id, char **path);
	/* Says which of the directories contain a readable file `name`. */
	void (*present)(const char *const *directories, size_t count, const char *name,
			bool *present);
};

#endif
