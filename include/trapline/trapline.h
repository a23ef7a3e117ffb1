/* SPDX-License-Identifier: Apache-2.0 */
/* Everything of libtrapline. Each header may be included alone. */
#ifndef TRAPLINE_TRAPLINE_H
#define TRAPLINE_TRAPLINE_H

#include <trapline/active.h>
#include <trapline/error.h>
#include <trapline/event.h>
#include <trapline/hit.h>
#include <trapline/patch.h>
#include <trapline/safepoint.h>
#include <trapline/stats.h>
#include <trapline/throttle.h>

#endif
