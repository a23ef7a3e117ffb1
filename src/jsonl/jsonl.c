/* SPDX-License-Identifier: Apache-2.0 */
#include "jsonl/jsonl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jsonl/aim.h"
#include "jsonl/json.h"

#define LINE_MAX_BYTES (16u << 20) /* a finding at all its bounds takes about 5 MiB */
#define TABLES_MAX 4096		   /* processes of one recording */
#define AIMS_MAX 4096
/* Since the last JSON. A writer whose machine crashed leaves zeros in one. */
#define BINARY_LINES_MAX 100

struct jsonl_reader {
	FILE *stream;
	char *name;
	unsigned long number;
	char *line;
	size_t capacity;
	struct record_modules *tables[TABLES_MAX];
	size_t table_count;
	struct aim_told *aims;
	size_t aim_count, aim_capacity;
	unsigned binary_lines; /* with a zero byte, since the last line that was JSON */
};

static int write_line(FILE *stream, json_t *json)
{
	char *line = json ? json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	int err = -ENOMEM;

	/* A line longer than the stream's buffer is refused here and not by the flush after it. */
	if (line)
		err = fputs(line, stream) < 0 || fputc('\n', stream) == EOF ? -errno : 0;
	free(line);
	json_decref(json);
	return err;
}

int jsonl_write(FILE *stream, const struct finding *finding)
{
	return write_line(stream, json_from_finding(finding));
}

int jsonl_write_aim(FILE *stream, const struct aim_told *told)
{
	return write_line(stream, aim_to_json(told));
}

struct jsonl_reader *jsonl_reader_create(FILE *stream, const char *name)
{
	struct jsonl_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->stream = stream;
	reader->name = strdup(name);
	if (!reader->name) {
		free(reader);
		return NULL;
	}
	return reader;
}

void jsonl_reader_destroy(struct jsonl_reader *reader)
{
	size_t i;

	if (!reader)
		return;
	for (i = 0; i < reader->table_count; i++)
		record_modules_destroy(reader->tables[i]);
	free(reader->aims);
	free(reader->name);
	free(reader->line);
	free(reader);
}

const struct aim_told *jsonl_reader_aim(const struct jsonl_reader *reader, size_t index)
{
	return index < reader->aim_count ? &reader->aims[index] : NULL;
}

static bool reserve(struct jsonl_reader *reader, size_t size)
{
	size_t wanted = reader->capacity ? reader->capacity : 4096;
	char *moved;

	while (wanted < size)
		wanted *= 2;
	if (wanted == reader->capacity)
		return true;
	moved = realloc(reader->line, wanted);
	if (!moved)
		return false;
	reader->line = moved;
	reader->capacity = wanted;
	return true;
}

/* Bytes of the next line without its newline into reader->line; -ENODATA at the end of the file.
 * *complete tells whether a newline ended it. A line too long is read through to its end, unless it
 * is no text: devices such as /dev/zero have none. */
static long read_line(struct jsonl_reader *reader, bool *complete)
{
	size_t length = 0;
	bool too_long = false;
	int byte;

	*complete = false;
	while ((byte = getc_unlocked(reader->stream)) != EOF) {
		if (byte == '\n') {
			*complete = true;
			break;
		}
		if (length >= LINE_MAX_BYTES) {
			if (byte == '\0')
				return -EFBIG;
			too_long = true;
			continue;
		}
		if (!reserve(reader, length + 1))
			return -ENOMEM;
		reader->line[length++] = (char)byte;
	}
	if (ferror(reader->stream))
		return -EIO;
	if (too_long)
		return -E2BIG;
	return !length && !*complete ? -ENODATA : (long)length;
}

