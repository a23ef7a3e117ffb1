/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: the reader of files, a process that can do nothing else, and how it is asked. Program
 * files, debug information and sources are hostile, so what reads them has no files, no network and
 * no other process in reach (reader/confine.h, docs/SECURITY.md).
 *
 * Its asker's side (reader/ask.h, reader/reader.h, grant.c) runs in the thread that has the
 * session: it opens files, looks at processes, and believes nothing of what it is told but its form
 * (reader/protocol.h). A reader that dies or takes too long is started anew, without the file it
 * died of. The other side (serve.c, reader/mirror.h) is the reader process, and runs the same
 * functions.
 *
 * This file: a session opened and closed, with a reader or without.
 */
#ifndef READER_OPEN_H
#define READER_OPEN_H

#include "session/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_options {
	size_t size; /* sizeof(struct symbol_options) */
	/* Searched by build-id and by debug link before /usr/lib/debug. NULL-terminated, or NULL.
	 */
	const char *const *debug_directories;
	/* Where sources are looked for when the recorded path does not exist, at any depth: what
	 * ends like the path. They are taken for those of the build, whenever they were made.
	 * NULL-terminated, or NULL. */
	const char *const *source_directories;
	/* Milliseconds that debuginfod may take in all of this session; 0: 15000. Only used when
	 * DEBUGINFOD_URLS is set: there is no network access otherwise. */
	unsigned network_milliseconds;
	/* The program files are read by a process of their own that can do nothing else: this
	 * program (SYMBOL_READER_SELF: the one that runs), started with the single argument
	 * SYMBOL_READER_ARGUMENT, has to call symbol_reader_main(). NULL: they are read here. */
	const char *reader;
	/* Milliseconds of its CPU time that the reader may take for one question; 0: 15000. */
	unsigned reader_milliseconds;
	/* A reader that takes long gives up the priority it has from this process: setpriority(2)
	 * may be called. */
	bool reader_may_slow;
};

#define SYMBOL_READER_SELF "/proc/self/exe"
#define SYMBOL_READER_ARGUMENT "symbol-reader"

/* The whole life of a reader; the process's exit status. */
int symbol_reader_main(void);

/* `options` may be NULL. 0 or -errno. */
int symbol_session_open(struct symbol_session **session, const struct symbol_options *options);
/* Its reader, if it has one, begins now and not with the first question. */
void symbol_session_prepare(struct symbol_session *session);
/* Close what was made from the session first. */
void symbol_session_close(struct symbol_session *session);

/* A recorded path that more than one file in the source directories fits, so that none was used;
 * NULL: there was none. SYMBOL_STATISTIC_SOURCES_AMBIGUOUS counts them. */
const char *symbol_session_ambiguous_source(const struct symbol_session *session);

/* CPU time that readers of the session have used, in ns. */
uint64_t symbol_session_time(const struct symbol_session *session);

/* Of the reader that runs, if one does. Async-signal-safe. */
uint64_t symbol_reader_time(void);

#endif
