/* SPDX-License-Identifier: Apache-2.0 */
#include "atomicity/lent.h"

#include "atomicity/body.h"
#include "dwarf/die.h"
#include "source/pragma.h"

#include <dwarf.h>
#include <limits.h>
#include <string.h>

/* A statement that is atomic: `operand` is the first token of its atomic side, or `last`. */
struct atomic {
	const struct symbol_source *source;
	const struct symbol_token *token;
	size_t count, operand;
};

static bool is_name(const struct symbol_source *source, const struct symbol_token *token,
		    const char *name, size_t length)
{
	return token->kind == SYMBOL_TOKEN_NAME && token->length == length &&
	       memcmp(source->text + token->start, name, length) == 0;
}

/* `x[`, `x.`, `x->` */
static bool is_part(const struct symbol_source *source, const struct symbol_token *token,
		    size_t count, size_t at)
{
	if (at + 1 >= count)
		return false;
	if (token[at + 1].mark == '[' || token[at + 1].mark == '.')
		return true;
	return token[at + 1].mark == '-' && source->text[token[at + 1].start + 1] == '>';
}

static bool is_member(const struct symbol_token *token, size_t at)
{
	return at > 0 && (token[at - 1].mark == '.' || token[at - 1].mark == '>');
}

/* `&x` hands it on and does not access it. */
static bool is_address(const struct symbol_token *token, size_t at)
{
	return at > 0 && token[at - 1].mark == '&' &&
	       (at == 1 || (token[at - 2].kind == SYMBOL_TOKEN_MARK && token[at - 2].mark != ')' &&
			    token[at - 2].mark != ']'));
}

/* `f(x)`, `f(a, x)`: in C++ perhaps a reference, that f() makes use of. */
static bool is_argument(const struct symbol_token *token, size_t count, size_t at)
{
	return at > 0 && at + 1 < count &&
	       (token[at - 1].mark == '(' || token[at - 1].mark == ',') &&
	       (token[at + 1].mark == ')' || token[at + 1].mark == ',');
}

