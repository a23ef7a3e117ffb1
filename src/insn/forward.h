/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stopped thread would do next, as far as its registers and memory tell: its instructions
 * are carried out on a copy of its registers, with memory read where it stands and written nowhere.
 * Values that are not known (vector registers, thread-local storage, what functions of other
 * libraries return) stay unknown, and so does what is made of them. A guess by nature: other
 * threads change memory meanwhile. Nothing here allocates, blocks or faults, whatever bytes it is
 * given.
 */
#ifndef INSN_FORWARD_H
#define INSN_FORWARD_H

#include "insn/arch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Remembered; older ones are read from memory again. With 96 of them snprintf() forgets its
 * stream's functions before it converts its first number. */
#define INSN_FORWARD_WRITES 320

struct insn_forward_write {
	uint64_t address, bits;
	unsigned length;
	bool known;
};

struct insn_forward_access {
	uint64_t pc, address, length;
	unsigned access; /* TL_READ | TL_WRITE, TL_ATOMIC */
};

struct insn_forward {
	uint64_t general[INSN_GENERAL];
	uint64_t pc;
	uint64_t fs_base; /* of thread-local storage; 0: not known */
	uint16_t known;	  /* which of `general` are, a bit each */
	/* Where the branch that was carried out last may lead as well, since its flags are not
	 * known; 0: nowhere. */
	uint64_t other;
	/* Where it did not lead, foretold or not; 0: no branch was carried out last. */
	uint64_t beside;
	/* The instruction that was carried out last stored to where is not known: from there on
	 * memory may be otherwise than it is read. */
	bool strays;
	bool flags_known;
	bool zero, sign, carry, overflow, parity;
	struct insn_forward_write write[INSN_FORWARD_WRITES];
	unsigned writes; /* made so far; the last ones are in `write` */
	/* Memory as it is: 0, or -errno. */
	int (*read)(void *context, uint64_t address, void *to, size_t length);
	/* Each access whose address is known, but for pushes, pops, calls and returns. */
	void (*tell)(void *context, const struct insn_forward_access *access);
	void *context;
};

/* Carries out the instruction at forward->pc, whose bytes these are. 0; -EILSEQ or -ENODATA: it
 * cannot be decoded; -ENOENT: where it leads is not known; -EINTR: it enters the kernel. `*leaves`:
 * it is a call, or a jump to where a register or memory says. */
int insn_forward_step(struct insn_forward *forward, const uint8_t *bytes, size_t available,
		      bool *leaves);

/* Whether a condition holds by the flags, numbered as in the low four bits of the opcodes of jcc,
 * setcc and cmovcc; -1: they are not known. */
int insn_forward_holds(const struct insn_forward *forward, unsigned condition);

/* Memory as the thread would find it there, at most 8 bytes. False: not known. */
bool insn_forward_read(const struct insn_forward *forward, uint64_t address, unsigned length,
		       uint64_t *bits);

/* The flags are those of `flags`, a struct insn_registers'. */
void insn_forward_set_flags(struct insn_forward *forward, uint64_t flags);

/* Returns from a function that was just entered and is not followed. 0 or -ENOENT. */
int insn_forward_return(struct insn_forward *forward);

#endif
