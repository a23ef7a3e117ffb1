/* SPDX-License-Identifier: Apache-2.0 */
/* The rules: reading them in and writing them out. Matching is in suppressions_match.c. */
#include "suppression/suppressions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "suppression/suppressions_rule.h"
#include "record/utf8.h"

#define FILE_MAX_BYTES (16u << 20)
#define STACK_PARTS_MAX 256

static const char *const key_names[] = {
	[KEY_FUNCTION] = "function", [KEY_TOP] = "top",	      [KEY_FILE] = "file",
	[KEY_MODULE] = "module",     [KEY_OBJECT] = "object", [KEY_THREAD] = "thread",
	[KEY_PROGRAM] = "program",   [KEY_ID] = "id",	      [KEY_CLASS] = "class",
	[KEY_STACK] = "stack",	     [KEY_WITHIN] = "within",
};

_Static_assert(sizeof(key_names) / sizeof(key_names[0]) == KEY_COUNT, "every key has a name");

struct suppressions *suppressions_create(void)
{
	return calloc(1, sizeof(struct suppressions));
}

static void rule_destroy(struct rule *rule)
{
	struct condition *condition, *next;

	for (condition = rule->conditions; condition; condition = next) {
		next = condition->next;
		free(condition->glob);
		free(condition);
	}
	free(rule->place);
	free(rule->text);
	free(rule->kind);
	free(rule);
}

void suppressions_destroy(struct suppressions *suppressions)
{
	struct rule *rule, *next;

	if (!suppressions)
		return;
	for (rule = suppressions->first; rule; rule = next) {
		next = rule->next;
		rule_destroy(rule);
	}
	free(suppressions);
}

/* One line being taken apart. */
struct parser {
	const char *at, *end;
	const char *name;
	unsigned long number;
	struct report_error *error;
};

static int fail(struct parser *parser, const char *what)
{
	return report_error(parser->error, -EINVAL, "%.200s:%lu: %s", parser->name, parser->number,
			    what);
}

static bool at_blank(const struct parser *parser)
{
	return *parser->at == ' ' || *parser->at == '\t' || *parser->at == '\r';
}

/* True at the end of what the line says. */
static bool skip_blanks(struct parser *parser)
{
	while (parser->at < parser->end && at_blank(parser))
		parser->at++;
	return parser->at == parser->end || *parser->at == '#';
}

static char *take_bare(struct parser *parser)
{
	const char *start = parser->at;

	while (parser->at < parser->end && !at_blank(parser) && *parser->at != '#')
		parser->at++;
	return strndup(start, (size_t)(parser->at - start));
}

/* *word is NULL when memory is short. */
static int take_quoted(struct parser *parser, char **word)
{
	char *text = malloc((size_t)(parser->end - parser->at));
	size_t length = 0;

	*word = text;
	if (!text)
		return 0;
	for (parser->at++; parser->at < parser->end && *parser->at != '"'; parser->at++) {
		if (*parser->at == '\\' && parser->at + 1 < parser->end &&
		    (parser->at[1] == '"' || parser->at[1] == '\\'))
			parser->at++;
		text[length++] = *parser->at;
	}
	if (parser->at == parser->end) {
		free(text);
		*word = NULL;
		return fail(parser, "a quote is not closed");
	}
	parser->at++;
	text[length] = '\0';
	return 0;
}

static int take_key(struct parser *parser, enum key *key)
{
	size_t i, length;

	for (i = 0; i < KEY_COUNT; i++) {
		length = strlen(key_names[i]);
		if ((size_t)(parser->end - parser->at) > length && parser->at[length] == ':' &&
		    !memcmp(parser->at, key_names[i], length)) {
			parser->at += length + 1;
			*key = (enum key)i;
			return 0;
		}
	}
	return fail(parser, "a condition is KEY:GLOB with one of the keys function, top, file, "
			    "module, object, thread, program, id, class, stack, within");
}

static int check_condition(struct parser *parser, const struct condition *condition)
{
	size_t parts = 1;
	const char *at;

	if (!*condition->glob)
		return fail(parser, "a condition has nothing after its colon; * matches anything");
	for (at = condition->glob; *at; at++)
		parts += *at == ';';
	if (condition->key == KEY_STACK && parts > STACK_PARTS_MAX)
		return fail(parser, "a stack has more than 256 parts");
	return 0;
}

static int take_condition(struct parser *parser, struct condition **condition)
{
	enum key key = KEY_COUNT;
	int err = take_key(parser, &key);

	if (err)
		return err;
	*condition = calloc(1, sizeof(**condition));
	if (!*condition)
		return -ENOMEM;
	(*condition)->key = key;
	if (parser->at < parser->end && *parser->at == '"')
		err = take_quoted(parser, &(*condition)->glob);
	else
		(*condition)->glob = take_bare(parser);
	if (!err && !(*condition)->glob)
		err = -ENOMEM;
	if (!err)
		err = check_condition(parser, *condition);
	if (!err && parser->at < parser->end && !at_blank(parser) && *parser->at != '#')
		err = fail(parser, "conditions are separated by blanks");
	return err;
}

static int take_conditions(struct parser *parser, struct rule *rule)
{
	struct condition **last = &rule->conditions;
	int err;

	while (!skip_blanks(parser)) {
		err = take_condition(parser, last);
		if (err)
			return err;
		last = &(*last)->next;
	}
	if (!rule->conditions)
		return fail(parser, "a rule needs at least one condition, such as function:GLOB");
	return 0;
}

