/* SPDX-License-Identifier: Apache-2.0 */
/* Is a tl_spec one that can be opened? The rules, in one place. */
#ifndef TRAP_SPEC_H
#define TRAP_SPEC_H

#include <trapline/event.h>

/* Copies what this library knows of `spec` to `known`. 0, -EINVAL, -E2BIG, -ESRCH or -ENOTSUP. */
int spec_check(const struct tl_spec *spec, struct tl_spec *known);

/* The same for a move of an event. */
int spec_check_move(const tl_event *event, const void *addr, size_t len, unsigned access);

#endif
