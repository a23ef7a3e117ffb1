/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust linkage names. Legacy: the Itanium nested-name form, ending in a hash ("17h" and 16
 * hexadecimal digits), with "$LT$"-like escapes. v0: RFC 2603, a prefix grammar with back
 * references; generic arguments are shown, disambiguators and lifetimes' names are not.
 */
#include "mangling/demangle.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 64
#define STEPS_MAX 4096 /* back references can repeat work: a bound on nodes visited */

struct output {
	char *text;
	size_t size, length;
};

static void put_bytes(struct output *output, const char *bytes, size_t length)
{
	size_t room = output->size - 1 - output->length;

	if (length > room)
		length = room;
	memcpy(output->text + output->length, bytes, length);
	output->length += length;
	output->text[output->length] = 0;
}

static void put(struct output *output, const char *text)
{
	put_bytes(output, text, strlen(text));
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Legacy --------------------------------------------------------------------------------------- */

static bool put_escape(struct output *output, const char *name, size_t length, size_t *used)
{
	static const struct {
		const char *code, *text;
	} escapes[] = {{"$LT$", "<"},  {"$GT$", ">"},	{"$LP$", "("},	{"$RP$", ")"},
		       {"$C$", ","},   {"$RF$", "&"},	{"$BP$", "*"},	{"$SP$", "@"},
		       {"$u20$", " "}, {"$u27$", "'"},	{"$u5b$", "["}, {"$u5d$", "]"},
		       {"$u7b$", "{"}, {"$u7d$", "}"},	{"$u7e$", "~"}, {"$u3b$", ";"},
		       {"$u2b$", "+"}, {"$u22$", "\""}, {"..", "::"}};

	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		size_t size = strlen(escapes[i].code);

		if (size <= length && memcmp(name, escapes[i].code, size) == 0) {
			put(output, escapes[i].text);
			*used = size;
			return true;
		}
	}
	return false;
}

static void put_legacy(struct output *output, const char *name, size_t length)
{
	size_t at = 0;

	/* An identifier that starts with an escape is written with a leading underscore. */
	if (length > 1 && name[0] == '_' && name[1] == '$')
		at = 1;
	while (at < length) {
		size_t used = 1;

		if (!put_escape(output, name + at, length - at, &used))
			put_bytes(output, name + at, 1);
		at += used;
	}
}

static bool is_legacy_hash(const char *name, size_t length)
{
	if (length != 17 || name[0] != 'h')
		return false;
	return strspn(name + 1, "0123456789abcdef") >= 16;
}

/* One pass to recognise (output NULL), one to write. */
static bool walk_legacy(const char *linkage, struct output *output)
{
	const char *at = linkage + 3;
	bool hash = false;

	for (unsigned parts = 0; is_digit(*at); parts++) {
		size_t length = 0;

		while (is_digit(*at) && length < 100000)
			length = length * 10 + (size_t)(*at++ - '0');
		if (length == 0 || strnlen(at, length) < length)
			return false;
		hash = is_legacy_hash(at, length);
		if (output && !hash) {
			if (parts)
				put(output, "::");
			put_legacy(output, at, length);
		}
		at += length;
	}
	return hash && *at == 'E';
}

/* v0 ------------------------------------------------------------------------------------------- */

struct parser {
	const char *start, *at, *end; /* back references count from start, after "_R" */
	struct output *output;
	unsigned depth, steps, hidden; /* hidden: parse without writing */
	bool failed;
};

static void parse_path(struct parser *parser, bool in_value);
static void parse_type(struct parser *parser);

static void fail(struct parser *parser)
{
	parser->failed = true;
}

static bool enter(struct parser *parser)
{
	if (parser->failed || ++parser->steps > STEPS_MAX || parser->depth >= DEPTH_MAX) {
		fail(parser);
		return false;
	}
	parser->depth++;
	return true;
}

static void leave(struct parser *parser)
{
	parser->depth--;
}

