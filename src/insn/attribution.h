/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One attribution under way: what is asked, the best explanation so far, and how many there are.
 * An explanation is proposed only if the instruction may have run just before the trap and may have
 * touched a watched byte; a single one is the answer, two or more make it a guess.
 */
#ifndef INSN_ATTRIBUTION_H
#define INSN_ATTRIBUTION_H

#include "insn/operand.h"

enum explanation_rank {
	RANK_NONE,
	RANK_UNKNOWN_ORIGIN, /* something must have jumped here, we do not know from where */
	RANK_MAYBE,	     /* an operand that may have touched the bytes */
	RANK_KERNEL,	     /* a system call */
	RANK_YES,	     /* an operand that touched them if the instruction ran */
};

struct attribution {
	const struct insn_registers *after;
	const struct insn_memory *memory;
	uint64_t watched;
	uint64_t watched_length;
	unsigned wanted;
	struct insn_access *best;
	enum explanation_rank best_rank;
	unsigned explanations;
	bool uncertain; /* another explanation cannot be excluded */
	bool unplaced;	/* the explanation is certain, but not where the access begins */

	bool bounded; /* start and end are the function's around pc */
	bool has_previous;
	uint64_t start, end;
	uint64_t previous_pc;
	struct insn previous;  /* the one that ends at pc */
	bool previous_entered; /* some jump leads into its middle */
};

struct explanation {
	enum explanation_rank rank;
	uint64_t pc;
	const struct insn *insn; /* NULL if unknown */
	unsigned access;
	uint64_t first;
	uint64_t length; /* 0: address unknown */
};

void insn_propose(struct attribution *attribution, const struct explanation *explanation);

/*
 * Operands of `insn` that may have touched the watched bytes in a way the slot sees, as one
 * explanation (pc is left to the caller). `registers` are those after it, with the pc at its end.
 * RANK_NONE if there is none.
 */
void insn_match(const struct attribution *attribution, const struct insn *insn,
		const struct insn_registers *registers, struct explanation *explanation);

/* Function bounds of the code at `pc`, if they are believable. 0 or -ENOENT. */
int insn_function(const struct insn_memory *memory, uint64_t pc, uint64_t *start, uint64_t *end);

#endif
