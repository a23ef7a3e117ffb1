/* SPDX-License-Identifier: Apache-2.0 */
#include "atomicity/declared.h"

#include "atomicity/language.h"
#include "base/text.h"
#include "source/statement.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_MAX (1u << 16)
#define DECLARATION_MOST 512u /* tokens behind a type that are looked at */
#define PASSES 4	      /* of types that are made of each other */

enum { IS_TYPE = 1, IS_OBJECT = 2 };

struct name {
	const char *text; /* in a source */
	uint32_t length;
	uint8_t flags;
};

struct symbol_declared {
	struct name *name; /* open addressing */
	size_t slots, used, types;
};

/* What stands in parentheses, after `=` or in another parameter is no declarator of this one. */
struct declaration {
	const struct symbol_source *source;
	size_t at, end; /* tokens behind the atomic type */
	bool parameter, type;
};

static struct name *slot_of(struct name *name, size_t slots, const char *text, size_t length)
{
	size_t at = text_hash(text, length) & (slots - 1);

	while (name[at].text &&
	       (name[at].length != length || memcmp(name[at].text, text, length) != 0))
		at = (at + 1) & (slots - 1);
	return &name[at];
}

static bool grow(struct symbol_declared *declared)
{
	size_t slots = declared->slots ? declared->slots * 2 : 256;
	struct name *name = slots > NAMES_MAX ? NULL : calloc(slots, sizeof(*name));

	if (!name)
		return false;
	for (size_t i = 0; i < declared->slots; i++)
		if (declared->name[i].text)
			*slot_of(name, slots, declared->name[i].text, declared->name[i].length) =
				declared->name[i];
	free(declared->name);
	declared->name = name;
	declared->slots = slots;
	return true;
}

static void add(struct symbol_declared *declared, const char *text, size_t length, unsigned flags)
{
	struct name *name;

	if (declared->used * 2 >= declared->slots && !grow(declared))
		return;
	name = slot_of(declared->name, declared->slots, text, length);
	declared->used += name->text == NULL;
	declared->types += flags & ~name->flags & IS_TYPE;
	name->text = text;
	name->length = (uint32_t)length;
	name->flags |= (uint8_t)flags;
}

static unsigned flags_of(const struct symbol_declared *declared, const char *text, size_t length)
{
	if (!declared->slots)
		return 0;
	return slot_of(declared->name, declared->slots, text, length)->flags;
}

/* "atomic_int", "atomic_size_t": <stdatomic.h> may not be there to be read (C11 7.17.6). */
static bool is_standard(const char *text, size_t length)
{
	static const char *const ends[] = {"bool",   "char",   "schar", "uchar", "short",
					   "ushort", "int",    "uint",	"long",	 "ulong",
					   "llong",  "ullong", "flag",	NULL};
	static const char prefix[] = "atomic_";
	const size_t start = sizeof(prefix) - 1;

	if (length == 7 && memcmp(text, "_Atomic", 7) == 0)
		return true;
	if (length <= start + 2 || memcmp(text, prefix, start) != 0)
		return false;
	if (memcmp(text + length - 2, "_t", 2) == 0)
		return true;
	for (size_t i = 0; ends[i]; i++)
		if (length - start == strlen(ends[i]) &&
		    memcmp(text + start, ends[i], length - start) == 0)
			return true;
	return false;
}

static bool is_type(const struct symbol_declared *declared, const struct symbol_source *source,
		    const struct symbol_token *token)
{
	const char *text = source->text + token->start;

	return token->kind == SYMBOL_TOKEN_NAME &&
	       (is_standard(text, token->length) ||
		(flags_of(declared, text, token->length) & IS_TYPE));
}

/* One past the mark that closes the one at `at`, or `end`. */
static size_t past_pair(const struct symbol_token *token, size_t at, size_t end)
{
	size_t depth = 0;

	for (; at < end; at++) {
		depth += token[at].mark == '(' || token[at].mark == '[';
		depth -= (token[at].mark == ')' || token[at].mark == ']') && depth;
		if (!depth)
			return at + 1;
	}
	return end;
}

/* `typedef _Atomic struct {` has none. */
static bool is_declarator(const struct symbol_source *source, size_t at, size_t end)
{
	const struct symbol_token *token = source->tokens->token;

	return token[at].kind == SYMBOL_TOKEN_NAME &&
	       !symbol_language_keyword(source->text + token[at].start, token[at].length, false) &&
	       (at + 1 == end || (token[at + 1].kind == SYMBOL_TOKEN_MARK && token[at + 1].mark &&
				  strchr(",;=[:()", token[at + 1].mark)));
}

