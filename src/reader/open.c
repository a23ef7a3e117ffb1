/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/open.h"

#include "elf/object.h"
#include "reader/ask.h"
#include "reader/reader.h"
#include "source/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NETWORK_MILLISECONDS 15000

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

/* A copy of `from` followed by `last`, either of which may be NULL. */
static char **copy_list(const char *const *from, const char *last)
{
	size_t count = 0;
	char **list;

	while (from && from[count])
		count++;
	list = calloc(count + 2, sizeof(*list));
	if (!list)
		return NULL;
	for (size_t i = 0; i < count + (last != NULL); i++) {
		list[i] = strdup(i < count ? from[i] : last);
		if (!list[i]) {
			free_list(list);
			return NULL;
		}
	}
	return list;
}

int symbol_session_open(struct symbol_session **result, const struct symbol_options *options)
{
	static const struct symbol_options defaults = {.size = sizeof(defaults)};
	struct symbol_session *session;
	int error = 0;

	if (!options)
		options = &defaults;
	if (options->size != sizeof(*options))
		return -EINVAL;
	session = calloc(1, sizeof(*session));
	if (!session)
		return -ENOMEM;
	session->network_left = options->network_milliseconds ? options->network_milliseconds
							      : NETWORK_MILLISECONDS;
	session->debug_directories = copy_list(options->debug_directories, "/usr/lib/debug");
	session->source_directories = copy_list(options->source_directories, NULL);
	if (!session->debug_directories || !session->source_directories) {
		symbol_session_close(session);
		return -ENOMEM;
	}
	if (options->reader) {
		session->asking = &symbol_ask_reader;
		error = symbol_reader_create(session, options);
	}
	if (error) {
		symbol_session_close(session);
		return error;
	}
	*result = session;
	return 0;
}

void symbol_session_prepare(struct symbol_session *session)
{
	if (session->reader)
		symbol_reader_prepare(session->reader);
}

void symbol_session_close(struct symbol_session *session)
{
	if (!session)
		return;
	symbol_reader_destroy(session->reader);
	symbol_objects_free(session);
	symbol_sources_free(session);
	symbol_strings_free(&session->strings);
	free_list(session->debug_directories);
	free_list(session->source_directories);
	free(session);
}

const char *symbol_session_ambiguous_source(const struct symbol_session *session)
{
	return session->source_ambiguous;
}
