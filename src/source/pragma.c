/* SPDX-License-Identifier: Apache-2.0 */
#include "source/pragma.h"

#include <string.h>

static bool is_word(const struct symbol_source *source, const struct symbol_token *token,
		    const char *word)
{
	return token->length == strlen(word) &&
	       memcmp(source->text + token->start, word, token->length) == 0;
}

static bool is_atomic_directive(const struct symbol_source *source,
				const struct symbol_token *token, size_t count)
{
	return count >= 2 &&
	       (is_word(source, &token[0], "omp") || is_word(source, &token[0], "acc")) &&
	       is_word(source, &token[1], "atomic");
}

/* Clauses come in any order, with commas or without: `seq_cst, capture`, `hint(0) read`. */
static enum symbol_pragma form_of(const struct symbol_source *source,
				  const struct symbol_token *token, size_t count)
{
	enum symbol_pragma form = SYMBOL_PRAGMA_STORE;

	for (size_t i = 2; i < count; i++) {
		if (is_word(source, &token[i], "capture") || is_word(source, &token[i], "compare"))
			return SYMBOL_PRAGMA_MIXED;
		if (is_word(source, &token[i], "read"))
			form = SYMBOL_PRAGMA_READ;
	}
	return form;
}

/* One past the mark that closes the one at `at`. */
static size_t past_pair(const struct symbol_tokens *tokens, size_t at)
{
	size_t depth = 0;

	for (; at < tokens->count; at++) {
		char mark = tokens->token[at].mark;

		depth += mark == '(' || mark == '[' || mark == '{';
		depth -= (mark == ')' || mark == ']' || mark == '}') && depth;
		if (!depth)
			return at + 1;
	}
	return at;
}

static size_t past_expression(const struct symbol_tokens *tokens, size_t at)
{
	while (at < tokens->count) {
		char mark = tokens->token[at].mark;

		if (mark == ';')
			return at + 1;
		if (mark == '}')
			return at;
		at = mark == '(' || mark == '[' || mark == '{' ? past_pair(tokens, at) : at + 1;
	}
	return at;
}

#define NESTING_MAX 16 /* of conditions and loops */

/* A loop's head, as a collapsed loop has several of. */
static bool is_loop(const struct symbol_source *source, const struct symbol_tokens *tokens,
		    size_t at)
{
	return at + 1 < tokens->count && tokens->token[at + 1].mark == '(' &&
	       (is_word(source, &tokens->token[at], "for") ||
		is_word(source, &tokens->token[at], "while"));
}

/* One past the statement of C or C++ that begins at `at`. */
static size_t past_statement(const struct symbol_source *source, const struct symbol_tokens *tokens,
			     size_t at)
{
	unsigned conditions = 0; /* without their else, as far as seen */

	for (unsigned depth = 0; depth < NESTING_MAX && at < tokens->count; depth++) {
		if (tokens->token[at].mark == '{') {
			at = past_pair(tokens, at);
		} else if (is_word(source, &tokens->token[at], "if") && at + 1 < tokens->count) {
			at = past_pair(tokens, at + 1);
			conditions++;
			continue;
		} else if (is_loop(source, tokens, at)) {
			at = past_pair(tokens, at + 1);
			continue;
		} else {
			at = past_expression(tokens, at);
		}
		if (!conditions || at >= tokens->count ||
		    !is_word(source, &tokens->token[at], "else"))
			break;
		conditions--;
		at++;
	}
	return at;
}

/*
 * The directive may stand before the alternatives of an #if, of which each is in the tokens: it is
 * theirs, too, when the #if itself came after it.
 */
static bool goes_on(const struct symbol_tokens *tokens, size_t directive, size_t end)
{
	size_t depth = 0;

	for (size_t i = directive + 1; i < tokens->directive_count; i++) {
		const struct symbol_directive *next = &tokens->directive[i];

		if (next->at > end)
			return false;
		if (next->kind == '.' && depth)
			depth--;
		depth += next->kind == '?';
		if (next->kind == ':' && next->at == end)
			return depth > 0;
	}
	return false;
}

static size_t end_of_extent(const struct symbol_source *source, const struct symbol_tokens *tokens,
			    size_t directive)
{
	size_t at = tokens->directive[directive].at, end;

	do {
		end = past_statement(source, tokens, at);
		if (end <= at)
			break;
		at = end;
	} while (goes_on(tokens, directive, end));
	return end;
}

