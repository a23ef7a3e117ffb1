/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding this program's own data races, where `trapline race` cannot be the one that starts it.
 * Link with -ltrapline-agent (pkg-config trapline-race). The same without linking:
 *
 *	LD_PRELOAD=libtrapline-agent.so TRAPLINE_OPTIONS="-o races.jsonl" program
 *
 * The controller runs as a process beside this one, which is no child of it: the program gets no
 * thread, no descriptor and no child. See tl_race(3).
 */
#ifndef TRAPLINE_RACE_H
#define TRAPLINE_RACE_H

#include <trapline/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * `options` are those of `trapline race`, separated by blanks: "-o races.jsonl --budget 2"; NULL:
 * none. Those in TRAPLINE_OPTIONS come after them and so have the last word. When it returns every
 * thread is watched, and so are those created later and forked children. Threads are to be few when
 * it is called: early in main() is best.
 *
 * 0, or -EALREADY: this process is watched; -ENOENT: there is no `trapline` command where this
 * library was installed; -ECHILD: it could not begin, and said why on standard error; -EACCES: no
 * events could be opened on this process (`trapline doctor` tells why); -ETIMEDOUT.
 */
TL_API int tl_race_start(const char *options);

/* Ends the watching of this process and returns when the report is written, or after 2 s. 0, or
 * -ESRCH when it is not watched. */
TL_API int tl_race_stop(void);

#ifdef __cplusplus
}
#endif
#endif
