/* SPDX-License-Identifier: Apache-2.0 */
/* What --if asks of a hit's values: comparisons of old, new and numbers, joined by &&. */
#ifndef WATCH_CONDITION_H
#define WATCH_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#define CONDITION_TERMS 8

enum condition_operand { CONDITION_OLD, CONDITION_NEW, CONDITION_NUMBER };
enum condition_operator {
	CONDITION_EQUAL,
	CONDITION_UNEQUAL,
	CONDITION_LESS_EQUAL,
	CONDITION_GREATER_EQUAL,
	CONDITION_LESS,
	CONDITION_GREATER,
};

struct condition_term {
	enum condition_operand left, right;
	enum condition_operator comparison;
	uint64_t left_number, right_number;
};

struct condition {
	struct condition_term term[CONDITION_TERMS];
	unsigned count; /* 0: always true */
};

struct condition_values {
	bool old_known, new_known, is_signed;
	uint64_t old_value, new_value; /* extended to 64 bits as their type asks */
};

/* 0, or -EINVAL. */
int condition_parse(const char *text, struct condition *condition);
/* A comparison with a value that is not known is true: no hit is hidden for want of facts. */
bool condition_holds(const struct condition *condition, const struct condition_values *values);

#endif
