/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every rule that hides a race, or says how sure it is. Nothing else in the project does either
 * (suppressions are the user's).
 */
#ifndef RACE_RULES_H
#define RACE_RULES_H

#include <trapline/tool.h>

#define RULES_EVIDENCE 8
#define RULES_RANK_LAST 95 /* of what is possible: what came to be known shows no race */

struct verdict {
	bool hidden;
	const char *rule; /* which rule hid it: a name for --stats */
	enum tl_certainty certainty;
	const char *evidence[RULES_EVIDENCE];
	unsigned evidence_count;
	bool released; /* the earlier access could be what let the other go on */
	bool lost;     /* an update was lost, by plain accesses or by atomic ones in a row */
	unsigned rank; /* 0: none; else lower comes first */
};

/* `code` describes where each access was made; either may be NULL. */
struct rule_code {
	const char *module;   /* path */
	const char *function; /* of the symbol table or debug information */
	const char *entry; /* in the C library: the function of it that was called from outside */
};

struct rule_side {
	const struct tl_access *access;
	struct rule_code code;
	enum tl_atomicity atomicity;
	const char *reason; /* for atomicity */
	bool updates_tell;  /* its compilers make no update of an atomic load and store */
	unsigned around;    /* TL_AROUND_… */
};

/* How they met. */
struct rule_meeting {
	bool changed;	    /* the value changed between a thread's read and its later write */
	bool first_seen;    /* a thread may have acted on the first before the second was made */
	bool second_seen;   /* on the second before the first was made */
	const char *memory; /* path of the file whose data it is; NULL: none, as of the heap */
};

/* `first` is the one whose hold began first. */
void rules_judge(const struct rule_side *first, const struct rule_side *second,
		 const struct rule_meeting *meeting, struct verdict *verdict);

/*
 * Which of those that are possible deserve a look first. Sets the rank of a verdict of that class
 * and adds its reason; docs/report.md lists the ranks, which mean the same in every version.
 */
void rules_rank(const struct rule_side *first, const struct rule_side *second,
		struct verdict *verdict);

/* Code of the C library and the dynamic linker that orders threads, allocates memory or loads code:
 * never an access of the program's own. Functions that work on the caller's memory are not. */
bool rules_is_libc_internal(const struct rule_code *code);

#endif