enum symbol_pragma symbol_pragma_over(const struct symbol_source *source,
				      const struct symbol_tokens *tokens,
				      const struct symbol_statement *statement)
{
	for (size_t i = 0; i < tokens->directive_count; i++) {
		const struct symbol_directive *directive = &tokens->directive[i];
		const struct symbol_token *token = &tokens->directive_token[directive->first];

		if (directive->at >= statement->last)
			break;
		if (directive->kind == 'p' &&
		    is_atomic_directive(source, token, directive->count) &&
		    end_of_extent(source, tokens, i) > statement->first)
			return form_of(source, token, directive->count);
	}
	return SYMBOL_PRAGMA_NONE;
}

bool symbol_pragma_at(const struct symbol_source *source, const struct symbol_tokens *tokens,
		      unsigned line, struct symbol_statement *extent, enum symbol_pragma *form)
{
	for (size_t i = 0; i < tokens->directive_count; i++) {
		const struct symbol_directive *directive = &tokens->directive[i];
		const struct symbol_token *token = &tokens->directive_token[directive->first];

		if (directive->line > line)
			break;
		if (directive->kind != 'p' || !is_atomic_directive(source, token, directive->count))
			continue;
		extent->first = directive->at;
		extent->last = end_of_extent(source, tokens, i);
		*form = form_of(source, token, directive->count);
		if (extent->last > extent->first && tokens->token[extent->last - 1].line >= line)
			return true;
	}
	return false;
}

/* `reduction(+ : sum)`, `in_reduction(+ : sum)`, also with modifiers: the position of its name. */
static size_t reduction_clause(const struct symbol_source *source, const struct symbol_token *token,
			       size_t count)
{
	static const char *const names[] = {"reduction", "in_reduction", "task_reduction"};

	for (size_t i = 0; i + 1 < count && token[i].mark != ';' && token[i].mark != '{'; i++)
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
			if (token[i + 1].mark == '(' && is_word(source, &token[i], names[j]))
				return i;
	return count;
}

static bool is_directive_name(const struct symbol_source *source, const struct symbol_token *token)
{
	return is_word(source, token, "omp") || is_word(source, token, "acc");
}

static bool reduction_of_directive(const struct symbol_source *source,
				   const struct symbol_tokens *tokens, size_t directive,
				   struct symbol_reduction *reduction)
{
	const struct symbol_directive *here = &tokens->directive[directive];
	const struct symbol_token *token = &tokens->directive_token[here->first];
	size_t clause = reduction_clause(source, token, here->count);

	if (here->kind != 'p' || clause == here->count || !is_directive_name(source, token))
		return false;
	while (clause < here->count && token[clause].mark != ':')
		clause++;
	*reduction = (struct symbol_reduction){
		.line = here->line, .item = token + clause, .items = here->count - clause};
	reduction->extent.first = here->at;
	reduction->extent.last = end_of_extent(source, tokens, directive);
	return true;
}

static bool text_has(const struct symbol_source *source, const struct symbol_token *token,
		     const char *word)
{
	return token->kind == SYMBOL_TOKEN_TEXT &&
	       memmem(source->text + token->start, token->length, word, strlen(word));
}

/* `_Pragma("omp parallel for reduction(+ : sum)")`, [[omp::directive(…)]], and the argument of a
 * macro that makes one of them. */
static bool reduction_of_token(const struct symbol_source *source,
			       const struct symbol_tokens *tokens, size_t at,
			       struct symbol_reduction *reduction)
{
	const struct symbol_token *token = &tokens->token[at];
	size_t left = tokens->count - at;
	size_t end = at + 1;

	if (is_directive_name(source, token)) {
		size_t clause = reduction_clause(source, token, left);

		if (clause == left)
			return false;
		end = past_pair(tokens, at + clause + 1);
	} else if (!text_has(source, token, "reduction") ||
		   (!text_has(source, token, "omp") && !text_has(source, token, "acc"))) {
		return false;
	}
	while (end < tokens->count &&
	       (tokens->token[end].mark == ')' || tokens->token[end].mark == ']'))
		end++;
	*reduction = (struct symbol_reduction){.line = token->line};
	reduction->extent.first = end;
	reduction->extent.last = past_statement(source, tokens, end);
	return true;
}

bool symbol_pragma_reduction(const struct symbol_source *source, size_t *next,
			     struct symbol_reduction *reduction)
{
	const struct symbol_tokens *tokens = source->tokens;

	for (; *next < tokens->directive_count + tokens->count; ++*next) {
		size_t at = *next;
		bool found = at < tokens->directive_count
				     ? reduction_of_directive(source, tokens, at, reduction)
				     : reduction_of_token(source, tokens,
							  at - tokens->directive_count, reduction);

		if (found && reduction->extent.last > reduction->extent.first) {
			++*next;
			return true;
		}
	}
	return false;
}

