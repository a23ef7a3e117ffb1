/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restartable sequences (rseq(2)): code that the kernel sends to its abort address when it was
 * interrupted within. It looks where a thread returns to; one that is made to call something in
 * between, and then put back, would go on in the middle as if nothing had come in between.
 */
#ifndef INJECT_SECTION_H
#define INJECT_SECTION_H

#include <stdint.h>
#include <sys/types.h>

/* A stopped thread stands at `pc`: if that is within such a section, where it must go on instead.
 * 0: it is in none, or the kernel does not tell (before Linux 5.13). */
uint64_t section_abort_address(pid_t tid, uint64_t pc);

#endif
