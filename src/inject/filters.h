/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stopped thread's seccomp filters, which the kernel shows to who may change any of them
 * (CAP_SYS_ADMIN, itself under none): ptrace(2), PTRACE_SECCOMP_GET_FILTER. They are run here for
 * every call that is made in the thread's place, before the kernel has it: one that is not allowed
 * may kill.
 */
#ifndef INJECT_FILTERS_H
#define INJECT_FILTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* May this process read them at all, as far as that is known before a thread stands? */
bool filters_are_shown(void);

enum filters_verdict {
	FILTERS_FORBID, /* a call of entering is not allowed, or a filter cannot be read */
	/* they allow the calls of entering and leaving, but not those of handlers … */
	FILTERS_ENTER,
	FILTERS_ALL, /* … and those of handlers as well */
};

struct filters {
	enum filters_verdict verdict;
	int count;  /* how many filters there are */
	bool batch; /* they allow also what making calls in one run takes (batch.h) */
};

/* What all filters of the stopped thread allow, for calls made by the instruction at `call` and for
 * calls made from anywhere. */
struct filters filters_ask(pid_t tid, uint64_t call);

#endif