static char take(struct parser *parser)
{
	if (parser->failed || parser->at >= parser->end) {
		fail(parser);
		return 0;
	}
	return *parser->at++;
}

static bool take_if(struct parser *parser, char c)
{
	if (parser->failed || parser->at >= parser->end || *parser->at != c)
		return false;
	parser->at++;
	return true;
}

static void show(struct parser *parser, const char *text)
{
	if (!parser->failed && !parser->hidden)
		put(parser->output, text);
}

/* base-62-number: "_" is 0, otherwise digits then "_" is the value plus 1. */
static uint64_t parse_base62(struct parser *parser)
{
	uint64_t value = 0;

	if (take_if(parser, '_'))
		return 0;
	for (;;) {
		char c = take(parser);

		if (parser->failed || c == '_')
			return value + 1;
		if (value > UINT64_MAX / 62 - 62)
			fail(parser);
		if (is_digit(c))
			value = value * 62 + (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'z')
			value = value * 62 + (uint64_t)(c - 'a') + 10;
		else if (c >= 'A' && c <= 'Z')
			value = value * 62 + (uint64_t)(c - 'A') + 36;
		else
			fail(parser);
	}
}

static uint64_t parse_disambiguator(struct parser *parser)
{
	return take_if(parser, 's') ? parse_base62(parser) + 1 : 0;
}

struct identifier {
	const char *text;
	size_t length;
	bool punycode;
};

static struct identifier parse_identifier(struct parser *parser)
{
	struct identifier identifier = {"", 0, take_if(parser, 'u')};
	size_t length = 0;

	if (parser->at >= parser->end || !is_digit(*parser->at))
		fail(parser);
	if (!take_if(parser, '0'))
		while (!parser->failed && parser->at < parser->end && is_digit(*parser->at) &&
		       length < 100000)
			length = length * 10 + (size_t)(take(parser) - '0');
	take_if(parser, '_');
	if (parser->failed || length > (size_t)(parser->end - parser->at)) {
		fail(parser);
		return identifier;
	}
	identifier.text = parser->at;
	identifier.length = length;
	parser->at += length;
	return identifier;
}

static void show_identifier(struct parser *parser, struct identifier identifier)
{
	if (parser->failed || parser->hidden)
		return;
	if (identifier.punycode)
		put(parser->output, "punycode{");
	put_bytes(parser->output, identifier.text, identifier.length);
	if (identifier.punycode)
		put(parser->output, "}");
}

/* Parse again from an earlier place, then go on after the reference. */
static void parse_reference(struct parser *parser, void (*parse)(struct parser *parser))
{
	const char *tag = parser->at - 1;
	uint64_t offset = parse_base62(parser);
	const char *after = parser->at;

	if (parser->failed || offset >= (uint64_t)(tag - parser->start)) {
		fail(parser); /* only backwards, or it would not end */
		return;
	}
	if (parser->hidden)
		return;
	parser->at = parser->start + offset;
	parse(parser);
	parser->at = after;
}

static void parse_path_in_type(struct parser *parser)
{
	parse_path(parser, false);
}

static void parse_path_in_value(struct parser *parser)
{
	parse_path(parser, true);
}

static void parse_lifetime(struct parser *parser)
{
	parse_base62(parser);
	show(parser, "'_");
}

static void parse_hex(struct parser *parser, char *text, size_t size)
{
	size_t length = 0;

	for (;;) {
		char c = take(parser);

		if (parser->failed || c == '_')
			break;
		if (!is_digit(c) && !(c >= 'a' && c <= 'f'))
			fail(parser);
		if (length + 1 < size)
			text[length++] = c;
	}
	text[length] = 0;
}

static void parse_constant(struct parser *parser)
{
	char digits[40], shown[64];
	char type;

	if (!enter(parser))
		return;
	type = take(parser);
	if (type == 'p') {
		show(parser, "_");
	} else if (type == 'B') {
		parse_reference(parser, parse_constant);
	} else {
		bool negative = take_if(parser, 'n');

		parse_hex(parser, digits, sizeof(digits));
		if (type == 'b')
			snprintf(shown, sizeof(shown), "%s",
				 strcmp(digits, "1") ? "false" : "true");
		else
			snprintf(shown, sizeof(shown), "%s0x%s", negative ? "-" : "", digits);
		show(parser, shown);
	}
	leave(parser);
}

