/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools of this folder count, for --stats. */
#include "flow/counts.h"

#include <stddef.h>

const struct tl_count flow_counts[] = {
	{"flow-not-armed", "questions not asked: no slot could be opened"},
	{"flow-hits-late", "hits not used: delivered late"},
	{"flow-hits-guessed", "hits whose instruction is not certain: not used, or asked again"},
	{"flow-hits-returns", "hits of returns, passed over: no value goes on by one"},
	{"flow-hits-deaf",
	 "hits not used: another watch had ended, and what came to it is missing"},
	{"flow-framed", "places watched without the kernel: frames of signals came to lie there"},
	{"flow-unset", "registers passed over that a function had not set: no parameters"},
	{"flow-processes-refused",
	 "processes in which no store to memory that they share is looked for: too many"},
	{"flow-values-refused", "values, and targets of calls, left out of the tree: it is full"},
	{"flow-writers-refused",
	 "instructions that store a value, or load one, left out of the tree: it is full"},
	{"flow-copies-refused",
	 "threads whose copy of a thread-local variable is not followed: too many have one"},
	{"flow-places-refused", "places in code not remembered: too many are"},
	{NULL, NULL},
};
