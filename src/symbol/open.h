/* SPDX-License-Identifier: Apache-2.0 */
/* A session opened and closed, with a reader of files or without. */
#ifndef SYMBOL_OPEN_H
#define SYMBOL_OPEN_H

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
