/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --gdb: a debugger at the access. The thread is held in its handler until gdb has attached; gdb
 * then lets this one thread run to the end of the handler, which is where the access was made, all
 * others standing still. Meanwhile the hardware is gdb's: our watchpoints are given back until it
 * has ended.
 */
#include "watch/debugger.h"

#include "lasting/lasting.h"
#include "process/thread_status.h"
#include "record/utf8.h"
#include "watch/state.h"
#include "watch/watched.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SCRIPT_MAX 1024
#define ATTACH_STEP 5000000u /* ns between two looks whether gdb has attached */
#define ATTACH_STEPS 12000   /* one minute */

/*
 * Writes gdb's commands. The thread is in its handler when gdb attaches; they let this one thread
 * run to `resume`, where the handler returns to. A signal that came while the handler ran may be
 * delivered first, at the same place: then it is continued once more, eight times at most. `set
 * scheduler-locking` keeps all other threads where they are; afterwards it is set to gdb's default
 * again.
 */
static void write_script(char script[SCRIPT_MAX], const struct tl_access *access, uint64_t resume,
			 bool held)
{
	snprintf(script, SCRIPT_MAX,
		 "python exec('t = [t for t in gdb.selected_inferior().threads() if t.ptid[1] == "
		 "%d]\\n"
		 "if t: t[0].switch()\\n"
		 "if t and %d:\\n"
		 " gdb.execute(\"set scheduler-locking on\")\\n"
		 " gdb.execute(\"tbreak *%#llx\", to_string=True)\\n"
		 " for i in range(8):\\n"
		 "  gdb.execute(\"continue\", to_string=True)\\n"
		 "  if gdb.selected_frame().pc() == %#llx: break\\n"
		 " gdb.execute(\"set scheduler-locking replay\")\\n"
		 "gdb.execute(\"set $trapline_instruction = %#llx\")\\n"
		 "gdb.execute(\"set $trapline_address = %#llx\")')",
		 (int)access->tid, held, (unsigned long long)resume, (unsigned long long)resume,
		 (unsigned long long)access->pc, (unsigned long long)access->address);
}

/* Interactive gdb gets the terminal, wherever the program's own output goes; what a command file
 * prints goes to where hits are printed. */
static void choose_streams(bool batch)
{
	int terminal;

	if (batch) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		return;
	}
	terminal = open("/dev/tty", O_RDWR);
	for (int fd = 0; fd < 3 && terminal >= 0; fd++)
		if (!isatty(fd))
			dup2(terminal, fd);
}

static void become_gdb(const char *file, pid_t pid, const char *script)
{
	char number[16];

	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	choose_streams(file);
	snprintf(number, sizeof(number), "%d", (int)pid);
	if (file)
		execlp("gdb", "gdb", "-q", "-batch", "-p", number, "-ex", script, "-ex", "frame",
		       "-ex", "x/i $trapline_instruction", "-x", file, (char *)NULL);
	else
		execlp("gdb", "gdb", "-q", "-iex", "set pagination off", "-p", number, "-ex",
		       script, "-ex", "set pagination on", "-ex", "frame", "-ex",
		       "x/i $trapline_instruction", (char *)NULL);
	utf8_fprintf(stderr, "trapline: gdb cannot be run: %s; install it, or leave --gdb out\n",
		     strerror(errno));
	_exit(127);
}

/* Does a debugger trace the thread? True as well if the thread has ended, since then there is
 * nothing to wait for. */
static bool is_traced(pid_t pid, pid_t tid)
{
	char line[64];
	int tracer = 0;

	return !thread_status_line(pid, tid, "TracerPid:", line, sizeof(line)) ||
	       (sscanf(line, "TracerPid: %d", &tracer) == 1 && tracer != 0);
}

/* Waits until gdb has attached to the thread, or has failed to. */
static void wait_for_attachment(struct watch *watch, pid_t pid, pid_t tid)
{
	const struct timespec pause = {0, ATTACH_STEP};

	for (int i = 0; i < ATTACH_STEPS && !is_traced(pid, tid); i++) {
		if (waitpid(watch->debugger, NULL, WNOHANG) == watch->debugger) {
			watch->debugger = 0;
			break;
		}
		nanosleep(&pause, NULL);
	}
}

void debugger_start(struct watch *watch, struct watched *process, const struct trace *trace)
{
	const struct tl_access *access = trace->access;
	uint64_t resume = access->stack ? access->stack->registers.pc : access->pc;
	char script[SCRIPT_MAX];

	if (watch->debugger)
		return;
	write_script(script, access, resume, trace->held && access->tid);
	watch->debugger = fork();
	if (watch->debugger == 0) {
		signal(SIGPIPE, SIG_DFL);
		become_gdb(watch->options.command, access->pid, script);
	}
	watch->debugged = access->pid;
	if (watch->debugger > 0)
		wait_for_attachment(watch, access->pid, access->tid ? access->tid : access->pid);
	else
		watch->debugger = 0;
	/* The hardware is given back only now, since that ends the hold, and gdb must find the
	 * thread in it. */
	if (watch->debugger)
		watch_silence(watch, process);
}

void debugger_check(struct watch *watch, bool wait)
{
	struct watched *process;
	pid_t ended;

	if (!watch->debugger)
		return;
	do
		ended = waitpid(watch->debugger, NULL, wait ? 0 : WNOHANG);
	while (ended < 0 && errno == EINTR);
	if (ended == 0)
		return;
	watch->debugger = 0;
	process = watch_find(watch, watch->debugged);
	if (process)
		watch_resume(watch, process);
}
