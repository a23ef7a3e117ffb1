/* SPDX-License-Identifier: Apache-2.0 */
#include "report/redact.h"

#include "base/path.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void redact_stack(struct finding_stack *stack)
{
	size_t i;

	for (i = 0; i < stack->count; i++) {
		struct finding_frame *frame = &stack->frames[i];

		frame->pc = 0;
		frame->module = path_name(frame->module);
		frame->file = path_name(frame->file);
	}
}

static bool is_word(char character)
{
	return isalnum((unsigned char)character) || character == '_' || character == '/' ||
	       character == '.' || character == '-' || character == '~';
}

/* Whether the text before a word ends in "line ": the number of a line is no value of the
 * program's. */
static bool after_line(const char *text, const char *word)
{
	static const char before[] = "line ";
	size_t length = sizeof(before) - 1;

	return (size_t)(word - text) >= length && memcmp(word - length, before, length) == 0;
}

/* One word of a text: a path loses its directories, a number all of itself, but for that of a line.
 */
static char *redact_word(char *to, const char *text, const char *word, size_t length)
{
	const char *slash = memrchr(word, '/', length);

	if (slash) {
		length -= (size_t)(slash + 1 - word);
		word = slash + 1;
	} else if (isdigit((unsigned char)*word) && !after_line(text, word)) {
		*to++ = '#';
		return to;
	}
	memcpy(to, word, length);
	return to + length;
}

static const char *redact_text(struct finding *finding, const char *text)
{
	char *clean, *to;
	const char *at = text;
	const char *kept;
	size_t length;

	if (!text)
		return NULL;
	clean = to = malloc(strlen(text) + 1);
	if (!clean)
		return NULL;
	while (*at) {
		for (length = 0; is_word(at[length]);)
			length++;
		if (length) {
			to = redact_word(to, text, at, length);
			at += length;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
	kept = finding_string(finding, clean);
	free(clean);
	return kept;
}

/* A size, a count, a share or a span of them. */
static bool is_plain_number(const char *text)
{
	return text[strspn(text, "0123456789.%-")] == '\0';
}

/* Addresses, values and paths; sizes and counts stay. */
static int redact_details(struct finding *finding)
{
	for (size_t i = 0; i < finding->detail_count; i++) {
		struct finding_detail *detail = &finding->details[i];

		if (is_plain_number(detail->value))
			continue;
		detail->value = redact_text(finding, detail->value);
		if (!detail->value)
			return -ENOMEM;
	}
	return 0;
}

static int redact_texts(struct finding *finding)
{
	size_t i;

	if (finding->message && !(finding->message = redact_text(finding, finding->message)))
		return -ENOMEM;
	for (i = 0; i < finding->evidence_count; i++) {
		finding->evidence[i] = redact_text(finding, finding->evidence[i]);
		if (!finding->evidence[i])
			return -ENOMEM;
	}
	return redact_details(finding);
}

/* From a store, or a file, that was redacted. */
static bool is_hashed(const char *run)
{
	static const char start[] = "run-";
	size_t length = sizeof(start) - 1;

	return strncmp(run, start, length) == 0 && strlen(run) == length + 16 &&
	       strspn(run + length, "0123456789abcdef") == 16;
}

static const char *hash_run(struct finding *finding)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	const char *at;

	for (at = finding->run; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	return finding_format(finding, "run-%016" PRIx64, hash);
}

int finding_redact(struct finding *finding)
{
	size_t i;

	for (i = 0; i < finding->access_count; i++) {
		struct finding_access *access = &finding->accesses[i];

		access->address = 0;
		access->before_known = access->after_known = false;
		access->before = access->after = 0;
		redact_stack(&access->stack);
	}
	redact_stack(&finding->object.stack);
	redact_stack(&finding->object.freed.stack);
	finding->object.address = 0;
	finding->object.module = path_name(finding->object.module);
	finding->object.file = path_name(finding->object.file);
	finding->program = path_name(finding->program);
	finding->host = NULL;
	if (finding->run && !is_hashed(finding->run) && !(finding->run = hash_run(finding)))
		return -ENOMEM;
	return redact_texts(finding);
}
