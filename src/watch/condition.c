/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/condition.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NESTING_MAX 32

struct parser {
	const char *at;
	struct condition *condition;
	unsigned depth;	  /* values on the machine's stack at this point of the text */
	unsigned nesting; /* parentheses and signs that are open at this point */
	const char *reason;
};

/* An operator stands before those that are a beginning of it. Precedences are in C's order; a
 * higher one binds closer. */
static const struct infix {
	const char *text;
	uint8_t operation, precedence;
} infixes[] = {
	{"||", CONDITION_OR, 1},	 {"&&", CONDITION_AND, 2},
	{"==", CONDITION_EQUAL, 6},	 {"!=", CONDITION_UNEQUAL, 6},
	{"<<", CONDITION_SHIFT_LEFT, 8}, {">>", CONDITION_SHIFT_RIGHT, 8},
	{"<=", CONDITION_LESS_EQUAL, 7}, {">=", CONDITION_GREATER_EQUAL, 7},
	{"<", CONDITION_LESS, 7},	 {">", CONDITION_GREATER, 7},
	{"|", CONDITION_BIT_OR, 3},	 {"^", CONDITION_BIT_XOR, 4},
	{"&", CONDITION_BIT_AND, 5},	 {"+", CONDITION_ADD, 9},
	{"-", CONDITION_SUBTRACT, 9},	 {"*", CONDITION_MULTIPLY, 10},
	{"/", CONDITION_DIVIDE, 10},	 {"%", CONDITION_REMAINDER, 10},
};

static bool parse_binary(struct parser *parser, unsigned precedence);

static void skip_blanks(struct parser *parser)
{
	while (isspace((unsigned char)*parser->at))
		parser->at++;
}

static bool fail(struct parser *parser, const char *reason)
{
	if (!parser->reason)
		parser->reason = reason;
	return false;
}

static bool emit(struct parser *parser, uint32_t operation, uint64_t number)
{
	struct condition *condition = parser->condition;

	if (operation <= CONDITION_NEW)
		parser->depth++;
	else if (operation > CONDITION_COMPLEMENT)
		parser->depth--;
	if (condition->count == CONDITION_STEPS || parser->depth > CONDITION_DEPTH)
		return fail(parser, "it is too long");
	condition->step[condition->count++] =
		(struct condition_step){.operation = operation, .number = number};
	return true;
}

static bool take_word(struct parser *parser, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(parser->at, word, length) != 0 || isalnum((unsigned char)parser->at[length]) ||
	    parser->at[length] == '_')
		return false;
	parser->at += length;
	return true;
}

static bool parse_number(struct parser *parser)
{
	uint64_t number;
	char *end;

	if (!isdigit((unsigned char)*parser->at))
		return fail(parser, *parser->at ? "only old, new and integers can be compared"
						: "something is missing at the end");
	errno = 0;
	number = strtoull(parser->at, &end, 0);
	if (errno || isalnum((unsigned char)*end) || *end == '.')
		return fail(parser, "one of its numbers is no integer of 64 bits");
	parser->at = end;
	return emit(parser, CONDITION_NUMBER, number);
}

static bool parse_primary(struct parser *parser)
{
	if (take_word(parser, "old"))
		return emit(parser, CONDITION_OLD, 0);
	if (take_word(parser, "new"))
		return emit(parser, CONDITION_NEW, 0);
	if (*parser->at != '(')
		return parse_number(parser);
	parser->at++;
	if (!parse_binary(parser, 1))
		return false;
	if (*parser->at != ')')
		return fail(parser, "a closing parenthesis is missing");
	parser->at++;
	return true;
}

static bool parse_unary(struct parser *parser)
{
	static const char signs[] = "!-~";
	const char *sign;
	bool done;

	skip_blanks(parser);
	if (parser->nesting == NESTING_MAX)
		return fail(parser, "it is nested too deeply");
	parser->nesting++;
	sign = *parser->at ? strchr(signs, *parser->at) : NULL;
	if (sign) {
		parser->at++;
		done = parse_unary(parser) &&
		       emit(parser, CONDITION_NOT + (uint32_t)(sign - signs), 0);
	} else {
		done = parse_primary(parser);
	}
	parser->nesting--;
	skip_blanks(parser);
	return done;
}

static const struct infix *find_operator(const struct parser *parser)
{
	for (size_t i = 0; i < sizeof(infixes) / sizeof(infixes[0]); i++)
		if (strncmp(parser->at, infixes[i].text, strlen(infixes[i].text)) == 0)
			return &infixes[i];
	return NULL;
}

static bool parse_binary(struct parser *parser, unsigned precedence)
{
	const struct infix *infix;

	if (!parse_unary(parser))
		return false;
	while ((infix = find_operator(parser)) && infix->precedence >= precedence) {
		parser->at += strlen(infix->text);
		if (!parse_binary(parser, infix->precedence + 1u) ||
		    !emit(parser, infix->operation, 0))
			return false;
	}
	return true;
}

int condition_parse(const char *text, struct condition *condition, const char **reason)
{
	struct parser parser = {.at = text, .condition = condition};

	memset(condition, 0, sizeof(*condition));
	if (parse_binary(&parser, 1) && *parser.at)
		fail(&parser, "something unexpected follows");
	if (!parser.reason && !condition_uses_values(condition))
		fail(&parser, "it asks for neither old nor new");
	if (!parser.reason)
		return 0;
	*reason = parser.reason;
	condition->count = 0;
	return -EINVAL;
}
