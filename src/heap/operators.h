/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has a file operators new and delete of its own? Those that no other file sees (hidden, bound
 * within it, inlined) go to malloc() and free() beside the ones that stand before the C++
 * library's, and a block may come from one and go to the other.
 */
#ifndef HEAP_OPERATORS_H
#define HEAP_OPERATORS_H

#include <stdint.h>
#include <sys/types.h>

enum heap_operators {
	HEAP_OPERATORS_NONE,	/* it takes another file's, or its symbols would tell of some */
	HEAP_OPERATORS_OWN,	/* it has some, as its symbols or debug information tell */
	HEAP_OPERATORS_PERHAPS, /* it is C++ without symbols, and takes no other file's */
	HEAP_OPERATORS_HARDLY,	/* it has no symbols, and nothing of C++ in what it takes */
};

struct heap;

#define OPERATORS_KNOWN 32
#define OPERATORS_PATH 128

/* Answers for places that made a block or freed it wrongly, which a program does again and again
 * and which take thousands of system calls each. Of the same code in the same file they stay. */
struct operators_known {
	struct {
		pid_t pid;
		uint64_t pc;
		char module[OPERATORS_PATH]; /* the end of its path */
		enum heap_operators operators;
	} place[OPERATORS_KNOWN];
	unsigned next;
};

/* Of the file with the code at `pc` of the process, which makes a block or frees one. */
enum heap_operators operators_of(struct heap *heap, pid_t pid, uint64_t pc);

#endif
