/* SPDX-License-Identifier: Apache-2.0 */
/* What of this process's memory may be touched without tripping a watch. */
#ifndef ALLOCATION_WATCHED_H
#define ALLOCATION_WATCHED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Does any slot watch bytes of [from, to), or did it lately? Where none does they may be read as
 * they are; else through the kernel, which trips nothing and takes a microsecond. Accepted: a watch
 * that is armed between this look and the read is tripped once by our own code, and so is one of
 * somebody who watches from outside. Async-signal-safe.
 */
bool agent_is_watched(uint64_t from, uint64_t to);

#endif