static void take_declarators(struct symbol_declared *declared, const struct declaration *here)
{
	const struct symbol_token *token = here->source->tokens->token;
	bool initialiser = false;

	for (size_t at = here->at; at < here->end; at++) {
		char mark = token[at].kind == SYMBOL_TOKEN_MARK ? token[at].mark : 0;

		if (mark == ')' || (mark == ',' && here->parameter))
			return;
		if (mark == '(' || mark == '[')
			at = past_pair(token, at, here->end) - 1;
		else if (mark == '=' || mark == ',')
			initialiser = mark == '=';
		else if (!initialiser && is_declarator(here->source, at, here->end))
			add(declared, here->source->text + token[at].start, token[at].length,
			    here->type ? IS_TYPE : IS_OBJECT);
	}
}

static bool is_text(const struct symbol_source *source, const struct symbol_token *token,
		    const char *text)
{
	return token->length == strlen(text) &&
	       memcmp(source->text + token->start, text, token->length) == 0;
}

/* `_Atomic(int)`; or `COUNTER(hits)` of a macro, of which it is not known what it declares: all of
 * them. */
static void take_parenthesised(struct symbol_declared *declared, struct declaration *here,
			       bool macro)
{
	const struct symbol_token *token = here->source->tokens->token;
	size_t past = past_pair(token, here->at, here->end);

	for (size_t at = here->at; macro && at < past; at++)
		if (is_declarator(here->source, at, here->end))
			add(declared, here->source->text + token[at].start, token[at].length,
			    IS_OBJECT);
	here->at = past;
}

/* Of the statement [first, end): each atomic type in it, with what follows. */
static void read_statement(struct symbol_declared *declared, const struct symbol_source *source,
			   size_t first, size_t end)
{
	const struct symbol_token *token = source->tokens->token;
	size_t depth = 0;

	for (size_t at = first; at < end; at++) {
		struct declaration here = {
			.source = source,
			.at = at + 1,
			.end = end - at > DECLARATION_MOST ? at + DECLARATION_MOST : end};

		depth += token[at].mark == '(';
		depth -= token[at].mark == ')' && depth;
		if (!is_type(declared, source, &token[at]))
			continue;
		if (here.at < here.end && token[here.at].mark == '(')
			take_parenthesised(declared, &here,
					   !is_text(source, &token[at], "_Atomic"));
		here.parameter = depth;
		here.type = is_text(source, &token[first], "typedef");
		take_declarators(declared, &here);
	}
}

/* `#define SHARED(type) static _Atomic type` */
static void read_macro(struct symbol_declared *declared, const struct symbol_source *source,
		       const struct symbol_directive *directive)
{
	static const char *const before[] = {"static",	 "extern",	  "const",
					     "volatile", "_Thread_local", "__thread"};
	const struct symbol_token *token = &source->tokens->directive_token[directive->first];
	size_t at = 1;

	if (directive->kind != 'd' || directive->count < 2)
		return;
	if (token[1].mark == '(' && token[1].start == token[0].start + token[0].length)
		at = past_pair(token, 1, directive->count);
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]) && at < directive->count;)
		if (is_text(source, &token[at], before[i++])) {
			at++;
			i = 0;
		}
	if (at < directive->count && is_type(declared, source, &token[at]))
		add(declared, source->text + token[0].start, token[0].length, IS_TYPE);
}

static void read_source(struct symbol_declared *declared, const struct symbol_source *source)
{
	const struct symbol_tokens *tokens = source->tokens;
	size_t first = 0;

	for (size_t i = 0; i < tokens->directive_count; i++)
		read_macro(declared, source, &tokens->directive[i]);
	for (size_t at = 0; at <= tokens->count; at++)
		if (at == tokens->count || symbol_statement_ends(&tokens->token[at])) {
			read_statement(declared, source, first, at);
			first = at + 1;
		}
}

static struct symbol_declared *read_all(const struct symbol_macros *macros)
{
	struct symbol_declared *declared = calloc(1, sizeof(*declared));
	size_t types = SIZE_MAX;

	for (unsigned pass = 0; declared && pass < PASSES && declared->types != types; pass++) {
		types = declared->types;
		for (size_t i = 0; i < macros->count; i++)
			if (symbol_source_tokens(macros->source[i]))
				read_source(declared, macros->source[i]);
	}
	return declared;
}

static void declared_free(struct symbol_declared *declared)
{
	free(declared->name);
	free(declared);
}

bool symbol_declared_atomic(struct symbol_macros *macros, const char *name, size_t length)
{
	if (!macros->declared) {
		macros->declared_free = declared_free;
		macros->declared = read_all(macros);
	}
	return macros->declared && flags_of(macros->declared, name, length);
}
