/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/condition.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

static const char *parse_operand(const char *at, enum condition_operand *operand, uint64_t *number)
{
	char *end;

	at = skip_blanks(at);
	if (strncmp(at, "old", 3) == 0 && !isalnum((unsigned char)at[3])) {
		*operand = CONDITION_OLD;
		return at + 3;
	}
	if (strncmp(at, "new", 3) == 0 && !isalnum((unsigned char)at[3])) {
		*operand = CONDITION_NEW;
		return at + 3;
	}
	*operand = CONDITION_NUMBER;
	errno = 0;
	*number = *at == '-' ? (uint64_t)strtoll(at, &end, 0) : strtoull(at, &end, 0);
	return errno || end == at ? NULL : end;
}

static const char *parse_operator(const char *at, enum condition_operator *comparison)
{
	/* Longer ones first; in the order of the enumeration. */
	static const char *const names[] = {"==", "!=", "<=", ">=", "<", ">"};

	at = skip_blanks(at);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(at, names[i], strlen(names[i])) == 0) {
			*comparison = (enum condition_operator)i;
			return at + strlen(names[i]);
		}
	return NULL;
}

int condition_parse(const char *text, struct condition *condition)
{
	const char *at = text;

	condition->count = 0;
	while (condition->count < CONDITION_TERMS) {
		struct condition_term *term = &condition->term[condition->count];

		*term = (struct condition_term){0};
		at = parse_operand(at, &term->left, &term->left_number);
		at = at ? parse_operator(at, &term->comparison) : NULL;
		at = at ? parse_operand(at, &term->right, &term->right_number) : NULL;
		if (!at)
			break;
		condition->count++;
		at = skip_blanks(at);
		if (!*at)
			return 0;
		if (strncmp(at, "&&", 2) != 0)
			break;
		at += 2;
	}
	condition->count = 0;
	return -EINVAL;
}

static bool value_of(enum condition_operand operand, uint64_t number,
		     const struct condition_values *values, uint64_t *value)
{
	switch (operand) {
	case CONDITION_OLD:
		*value = values->old_value;
		return values->old_known;
	case CONDITION_NEW:
		*value = values->new_value;
		return values->new_known;
	default:
		*value = number;
		return true;
	}
}

static bool compare(enum condition_operator comparison, bool less, bool equal)
{
	switch (comparison) {
	case CONDITION_EQUAL:
		return equal;
	case CONDITION_UNEQUAL:
		return !equal;
	case CONDITION_LESS:
		return less;
	case CONDITION_LESS_EQUAL:
		return less || equal;
	case CONDITION_GREATER:
		return !less && !equal;
	default:
		return !less;
	}
}

bool condition_holds(const struct condition *condition, const struct condition_values *values)
{
	for (unsigned i = 0; i < condition->count; i++) {
		const struct condition_term *term = &condition->term[i];
		uint64_t left, right;
		bool less;

		if (!value_of(term->left, term->left_number, values, &left) ||
		    !value_of(term->right, term->right_number, values, &right))
			continue;
		less = values->is_signed ? (int64_t)left < (int64_t)right : left < right;
		if (!compare(term->comparison, less, left == right))
			return false;
	}
	return true;
}
