/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/remote.h"

#include "base/clock.h"
#include "base/pidfd.h"
#include "base/syscall.h"
#include "event/threads.h"
#include "inject/again.h"
#include "inject/apart.h"
#include "inject/dispatch.h"
#include "inject/filters.h"
#include "inject/memory.h"
#include "inject/section.h"
#include "inject/status.h"
#include "inject/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STOP_BOUND (SECOND / 4) /* how long a thread may take to come to a stop … */
#define STOP_LOOKS 40		/* … and how many times as long if it merely waits for a CPU */
#define LATE_MAX 64
#define CALL_BOUND (10 * SECOND)   /* how long a call may take to return; none of them sleeps */
#define RUNTIME_BOUND (2 * SECOND) /* how long a call of a beginning runtime may take */
#define USER_CODE_64 0x33	   /* its code segment (asm/segment.h, __USER_CS) */
#define OTHERS_MOST 64 /* stops other than at a call: SIGSTOP and what else cannot be blocked */
#define CALL_STOP (SIGTRAP | 0x80)   /* PTRACE_O_TRACESYSGOOD */
#define ERROR_RESTART_NO_HANDLER 514 /* ERESTARTNOHAND, linux/errno.h of the kernel */

static bool is_event_stop(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP;
}

/* The signal that a thread is about to get and stopped for; 0: it stopped for another reason. */
static int signal_of(int status)
{
	return status >> 16 || WSTOPSIG(status) == CALL_STOP ? 0 : WSTOPSIG(status);
}

/* Does it sleep where nothing wakes it? If not, it will stop as soon as it gets a CPU. */
static bool is_stuck(pid_t tid)
{
	struct status status;

	return status_read(tid, &status) || status.state == 'D';
}

static int wait_for_state(pid_t tid, int *status)
{
	int err = wait_for(tid, status, STOP_BOUND, WAIT_SPIN_NS);

	for (int i = 0; i < STOP_LOOKS && err == -ETIMEDOUT && !is_stuck(tid); i++)
		err = wait_for(tid, status, STOP_BOUND, WAIT_SPIN_NS);
	return err;
}

/* Waits until the thread stops for us. Signals that are on their way are delivered first, and a
 * stop by job control does not count. */
static int wait_for_stop(pid_t tid)
{
	int status, err;

	while (!(err = wait_for_state(tid, &status)) && !is_event_stop(status))
		ptrace(PTRACE_CONT, tid, NULL, (void *)(long)signal_of(status));
	if (!err && WSTOPSIG(status) != SIGTRAP)
		return -EAGAIN;
	return err;
}

static void let_go(struct remote *remote)
{
	urgency_end(&remote->urgency);
	ptrace(PTRACE_DETACH, remote->tid, NULL, NULL);
	urgency_discard(&remote->urgency);
}

/* What wait_for_stop() has told, or what came before it. -EAGAIN: the thread stands, for another
 * reason than us, and goes on. */
static int not_stopped(struct remote *remote, int err)
{
	if (err == -EAGAIN)
		let_go(remote);
	else
		urgency_discard(&remote->urgency);
	return err;
}

/* Threads that we gave up waiting for: each stops some time later, when it wakes. They are this
 * process's: those of the process apart the kernel lets go when that ends. */
static pid_t late[LATE_MAX];
static unsigned late_count;

static bool is_still_late(pid_t tid)
{
	int status;
	pid_t found = wait_look(tid, &status);

	if (found != tid || !WIFSTOPPED(status))
		return !found;
	ptrace(PTRACE_DETACH, tid, NULL, (void *)(long)signal_of(status));
	return false;
}

void remote_let_late_go(void)
{
	unsigned kept = 0;

	if (apart_is())
		return;
	for (unsigned i = 0; i < late_count; i++)
		if (is_still_late(late[i]))
			late[kept++] = late[i];
	late_count = kept;
}

/* Async-signal-safe. Does not ask for the end of any process, which is left to whoever waits for
 * it. */
static void let_stopped_go(int signal)
{
	int before = errno;

	(void)signal;
	for (unsigned i = 0; i < late_count; i++) {
		siginfo_t info = {0};
		int status;

		if (waitid(P_PID, (id_t)late[i], &info, WSTOPPED | WNOHANG | __WALL) ||
		    !info.si_pid)
			continue;
		status = info.si_status << 8 | 0x7f;
		ptrace(PTRACE_DETACH, late[i], NULL, (void *)(long)signal_of(status));
	}
	errno = before;
}

