/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when a tool cannot do what it was asked in the run's first process, and has said
 * why. */
#ifndef CLI_REFUSE_H
#define CLI_REFUSE_H

#include <stdbool.h>
#include <sys/types.h>

struct control;
struct detect_options;

/* Ends a program of ours that has not begun, or the watching of one that ran before us. False: the
 * program has begun, or was started without us; it goes on unwatched, which was said. */
bool refuse_process(struct control *control, pid_t pid, const struct detect_options *options);

#endif