static void parse_generic(struct parser *parser)
{
	if (take_if(parser, 'L'))
		parse_lifetime(parser);
	else if (take_if(parser, 'K'))
		parse_constant(parser);
	else
		parse_type(parser);
}

static void parse_list(struct parser *parser, void (*parse)(struct parser *parser), unsigned *count)
{
	*count = 0;
	while (!parser->failed && !take_if(parser, 'E')) {
		if ((*count)++)
			show(parser, ", ");
		parse(parser);
	}
}

static void parse_binder(struct parser *parser)
{
	if (take_if(parser, 'G'))
		parse_base62(parser);
}

static void parse_function_type(struct parser *parser)
{
	unsigned count;

	parse_binder(parser);
	if (take_if(parser, 'U'))
		show(parser, "unsafe ");
	if (take_if(parser, 'K')) {
		show(parser, "extern ");
		if (!take_if(parser, 'C'))
			show_identifier(parser, parse_identifier(parser));
		else
			show(parser, "\"C\"");
		show(parser, " ");
	}
	show(parser, "fn(");
	parse_list(parser, parse_type, &count);
	show(parser, ")");
	if (take_if(parser, 'u')) /* unit */
		return;
	show(parser, " -> ");
	parse_type(parser);
}

static void parse_trait(struct parser *parser)
{
	parse_path(parser, false);
	while (take_if(parser, 'p')) {
		show(parser, " + ");
		show_identifier(parser, parse_identifier(parser));
		show(parser, " = ");
		parse_type(parser);
	}
}

static void parse_dyn(struct parser *parser)
{
	bool first = true;

	show(parser, "dyn ");
	parse_binder(parser);
	while (!parser->failed && !take_if(parser, 'E')) {
		if (!first)
			show(parser, " + ");
		first = false;
		parse_trait(parser);
	}
	if (take_if(parser, 'L'))
		parse_base62(parser);
	else
		fail(parser);
}

