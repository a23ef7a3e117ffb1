/* SPDX-License-Identifier: Apache-2.0 */
#include "store/query.h"

#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "jsonl/timestamp.h"

static const char *const key_names[] = {
	[QUERY_NEW_SINCE] = "new-since",   [QUERY_NEW_SINCE_BUILD] = "new-since-build",
	[QUERY_GONE_SINCE] = "gone-since", [QUERY_GONE_SINCE_BUILD] = "gone-since-build",
	[QUERY_PROGRAM] = "program",	   [QUERY_HOST] = "host",
	[QUERY_BUILD] = "build",	   [QUERY_FILE] = "file",
	[QUERY_FUNCTION] = "function",	   [QUERY_MODULE] = "module",
	[QUERY_OBJECT] = "object",	   [QUERY_KIND] = "kind",
	[QUERY_CLASS] = "class",	   [QUERY_ID] = "id",
};

_Static_assert(sizeof(key_names) / sizeof(key_names[0]) == QUERY_KEY_COUNT, "every key has a name");

bool query_is_build(enum query_key key)
{
	return key == QUERY_NEW_SINCE_BUILD || key == QUERY_GONE_SINCE_BUILD;
}

static int find_key(const char *text, const char **value)
{
	size_t i, length;

	for (i = 0; i < QUERY_KEY_COUNT; i++) {
		length = strlen(key_names[i]);
		if (!strncmp(text, key_names[i], length) && text[length] == '=') {
			*value = text + length + 1;
			return (int)i;
		}
	}
	return -1;
}

int query_add(struct query *query, const char *text, struct report_error *error)
{
	struct query_term term = {0};
	int key = find_key(text, &term.value);

	if (key < 0 || !*term.value)
		return report_error(error, -EINVAL,
				    "'%.100s' is not a query; it is KEY=VALUE with one of the keys "
				    "new-since, new-since-build, gone-since, gone-since-build, "
				    "program, host, build, file, function, module, object, kind, "
				    "class, id",
				    text);
	if (query->count == QUERY_TERMS_MAX)
		return report_error(error, -E2BIG, "more than %d queries", QUERY_TERMS_MAX);
	term.key = (enum query_key)key;
	if ((term.key == QUERY_NEW_SINCE || term.key == QUERY_GONE_SINCE) &&
	    timestamp_parse(term.value, &term.time))
		return report_error(error, -EINVAL,
				    "'%.100s' is not a date like 2026-11-21 or 2026-11-21T03:37:17",
				    term.value);
	if (term.key == QUERY_CLASS && finding_class_parse(term.value) <= 0)
		return report_error(error, -EINVAL,
				    "'%.100s' is not a class: definite, likely or possible",
				    term.value);
	query->terms[query->count++] = term;
	return 0;
}

static bool is_build(const char *build, const char *wanted)
{
	return !strncmp(build, wanted, strlen(wanted));
}

/* When a finding was seen first and last, and in which build: by this new= and gone= are
 * decided. */
struct span {
	uint64_t first, last;
	bool in_build; /* it was seen with the build that the term names */
};

static struct span span_of(const struct query_term *term, const struct sighting *sightings,
			   size_t count)
{
	struct span span = {.first = UINT64_MAX};
	size_t i;

	for (i = 0; i < count; i++) {
		if (sightings[i].first < span.first)
			span.first = sightings[i].first;
		if (sightings[i].last > span.last)
			span.last = sightings[i].last;
		if (is_build(sightings[i].build_id, term->value))
			span.in_build = true;
	}
	return span;
}

static bool any_sighting(const struct query_term *term, const struct sighting *sightings,
			 size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct sighting *sighting = &sightings[i];

		if ((term->key == QUERY_PROGRAM &&
		     glob_match_path(term->value, sighting->program)) ||
		    (term->key == QUERY_HOST && glob_match(term->value, sighting->host)) ||
		    (term->key == QUERY_BUILD && is_build(sighting->build_id, term->value)))
			return true;
	}
	return false;
}

static bool term_selects_sightings(const struct query_term *term, const struct sighting *sightings,
				   size_t count)
{
	struct span span = span_of(term, sightings, count);

	switch (term->key) {
	case QUERY_NEW_SINCE:
		return span.first >= term->time;
	case QUERY_NEW_SINCE_BUILD:
		return !span.in_build && span.first >= term->time;
	case QUERY_GONE_SINCE:
		return span.last < term->time;
	case QUERY_GONE_SINCE_BUILD:
		return !span.in_build && span.last < term->time;
	case QUERY_PROGRAM:
	case QUERY_HOST:
	case QUERY_BUILD:
		return any_sighting(term, sightings, count);
	default:
		return true;
	}
}

bool query_selects_sightings(const struct query *query, const struct sighting *sightings,
			     size_t count)
{
	size_t i;

	for (i = 0; i < query->count; i++)
		if (!term_selects_sightings(&query->terms[i], sightings, count))
			return false;
	return true;
}

static bool frame_selected(const struct query_term *term, const struct finding_frame *frame)
{
	if (term->key == QUERY_FILE)
		return frame->file && glob_match_path(term->value, frame->file);
	if (term->key == QUERY_MODULE)
		return frame->module && glob_match_path(term->value, frame->module);
	return frame->function && glob_match(term->value, frame->function);
}

static bool any_frame_selected(const struct query_term *term, const struct finding *finding)
{
	size_t i, j;

	for (i = 0; i < finding->access_count; i++)
		for (j = 0; j < finding->accesses[i].stack.count; j++)
			if (frame_selected(term, &finding->accesses[i].stack.frames[j]))
				return true;
	return false;
}

static bool term_selects_finding(const struct query_term *term, const struct finding *finding)
{
	switch (term->key) {
	case QUERY_FILE:
	case QUERY_MODULE:
	case QUERY_FUNCTION:
		return any_frame_selected(term, finding);
	case QUERY_OBJECT:
		return finding->object.name && glob_match(term->value, finding->object.name);
	case QUERY_KIND:
		return glob_match(term->value, finding->kind);
	case QUERY_CLASS:
		return !strcmp(term->value, finding_class_name(finding->certainty));
	case QUERY_ID:
		return glob_match(term->value, finding->id);
	default:
		return true;
	}
}

bool query_selects_finding(const struct query *query, const struct finding *finding)
{
	size_t i;

	for (i = 0; i < query->count; i++)
		if (!term_selects_finding(&query->terms[i], finding))
			return false;
	return true;
}

bool query_selects(const struct query *query, const struct finding *finding)
{
	struct sighting sighting = {
		.run = finding->run ? finding->run : "",
		.program = finding->program ? finding->program : "",
		.build_id = finding->build_id ? finding->build_id : "",
		.host = finding->host ? finding->host : "",
		.first = finding->time,
		.last = finding->last > finding->time ? finding->last : finding->time,
		.count = finding->count,
	};

	return query_selects_sightings(query, &sighting, 1) &&
	       query_selects_finding(query, finding);
}
