/* SPDX-License-Identifier: Apache-2.0 */
/* The program a command runs: where it is, whether it can be preloaded. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include "arrival/enter.h"
#include "control/control.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Its path as execvp() finds it, allocated; NULL when there is none. */
char *program_path(const char *name);
/* Why watching anything would end us (allocated); NULL if it will not. */
char *program_lethal_filter(void);
/* The same, or why it cannot be entered either; NULL if it can, or if it will not run. */
char *program_cannot_be_watched(const char *name);
/* Why no library can be loaded into it (allocated), though it may be entered; NULL if one can. */
char *program_takes_no_library(const char *name);
/* ENTER_NONE: the preload library is loaded into it. Else it is statically linked, for another C
 * library or one that a sanitizer's runtime is a library of. */
enum enter_when program_entry(const char *name);
/* Becomes the program. Returns an exit status when that fails. */
int program_run_bare(char **argv);
/* Says why a program could not be started; returns the exit status. `err` is -errno. */
int program_cannot_run(const char *name, int err);
/* Path of a library of ours, beside this command or where it was installed; its name if it is
 * nowhere there. Valid until the next call. */
const char *program_library(const char *name);
/* Path of libtrapline-agent.so, or of one that does more: beside this command, or where it was
 * installed. */
enum program_library {
	PROGRAM_LIBRARY_PLAIN,
	PROGRAM_LIBRARY_HEAP,	 /* tells of allocations too */
	PROGRAM_LIBRARY_REGIONS, /* and opens regions */
	PROGRAM_LIBRARY_GUARD,	 /* guards blocks of the heap */
};
const char *program_preload_library(enum program_library library);
/* In our own environment, for a program that is about to be started: libtrapline in it, listening
 * for `trapline patch`. False when memory is short. Undone by the other. */
bool program_ask_to_listen(void);
void program_ask_no_more(void);
/* control_spawn() with that library, and if wanted with libtrapline beside it, as above. */
pid_t program_spawn(struct control *control, char **program, enum program_library library,
		    bool patchable);
/* From here on signals sent to us go to the program; those of the terminal reach it anyway. */
void program_forward_signals(pid_t pid);
/* Ours, when the program ended with this wait status; a shell's, where a signal ended it. */
int program_exit_status(int status);
/* The last thing we do before we end with this code. Where it is one of program_exit_status() and a
 * signal ended the program, that signal ends us as well. */
void program_end_alike(int code);
/* Standard error with a buffer: what is written before a fflush() reaches it in one piece, among
 * what the program writes to the same terminal or file. stderr itself, when memory is short. */
FILE *program_messages(void);
/* A control_count_fn that prints on stderr. */
void program_print_count(void *context, const char *name, uint64_t value, const char *meaning);

#endif
