/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/debug_file.h"

#include "base/file.h"
#include "elf/debuginfod.h"
#include "elf/image.h"
#include "session/session.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* CRC-32 of .gnu_debuglink (polynomial 0xedb88320, initial value and result inverted). */
static uint32_t crc32_update(uint32_t crc, const uint8_t *bytes, size_t length)
{
	crc = ~crc;
	for (size_t i = 0; i < length; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static bool crc_matches(int fd, uint32_t wanted)
{
	uint8_t bytes[65536];
	uint32_t crc = 0;
	ssize_t got;
	off_t at = 0;

	while ((got = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		crc = crc32_update(crc, bytes, (size_t)got);
		at += got;
	}
	return got == 0 && crc == wanted;
}

static bool is_wanted(int fd, const struct symbol_debug_request *request)
{
	struct symbol_image image;

	if (symbol_image_read_file(fd, &image) < 0)
		return false;
	if (request->build_id.length)
		return symbol_build_id_equal(&image.build_id, &request->build_id);
	return crc_matches(fd, request->link_crc);
}

__attribute__((format(printf, 4, 5))) static int
try_file(struct symbol_session *session, const struct symbol_debug_request *request, char **path,
	 const char *format, ...)
{
	char text[PATH_MAX];
	va_list list;
	int length, fd;

	va_start(list, format);
	length = vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (length < 0 || length >= (int)sizeof(text))
		return -ENAMETOOLONG;
	fd = file_open(text);
	if (fd < 0)
		return fd;
	if (!is_wanted(fd, request)) {
		symbol_count(session, SYMBOL_STATISTIC_DEBUG_FILES_MISMATCHED);
		close(fd);
		return -ENOENT;
	}
	*path = strdup(text);
	return fd;
}

static int find_by_build_id(struct symbol_session *session,
			    const struct symbol_debug_request *request, const char *suffix,
			    char **path)
{
	char text[SYMBOL_BUILD_ID_TEXT];
	int fd = -ENOENT;

	if (request->build_id.length < 2)
		return -ENOENT;
	symbol_build_id_format(&request->build_id, text);
	for (char **directory = session->debug_directories; *directory && fd < 0; directory++) {
		fd = try_file(session, request, path, "%s/.build-id/%.2s/%s%s", *directory, text,
			      text + 2, suffix);
		if (fd < 0)
			fd = try_file(session, request, path, "%s/%.2s/%s%s", *directory, text,
				      text + 2, suffix);
		if (fd < 0)
			fd = try_file(session, request, path, "%s/%s%s", *directory, text, suffix);
	}
	return fd;
}

static int find_by_link(struct symbol_session *session, const struct symbol_debug_request *request,
			char **path)
{
	const char *slash = request->file ? strrchr(request->file, '/') : NULL;
	int directory = slash ? (int)(slash - request->file) : 0;
	int fd = -ENOENT;

	if (!request->link || !*request->link || strchr(request->link, '/'))
		return -ENOENT;
	if (slash) {
		fd = try_file(session, request, path, "%.*s/.debug/%s", directory, request->file,
			      request->link);
		if (fd < 0 && strcmp(slash + 1, request->link) != 0)
			fd = try_file(session, request, path, "%.*s/%s", directory, request->file,
				      request->link);
	}
	for (char **root = session->debug_directories; *root && fd < 0; root++) {
		if (slash)
			fd = try_file(session, request, path, "%s%.*s/%s", *root, directory,
				      request->file, request->link);
		if (fd < 0)
			fd = try_file(session, request, path, "%s/%s", *root, request->link);
	}
	return fd;
}

int symbol_debug_file_find(struct symbol_session *session,
			   const struct symbol_debug_request *request, char **path)
{
	int fd = find_by_build_id(session, request, ".debug", path);

	if (fd < 0)
		fd = find_by_link(session, request, path);
	if (fd < 0)
		fd = symbol_debuginfod_fetch(session, &request->build_id, path);
	symbol_count(session,
		     fd < 0 ? SYMBOL_STATISTIC_DEBUG_FILES_MISSING : SYMBOL_STATISTIC_DEBUG_FILES);
	return fd < 0 ? -ENOENT : fd;
}

int symbol_debug_file_find_program(struct symbol_session *session, const struct symbol_build_id *id,
				   char **path)
{
	struct symbol_debug_request request = {.build_id = *id};
	int fd = find_by_build_id(session, &request, "", path);

	if (fd < 0)
		fd = find_by_build_id(session, &request, ".debug", path);
	if (fd < 0)
		fd = symbol_debuginfod_fetch(session, id, path);
	return fd < 0 ? -ENOENT : fd;
}

int symbol_debug_file_find_alternate(struct symbol_session *session, const char *debug_file,
				     const char *link, char **path)
{
	const char *slash = debug_file ? strrchr(debug_file, '/') : NULL;
	const char *base = strrchr(link, '/');
	char text[PATH_MAX];
	int fd = -ENOENT;

	if (link[0] == '/')
		fd = file_open(link);
	else if (slash && snprintf(text, sizeof(text), "%.*s/%s", (int)(slash - debug_file),
				   debug_file, link) < (int)sizeof(text))
		fd = file_open(text);
	for (char **root = session->debug_directories; *root && fd < 0; root++)
		if (snprintf(text, sizeof(text), "%s/.dwz/%s", *root, base ? base + 1 : link) <
		    (int)sizeof(text))
			fd = file_open(text);
	if (fd >= 0)
		*path = strdup(link);
	return fd;
}