void remote_part_with_late(void)
{
	struct sigaction action = {.sa_handler = let_stopped_go, .sa_flags = SA_RESTART};

	remote_let_late_go();
	if (!late_count)
		return;
	sigaction(SIGCHLD, &action, NULL);
	let_stopped_go(SIGCHLD); /* for those that stopped before the handler was set */
}

/* If there are more than there is room for, the kernel lets the others go when this process
 * ends. */
static void note_late(pid_t tid)
{
	if (late_count < LATE_MAX && !apart_is())
		late[late_count++] = tid;
}

static bool may_call(struct remote *remote)
{
	enum status_calls calls = status_may_call(remote->tid);
	struct filters filters;

	remote->filters = 0;
	remote->batches = calls == STATUS_CALLS_ALL;
	if (calls != STATUS_CALLS_NONE)
		return true;
	filters = filters_ask(remote->tid, remote->call);
	remote->batches = filters.batch;
	if (filters.verdict == FILTERS_ALL)
		remote->filters = filters.count;
	return filters.verdict != FILTERS_FORBID;
}

/* Is the process still the program that we took it for? Another of its threads may have executed
 * one. */
static int check(struct remote *remote)
{
	uint16_t instruction = 0;

	if (remote->registers.cs != USER_CODE_64)
		return -ENOEXEC;
	if (!remote->call)
		return 0;
	if (!may_call(remote))
		return -ECANCELED;
	if (dispatch_is_on(remote->tid))
		return -EOPNOTSUPP;
	if (memory_read(remote->tid, remote->call, &instruction, sizeof(instruction)) ||
	    instruction != 0x050f)
		return -EAGAIN;
	return 0;
}

/* Looks at the thread once it stands. */
static int look_at(struct remote *remote)
{
	int err = 0;

	remote->begun = clock_now();
	urgency_begin(&remote->urgency);
	if (ptrace(PTRACE_GETREGS, remote->tid, NULL, &remote->registers))
		err = -errno;
	if (!err)
		err = check(remote);
	if (!err &&
	    ptrace(PTRACE_GETSIGMASK, remote->tid, (void *)sizeof(remote->mask), &remote->mask))
		err = -errno;
	if (err)
		let_go(remote);
	return err;
}

/* Is the thread of this process? A stopped thread keeps its id. The process that has the id now is
 * the one that was meant if that still lives after the thread was found in it. */
static bool is_of(const struct remote_process *process, pid_t tid)
{
	long err = raw_syscall3(SYS_tgkill, process->pid, tid, 0);

	/* EPERM: the kernel checks whose thread it is before it checks who may send a signal. */
	return (!err || err == -EPERM || err == -EACCES) && !pidfd_has_ended(process->pidfd);
}

int remote_begin(struct remote *remote, struct remote_process process, pid_t tid, uint64_t call)
{
	int err;

	remote_let_late_go();
	*remote = (struct remote){.tid = tid, .call = call};
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)PTRACE_O_TRACESYSGOOD))
		return -errno;
	urgency_prepare(&remote->urgency, tid);
	err = ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ? -errno : wait_for_stop(tid);
	if (err == -ETIMEDOUT)
		note_late(tid);
	if (err)
		return not_stopped(remote, err);
	if (!is_of(&process, tid)) {
		let_go(remote);
		return -ESRCH;
	}
	return look_at(remote);
}

int remote_expect(pid_t child)
{
	void *options = (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC);

	return ptrace(PTRACE_SEIZE, child, NULL, options) ? -errno : 0;
}

static int wait_for_execution(pid_t child)
{
	int status, err;

	while (!(err = wait_for(child, &status, CALL_BOUND, WAIT_SPIN_NS)) &&
	       status >> 8 != (SIGTRAP | PTRACE_EVENT_EXEC << 8))
		ptrace(PTRACE_CONT, child, NULL, (void *)(long)WSTOPSIG(status));
	return err;
}

/* Lets the child go to the entry or the exit of its next call. Signals are delivered. */
static int go_to_own_call(pid_t child)
{
	int status = 0, err, signal = 0;

	do {
		if (ptrace(PTRACE_SYSCALL, child, NULL, (void *)(long)signal))
			return -errno;
		err = wait_for(child, &status, RUNTIME_BOUND, WAIT_SPIN_NS);
		signal = err ? 0 : signal_of(status);
	} while (!err && WSTOPSIG(status) != CALL_STOP);
	return err;
}

/* Is the call at whose entry it stands one that sets the action of SIGTRAP? */
static bool sets_action_of_trap(pid_t child)
{
	struct user_regs_struct registers;

	return !ptrace(PTRACE_GETREGS, child, NULL, &registers) &&
	       registers.orig_rax == SYS_rt_sigaction && registers.rdi == SIGTRAP && registers.rsi;
}