static bool same_run(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* A later table of the same process replaces the earlier one. */
static int keep_modules(struct jsonl_reader *reader, struct record_modules *modules)
{
	size_t i;

	for (i = 0; i < reader->table_count; i++) {
		struct record_modules *old = reader->tables[i];

		if (old->pid == modules->pid && same_run(old->run, modules->run)) {
			record_modules_destroy(old);
			reader->tables[i] = modules;
			return 0;
		}
	}
	if (reader->table_count == TABLES_MAX) {
		record_modules_destroy(modules);
		return -E2BIG;
	}
	reader->tables[reader->table_count++] = modules;
	return 0;
}

static int keep_aim(struct jsonl_reader *reader, const json_t *json, struct report_error *error)
{
	struct aim_told told, *grown;
	int err = aim_from_json(json, &told, error);

	if (err)
		return err;
	if (reader->aim_count == AIMS_MAX)
		return report_error(error, -EILSEQ, "more than %d objects of type aim", AIMS_MAX);
	if (reader->aim_count == reader->aim_capacity) {
		size_t capacity = reader->aim_capacity ? 2 * reader->aim_capacity : 16;

		grown = realloc(reader->aims, capacity * sizeof(*grown));
		if (!grown)
			return report_error(error, -ENOMEM, "memory is short");
		reader->aims = grown;
		reader->aim_capacity = capacity;
	}
	reader->aims[reader->aim_count++] = told;
	return 0;
}

static void complete_finding(struct jsonl_reader *reader, struct finding *finding)
{
	size_t i;

	for (i = 0; i < reader->table_count; i++)
		if (reader->tables[i]->pid == finding->pid &&
		    same_run(reader->tables[i]->run, finding->run))
			record_modules_resolve(reader->tables[i], finding);
	if (!finding->id[0])
		finding_identify(finding);
}

/* 1 with a finding, 0 for a module table and what was aimed at, or -errno with *error about the
 * line's content. */
static int decode_line(struct jsonl_reader *reader, const json_t *json, struct finding **finding,
		       struct report_error *error)
{
	const char *kind = json_string_value(json_object_get(json, "kind"));
	struct record_modules *modules;
	int err;

	if (kind && !strcmp(kind, "modules")) {
		err = json_to_modules(json, &modules, error);
		if (!err && keep_modules(reader, modules))
			err = report_error(error, -E2BIG, "more than %d module tables", TABLES_MAX);
		return err;
	}
	if (aim_is_json(json))
		return keep_aim(reader, json, error);
	err = json_to_finding(json, finding, error);
	if (err)
		return err;
	complete_finding(reader, *finding);
	return 1;
}

static int parse_line(struct jsonl_reader *reader, size_t length, bool complete,
		      struct finding **finding, struct report_error *error)
{
	struct report_error inner = {""};
	json_error_t json_error;
	json_t *json = json_loadb(reader->line, length, JSON_REJECT_DUPLICATES, &json_error);
	int result;

	if (!json && !complete)
		return report_error(error, -ENODATA,
				    "%s:%lu: the last line was cut short, so it is left out",
				    reader->name, reader->number);
	if (!json)
		return report_error(error, -EILSEQ, "%s:%lu: not JSON: %s", reader->name,
				    reader->number, json_error.text);
	reader->binary_lines = 0;
	result = decode_line(reader, json, finding, &inner);
	json_decref(json);
	if (result < 0)
		return report_error(error, result, "%s:%lu: %.400s", reader->name, reader->number,
				    inner.text);
	return result;
}

static bool is_blank(const char *line, size_t length)
{
	while (length &&
	       (line[length - 1] == ' ' || line[length - 1] == '\t' || line[length - 1] == '\r'))
		length--;
	return !length;
}

static int no_text(const struct jsonl_reader *reader, struct report_error *error)
{
	return report_error(error, -EFBIG, "%s:%lu: not JSON, nor text at all", reader->name,
			    reader->number);
}

/* Of a line that is no finding: whether what is read is no text, as /dev/urandom, which has no end.
 */
static bool is_binary(struct jsonl_reader *reader, size_t length)
{
	reader->binary_lines += memchr(reader->line, '\0', length) != NULL;
	return reader->binary_lines > BINARY_LINES_MAX;
}

int jsonl_read(struct jsonl_reader *reader, struct finding **finding, struct report_error *error)
{
	bool complete;
	long length;
	int result;

	for (;;) {
		length = read_line(reader, &complete);
		if (length == -ENODATA)
			return 0;
		reader->number++;
		if (length == -EFBIG)
			return no_text(reader, error);
		if (length == -E2BIG)
			return report_error(error, -EILSEQ,
					    "%s:%lu: the line is longer than %u MiB", reader->name,
					    reader->number, LINE_MAX_BYTES >> 20);
		if (length < 0)
			return report_error(error, (int)length, "%s:%lu: cannot read: %s",
					    reader->name, reader->number, strerror((int)-length));
		if (is_blank(reader->line, (size_t)length))
			continue;
		result = parse_line(reader, (size_t)length, complete, finding, error);
		if (result == -EILSEQ && is_binary(reader, (size_t)length))
			return no_text(reader, error);
		if (result)
			return result;
	}
}
