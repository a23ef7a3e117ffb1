/* SPDX-License-Identifier: Apache-2.0 */
/* No protection keys: none of this is called. */
#ifndef REGION_STUB_H
#define REGION_STUB_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define THREAD_SELECTOR 0
#define THREAD_COVERED 1
#define THREAD_FORKED 2
#define THREAD_HIDDEN 8

extern const char region_stub_begin[], region_stub_end[], region_stub_reported[];

void region_enter_fault(int signal, siginfo_t *info, void *context);
void region_enter_call(int signal, siginfo_t *info, void *context);
void region_enter_visit(int signal, siginfo_t *info, void *context);
void region_stub_return(void);
size_t region_stub_copy(void *to, const void *from, size_t length);
void region_stub_forget(ucontext_t *context);

#endif