static int wait_for_action(pid_t child)
{
	bool set = false;
	int err = 0;

	for (int calls = 0; calls < REMOTE_CALLS_MOST && !set && !err; calls++) {
		err = go_to_own_call(child);
		set = !err && sets_action_of_trap(child);
		if (!err)
			err = go_to_own_call(child);
	}
	return err;
}

/* From a stop that tells of something, lets the thread go to where the kernel lets it go on. */
static int begin_told(struct remote *remote, pid_t child)
{
	int err;

	*remote = (struct remote){.tid = child};
	urgency_prepare(&remote->urgency, child);
	if (ptrace(PTRACE_INTERRUPT, child, NULL, NULL) || ptrace(PTRACE_CONT, child, NULL, NULL))
		err = -errno;
	else
		err = wait_for_stop(child);
	return err ? not_stopped(remote, err) : look_at(remote);
}

int remote_begin_expected(struct remote *remote, pid_t child)
{
	int err = wait_for_execution(child);

	return err ? err : begin_told(remote, child);
}

int remote_begin_set(struct remote *remote, pid_t child)
{
	int err = wait_for_execution(child), status;

	if (!err)
		err = wait_for_action(child);
	/* It sleeps in a call before it has set any, and comes to that call's exit. */
	if (err == -ETIMEDOUT)
		err = ptrace(PTRACE_INTERRUPT, child, NULL, NULL) ? -errno
								  : wait_for_state(child, &status);
	return err ? err : begin_told(remote, child);
}

/* One that does not run before others may wait for the CPU on which we look. */
static int wait_for_call(const struct remote *remote, int *status)
{
	return wait_for(remote->tid, status, CALL_BOUND,
			remote->urgency.raised ? WAIT_SPIN_CALL_NS : WAIT_SPIN_NS);
}

/* To a stop at the entry or the exit of its call. -EFAULT: it makes none, and faults instead. A
 * SIGSTOP that comes is the program's, and delivered: others of its threads stop, and this one when
 * it is let go, unless SIGCONT has come by then. */
static int go_to_call(const struct remote *remote)
{
	const pid_t tid = remote->tid;
	int signal = 0;

	for (int others = 0; others < OTHERS_MOST; others++) {
		int status, err;

		if (ptrace(PTRACE_SYSCALL, tid, NULL, (void *)(long)signal))
			return -errno;
		err = wait_for_call(remote, &status);
		if (err || WSTOPSIG(status) == CALL_STOP)
			return err;
		if (dispatch_was(tid, status))
			return -EOPNOTSUPP;
		signal = signal_of(status) == SIGSTOP ? SIGSTOP : 0;
	}
	return -EFAULT;
}

/* Before the first call: no signal is delivered between calls. That of a call which is dispatched
 * would be forced, were it blocked, and the program's handler of it gone. */
static int block_signals(struct remote *remote)
{
	uint64_t all = REMOTE_BLOCKED;

	if (remote->called)
		return 0;
	remote->called = true;
	remote->abort = section_abort_address(remote->tid, remote->registers.rip);
	return ptrace(PTRACE_SETSIGMASK, remote->tid, (void *)sizeof(all), &all) ? -errno : 0;
}

long remote_call(struct remote *remote, long number, const uint64_t arguments[6])
{
	struct user_regs_struct registers = remote->registers;
	int err = remote->lost ? -ETIMEDOUT : block_signals(remote);

	if (err)
		return err;
	remote->at_signal = false;
	registers.rip = remote->call;
	registers.rax = (uint64_t)number;
	/* the thread is in no call that the kernel would begin again */
	registers.orig_rax = (uint64_t)-1;
	registers.rdi = arguments[0];
	registers.rsi = arguments[1];
	registers.rdx = arguments[2];
	registers.r10 = arguments[3];
	registers.r8 = arguments[4];
	registers.r9 = arguments[5];
	if (ptrace(PTRACE_SETREGS, remote->tid, NULL, &registers))
		return -errno;
	err = go_to_call(remote);
	if (!err)
		err = go_to_call(remote);
	remote->lost = err == -ETIMEDOUT;
	if (err)
		return err;
	if (ptrace(PTRACE_GETREGS, remote->tid, NULL, &registers))
		return -errno;
	return (long)registers.rax;
}

/* At the end of the run also one of which the kernel kept no more than its number
 * (RLIMIT_SIGPENDING): a thread's own signals come before its process's. */
static bool is_own(const siginfo_t *info, const struct user_regs_struct *registers)
{
	if (registers->r15 && info->si_code == SI_USER && !info->si_pid)
		return true;
	return info->si_code == SI_TKILL && (uint64_t)info->si_pid == registers->r13;
}

