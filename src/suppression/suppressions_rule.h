/* SPDX-License-Identifier: Apache-2.0 */
/* A rule as reading makes it and matching uses it; private to suppressions*.c. */
#ifndef SUPPRESSION_SUPPRESSIONS_RULE_H
#define SUPPRESSION_SUPPRESSIONS_RULE_H

#include <stdint.h>

enum key {
	KEY_FUNCTION,
	KEY_TOP,
	KEY_FILE,
	KEY_MODULE,
	KEY_OBJECT,
	KEY_THREAD,
	KEY_PROGRAM,
	KEY_ID,
	KEY_CLASS,
	KEY_STACK,
	KEY_WITHIN,
	KEY_COUNT
};

struct condition {
	struct condition *next;
	enum key key;
	char *glob;
};

struct rule {
	struct rule *next;
	char *place; /* "NAME:LINE" */
	char *text;
	char *kind; /* a glob */
	struct condition *conditions;
	uint64_t hidden; /* findings */
};

struct suppressions {
	struct rule *first, *last;
};

#endif
