/* SPDX-License-Identifier: Apache-2.0 */
/* What the injected handler knows of itself beside struct agent_state. */
#ifndef HANDLER_ALONE_H
#define HANDLER_ALONE_H

#include "record/injected.h"

/* Hidden: the injected handler has no table of addresses to find it by. */
extern struct injected_own injected_own __attribute__((visibility("hidden")));

#endif