/* The signals that reach the thread during the run. */
static uint64_t run_signals(const struct remote_run *run)
{
	return REMOTE_FAULTS | 1ull << (run->signal - 1);
}

/* If there are more than there is room for, the last are lost. */
static void note_foreign(struct remote_run *run, const siginfo_t *info)
{
	if (run->foreign_count < REMOTE_FOREIGN_MOST)
		run->foreign[run->foreign_count++] = *info;
}

/* Is the signal a fault? Only those that the kernel itself raises have such a code. */
static bool is_fault(int signal, const siginfo_t *info)
{
	return 1ull << (signal - 1) & REMOTE_FAULTS && info->si_code > 0;
}

static int go_to_signal(const struct remote *remote, struct remote_run *run)
{
	const pid_t tid = remote->tid;
	int signal = 0;

	for (int others = 0; others < OTHERS_MOST; others++) {
		int status, err, arrived;
		siginfo_t info;

		if (ptrace(PTRACE_CONT, tid, NULL, (void *)(long)signal))
			return -errno;
		err = wait_for_call(remote, &status);
		if (err)
			return err;
		if (dispatch_was(tid, status))
			return -EOPNOTSUPP;
		signal = signal_of(status) == SIGSTOP ? SIGSTOP : 0;
		arrived = signal_of(status);
		if (!arrived || !(1ull << (arrived - 1) & run_signals(run)))
			continue;
		if (ptrace(PTRACE_GETREGS, tid, NULL, &run->registers) ||
		    ptrace(PTRACE_GETSIGINFO, tid, NULL, &info))
			return -errno;
		if (is_fault(arrived, &info))
			return -EFAULT;
		if (arrived != run->signal || !is_own(&info, &run->registers))
			note_foreign(run, &info);
		if (arrived == run->signal && run->registers.r15)
			return 0;
	}
	return -EFAULT;
}

int remote_run(struct remote *remote, struct remote_run *run)
{
	const uint64_t all = REMOTE_BLOCKED, but = all & ~run_signals(run);
	int err = remote->lost ? -ETIMEDOUT : block_signals(remote);

	run->foreign_count = 0;
	if (!err && (ptrace(PTRACE_SETSIGMASK, remote->tid, (void *)sizeof(but), &but) ||
		     ptrace(PTRACE_SETREGS, remote->tid, NULL, &run->registers)))
		err = -errno;
	if (!err)
		err = go_to_signal(remote, run);
	remote->at_signal = !err;
	remote->lost = err == -ETIMEDOUT;
	/* Even after an error it stands still, unless it is lost. */
	if (!remote->lost && ptrace(PTRACE_SETSIGMASK, remote->tid, (void *)sizeof(all), &all) &&
	    !err)
		err = -errno;
	return err;
}

/* Once more to where the kernel is about to let it go on, so that the kernel itself begins a call
 * again that was interrupted, or delivers what has come meanwhile. One whose call did not return,
 * since its group was frozen meanwhile (cgroups(7)), does not stand: it stops for us even there. */
static void return_to_stop(const struct remote *remote)
{
	if (ptrace(PTRACE_INTERRUPT, remote->tid, NULL, NULL) ||
	    (!remote->lost && ptrace(PTRACE_CONT, remote->tid, NULL, NULL)))
		return;
	wait_for_stop(remote->tid);
}

static void put_back(struct remote *remote)
{
	struct user_regs_struct *registers = &remote->registers;
	bool again = (long)registers->orig_rax >= 0 && (long)registers->rax == -EINTR &&
		     again_may_begin((long)registers->orig_rax);

	if (remote->abort)
		registers->rip = remote->abort;
	if (again)
		registers->rax = (uint64_t)-ERROR_RESTART_NO_HANDLER;
	if (remote->called || again)
		ptrace(PTRACE_SETREGS, remote->tid, NULL, registers);
	if (remote->called)
		ptrace(PTRACE_SETSIGMASK, remote->tid, (void *)sizeof(remote->mask), &remote->mask);
}

void remote_restore(struct remote *remote)
{
	if (remote->called)
		return_to_stop(remote);
	put_back(remote);
	urgency_end(&remote->urgency);
}

void remote_release(struct remote *remote)
{
	let_go(remote);
}

uint64_t remote_end(struct remote *remote)
{
	/* When it has sent itself its signal, it stands where the kernel is about to let it go
	 * on. */
	if (remote->called && !remote->at_signal)
		return_to_stop(remote);
	put_back(remote);
	let_go(remote);
	return clock_now() - remote->begun;
}
