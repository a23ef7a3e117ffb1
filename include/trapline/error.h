/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRAPLINE_ERROR_H
#define TRAPLINE_ERROR_H

#include <trapline/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One sentence that says what to do about `err` (-errno as a tl_ function returned it, or errno).
 * It looks at the machine as it is now (kernel.perf_event_paranoid, CPU features, who holds the
 * slots) and at the calling thread's last failed tl_ call. The text belongs to the library and is
 * valid until the same thread's next tl_explain(). Not async-signal-safe.
 */
TL_API const char *tl_explain(int err);

#ifdef __cplusplus
}
#endif
#endif