/* "omp atomic read", and with white space around: the text of a `_Pragma`. */
static bool text_is_atomic(const char *text, size_t length)
{
	size_t at = 0;

	while (at < length && (text[at] == '"' || text[at] == ' ' || text[at] == '\t'))
		at++;
	if (length - at < 4 ||
	    (memcmp(text + at, "omp", 3) != 0 && memcmp(text + at, "acc", 3) != 0))
		return false;
	for (at += 3; at < length && (text[at] == ' ' || text[at] == '\t'); at++)
		;
	return length - at >= 6 && memcmp(text + at, "atomic", 6) == 0;
}

static bool is_pragma_operator(const struct symbol_source *source, const struct symbol_token *token,
			       size_t count)
{
	if (count < 3 ||
	    (!is_word(source, &token[0], "_Pragma") && !is_word(source, &token[0], "__pragma")))
		return false;
	/* A text that a macro makes (#text) may be this one. */
	return token[2].mark == '#' || is_atomic_directive(source, token + 2, count - 2) ||
	       text_is_atomic(source->text + token[2].start, token[2].length);
}

/* [[omp::directive(atomic read)]], [[omp::sequence(…)]], [[using omp: directive(…)]] */
static bool is_attribute(const struct symbol_source *source, const struct symbol_token *token,
			 size_t count)
{
	bool omp = false;

	if (count < 4 || token[0].mark != '[' || token[1].mark != '[')
		return false;
	for (size_t i = 2; i < count && token[i].mark != ']'; i++) {
		omp |= is_word(source, &token[i], "omp");
		if (omp && is_word(source, &token[i], "atomic"))
			return true;
	}
	return false;
}

bool symbol_pragma_here(const struct symbol_source *source, const struct symbol_token *token,
			size_t count)
{
	return is_pragma_operator(source, token, count) || is_attribute(source, token, count);
}

/* The first `=` that assigns, also of `+=` and its kin; `count` when there is none. */
static size_t assignment(const struct symbol_source *source, const struct symbol_token *token,
			 size_t count)
{
	for (size_t i = 1; i + 1 < count; i++) {
		char before = source->text[token[i].start - 1];

		if (token[i].mark != '=')
			continue;
		if (token[i + 1].mark == '=' && token[i + 1].start == token[i].start + 1)
			i++;
		else if (before != '!' &&
			 !((before == '<' || before == '>') && token[i].start >= 2 &&
			   source->text[token[i].start - 2] != before))
			return i;
	}
	return count;
}

static bool names(const struct symbol_source *source, const struct symbol_token *token,
		  size_t first, size_t last, const char *name)
{
	for (size_t i = first; i < last; i++)
		if (token[i].kind == SYMBOL_TOKEN_NAME && is_word(source, &token[i], name))
			return true;
	return false;
}

bool symbol_pragma_names(enum symbol_pragma form, const struct symbol_source *source,
			 const struct symbol_token *token, size_t count, const char *name)
{
	size_t middle = assignment(source, token, count), first = 0, last = count;

	if (form == SYMBOL_PRAGMA_READ && middle < count)
		first = middle + 1;
	else if (form == SYMBOL_PRAGMA_STORE)
		last = middle;
	/* What is named nowhere is reached by a pointer, and that may be the atomic side's. */
	return names(source, token, first, last, name) || !names(source, token, 0, count, name);
}

size_t symbol_pragma_operand(enum symbol_pragma form, const struct symbol_source *source,
			     const struct symbol_token *token, size_t count)
{
	size_t middle = assignment(source, token, count);
	size_t at = form == SYMBOL_PRAGMA_READ && middle < count ? middle + 1 : 0;

	if (form == SYMBOL_PRAGMA_MIXED)
		return count;
	while (at < count && token[at].kind != SYMBOL_TOKEN_NAME)
		at++;
	return at;
}

size_t symbol_pragma_block(const struct symbol_tokens *tokens, size_t at)
{
	size_t closed = 0;

	for (size_t i = at; i-- > 0;) {
		char mark = tokens->token[i].mark;

		if (mark == '{' && !closed)
			return i;
		closed += mark == '}';
		closed -= mark == '{';
	}
	return at;
}

/* GCC: "GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -fopenmp". Of -fopenmp-simd it is not
 * heeded.
 */
static bool has_option(const char *producer, const char *option)
{
	size_t length = strlen(option);

	for (const char *at = producer; (at = strstr(at, option)); at += length)
		if (at[length] == 0 || at[length] == ' ')
			return true;
	return false;
}

bool symbol_pragma_heeded(const char *producer)
{
	if (!producer || strncmp(producer, "GNU ", 4) != 0 || !strstr(producer, " -m"))
		return true;
	return has_option(producer, "-fopenmp") || has_option(producer, "-fopenacc");
}
