/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a register held when its function was entered, told from the code alone: each way that leads
 * to a place is followed (a data-flow analysis to its fixed point), and what holds on all of them
 * is the answer. So a function's arguments are known in its midst, as far as some register still
 * has them, plus or minus a constant.
 */
#ifndef INSN_ORIGIN_H
#define INSN_ORIGIN_H

#include "insn/arch.h"

#include <stddef.h>
#include <stdint.h>

#define INSN_ORIGIN_CODE 12288 /* bytes; larger functions are not followed */
#define INSN_ORIGIN_NONE (-1)

/* The register holds what `number` held at the function's start, plus `offset`. */
struct insn_origin {
	int8_t number; /* or INSN_ORIGIN_NONE */
	int32_t offset;
};

/* Where else than at its start a function is entered, in bytes from there, with nothing known of
 * any register: from a part of it that lies elsewhere. */
#define INSN_ENTRIES 16
struct insn_entries {
	uint32_t at[INSN_ENTRIES];
	unsigned count;
};

/* Room for the analysis, the caller's: large. Its contents need not be set. */
struct insn_origin_work {
	struct insn_origin at[INSN_ORIGIN_CODE]
			     [INSN_GENERAL];	   /* before the instruction at each byte */
	struct insn_origin current[INSN_GENERAL];  /* around the instruction that is looked at */
	struct insn_origin anywhere[INSN_GENERAL]; /* at jumps to where a register says */
	struct insn_origin behind_calls[INSN_GENERAL];
	uint8_t reached[INSN_ORIGIN_CODE]; /* 2: by no way that is known */
	uint8_t waiting[INSN_ORIGIN_CODE];
	uint16_t queue[INSN_ORIGIN_CODE];
	uint32_t queued;
	uint8_t jumps_anywhere, calls;
};

/*
 * For each general register at offset `place` of the function whose whole code is `code`. 0;
 * -ENOENT: no way that is known leads there; -EILSEQ or -E2BIG: the code cannot be followed.
 * Assumes that the function is entered at its start and at `entries` (NULL: nowhere else), and that
 * what it calls keeps what the ABI says. Code that no way leads to is a landing pad of exceptions:
 * any call may go on there, and, since one may stand behind a call that does not return, behind
 * any other call. Accepted: in a function that jumps to where a register says landing pads are
 * taken for what it jumps to; one behind a call that does not return is not seen where it is the
 * only one.
 */
int insn_origins(const uint8_t *code, size_t length, size_t place,
		 const struct insn_entries *entries, struct insn_origin_work *work,
		 struct insn_origin origin[INSN_GENERAL]);

/* Of all places, in work->at, with jumps to where a register says taken for those of a switch: for
 * what only chooses what is looked at. */
int insn_origins_likely(const uint8_t *code, size_t length, struct insn_origin_work *work);

#endif