static int take_rule(struct parser *parser, struct rule *rule)
{
	const char *start = parser->at;

	rule->kind = take_bare(parser);
	if (!rule->kind)
		return -ENOMEM;
	if (strchr(rule->kind, ':'))
		return fail(parser, "a rule begins with a kind of finding, such as data-race or *");
	rule->text = strndup(start, (size_t)(parser->end - start));
	if (!rule->text || asprintf(&rule->place, "%s:%lu", parser->name, parser->number) < 0) {
		rule->place = NULL;
		return -ENOMEM;
	}
	return take_conditions(parser, rule);
}

static int parse_line(struct suppressions *suppressions, struct parser *parser)
{
	struct rule *rule;
	int err;

	if (skip_blanks(parser))
		return 0;
	rule = calloc(1, sizeof(*rule));
	err = rule ? take_rule(parser, rule) : -ENOMEM;
	if (err) {
		if (rule)
			rule_destroy(rule);
		return err == -ENOMEM ? report_error(parser->error, err, "memory is short") : err;
	}
	if (suppressions->last)
		suppressions->last->next = rule;
	else
		suppressions->first = rule;
	suppressions->last = rule;
	return 0;
}

int suppressions_parse(struct suppressions *suppressions, const char *name, const char *text,
		       size_t length, struct report_error *error)
{
	struct parser parser = {.name = name, .error = error};
	const char *end = text + length, *newline;
	int err;

	if (memchr(text, '\0', length))
		return report_error(error, -EINVAL, "%.200s: this is not a text file", name);
	while (text < end) {
		newline = memchr(text, '\n', (size_t)(end - text));
		parser.at = text;
		parser.end = newline ? newline : end;
		parser.number++;
		err = parse_line(suppressions, &parser);
		if (err)
			return err;
		text = parser.end + 1;
	}
	return 0;
}

static int read_all(FILE *stream, char **text, size_t *length)
{
	*text = malloc(FILE_MAX_BYTES + 1);
	if (!*text)
		return -ENOMEM;
	*length = fread(*text, 1, FILE_MAX_BYTES + 1, stream);
	if (ferror(stream))
		return -EIO;
	return *length > FILE_MAX_BYTES ? -EFBIG : 0;
}

int suppressions_read(struct suppressions *suppressions, const char *path,
		      struct report_error *error)
{
	FILE *stream = fopen(path, "re");
	char *text = NULL;
	size_t length;
	int err;

	if (!stream) {
		err = -errno;
		return report_error(error, err, "%.200s: cannot open the suppressions: %s", path,
				    strerror(-err));
	}
	err = read_all(stream, &text, &length);
	fclose(stream);
	if (err)
		report_error(error, err, "%.200s: cannot read the suppressions: %s", path,
			     strerror(-err));
	else
		err = suppressions_parse(suppressions, path, text, length, error);
	free(text);
	return err;
}

void suppressions_each(const struct suppressions *suppressions, suppressions_each_fn *fn, void *arg)
{
	const struct rule *rule;

	for (rule = suppressions->first; rule; rule = rule->next)
		fn(rule->place, rule->text, rule->hidden, arg);
}

/* A glob that matches `text`, quoted; any byte where one may not be shown. */
static void write_glob(FILE *stream, const char *text)
{
	fputc('"', stream);
	for (size_t shown; *text; text += shown ? shown : 1) {
		shown = utf8_showable(text);
		if (*text == '\n')
			break;
		if (strchr("*?\\", *text)) /* the glob's own escape, itself escaped in quotes */
			fputs(*text == '\\' ? "\\\\\\" : "\\\\", stream);
		else if (*text == '"')
			fputc('\\', stream);
		if (shown)
			fwrite(text, 1, shown, stream);
		else
			fputc('?', stream);
	}
	fputc('"', stream);
}

static void write_place(FILE *stream, const struct finding *finding,
			const struct finding_frame *frame)
{
	if (frame && frame->function) {
		fputs(" top:", stream);
		write_glob(stream, frame->function);
	} else {
		fprintf(stream, " id:%s", finding->id);
	}
}

void suppressions_generate(FILE *stream, const struct finding *finding)
{
	const struct finding_frame *frame;
	bool named = finding->access_count > 0;
	char place[512];
	size_t i;

	for (i = 0; i < finding->access_count; i++) {
		finding_place(&finding->accesses[i], place, sizeof(place));
		fputs(i ? " / " : "# ", stream);
		utf8_print(stream, place);
		frame = finding_place_frame(&finding->accesses[i]);
		named = named && frame && frame->function && !strchr(frame->function, '\n');
	}
	fputs(finding->access_count ? "\n" : "", stream);
	/* Another kind than ours could be a rule for everything: by its id alone. */
	if (finding->kind[strspn(finding->kind, "abcdefghijklmnopqrstuvwxyz0123456789-_")]) {
		fputc('*', stream);
		named = false;
	} else {
		fputs(finding->kind, stream);
	}
	if (!named)
		fprintf(stream, " id:%s", finding->id);
	for (i = 0; named && i < finding->access_count; i++)
		write_place(stream, finding, finding_place_frame(&finding->accesses[i]));
	fputc('\n', stream);
}
