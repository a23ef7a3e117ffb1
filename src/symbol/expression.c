/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/expression.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECES_MAX 6
#define LENGTH_MAX (1ull << 40)

struct reader {
	char *at;
	struct symbol_expression *expression;
	char *error;
};

static int complain(char *error, const char *what, const char *where)
{
	snprintf(error, SYMBOL_ERROR_MAX, "%s: '%.100s'", what, where);
	return -EINVAL;
}

static int miss(char *error, const char *what, const char *where)
{
	if (*where)
		snprintf(error, SYMBOL_ERROR_MAX, "%s is missing at '%.100s'", what, where);
	else
		snprintf(error, SYMBOL_ERROR_MAX, "%s is missing at the end", what);
	return -EINVAL;
}

/* Digits in base 10, or 16 after 0x, at `text`; NULL if there are none or too many. */
static const char *read_number(const char *text, uint64_t *value)
{
	bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *end;

	if (!isdigit((unsigned char)text[0]) || (hexadecimal && !isxdigit((unsigned char)text[2])))
		return NULL;
	errno = 0;
	*value = strtoull(text, &end, hexadecimal ? 16 : 10);
	return errno ? NULL : end;
}

static bool is_number(const char *text, uint64_t *value)
{
	const char *end = read_number(text, value);

	return end && !*end;
}

static unsigned access_of(const char *text)
{
	static const struct {
		const char *text;
		unsigned access;
	} table[] = {{"r", SYMBOL_ACCESS_READ},
		     {"w", SYMBOL_ACCESS_WRITE},
		     {"rw", SYMBOL_ACCESS_READ | SYMBOL_ACCESS_WRITE},
		     {"x", SYMBOL_ACCESS_EXECUTE}};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(text, table[i].text) == 0)
			return table[i].access;
	return 0;
}

static bool has_tail(const char *text, const char *tail)
{
	size_t length = strlen(text), size = strlen(tail);

	return length > size && strcmp(text + length - size, tail) == 0;
}

static bool is_source_name(const char *text)
{
	static const char *const tails[] = {".c",  ".cc",  ".cpp", ".cxx", ".C", ".h",
					    ".hh", ".hpp", ".rs",  ".S",   ".s", ".inc"};

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++)
		if (has_tail(text, tails[i]))
			return true;
	return false;
}

static bool is_module_name(const char *text)
{
	return has_tail(text, ".so") || strstr(text, ".so.") || strchr(text, '/') ||
	       strcmp(text, "[vdso]") == 0;
}

/* Cuts the text at single colons; "::" belongs to a name. Returns how many pieces there are; 0: too
 * many. */
static unsigned cut(char *text, char *pieces[PIECES_MAX])
{
	unsigned count = 1;

	pieces[0] = text;
	for (char *at = text; *at; at++) {
		if (at[0] != ':')
			continue;
		if (at[1] == ':') {
			at++;
			continue;
		}
		if (count == PIECES_MAX)
			return 0;
		*at = 0;
		pieces[count++] = at + 1;
	}
	return count;
}

/* Reads a name with its scopes: letters, "::", and "~" before a destructor. The name is ended by
 * the next operator's being written over. */
static char *read_name(struct reader *reader)
{
	char *start = reader->at;

	while (text_is_of_identifier(*reader->at) || *reader->at == '~' ||
	       (reader->at[0] == ':' && reader->at[1] == ':'))
		reader->at += *reader->at == ':' ? 2 : 1;
	return reader->at > start ? start : NULL;
}

static int add_step(struct reader *reader, enum symbol_step_kind kind, const char *name,
		    int64_t number)
{
	struct symbol_expression *expression = reader->expression;

	if (expression->step_count == SYMBOL_EXPRESSION_STEPS)
		return complain(reader->error, "too many members and indexes before", reader->at);
	expression->step[expression->step_count++] = (struct symbol_step){kind, name, number};
	return 0;
}

/* The name after "." or "->" is ended by writing over the operator that follows it, so that
 * operator is looked at first. */
static int read_step(struct reader *reader, char operator)
{
	uint64_t number;
	const char *end;
	char *name;

	if (operator== '.' || operator== '>') {
		name = read_name(reader);
		if (!name)
			return miss(reader->error, "a member's name", reader->at);
		return add_step(reader, operator== '.' ? SYMBOL_STEP_MEMBER : SYMBOL_STEP_ARROW,
				name, 0);
	}
	end = read_number(reader->at, &number);
	if (!end || number > INT64_MAX)
		return miss(reader->error, "a number", reader->at);
	reader->at += end - reader->at;
	if (operator== '[' && * reader->at++ != ']')
		return miss(reader->error, "a ']'", reader->at - 1);
	if (operator== '[')
		return add_step(reader, SYMBOL_STEP_INDEX, NULL, (int64_t)number);
	return add_step(reader, SYMBOL_STEP_OFFSET,
			NULL, operator== '-' ? -(int64_t)number : (int64_t)number);
}

