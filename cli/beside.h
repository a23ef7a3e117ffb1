/* SPDX-License-Identifier: Apache-2.0 */
/* The program as the process that was started, and the controller beside it. */
#ifndef CLI_BESIDE_H
#define CLI_BESIDE_H

/*
 * Becomes the program. `argv`: the command with its options, which become those of the controller,
 * and then `program`. Returns an exit status when the program cannot be run.
 */
int beside_run(char **argv, char **program, const char *library);

#endif
