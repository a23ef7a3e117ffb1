/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers that block SIGTRAP and leave it to their return to unblock it, as zsh's do: with all
 * signals or alone, under a mask of their own, one within another, during a call that has a mask
 * of its own, and where it was blocked before.
 */
#include "trap.h"
#include <sys/wait.h>

static void block_all(int number)
{
	sigset_t all;

	(void)number;
	sigfillset(&all);
	expect(sigprocmask(SIG_BLOCK, &all, NULL) == 0);
	say("  all blocked: %d", trap_is_blocked());
}

static void block_trap(int number)
{
	(void)number;
	set_trap(SIG_BLOCK);
}

static void block_for_a_while(int number)
{
	sigset_t all, before;

	(void)number;
	sigfillset(&all);
	expect(sigprocmask(SIG_SETMASK, &all, &before) == 0);
	expect(sigprocmask(SIG_SETMASK, &before, NULL) == 0);
	say("  back again: %d", trap_is_blocked());
}

static void block_within(int number)
{
	(void)number;
	raise(SIGUSR2);
	say("  after the inner one: %d", trap_is_blocked());
}

static void unblock_another(int number)
{
	sigset_t set;

	(void)number;
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	expect(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
	say("  another unblocked: %d", trap_is_blocked());
}

static void on(int number, void (*handler)(int), int all)
{
	struct sigaction action = {.sa_handler = handler};

	if (all)
		sigfillset(&action.sa_mask);
	expect(sigaction(number, &action, NULL) == 0);
}

/* One of the program's own comes now, and is handled where it is not blocked. */
static void look(const char *what)
{
	int before = handled, now;

	raise(SIGTRAP);
	now = handled - before;
	say("%s: handled %d, blocked %d", what, now, trap_is_blocked());
	set_trap(SIG_UNBLOCK);
	say("%s: handled %d", what, handled - before);
}

static void raise_in(const char *what, void (*handler)(int), int all)
{
	on(SIGUSR1, handler, all);
	raise(SIGUSR1);
	look(what);
	set_trap(SIG_BLOCK);
	raise(SIGUSR1);
	look("  and blocked before");
}

static void suspend_in(const char *what, void (*handler)(int), int with_trap)
{
	sigset_t others, mask;

	sigemptyset(&others);
	sigaddset(&others, SIGUSR1);
	sigaddset(&others, SIGWINCH);
	on(SIGUSR1, handler, 0);
	expect(sigprocmask(SIG_BLOCK, &others, NULL) == 0);
	set_trap(SIG_BLOCK);
	raise(SIGUSR1);
	sigemptyset(&mask);
	if (with_trap)
		sigaddset(&mask, SIGTRAP);
	expect(sigsuspend(&mask) == -1 && errno == EINTR);
	look(what);
	expect(sigprocmask(SIG_UNBLOCK, &others, NULL) == 0);
}

/* What is executed after a handler has blocked all begins with what it would begin with. */
static void execute(void)
{
	int status;
	pid_t child;

	on(SIGUSR1, block_all, 0);
	raise(SIGUSR1);
	child = fork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "grep SigBlk /proc/self/status", (char *)NULL);
		_exit(9);
	}
	expect(waitpid(child, &status, 0) == child);
	say("executed: %d", status);
	raise(SIGUSR1);
	say("system: %d", system("grep SigBlk /proc/self/status"));
}

int main(void)
{
	on(SIGTRAP, on_trap, 0);
	on(SIGUSR2, block_all, 0);
	noise_start();
	raise_in("all", block_all, 0);
	raise_in("alone", block_trap, 0);
	raise_in("for a while", block_for_a_while, 0);
	raise_in("all, under a mask", block_all, 1);
	raise_in("for a while, under a mask", block_for_a_while, 1);
	raise_in("within another", block_within, 0);
	raise_in("another unblocked", unblock_another, 0);
	suspend_in("suspended, open", block_all, 0);
	suspend_in("suspended, closed", unblock_another, 1);
	suspend_in("suspended, closed, all", block_all, 1);
	execute();
	nap(1500000);
	noise_stop();
	return 0;
}
