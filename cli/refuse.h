/* SPDX-License-Identifier: Apache-2.0 */
/* A tool cannot do what it was asked in the run's first process, and has said why. */
#ifndef CLI_REFUSE_H
#define CLI_REFUSE_H

#include <stdbool.h>
#include <sys/types.h>

struct control;
struct detect_options;

/* Ends a program of ours that has not begun, or the watching of one that runs already. False: it
 * runs unwatched, which is said: it has begun, or was started without us. */
bool refuse_process(struct control *control, pid_t pid, const struct detect_options *options);

#endif
