/* SPDX-License-Identifier: Apache-2.0 */
/* At the end: was anything watched, and if little was, why? */
#ifndef CLI_UNWATCHED_H
#define CLI_UNWATCHED_H

#include "control/control.h"

/* Lines on standard error, each with the counter that tells most, or none. `nothing` is what it
 * means that no process took part: "nothing was watched". */
void unwatched_tell(const struct control *control, const char *nothing);

#endif
