/* SPDX-License-Identifier: Apache-2.0 */
/* What a callback is told about one hit; lives on the handler's stack. */
#ifndef TRAP_HIT_H
#define TRAP_HIT_H

#include "insn/insn.h"

#include <trapline/hit.h>

struct tl_hit {
	tl_event *event;
	ucontext_t *context;
	uintptr_t pc;
	uintptr_t addr;
	size_t size;
	unsigned access;
	uint8_t flow; /* enum insn_flow of the instruction, when decoded */
	bool decoded;
	pid_t tid; /* 0 until asked for */
};

#endif
