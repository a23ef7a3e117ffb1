/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a held thread will do next (predict.h). Here are the callbacks of that: they read the
 * process's memory and code through the tool's services, and say which functions are not looked
 * into.
 */
#ifndef UNINIT_AHEAD_H
#define UNINIT_AHEAD_H

#include "base/lines.h"
#include "uninit/predict.h"
#include "uninit/words.h"

#include <trapline/tool.h>

#define AHEAD_LINES 256u

struct ahead {
	struct tl_host *host;
	const struct tl_services *services;
	pid_t pid; /* whose memory is read */
	struct lines lines;
	struct line line[AHEAD_LINES];
	unsigned results; /* of the C library's functions, computed since ahead_look_at() */
	struct predict predict;
};

void ahead_begin(struct ahead *ahead, struct tl_host *host, const struct tl_services *services);
/* Forgets what was read: from here on it is this process's memory as it is now. */
void ahead_look_at(struct ahead *ahead, pid_t pid);
/* Does `pc` lie in a file whose functions are not looked into, or in none? */
bool ahead_is_outside(struct ahead *ahead, uint64_t pc);

/* For struct insn_forward and struct symbol_memory: `context` is the struct ahead. */
int ahead_read(void *context, uint64_t address, void *to, size_t length);
size_t ahead_code(void *context, uint64_t pc, uint8_t *bytes, size_t max);

/* The allocator is about to return the block from the call that `from` tells of. Writes to `words`
 * which words of it the thread will load before it has stored to them, as far as that can be told,
 * and returns how many, `most` at most. */
unsigned ahead_of_block(struct ahead *ahead, const struct tl_access *from,
			const struct origin *block, struct predict_word *words, unsigned most);

#endif
