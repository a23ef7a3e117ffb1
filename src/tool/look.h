/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool may ask of a process: its memory, functions, names, expressions. */
#ifndef TOOL_LOOK_H
#define TOOL_LOOK_H

#include "tool/host.h"

int host_memory(struct tl_host *host, pid_t pid, uint64_t address, struct tl_memory *memory);
int host_function(struct tl_host *host, pid_t pid, uint64_t pc, uint64_t *start, uint64_t *end);
int host_resolve(struct tl_host *host, pid_t pid, const char *text, uint64_t fs_base,
		 struct tl_expression *meaning, char *error, size_t size);
uint64_t host_entry(struct tl_host *host, pid_t pid, const char *text);
uint64_t host_thread_pointer(struct tl_host *host, pid_t pid, pid_t tid);

#endif
