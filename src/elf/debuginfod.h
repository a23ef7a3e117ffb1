/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug files from debuginfod servers, only when DEBUGINFOD_URLS is set. The download runs in a
 * child process that is killed at the deadline, so that no server, resolver or proxy can hang us.
 */
#ifndef ELF_DEBUGINFOD_H
#define ELF_DEBUGINFOD_H

#include "session/build_id.h"
#include "session/session.h"

/* A descriptor of the debug file, and its path in *path (the caller frees it); or -errno. */
int symbol_debuginfod_fetch(struct symbol_session *session, const struct symbol_build_id *id,
			    char **path);

#endif
