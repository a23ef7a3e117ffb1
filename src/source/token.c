/* SPDX-License-Identifier: Apache-2.0 */
#include "source/token.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_MAX (1u << 22)

struct reader {
	const char *text;
	size_t length, at;
	size_t line_start;
	uint32_t line;
	bool fresh; /* only white space so far on this line */
};

struct list {
	struct symbol_token **token;
	size_t *count;
};

static bool is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char look(const struct reader *reader, size_t ahead)
{
	return ahead < reader->length - reader->at ? reader->text[reader->at + ahead] : 0;
}

static void advance(struct reader *reader)
{
	if (reader->text[reader->at++] == '\n') {
		reader->line++;
		reader->line_start = reader->at;
		reader->fresh = true;
	}
}

static void skip_line_comment(struct reader *reader)
{
	while (reader->at < reader->length && look(reader, 0) != '\n')
		advance(reader);
}

static void skip_block_comment(struct reader *reader)
{
	advance(reader);
	advance(reader);
	while (reader->at < reader->length) {
		if (look(reader, 0) == '*' && look(reader, 1) == '/') {
			reader->at += 2;
			return;
		}
		advance(reader);
	}
}

/* White space, comments and continued lines. */
static bool skip_blank(struct reader *reader, bool stop_at_newline)
{
	char c = look(reader, 0);

	if (c == '\\' &&
	    (look(reader, 1) == '\n' || (look(reader, 1) == '\r' && look(reader, 2) == '\n'))) {
		while (look(reader, 0) != '\n')
			advance(reader);
		advance(reader);
		return true;
	}
	if (c == '\n' && stop_at_newline)
		return false;
	if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') {
		advance(reader);
		return true;
	}
	if (c == '/' && look(reader, 1) == '/') {
		skip_line_comment(reader);
		return true;
	}
	if (c == '/' && look(reader, 1) == '*') {
		skip_block_comment(reader);
		return true;
	}
	return false;
}

/* 'a', '\n', '\x41' are characters; 'a followed by no quote is a Rust lifetime: only its quote. */
static size_t quoted_length(const struct reader *reader)
{
	char quote = look(reader, 0);
	size_t length = 1;

	while (reader->at + length < reader->length) {
		char c = look(reader, length++);

		if (c == '\\')
			length++;
		else if (c == quote)
			return length;
		else if (quote == '\'' && (c == '\n' || length > 12))
			return 1;
		else if (quote == '"' && c == '\n' && length > 65536)
			return 1;
	}
	return quote == '\'' ? 1 : reader->length - reader->at;
}

static size_t token_length(const struct reader *reader, uint8_t *kind)
{
	char c = look(reader, 0);
	size_t length = 1;

	if (is_name_start(c)) {
		*kind = SYMBOL_TOKEN_NAME;
		while (is_name_start(look(reader, length)) || is_digit(look(reader, length)))
			length++;
	} else if (is_digit(c)) {
		*kind = SYMBOL_TOKEN_NUMBER;
		while (is_name_start(look(reader, length)) || is_digit(look(reader, length)) ||
		       look(reader, length) == '.')
			length++;
	} else if (c == '"' || c == '\'') {
		length = quoted_length(reader);
		*kind = length > 1 ? SYMBOL_TOKEN_TEXT : SYMBOL_TOKEN_MARK;
	} else {
		*kind = SYMBOL_TOKEN_MARK;
	}
	return length;
}

static bool append(struct list list, const struct symbol_token *token)
{
	size_t count = *list.count;

	if ((count & (count - 1)) == 0) {
		size_t room = count ? count * 2 : 1;
		void *grown = room > TOKENS_MAX ? NULL
						: reallocarray(*list.token, room, sizeof(*token));

		if (!grown)
			return false;
		*list.token = grown;
	}
	(*list.token)[(*list.count)++] = *token;
	return true;
}

static bool read_token(struct reader *reader, struct list list)
{
	struct symbol_token token = {
		.start = (uint32_t)reader->at,
		.line = reader->line,
		.column = (uint32_t)(reader->at - reader->line_start + 1),
	};
	size_t length = token_length(reader, &token.kind);

	if (length > reader->length - reader->at)
		length = reader->length - reader->at;
	token.length = (uint32_t)length;
	token.mark = token.kind == SYMBOL_TOKEN_MARK ? look(reader, 0) : 0;
	while (length--)
		advance(reader);
	reader->fresh = false;
	return append(list, &token);
}

static bool token_is(const struct reader *reader, const struct symbol_token *token,
		     const char *word)
{
	return token->length == strlen(word) &&
	       memcmp(reader->text + token->start, word, token->length) == 0;
}

static char directive_kind(const struct reader *reader, const struct symbol_token *name)
{
	static const struct {
		const char *name;
		char kind;
	} kinds[] = {{"define", 'd'}, {"include", 'i'}, {"include_next", 'i'}, {"undef", 'u'},
		     {"pragma", 'p'}, {"if", '?'},	{"ifdef", '?'},	       {"ifndef", '?'},
		     {"else", ':'},   {"elif", ':'},	{"elifdef", ':'},      {"elifndef", ':'},
		     {"endif", '.'}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (token_is(reader, name, kinds[i].name))
			return kinds[i].kind;
	return 0;
}

static bool append_directive(struct symbol_tokens *tokens, const struct symbol_directive *directive)
{
	size_t count = tokens->directive_count;

	if ((count & (count - 1)) == 0) {
		void *grown =
			reallocarray(tokens->directive, count ? count * 2 : 1, sizeof(*directive));

		if (!grown)
			return false;
		tokens->directive = grown;
	}
	tokens->directive[tokens->directive_count++] = *directive;
	return true;
}

/* From '#' to the end of the (continued) line. */
static bool read_directive(struct reader *reader, struct symbol_tokens *tokens)
{
	struct list list = {&tokens->directive_token, &tokens->directive_token_count};
	size_t first = tokens->directive_token_count;
	struct symbol_directive directive = {.line = reader->line, .at = (uint32_t)tokens->count};
	bool fine = true;

	advance(reader);
	while (fine && reader->at < reader->length && look(reader, 0) != '\n')
		if (!skip_blank(reader, true))
			fine = read_token(reader, list);
	if (!fine || tokens->directive_token_count == first)
		return fine;
	directive.kind = (uint8_t)directive_kind(reader, &tokens->directive_token[first]);
	directive.first = (uint32_t)first + 1;
	directive.count = (uint32_t)(tokens->directive_token_count - first - 1);
	return directive.kind == 0 || append_directive(tokens, &directive);
}

struct symbol_tokens *symbol_tokens_read(const char *text, size_t length)
{
	struct symbol_tokens *tokens = calloc(1, sizeof(*tokens));
	struct reader reader = {.text = text, .length = length, .line = 1, .fresh = true};
	bool fine = tokens != NULL;

	while (fine && reader.at < reader.length) {
		struct list list = {&tokens->token, &tokens->count};

		if (skip_blank(&reader, false))
			continue;
		/* "#[" and "#!" begin Rust attributes. */
		if (look(&reader, 0) == '#' && reader.fresh && look(&reader, 1) != '[' &&
		    look(&reader, 1) != '!')
			fine = read_directive(&reader, tokens);
		else
			fine = read_token(&reader, list);
	}
	return tokens;
}

void symbol_tokens_free(struct symbol_tokens *tokens)
{
	if (!tokens)
		return;
	free(tokens->token);
	free(tokens->directive_token);
	free(tokens->directive);
	free(tokens);
}
