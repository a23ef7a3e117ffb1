/* SPDX-License-Identifier: Apache-2.0 */
/* `--beside`: the program becomes the process that was started, and the controller runs beside
 * it. */
#ifndef CLI_BESIDE_H
#define CLI_BESIDE_H

/*
 * Becomes the program. `argv` has the command with its options, which the controller gets, and then
 * `program`. Returns an exit status if the program cannot be run.
 */
int beside_run(char **argv, char **program, const char *library);

#endif
