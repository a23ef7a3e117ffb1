/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of the heap under guard, for tools. */
#ifndef TOOL_GUARDED_H
#define TOOL_GUARDED_H

#include "notice/guards.h"
#include "tool/host.h"

void guarded_tell(struct tool_set *set, const struct guards_notice *notice);
void host_guard(struct tl_host *host, const struct tl_guarding *guarding);
bool host_guarded(struct tl_host *host, pid_t pid, uint64_t address, struct tl_guarded *block);
int host_guard_faults(struct tl_host *host, pid_t pid, struct tl_guard_faults *faults);
int host_guard_always(struct tl_host *host, pid_t pid, uint64_t caller, uint64_t above);

#endif