const char *symbol_variable_member(const struct symbol_variable *variable, size_t *length)
{
	const char *path = variable->path ? variable->path : variable->name, *dot;
	const char *name = path;

	if (!path)
		return NULL;
	for (dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.'))
		name = dot + 1;
	*length = strcspn(name, "[");
	return name;
}

static bool is_whole(const struct symbol_variable *variable)
{
	return !variable->path || strcmp(variable->path, variable->name) == 0;
}

/* Of a variable with parts only a part is accessed, never what its bare name stands for. */
static bool names_variable(const struct symbol_variable *variable, bool references,
			   const struct symbol_source *source, const struct symbol_token *token,
			   size_t count)
{
	size_t length, root = strlen(variable->name);
	const char *member = symbol_variable_member(variable, &length);

	for (size_t i = 0; i < count; i++) {
		if (is_address(token, i) || (references && is_argument(token, count, i)))
			continue;
		if (is_name(source, &token[i], variable->name, root) &&
		    (is_whole(variable) || is_part(source, token, count, i)))
			return true;
		if (is_member(token, i) && is_name(source, &token[i], member, length))
			return true;
	}
	return false;
}

/* Of memory without a name: `a[i]` where the atomic statement has `a[j]`. */
static bool names_operand(const struct atomic *atomic, const struct symbol_source *source,
			  const struct symbol_token *token, size_t count)
{
	const struct symbol_token *operand = &atomic->token[atomic->operand];

	if (atomic->operand >= atomic->count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (is_name(source, &token[i], atomic->source->text + operand->start,
			    operand->length) &&
		    is_part(source, token, count, i) && !is_address(token, i))
			return true;
	return false;
}

/* A pointer, an array or, in C++, a reference may lead to any object. */
static bool leads_elsewhere(const struct symbol_source *source, const struct symbol_token *token,
			    size_t count, bool references)
{
	if (references)
		return true;
	for (size_t i = 0; i < count; i++)
		if (token[i].mark == '*' || token[i].mark == '[' ||
		    (token[i].mark == '-' && source->text[token[i].start + 1] == '>'))
			return true;
	return false;
}

static bool has_name(const struct atomic *atomic, const char *name)
{
	for (size_t i = 0; i < atomic->count; i++)
		if (is_name(atomic->source, &atomic->token[i], name, strlen(name)))
			return true;
	return false;
}

static bool has_references(Dwarf_Die *unit)
{
	int language = dwarf_srclang(unit);

	return language != DW_LANG_C89 && language != DW_LANG_C && language != DW_LANG_C99 &&
	       language != DW_LANG_C11;
}

/* Does the atomic statement's text leave room for the object? A place of a stack is that of several
 * variables in turn, and debug information may know another one there. */
static bool may_be_operand(const struct symbol_lent *lent, const struct atomic *atomic)
{
	return lent->variable->kind == SYMBOL_VARIABLE_STACK ||
	       has_name(atomic, lent->variable->name) ||
	       leads_elsewhere(atomic->source, atomic->token, atomic->count,
			       has_references(lent->unit));
}

/* Could the atomic statement's load be the one that the shown statement's line stands for? */
static bool may_lend(const struct symbol_lent *lent, const struct atomic *atomic,
		     const struct symbol_source *source, const struct symbol_statement *shown)
{
	const struct symbol_variable *variable = lent->variable;
	const struct symbol_token *token = source->tokens->token + shown->first;
	size_t count = shown->last - shown->first;
	bool references = has_references(lent->unit);

	if (!variable || !variable->typed || !variable->name)
		return !names_operand(atomic, source, token, count);
	if (names_variable(variable, references, source, token, count))
		return false;
	return may_be_operand(lent, atomic);
}

/* The statement that has the line, when a directive makes it atomic. */
static bool atomic_at(const struct symbol_lent *lent, struct symbol_source *source, unsigned line,
		      struct atomic *atomic)
{
	const struct symbol_tokens *tokens = source->tokens;
	enum symbol_pragma form = SYMBOL_PRAGMA_MIXED;
	struct symbol_statement extent;

	if (!symbol_pragma_at(source, tokens, line, &extent, &form) &&
	    (symbol_statement_find(tokens, line, 0, &extent) < 0 ||
	     !lent->is_directive(lent->arg, source, tokens->token + extent.first,
				 extent.last - extent.first)))
		return false;
	*atomic = (struct atomic){.source = source,
				  .token = tokens->token + extent.first,
				  .count = extent.last - extent.first};
	atomic->operand = symbol_pragma_operand(form, source, atomic->token, atomic->count);
	return true;
}

static bool has_line(const struct symbol_reduction *reduction, const struct symbol_tokens *tokens,
		     unsigned line)
{
	return line >= reduction->line && line <= tokens->token[reduction->extent.last - 1].line;
}

static bool is_within(const struct symbol_statement *inner, const struct symbol_statement *outer)
{
	return inner->first >= outer->first && inner->last <= outer->last;
}

/* What the line's construct reduces: could its load at the end be the one that is shown? */
static bool reduction_lends(const struct symbol_lent *lent, const struct symbol_source *text,
			    unsigned line, const struct symbol_source *source,
			    const struct symbol_statement *shown)
{
	const struct symbol_variable *variable = lent->variable;
	struct symbol_reduction reduction;

	for (size_t next = 0; symbol_pragma_reduction(text, &next, &reduction);) {
		const struct atomic atomic = {.source = text,
					      .token = reduction.item,
					      .count = reduction.items,
					      .operand = reduction.items};

		if (!has_line(&reduction, text->tokens, line))
			continue;
		if (source == text && is_within(shown, &reduction.extent)) {
			if (!variable || !variable->typed || !variable->name || !reduction.items ||
			    may_be_operand(lent, &atomic))
				return true;
		} else if (may_lend(lent, &atomic, source, shown)) {
			return true;
		}
	}
	return false;
}

static struct symbol_source *source_of(const struct symbol_lent *lent, Dwarf_Line *row)
{
	const char *file = dwarf_linesrc(row, NULL, NULL);
	char path[PATH_MAX];

	if (!file)
		return NULL;
	symbol_die_absolute(lent->unit, file, path, sizeof(path));
	return lent->read(lent->arg, path);
}

bool symbol_lent(const struct symbol_lent *lent, const struct symbol_source *source,
		 const struct symbol_statement *statement)
{
	const struct symbol_source *searched = NULL; /* whether it has reductions is known */
	bool reduces = false;
	Dwarf_Lines *rows;
	size_t count;
	int line, before = 0;

	if (dwarf_getsrclines(lent->unit, &rows, &count) != 0)
		return true;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *row = dwarf_onesrcline(rows, i);
		struct symbol_source *text;
		struct atomic atomic;
		Dwarf_Addr address;

		if (dwarf_lineno(row, &line) != 0 || line <= 0 || line == before ||
		    dwarf_lineaddr(row, &address) != 0 || dwarf_haspc(lent->function, address) != 1)
			continue;
		before = line;
		text = source_of(lent, row);
		if (!text)
			continue;
		if (text != searched)
			reduces = memmem(text->text, text->length, "reduction", 9) != NULL;
		searched = text;
		if ((atomic_at(lent, text, (unsigned)line, &atomic) &&
		     may_lend(lent, &atomic, source, statement)) ||
		    (reduces && reduction_lends(lent, text, (unsigned)line, source, statement)))
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------------------------------- */
/* Atomic operations of the language */

#define CALLS_MAX 3 /* functions within each other that are looked into */

/* Is it an atomic operation, and could its object be what was accessed? */
static bool operation_lends(const struct symbol_lent *lent, const struct symbol_source *source,
			    const struct symbol_token *token, size_t count)
{
	const struct symbol_variable *variable = lent->variable;
	const struct atomic atomic = {
		.source = source, .token = token, .count = count, .operand = count};

	if (!lent->is_operation(lent->arg, source, token, count))
		return false;
	if (variable && variable->typed && variable->name)
		return may_be_operand(lent, &atomic);
	return leads_elsewhere(source, token, count, has_references(lent->unit));
}

static size_t statement_end(const struct symbol_tokens *tokens, size_t at, size_t last)
{
	while (at < last && !symbol_statement_ends(&tokens->token[at]))
		at++;
	return at;
}

static bool function_lends(const struct symbol_lent *lent, const char *name, size_t length,
			   unsigned depth);

static bool call_lends(const struct symbol_lent *lent, const struct symbol_source *source,
		       const struct symbol_token *token, size_t count, unsigned depth)
{
	for (size_t i = 0; i + 1 < count; i++)
		if (token[i].kind == SYMBOL_TOKEN_NAME && token[i + 1].mark == '(' &&
		    function_lends(lent, source->text + token[i].start, token[i].length, depth))
			return true;
	return false;
}

static bool function_lends(const struct symbol_lent *lent, const char *name, size_t length,
			   unsigned depth)
{
	struct symbol_body body;

	if (depth == CALLS_MAX)
		return false;
	for (size_t i = 0; symbol_body_find(lent->macros, name, length, i, &body); i++) {
		const struct symbol_tokens *tokens = body.source->tokens;

		for (size_t at = body.first, end; at < body.last; at = end + 1) {
			end = statement_end(tokens, at, body.last);
			if (!*lent->left)
				return true;
			--*lent->left;
			if (operation_lends(lent, body.source, tokens->token + at, end - at) ||
			    call_lends(lent, body.source, tokens->token + at, end - at, depth + 1))
				return true;
		}
	}
	return false;
}

/* Is a variable of that name assigned an operation's value between the tokens [first, last)? */
static bool variable_lends(const struct symbol_lent *lent, const struct symbol_source *source,
			   const struct symbol_token *name, size_t first, size_t last)
{
	const struct symbol_tokens *tokens = source->tokens;

	for (size_t at = first; at + 2 < last; at++) {
		const struct symbol_token *token = &tokens->token[at];
		size_t end;

		if (!is_name(source, token, source->text + name->start, name->length) ||
		    token[1].mark != '=' || token[2].mark == '=')
			continue;
		end = statement_end(tokens, at, last);
		if (operation_lends(lent, source, token + 2, end - at - 2) ||
		    call_lends(lent, source, token + 2, end - at - 2, 0))
			return true;
	}
	return false;
}

bool symbol_lent_value(const struct symbol_lent *lent, const struct symbol_source *source,
		       const struct symbol_statement *statement, unsigned line)
{
	const struct symbol_variable *variable = lent->variable;
	const struct symbol_token *token = source->tokens->token + statement->first;
	size_t count = statement->last - statement->first, first, last;

	if (variable && variable->typed && variable->name &&
	    names_variable(variable, has_references(lent->unit), source, token, count))
		return false;
	if (call_lends(lent, source, token, count, 0))
		return true;
	symbol_body_around(source->tokens, line, &first, &last);
	for (size_t i = 0; i < count; i++)
		if (token[i].kind == SYMBOL_TOKEN_NAME && !is_member(token, i) &&
		    variable_lends(lent, source, &token[i], first, last))
			return true;
	return false;
}
