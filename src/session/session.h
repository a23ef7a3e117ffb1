/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: a session, which all rooms that read files share: elf, source, module, dwarf, symbol,
 * atomicity and reader, and they alone look inside.
 *
 * It owns the opened program files, every string handed out, what was counted, and the time that
 * may be spent on the network; all of it lives until symbol_session_close() (reader/open.h). One
 * thread at a time may use a session and what was made from it. A process that reads no files
 * itself has how a reader is asked in it (session/asking.h), a reader what its asker does for it
 * (session/asker.h): so the same functions serve both, and none of these rooms knows the one above
 * it.
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

/* At most so many files are remembered for having ended a reader. */
#define SYMBOL_FATAL_MAX 16u

/* Identity of a file that a reader died of. */
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
	struct symbol_object *objects; /* list; the one asked for last is its first */
	uint64_t trims;		       /* of that list */
	struct symbol_source *sources; /* list */
	unsigned source_count;
	struct symbol_source_index *source_index; /* read at first use */
	const char *source_ambiguous;		  /* the last path that several files fit */
	struct symbol_modules *all;		  /* list */
	uint64_t last_id;			  /* of modules, of both kinds */
	struct symbol_reader *reader;		  /* that is asked; NULL: files are read here */
	const struct symbol_asking *asking;	  /* how it is asked; NULL: there never was one */
	const struct symbol_asker *asker;	  /* of this process, a reader; NULL: it is none */
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
