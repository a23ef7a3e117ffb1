/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In the reader of files, which opens nothing and sees no other process: what its asker does for
 * it. A session's `asker` is NULL in every other process, which does it itself.
 */
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
	/* The asker's mapping, of the question's modules. */
	bool (*mapping)(uint64_t address, struct symbol_mapping *mapping);
	/* If this process dies, it died of that module's file. */
	void (*blame)(const struct symbol_module *module);
	/* Descriptors, or -errno. *path is the caller's to free. */
	int (*held_file)(const struct symbol_module *module);
	int (*module_file)(const struct symbol_module *module, unsigned attempt, char **path);
	int (*download)(const struct symbol_build_id *id, char **path);
	/* Which of the directories have a file `name` that can be read. */
	void (*present)(const char *const *directories, size_t count, const char *name,
			bool *present);
};

#endif
