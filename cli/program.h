/* SPDX-License-Identifier: Apache-2.0 */
/* The program a command runs: where it is, whether it can be preloaded. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

/* Its path as execvp() finds it, allocated; NULL when there is none. */
char *program_path(const char *name);
/* Why a preload library would not work in it (allocated); NULL if it will, or if it will not run.
 */
char *program_cannot_be_watched(const char *name);
/* Becomes the program. Returns an exit status when that fails. */
int program_run_bare(char **argv);
/* Says why a program could not be started; returns the exit status. `err` is -errno. */
int program_cannot_run(const char *name, int err);
/* Path of libtrapline-agent.so: beside this command, or where it was installed. */
const char *program_preload_library(void);

#endif
