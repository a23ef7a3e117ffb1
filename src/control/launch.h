/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the program. */
#ifndef CONTROL_LAUNCH_H
#define CONTROL_LAUNCH_H

#include "control/control.h"

/* Its pid, or -errno. */
pid_t launch(struct control *control, char *const argv[], const char *library,
	     enum control_entry entry);

#endif
