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
/* Why watching anything would end this process (allocated); NULL: it would not. */
char *program_lethal_filter(void);
/* Why the program cannot be watched (allocated): as above, or because no library can be loaded into
 * it and it cannot be entered either. NULL: it can be, or it cannot be run at all. */
char *program_cannot_be_watched(const char *name);
/* Why no library can be loaded into it (allocated), though it may be entered; NULL if one can. */
char *program_takes_no_library(const char *name);
/* When the program is entered. ENTER_NONE: the preload library is loaded into it instead. It is
 * entered if it is statically linked, is for another C library, or has the runtime of a sanitizer
 * as a library. */
enum enter_when program_entry(const char *name);
/* Becomes the program, unwatched. Returns an exit status if that fails. */
int program_run_bare(char **argv);
/* Says why nothing can be watched, and becomes the program if there is one to be run. Nothing has
 * been started yet, and `err` is -errno. Returns an exit status. */
int program_not_watched(char **argv, int err);
/* Says why a program could not be started; returns the exit status. `err` is -errno. */
int program_cannot_run(const char *name, int err);
/* The path of a library of ours, beside this command or where it was installed; only its name if it
 * is at neither. Valid until the next call. */
const char *program_library(const char *name);
/* The path of libtrapline-agent.so, or of a variant that does more; found in the same places. */
enum program_library {
	PROGRAM_LIBRARY_PLAIN,
	PROGRAM_LIBRARY_HEAP,	 /* tells of allocations too */
	PROGRAM_LIBRARY_REGIONS, /* and opens regions */
	PROGRAM_LIBRARY_GUARD,	 /* guards blocks of the heap */
};
const char *program_preload_library(enum program_library library);
/* Sets our own environment so that a program that is started next has libtrapline in it, listening
 * for `trapline patch`. False: memory is short. The other call undoes it. */
bool program_ask_to_listen(void);
void program_ask_no_more(void);
/* control_spawn() with that library, and with libtrapline beside it if the program is to listen. */
pid_t program_spawn(struct control *control, char **program, enum program_library library,
		    bool patchable);
/* From now on signals that are sent to us are passed to the program; those of the terminal reach it
 * anyway. */
void program_forward_signals(pid_t pid);
/* The exit status for the wait status that the program ended with: its own, or a shell's if a
 * signal ended it. */
int program_exit_status(int status);
/* The last that we do before we end with this code: if it comes from program_exit_status() and a
 * signal ended the program, that signal ends us as well. */
void program_end_alike(int code);
/* Standard error with a buffer: what is written before a fflush() gets there in one piece, though
 * the program may write to the same terminal or file. It is stderr itself if memory is short. */
FILE *program_messages(void);
/* A control_count_fn that prints on stderr. */
void program_print_count(void *context, const char *name, uint64_t value, const char *meaning);

#endif
