/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In the reader of files: the modules that its asker has, and what only the asker can do. The
 * process serves one asker over one socket, so all of this is the process's own.
 */
#ifndef SYMBOL_MIRROR_H
#define SYMBOL_MIRROR_H

#include "symbol/module.h"

/* Whether this process is a reader, which opens nothing and sees no other process. */
bool symbol_serving(void);
/* From here on it is. `page`: the word that tells the asker whose file is being read. */
void symbol_mirror_begin(struct symbol_session *session, uint64_t *page);

/* The modules of that id as they are at the asker; NULL: that could not be learnt. */
struct symbol_modules *symbol_mirror_of(uint64_t id, uint64_t version, pid_t pid);
void symbol_mirror_forget(uint64_t id);
/* As symbol_modules_refresh(). */
int symbol_mirror_refresh(struct symbol_modules *modules);
/* The asker's mapping, of the question's modules. */
bool symbol_mirror_mapping(uint64_t address, struct symbol_mapping *mapping);
/* The memory that a question came with. */
struct symbol_memory symbol_mirror_source_memory(void);

/* If this process dies, it died of that module's file. Elsewhere than in a reader, nothing. */
void symbol_mirror_blame(const struct symbol_module *module);
/* Descriptors, or -errno. *path is the caller's to free. */
int symbol_mirror_held_file(const struct symbol_module *module);
int symbol_mirror_file(const struct symbol_module *module, unsigned attempt, char **path);
int symbol_mirror_path(const char *path);
/* Which of the directories have a file `name` that can be read. */
void symbol_mirror_present(const char *const *directories, size_t count, const char *name,
			   bool *present);
int symbol_mirror_download(const struct symbol_build_id *id, char **path);

#endif
