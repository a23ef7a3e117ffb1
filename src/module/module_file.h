/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the file a module was mapped from: across mount namespaces, deleted, or by build-id. */
#ifndef MODULE_MODULE_FILE_H
#define MODULE_MODULE_FILE_H

#include "module/module.h"

/* A descriptor of a file that may be the module's (its build-id is still to be compared), and the
 * path it was opened by in *path (the caller frees it), or -ENOENT. `attempt` counts from 0;
 * -ENOENT with attempt >= SYMBOL_MODULE_FILE_ATTEMPTS. `pid` is 0 when there is no process. */
#define SYMBOL_MODULE_FILE_ATTEMPTS 5
#define SYMBOL_MODULE_FILE_BY_ID 3 /* the attempt that looks in the debug directories */
int symbol_module_file_open(struct symbol_session *session, const struct symbol_module *module,
			    pid_t pid, unsigned attempt, char **path);
/* Whether `path` in our own namespace is the very file with this inode. */
bool symbol_module_file_is_plain(const char *path, uint64_t inode);

#endif
