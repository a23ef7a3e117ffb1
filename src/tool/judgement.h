/* SPDX-License-Identifier: Apache-2.0 */
/* Is the instruction of an access atomic? Answers are remembered by its address. */
#ifndef TOOL_JUDGEMENT_H
#define TOOL_JUDGEMENT_H

#include "tool/host.h"

enum tl_atomicity host_atomicity(struct tl_host *host, const struct tl_access *access,
				 const char **reason);
bool host_keeps_atomics_apart(struct tl_host *host, pid_t pid, uint64_t pc);

#endif
