/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share of a session. Not for other folders. */
#ifndef SYMBOL_SESSION_PRIVATE_H
#define SYMBOL_SESSION_PRIVATE_H

#include "symbol/session.h"
#include "symbol/strings.h"

struct symbol_modules;
struct symbol_object;
struct symbol_reader;
struct symbol_source;
struct symbol_source_index;

struct symbol_session {
	char **debug_directories;  /* NULL-terminated; the defaults last */
	char **source_directories; /* NULL-terminated */
	unsigned network_left;	   /* milliseconds */
	struct symbol_strings strings;
	struct symbol_object *objects; /* list */
	struct symbol_source *sources; /* list */
	unsigned source_count;
	struct symbol_source_index *source_index; /* read at first use */
	const char *source_ambiguous;		  /* the last path that several files fit */
	struct symbol_modules *all;		  /* list */
	uint64_t last_id;			  /* of modules, of both kinds */
	struct symbol_reader *reader;		  /* that is asked; NULL: files are read here */
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