/* Takes the operator at reader->at. 0: the text ends there; -1: it is something else. */
static int take_operator(struct reader *reader)
{
	char c = *reader->at;

	if (c == 0)
		return 0;
	*reader->at++ = 0; /* ends the name that stands before it */
	if (c == '-' && *reader->at == '>') {
		reader->at++;
		return '>';
	}
	if (c == '.' || c == '[' || c == '+' || c == '-')
		return c;
	*--reader->at = c;
	return -1;
}

static int read_path(char *text, struct symbol_expression *expression, char *error)
{
	struct reader reader = {text, expression, error};
	unsigned stars = 0;
	int operator, result;

	while (*reader.at == '*') {
		stars++;
		reader.at++;
	}
	if (isdigit((unsigned char)*reader.at)) {
		const char *end = read_number(reader.at, &expression->number);

		if (!end)
			return complain(error, "no such address", reader.at);
		expression->kind = SYMBOL_EXPRESSION_ADDRESS;
		reader.at += end - reader.at;
	} else {
		expression->name = read_name(&reader);
		if (!expression->name)
			return miss(error, "a name", reader.at);
	}
	while ((operator= take_operator(&reader)) != 0) {
		if (operator<0)
			return complain(error, "not understood", reader.at);
		result = read_step(&reader, (char)operator);
		if (result)
			return result;
	}
	while (stars--)
		if (add_step(&reader, SYMBOL_STEP_DEREFERENCE, NULL, 0) < 0)
			return -EINVAL;
	return 0;
}

static int read_suffix(const char *piece, struct symbol_expression *expression, char *error)
{
	uint64_t number;

	if (access_of(piece) && !expression->access) {
		expression->access = access_of(piece);
		return 0;
	}
	if (is_number(piece, &number) && number > 0 && number <= LENGTH_MAX &&
	    !expression->length) {
		expression->length = number;
		return 0;
	}
	return complain(error, "neither a length nor r, w, rw or x", piece);
}

/* Takes the offset of FUNCTION+OFFSET off the name; "operator+" and its like are names. */
static void take_block_offset(char *name, struct symbol_expression *expression)
{
	char *plus = strrchr(name, '+');
	uint64_t number;

	if (!plus || plus == name || !is_number(plus + 1, &number) || number > LENGTH_MAX)
		return;
	*plus = 0;
	expression->step[expression->step_count++] =
		(struct symbol_step){.kind = SYMBOL_STEP_OFFSET, .number = (int64_t)number};
}

static int read_heap(char *piece, struct symbol_expression *expression, char *error)
{
	char *at = strchr(piece, '@');

	if (!at)
		return complain(error, "write heap:SIZE@FUNCTION, not", piece);
	*at = 0;
	if (!is_number(piece, &expression->number) || expression->number == 0 ||
	    expression->number > LENGTH_MAX)
		return complain(error, "no such size of a block", piece);
	if (!at[1])
		return complain(error, "a function's name is missing after", piece);
	expression->kind = SYMBOL_EXPRESSION_HEAP;
	expression->name = at + 1;
	take_block_offset(at + 1, expression);
	if (expression->step_count && (uint64_t)expression->step[0].number >= expression->number)
		return complain(error, "the offset lies beyond the block:", piece);
	return 0;
}

/* Reads the place. Returns how many pieces it takes; those that follow are suffixes. */
static int read_place(char *pieces[], unsigned count, struct symbol_expression *expression,
		      unsigned *used, char *error)
{
	uint64_t number;

	*used = 1;
	if (count > 1 && strcmp(pieces[0], "heap") == 0) {
		*used = 2;
		return read_heap(pieces[1], expression, error);
	}
	if (count > 1 && is_source_name(pieces[0]) && is_number(pieces[1], &number)) {
		*used = 2;
		expression->kind = SYMBOL_EXPRESSION_LINE;
		expression->qualifier = pieces[0];
		expression->number = number;
		return number ? 0 : complain(error, "lines count from 1", pieces[1]);
	}
	if (count > 1 && (is_source_name(pieces[0]) || is_module_name(pieces[0]))) {
		*used = 2;
		expression->qualifier = pieces[0];
		return read_path(pieces[1], expression, error);
	}
	return read_path(pieces[0], expression, error);
}

int symbol_expression_parse(const char *text, struct symbol_expression *expression,
			    char error[SYMBOL_ERROR_MAX])
{
	char *pieces[PIECES_MAX];
	unsigned count, used;
	int result;

	memset(expression, 0, sizeof(*expression));
	error[0] = 0;
	if (strlen(text) >= sizeof(expression->text))
		return complain(error, "the expression is too long", text);
	memcpy(expression->text, text, strlen(text) + 1);
	count = cut(expression->text, pieces);
	if (count == 0)
		return complain(error, "too many ':' in", text);
	result = read_place(pieces, count, expression, &used, error);
	for (unsigned i = used; i < count && result == 0; i++)
		result = read_suffix(pieces[i], expression, error);
	return result;
}
