/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller: starts a program (or finds one that runs), follows its processes, owns all their
 * events, draws samples, gives addresses to hardware slots, and tells an observer what happened. It
 * works on any process that it may ptrace, its own included.
 *
 * The room holds the loop (control.c), how everything is made and connected (create.c, events.h),
 * and the way from a clock sample to the accesses that a thread is about to make (sampling.h). It
 * promises that slots are silenced before any work that takes longer than a hold, and that
 * everything that happened to a process is told before its end. One thread runs all of it, the one
 * that calls control_run(), unless a function says otherwise.
 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include "arrival/enter.h"
#include "hit/stack.h"
#include "program/options.h"
#include "process/space.h"
#include "record/area.h"

#include <trapline/tool.h>

struct control;
struct notice;
struct guards_notice;
struct trace;

/* What the observer is told, synchronously, by the controller's thread. A NULL member is not
 * called. */
struct control_observer {
	void (*sample)(void *context, const struct tl_access *access);
	void (*hit)(void *context, const struct tl_access *access);
	void (*pair)(void *context, const struct tl_pair *pair);
	void (*unwatched)(void *context, const struct tl_watch *watch, unsigned hits,
			  unsigned threads);
	/* The process has ended; told once of each. */
	void (*process_ended)(void *context, pid_t pid);
	/* Of lasting watches. `process_began` is called before the process runs on, and is the
	 * place to arm watches in it. */
	void (*process_began)(void *context, pid_t pid);
	void (*trace)(void *context, const struct trace *trace);
	/* The program's thread waits until this returns: notice/notice.h. */
	void (*notice)(void *context, const struct notice *notice);
	/* `placed`: a hit of a watch that `owner` placed. `displaced`: such a watch has ended by
	 * itself. */
	void (*placed)(void *context, unsigned owner, const struct tl_access *access);
	void (*displaced)(void *context, unsigned owner, const struct tl_watch *watch,
			  unsigned hits, unsigned threads);
	/* The program's thread waits until this returns: notice/guards.h. */
	void (*guard)(void *context, const struct guards_notice *notice);
	void (*tick)(void *context); /* some 50 times a second */
	/* What the tool thinks of watching this instruction, 0 to TL_INTEREST_MAX: see
	 * <trapline/tool.h>. */
	unsigned (*interest)(void *context, pid_t pid, uint64_t pc);
	void *context;
};

int control_create(struct control **control, const struct control_options *options,
		   const struct control_observer *observer);

/* Starts a program under control: argv[0] is looked up as execvp() does. `library`: the path to
 * preload. Returns its pid or -errno. */
pid_t control_spawn(struct control *control, char *const argv[], const char *library);
/* The same for a program that no library can be loaded into: it is entered before its first
 * instruction (src/inject). Where that fails it runs unwatched, and a message says why. */
pid_t control_spawn_entered(struct control *control, char *const argv[], enum enter_when when);

/* The struct that the rooms below share, for calling their functions. */
struct program *control_program(struct control *control);

/* The area that the controller shares with the program: for limits (limit/limit.h). */
struct area *control_area(struct control *control);

/* Runs the loop until the spawned program's first process ends, and returns its wait status. If
 * none was spawned, until the last process that announced itself in the area has ended. */
int control_run(struct control *control);
/* Watches a process that runs already from outside (observe/observe.h): control_run() then ends
 * with it, or by control_stop(). 0 or -errno. */
int control_observe(struct control *control, pid_t pid);
/* Makes control_run() return, where no program was spawned. Async-signal-safe. */
void control_stop(struct control *control);

/* How many processes are still watched after control_run() has returned. */
unsigned control_others(struct control *control);
/* Runs the loop until the last of them has ended, or control_stop(). */
void control_run_on(struct control *control);
/* The same, for `time` ns at most. */
void control_run_briefly(struct control *control, uint64_t time);
/* Moves the controller to a forked child. control_prepare_copy() is called in the parent before
 * fork(2); the parent must not touch `control` afterwards, and has to live until
 * control_take_over() has returned in the child. The latter returns 0 or -errno. */
void control_prepare_copy(struct control *control);
int control_take_over(struct control *control);

/* Ends the watching; hits that have arrived are told first. */
void control_finish(struct control *control);

int control_watch(struct control *control, const struct tl_watch *watch);

/* Makes the loop call the observer's tick() soon. May be called by any thread. */
void control_rouse(struct control *control);

/* Silences every slot at once, before work that takes longer than a hold. */
void control_quiesce(struct control *control);

/* Sends a signal to a process that is watched, or to one thread of it (`tid` 0: to the process). 0,
 * or -ESRCH when it has ended; it never reaches another process that was given the same id. */
int control_signal(struct control *control, pid_t pid, pid_t tid, int signal);

/* Is the process still waiting at its start, until tools were told of its beginning, and has run
 * nothing of its program? It waits for a bounded time, so a later answer may be false because it
 * went on by itself. */
bool control_waits(const struct control *control, pid_t pid);

/* The process's memory and code. NULL when the process is not watched. Valid until it ends. */
struct space *control_space(struct control *control, pid_t pid);
/* Do accesses by the kernel, in system calls, make hits? */
bool control_kernel_told(const struct control *control);

/* Is every block of the heap to be guarded? */
bool control_guards_all(const struct control *control);

void control_destroy(struct control *control);

/* Calls `each` for every count: name, value and meaning, for --stats. */
typedef void control_count_fn(void *context, const char *name, uint64_t value, const char *meaning);
void control_counts(const struct control *control, control_count_fn *each, void *context);

#endif
