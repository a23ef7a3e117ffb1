/* SPDX-License-Identifier: Apache-2.0 */
/* All rules that hide a race or say how sure it is. No other file of the project does either,
 * apart from the user's suppressions. Pure functions on what is known of the two accesses. */
#ifndef RACE_RULES_H
#define RACE_RULES_H

#include <trapline/tool.h>

#define RULES_EVIDENCE 8
/* the rank, among possible races, of those that what became known later shows to be none */
#define RULES_RANK_LAST 95

struct verdict {
	bool hidden;
	const char *rule; /* which rule hid it: a name for --stats */
	enum tl_certainty certainty;
	const char *evidence[RULES_EVIDENCE];
	unsigned evidence_count;
	bool released; /* the earlier access could be what let the other thread go on */
	/* an update was lost, by plain accesses or by an atomic load and an atomic store */
	bool lost;
	unsigned rank; /* 0: none; otherwise lower ranks come first */
};

/* `code` describes where each access was made; either may be NULL. */
struct rule_code {
	const char *module;   /* path */
	const char *function; /* of the symbol table or debug information */
	const char *entry;    /* in the C library: its function that was called from outside */
};

struct rule_side {
	const struct tl_access *access;
	struct rule_code code;
	enum tl_atomicity atomicity;
	const char *reason; /* why `atomicity` is what it is */
	bool updates_tell;  /* its compiler makes no update of an atomic load and store */
	unsigned around;    /* TL_AROUND_… */
};

/* How they met. */
struct rule_meeting {
	bool changed; /* the value changed between a thread's read and its later write */
	/* another thread may have acted on the first access before the second was made */
	bool first_seen;
	/* another thread may have acted on the second access before the first was made */
	bool second_seen;
	const char *memory; /* path of the file that holds the data; NULL: none, as for the heap */
};

/* `first` is the one whose hold began first. */
void rules_judge(const struct rule_side *first, const struct rule_side *second,
		 const struct rule_meeting *meeting, struct verdict *verdict);

/* Which of the possible races deserve a look first. Sets the rank of a verdict of that class and
 * adds its reason; docs/report.md lists the ranks, whose meaning is the same in every version. */
void rules_rank(const struct rule_side *first, const struct rule_side *second,
		struct verdict *verdict);

/* Is it code of the C library or the dynamic linker that orders threads, allocates memory or
 * loads code? Its accesses are never the program's own. Functions that work on the caller's
 * memory are not of this kind. */
bool rules_is_libc_internal(const struct rule_code *code);

#endif
