/* SPDX-License-Identifier: Apache-2.0 */
/* Finding separate debug files: by build-id, by debug link, by alternate link, then on the network.
 */
#ifndef ELF_DEBUG_FILE_H
#define ELF_DEBUG_FILE_H

#include "session/build_id.h"
#include "session/session.h"

struct symbol_debug_request {
	struct symbol_build_id build_id; /* of the program file; length 0 if it has none */
	const char *file;		 /* path of the program file, or NULL */
	const char *link;		 /* contents of .gnu_debuglink, or NULL */
	uint32_t link_crc;		 /* checked only when there is no build-id */
};

/* A descriptor of the debug file, with its path in *path (the caller frees it); or -ENOENT. */
int symbol_debug_file_find(struct symbol_session *session,
			   const struct symbol_debug_request *request, char **path);
/* The program file itself (or else its debug file) in the debug directories, by build-id. */
int symbol_debug_file_find_program(struct symbol_session *session, const struct symbol_build_id *id,
				   char **path);
/* The file that .gnu_debugaltlink of `debug_file` names. */
int symbol_debug_file_find_alternate(struct symbol_session *session, const char *debug_file,
				     const char *link, char **path);

#endif
