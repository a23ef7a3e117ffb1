/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In the reader of files: the modules that its asker has, and what only the asker can do. The
 * process serves one asker over one socket, so all of this is the process's own.
 */
#ifndef READER_MIRROR_H
#define READER_MIRROR_H

#include "module/module.h"

/* From here on this process is a reader. `page`: the word that tells the asker whose file is read.
 */
void symbol_mirror_begin(struct symbol_session *session, uint64_t *page);

/* The modules of that id as they are at the asker; NULL: that could not be learnt. */
struct symbol_modules *symbol_mirror_of(uint64_t id, uint64_t version, pid_t pid);
void symbol_mirror_forget(uint64_t id);
/* The memory that a question came with. */
struct symbol_memory symbol_mirror_source_memory(void);
/* Opens the file to read: a descriptor, or -errno. */
int symbol_mirror_path(const char *path);

#endif
