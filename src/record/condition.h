/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What --if asks of a hit's values, as a small program for a stack machine. It is compiled outside
 * and evaluated inside, by the handler of a hit: no memory is read but the program's own steps, no
 * step goes back, so it ends after `count` of them; one that is nonsense holds.
 */
#ifndef RECORD_CONDITION_H
#define RECORD_CONDITION_H

#include <stdbool.h>
#include <stdint.h>

#define CONDITION_STEPS 48
#define CONDITION_DEPTH 12

enum condition_operation {
	CONDITION_NUMBER, /* these push … */
	CONDITION_OLD,
	CONDITION_NEW,
	CONDITION_NOT, /* … these change the top … */
	CONDITION_NEGATE,
	CONDITION_COMPLEMENT,
	CONDITION_EQUAL, /* … and these make one of the two on top */
	CONDITION_UNEQUAL,
	CONDITION_LESS,
	CONDITION_LESS_EQUAL,
	CONDITION_GREATER,
	CONDITION_GREATER_EQUAL,
	CONDITION_AND,
	CONDITION_OR,
	CONDITION_ADD,
	CONDITION_SUBTRACT,
	CONDITION_MULTIPLY,
	CONDITION_DIVIDE,
	CONDITION_REMAINDER,
	CONDITION_BIT_AND,
	CONDITION_BIT_OR,
	CONDITION_BIT_XOR,
	CONDITION_SHIFT_LEFT,
	CONDITION_SHIFT_RIGHT,
	CONDITION_OPERATIONS
};

struct condition_step {
	uint32_t operation;
	uint32_t padding;
	uint64_t number; /* of CONDITION_NUMBER */
};

struct condition {
	uint32_t count; /* 0: always true */
	uint32_t padding;
	struct condition_step step[CONDITION_STEPS];
};

struct condition_values {
	bool old_known, new_known, is_signed;
	uint64_t old_value, new_value; /* extended to 64 bits as their type asks */
};

/*
 * What follows from a value that is not known is not known either, unless the other side of && or
 * || decides. A whole condition that is not known is true: no hit is hidden for want of facts.
 * Async-signal-safe.
 */
bool condition_holds(const struct condition *condition, const struct condition_values *values);

/* Does it ask for a value at all? */
bool condition_uses_values(const struct condition *condition);

#endif
