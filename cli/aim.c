/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/aim.h"

#include "record/utf8.h"
#include "jsonl/aim.h"
#include "jsonl/jsonl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void say(const char *text)
{
	/* The text may quote a hostile file: utf8_print() escapes it. */
	utf8_fprintf(stderr, "trapline: %s\n", text);
}

static void take(struct aiming *aiming, struct finding *finding)
{
	if (aim_add(&aiming->list, finding))
		aiming->finding[aiming->list.count - 1] = finding;
	else
		finding_destroy(finding);
}

/* Takes over what earlier runs counted: if this run saw the finding again, what its own line
 * counts; else what the line before had from runs before it. */
static void take_before(struct aiming *aiming, const struct jsonl_reader *reader)
{
	const struct aim_told *told;

	for (size_t i = 0; (told = jsonl_reader_aim(reader, i)); i++)
		aim_add_before(&aiming->list, told->id, told->seen ? &told->score : &told->before);
}

/* Reads the file. A last line that was cut short is left out, which is said. */
static bool read_all(struct aiming *aiming, struct jsonl_reader *reader)
{
	struct report_error error;
	struct finding *finding;
	int result;

	while ((result = jsonl_read(reader, &finding, &error)) > 0)
		take(aiming, finding);
	if (result < 0)
		say(error.text);
	return result == 0 || result == -ENODATA;
}

static bool is_worth_it(const struct aiming *aiming, const char *path)
{
	const struct aim_list *list = &aiming->list;

	if (!list->count) {
		utf8_fprintf(
			stderr,
			"trapline: %s has no finding with two places in the code: nothing to aim at\n",
			path);
		return false;
	}
	if (list->left_out)
		utf8_fprintf(stderr, "trapline: %s has %llu findings more than the %d aimed at\n",
			     path, (unsigned long long)list->left_out, AIM_MAX);
	return true;
}

struct aiming *aiming_read(const char *path)
{
	struct aiming *aiming = calloc(1, sizeof(*aiming));
	FILE *stream = fopen(path, "re");
	struct jsonl_reader *reader = stream ? jsonl_reader_create(stream, path) : NULL;
	bool done = false;

	if (!stream)
		utf8_fprintf(stderr, "trapline: cannot open %s: %s\n", path, strerror(errno));
	else if (!reader || !aiming)
		say("memory is short");
	else if (read_all(aiming, reader)) {
		take_before(aiming, reader);
		done = is_worth_it(aiming, path);
	}
	jsonl_reader_destroy(reader);
	if (stream)
		fclose(stream);
	if (done)
		return aiming;
	aiming_destroy(aiming);
	return NULL;
}

void aiming_destroy(struct aiming *aiming)
{
	if (!aiming)
		return;
	for (unsigned i = 0; i < aiming->list.count; i++)
		finding_destroy(aiming->finding[i]);
	free(aiming);
}

bool aiming_succeeded(const struct aiming *aiming)
{
	for (unsigned i = 0; i < aiming->list.count; i++)
		if (aiming->list.aim[i].again[0])
			return true;
	return false;
}

void aiming_settle(struct aiming *aiming, const struct finding *found)
{
	for (unsigned i = 0; i < aiming->list.count; i++)
		if (strcmp(aiming->list.aim[i].again, found->id) == 0)
			aiming->list.aim[i].seen = found->count;
}

bool aiming_write(const struct aiming *aiming, FILE *stream, const char *run)
{
	struct aim_told told;
	bool complete = true;

	for (unsigned i = 0; i < aiming->list.count; i++) {
		aim_tell(&aiming->list.aim[i], run, &told);
		complete &= !jsonl_write_aim(stream, &told);
	}
	return complete;
}

void aiming_show(const struct aiming *aiming, FILE *stream)
{
	struct aim_told told;

	fprintf(stream, "trapline: aimed at %u finding%s:\n", aiming->list.count,
		aiming->list.count == 1 ? "" : "s");
	for (unsigned i = 0; i < aiming->list.count; i++) {
		aim_tell(&aiming->list.aim[i], "", &told);
		aim_write_text(stream, &told);
	}
}
