/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of the program that live on when the first one has ended. */
#ifndef CONTROL_LINGER_H
#define CONTROL_LINGER_H

#include "control/control.h"

/* How many are watched, after control_run(). */
unsigned control_others(struct control *control);

/* Work until the last of them has ended, or control_stop(). */
void control_run_on(struct control *control);

/* Has the last process ended, and no child of it is on its way? */
bool linger_is_over(struct control *control);

/* Around a fork(2): before it in the parent, which must not touch `control` afterwards and has to
 * live until the second has returned in the child. That returns 0 or -errno. */
void control_prepare_copy(struct control *control);
int control_take_over(struct control *control);

#endif
