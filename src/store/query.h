/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to select from findings. A query is KEY=VALUE; several must all hold:
 *
 *   new-since=DATE        first seen at or after it (YYYY-MM-DD or with THH:MM:SS, UTC)
 *   new-since-build=ID    never seen with that build (a build-id or its beginning), nor before its
 *                         first sighting
 *   gone-since=DATE       last seen before it
 *   gone-since-build=ID   seen before that build's first sighting, not with it and not since
 *   program=GLOB file=GLOB function=GLOB module=GLOB object=GLOB host=GLOB build=ID
 *   kind=GLOB class=NAME id=GLOB
 *
 * program, file and module match the whole path or its last component.
 */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include "record/finding.h"
#include "session/error.h"

enum query_key {
	QUERY_NEW_SINCE,
	QUERY_NEW_SINCE_BUILD,
	QUERY_GONE_SINCE,
	QUERY_GONE_SINCE_BUILD,
	QUERY_PROGRAM,
	QUERY_HOST,
	QUERY_BUILD,
	QUERY_FILE,
	QUERY_FUNCTION,
	QUERY_MODULE,
	QUERY_OBJECT,
	QUERY_KIND,
	QUERY_CLASS,
	QUERY_ID,
	QUERY_KEY_COUNT
};

struct query_term {
	enum query_key key;
	const char *value; /* the caller's text */
	uint64_t time;	   /* of a date; or a build's first sighting, which the store fills in */
};

#define QUERY_TERMS_MAX 32

struct query {
	struct query_term terms[QUERY_TERMS_MAX];
	size_t count;
};

/* One (finding, run) pair, as stores keep it. */
struct sighting {
	const char *run, *program, *build_id, *host; /* "" where not known */
	uint64_t first, last, count;
};

int query_add(struct query *query, const char *text, struct report_error *error);

bool query_is_build(enum query_key key); /* does the term need the first sighting of a build? */

/* Do the terms about sightings hold for those of one finding? */
bool query_selects_sightings(const struct query *query, const struct sighting *sightings,
			     size_t count);

/* Do the terms about the finding itself hold? */
bool query_selects_finding(const struct query *query, const struct finding *finding);

/* Do both hold for a finding that comes from a file and so is its own only sighting? */
bool query_selects(const struct query *query, const struct finding *finding);

#endif
