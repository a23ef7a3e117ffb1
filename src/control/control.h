/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller: starts a program (or finds one), follows its processes, owns all their events,
 * draws samples, gives addresses to hardware slots, and tells an observer what happened. It works
 * on any process that it may ptrace, its own included. One thread.
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

/* Told synchronously; a NULL member is not called. */
struct control_observer {
	void (*sample)(void *context, const struct tl_access *access);
	void (*hit)(void *context, const struct tl_access *access);
	void (*pair)(void *context, const struct tl_pair *pair);
	void (*unwatched)(void *context, const struct tl_watch *watch, unsigned hits,
			  unsigned threads);
	/* Called now and then from the loop, and once at the end of each process. */
	void (*process_ended)(void *context, pid_t pid);
	/* Of lasting watches. `began`: before the process runs on; the place to arm. */
	void (*process_began)(void *context, pid_t pid);
	void (*trace)(void *context, const struct trace *trace);
	/* The program waits until it returns: notice/notice.h. */
	void (*notice)(void *context, const struct notice *notice);
	/* A hit of a watch that `owner` placed; it ended by itself. */
	void (*placed)(void *context, unsigned owner, const struct tl_access *access);
	void (*displaced)(void *context, unsigned owner, const struct tl_watch *watch,
			  unsigned hits, unsigned threads);
	/* The same: notice/guards.h. */
	void (*guard)(void *context, const struct guards_notice *notice);
	void (*tick)(void *context); /* some 50 times a second */
	/* Of an instruction, 0 to TL_INTEREST_MAX: see <trapline/tool.h>. */
	unsigned (*interest)(void *context, pid_t pid, uint64_t pc);
	void *context;
};

int control_create(struct control **control, const struct control_options *options,
		   const struct control_observer *observer);

/* Start a program under control: argv[0] is looked up as execvp() does. Its pid or -errno. */
pid_t control_spawn(struct control *control, char *const argv[], const char *library);
/* The same, of a program that no library can be loaded into: it is entered before its first
 * instruction (src/inject). Where that fails it runs, unwatched, and it is said why. */
pid_t control_spawn_entered(struct control *control, char *const argv[], enum enter_when when);

/* What all rooms below work on, and are asked with. */
struct program *control_program(struct control *control);

/* The area it shares with the program: for limits (limit/limit.h). */
struct area *control_area(struct control *control);

/* Work until the spawned program's first process ends. Returns its wait status. Without one, until
 * the last process that announced itself in the area has ended. */
int control_run(struct control *control);
/* A process that runs already, watched from outside (observe/observe.h): control_run() then ends
 * with it, or by control_stop(). 0 or -errno. */
int control_observe(struct control *control, pid_t pid);
/* Makes control_run() return, of a process that we have not started. Async-signal-safe. */
void control_stop(struct control *control);

/* How many processes are watched, after control_run(). */
unsigned control_others(struct control *control);
/* Work until the last of them has ended, or control_stop(). */
void control_run_on(struct control *control);
/* The same, for `time` ns at most. */
void control_run_briefly(struct control *control, uint64_t time);
/* Around a fork(2): before it in the parent, which must not touch `control` afterwards and has to
 * live until the second has returned in the child. That returns 0 or -errno. */
void control_prepare_copy(struct control *control);
int control_take_over(struct control *control);

/* The watching ends: what is still on its way is told. */
void control_finish(struct control *control);

int control_watch(struct control *control, const struct tl_watch *watch);

/* The observer's tick is called soon. Any thread. */
void control_rouse(struct control *control);

/* Silence every slot at once, before work that takes longer than a hold. */
void control_quiesce(struct control *control);

/* A signal to a process that is watched, or to one thread of it (0: none in particular). 0, or
 * -ESRCH when it has ended: never to another that was given its id. */
int control_signal(struct control *control, pid_t pid, pid_t tid, int signal);

/* Has the process run nothing of its program yet, waiting until tools were told of its beginning?
 * Asked later it may have gone on by itself, since it waits for a bounded time. */
bool control_waits(const struct control *control, pid_t pid);

/* NULL when the process is not watched. Valid until it ends. */
struct space *control_space(struct control *control, pid_t pid);
/* Does what system calls touch make hits? */
bool control_kernel_told(const struct control *control);

/* Was every block of the heap to be guarded? */
bool control_guards_all(const struct control *control);

void control_destroy(struct control *control);

/* Every count there is: name, value and meaning, for --stats. */
typedef void control_count_fn(void *context, const char *name, uint64_t value, const char *meaning);
void control_counts(const struct control *control, control_count_fn *each, void *context);

#endif