static const char *basic_type(char tag)
{
	static const char *const names[26] = {
		['a' - 'a'] = "i8",   ['b' - 'a'] = "bool",  ['c' - 'a'] = "char",
		['d' - 'a'] = "f64",  ['e' - 'a'] = "str",   ['f' - 'a'] = "f32",
		['h' - 'a'] = "u8",   ['i' - 'a'] = "isize", ['j' - 'a'] = "usize",
		['l' - 'a'] = "i32",  ['m' - 'a'] = "u32",   ['n' - 'a'] = "i128",
		['o' - 'a'] = "u128", ['p' - 'a'] = "_",     ['s' - 'a'] = "i16",
		['t' - 'a'] = "u16",  ['u' - 'a'] = "()",    ['v' - 'a'] = "...",
		['x' - 'a'] = "i64",  ['y' - 'a'] = "u64",   ['z' - 'a'] = "!"};

	return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void parse_pointer(struct parser *parser, char tag)
{
	show(parser, tag == 'P' ? "*const " : tag == 'O' ? "*mut " : "&");
	if ((tag == 'R' || tag == 'Q') && take_if(parser, 'L'))
		parse_base62(parser);
	if (tag == 'Q')
		show(parser, "mut ");
	parse_type(parser);
}

static void parse_array(struct parser *parser, char tag)
{
	show(parser, "[");
	parse_type(parser);
	if (tag == 'A') {
		show(parser, "; ");
		parse_constant(parser);
	}
	show(parser, "]");
}

static void parse_tuple(struct parser *parser)
{
	unsigned count;

	show(parser, "(");
	parse_list(parser, parse_type, &count);
	show(parser, count == 1 ? ",)" : ")");
}

static void parse_type(struct parser *parser)
{
	char tag;

	if (!enter(parser))
		return;
	tag = take(parser);
	if (basic_type(tag)) {
		show(parser, basic_type(tag));
	} else if (tag && strchr("RQPO", tag)) {
		parse_pointer(parser, tag);
	} else if (tag == 'A' || tag == 'S') {
		parse_array(parser, tag);
	} else if (tag == 'T') {
		parse_tuple(parser);
	} else if (tag == 'F') {
		parse_function_type(parser);
	} else if (tag == 'D') {
		parse_dyn(parser);
	} else if (tag == 'B') {
		parse_reference(parser, parse_type);
	} else if (!parser->failed) {
		parser->at--;
		parse_path(parser, false);
	}
	leave(parser);
}

static void parse_nested(struct parser *parser, bool in_value)
{
	char space = take(parser);
	struct identifier identifier;
	uint64_t disambiguator;
	char number[32];

	parse_path(parser, in_value);
	disambiguator = parse_disambiguator(parser);
	identifier = parse_identifier(parser);
	if (space >= 'a' && space <= 'z') {
		if (identifier.length) {
			show(parser, "::");
			show_identifier(parser, identifier);
		}
		return;
	}
	show(parser, space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{");
	if (identifier.length) {
		show(parser, ":");
		show_identifier(parser, identifier);
	}
	snprintf(number, sizeof(number), "#%llu}", (unsigned long long)disambiguator);
	show(parser, number);
}

/* The path of the impl block itself says nothing that its type does not. */
static void parse_impl(struct parser *parser, bool with_path, bool with_trait)
{
	if (with_path) {
		parser->hidden++;
		parse_disambiguator(parser);
		parse_path(parser, false);
		parser->hidden--;
	}
	show(parser, "<");
	parse_type(parser);
	if (with_trait) {
		show(parser, " as ");
		parse_path(parser, false);
	}
	show(parser, ">");
}

static void parse_instance(struct parser *parser, bool in_value)
{
	unsigned count;

	parse_path(parser, in_value);
	show(parser, in_value ? "::<" : "<");
	parse_list(parser, parse_generic, &count);
	show(parser, ">");
}

static void parse_path(struct parser *parser, bool in_value)
{
	char tag;

	if (!enter(parser))
		return;
	tag = take(parser);
	switch (tag) {
	case 'C':
		parse_disambiguator(parser);
		show_identifier(parser, parse_identifier(parser));
		break;
	case 'N':
		parse_nested(parser, in_value);
		break;
	case 'M':
		parse_impl(parser, true, false);
		break;
	case 'X':
		parse_impl(parser, true, true);
		break;
	case 'Y':
		parse_impl(parser, false, true);
		break;
	case 'I':
		parse_instance(parser, in_value);
		break;
	case 'B':
		parse_reference(parser, in_value ? parse_path_in_value : parse_path_in_type);
		break;
	default:
		fail(parser);
	}
	leave(parser);
}

static bool demangle_v0(const char *linkage, struct output *output)
{
	struct parser parser = {.start = linkage + 2, .at = linkage + 2, .output = output};

	parser.end = parser.at + strcspn(parser.at, ".");
	if (parser.at >= parser.end || is_digit(*parser.at)) /* a later encoding version */
		return false;
	parse_path(&parser, true);
	/* What may follow is the instantiating crate: not shown. */
	return !parser.failed && (parser.at == parser.end || *parser.at == 'C');
}

int symbol_demangle_rust(const char *linkage, char *text, size_t size)
{
	struct output output = {text, size, 0};

	if (size == 0)
		return -EINVAL;
	if (strncmp(linkage, "_ZN", 3) == 0 && walk_legacy(linkage, NULL)) {
		text[0] = 0;
		walk_legacy(linkage, &output);
		return 0;
	}
	if (strncmp(linkage, "_R", 2) == 0) {
		text[0] = 0;
		if (demangle_v0(linkage, &output))
			return 0;
	}
	return -EINVAL;
}
