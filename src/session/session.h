/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: a session, shared by all rooms that read files (elf, source, module, dwarf, symbol,
 * atomicity and reader); only they look inside.
 *
 * It owns the opened program files, every string handed out, the counts, and the time that may be
 * spent on the network; all of it lives until symbol_session_close() (reader/open.h). One thread at
 * a time may use a session and what was made from it. In a process that reads no files itself,
 * `asking` says how a reader is asked (session/asking.h); in a reader, `asker` says what its asker
 * does for it (session/asker.h). So the same functions serve both, and none of these rooms knows
 * the one above it.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "session/build_id.h"
#include "session/statistics.h"
#include "session/strings.h"

#include <stdint.h>

struct symbol_asker;
struct symbol_asking;
struct symbol_modules;
struct symbol_object;
struct symbol_reader;
struct symbol_source;
struct symbol_source_index;

/* This many files, at most, are remembered for having killed a reader. */
#define SYMBOL_FATAL_MAX 16u

/* Identity of a file on which a reader died. */
struct symbol_fatal_file {
	const char *path; /* kept by the session */
	uint64_t inode;
	struct symbol_build_id build_id;
};

struct symbol_session {
	char **debug_directories;  /* NULL-terminated; the defaults last */
	char **source_directories; /* NULL-terminated */
	unsigned network_left;	   /* milliseconds */
	struct symbol_strings strings;
	struct symbol_object *objects; /* list; the one used last comes first */
	uint64_t trims;		       /* how often that list was trimmed */
	struct symbol_source *sources; /* list */
	unsigned source_count;
	struct symbol_source_index *source_index; /* read at first use */
	const char *source_ambiguous;		  /* the last path that several files fit */
	struct symbol_modules *all;		  /* list */
	/* last number given to a module, of either kind */
	uint64_t last_id;
	/* the reader that is asked; NULL: this process reads files itself */
	struct symbol_reader *reader;
	/* how the reader is asked; NULL: there never was one */
	const struct symbol_asking *asking;
	/* set in a reader only: what its asker does for it */
	const struct symbol_asker *asker;
	struct symbol_fatal_file fatal[SYMBOL_FATAL_MAX];
	unsigned fatal_count;
	uint64_t statistic[SYMBOL_STATISTIC_COUNT];
};

static inline void symbol_count(struct symbol_session *session, enum symbol_statistic statistic)
{
	session->statistic[statistic]++;
}

static inline const char *symbol_keep(struct symbol_session *session, const char *text)
{
	const char *kept = symbol_strings_keep(&session->strings, text);

	session->statistic[SYMBOL_STATISTIC_NAMES_LEFT_OUT] = session->strings.left_out;
	return kept;
}

#endif
