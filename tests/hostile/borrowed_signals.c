/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What SIGTRAP is to a program and to the children it makes in every way: ignored, handled or left
 * alone, blocked or not. Children that share memory and not signals change theirs, and the
 * parent's stay; what is executed inherits what POSIX says.
 */
#include "hostile.h"
#include <sched.h>
#include <spawn.h>

extern char **environ;

static char *self;
static volatile sig_atomic_t handled;

static void on_trap(int number)
{
	(void)number;
	handled++;
}

static const char *action_of_trap(void)
{
	struct sigaction action;

	expect(sigaction(SIGTRAP, NULL, &action) == 0);
	return action.sa_handler == SIG_DFL   ? "default"
	       : action.sa_handler == SIG_IGN ? "ignored"
					      : "handled";
}

static void look(const char *who)
{
	sigset_t mask, pending;

	expect(sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && sigpending(&pending) == 0);
	say("  %s: %s%s%s", who, action_of_trap(), sigismember(&mask, SIGTRAP) ? " blocked" : "",
	    sigismember(&pending, SIGTRAP) ? " pending" : "");
}

static void set_action(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	expect(sigaction(SIGTRAP, &action, NULL) == 0);
}

static void set_blocked(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	expect(sigprocmask(how, &set, NULL) == 0);
}

enum change { NOTHING, DEFAULT, IGNORE, BLOCK, UNBLOCK, RAISE, CHANGES };
static const char *const names[] = {"nothing", "default", "ignore", "block", "unblock", "raise"};

static void change(enum change what)
{
	if (what == DEFAULT)
		set_action(SIG_DFL);
	else if (what == IGNORE)
		set_action(SIG_IGN);
	else if (what == BLOCK || what == RAISE)
		set_blocked(SIG_BLOCK);
	else if (what == UNBLOCK)
		set_blocked(SIG_UNBLOCK);
	if (what == RAISE)
		raise(SIGTRAP);
}

static void look_after_execution(const char *who)
{
	char *const arguments[] = {self, (char *)who, NULL};

	execve(self, arguments, environ);
	_exit(9);
}

static int body(void *argument)
{
	change(*(enum change *)argument);
	look_after_execution("cloned");
	return 9;
}

static void wait_for(pid_t child)
{
	int status;

	expect(child > 0 && waitpid(child, &status, 0) == child);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		say("  ended by %d", status);
}

static void vfork_with(enum change what)
{
	pid_t child = vfork();

	if (child == 0) {
		change(what);
		look_after_execution("vforked");
	}
	wait_for(child);
}

static void spawn_with(int flags)
{
	char *const arguments[] = {self, (char *)"spawned", NULL};
	posix_spawnattr_t attributes;
	sigset_t set;
	pid_t child;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &set);
	posix_spawnattr_setsigdefault(&attributes, &set);
	posix_spawnattr_setflags(&attributes, (short)flags);
	expect(posix_spawn(&child, self, NULL, &attributes, arguments, environ) == 0);
	wait_for(child);
}

static void all_children(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	char command[300];
	enum change what;
	FILE *stream;

	for (what = NOTHING; what < CHANGES; what++) {
		say(" %s", names[what]);
		vfork_with(what);
		look("parent");
		wait_for(clone(body, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD,
			       &what));
		look("parent");
	}
	spawn_with(0);
	spawn_with(POSIX_SPAWN_SETSIGDEF);
	spawn_with(POSIX_SPAWN_SETSIGMASK);
	spawn_with(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	snprintf(command, sizeof(command), "exec '%s' shell", self);
	expect(system(command) == 0);
	stream = popen(command, "w");
	expect(stream && pclose(stream) == 0);
	look("parent");
}

/* A forked child's own come first of all that it does. */
static void all_of_forked(void)
{
	pid_t child = fork();

	if (child == 0) {
		vfork_with(DEFAULT);
		look("forked");
		vfork_with(BLOCK);
		look("forked");
		_exit(0);
	}
	wait_for(child);
}

/* A child that shares the dispositions, too, and the thread-local storage: its mask is its own. */
static int change_and_raise(void *argument)
{
	sig_atomic_t before = handled;
	sigset_t set;

	change(*(enum change *)argument);
	expect(raise(SIGTRAP) == 0 && sigprocmask(SIG_BLOCK, NULL, &set) == 0);
	say("  sharing: %s, %d handled", sigismember(&set, SIGTRAP) ? "blocked" : "open",
	    (int)(handled - before));
	return 0;
}

static void share_all(int how)
{
	static char stack[65536] __attribute__((aligned(16)));
	enum change what;

	set_blocked(how);
	for (what = BLOCK; what <= UNBLOCK; what++) {
		say(" %s", names[what]);
		wait_for(clone(change_and_raise, stack + sizeof(stack),
			       CLONE_VM | CLONE_SIGHAND | SIGCHLD, &what));
		look("parent");
	}
}

static void fail_to_execute(void)
{
	char *const arguments[] = {self, NULL};

	expect(execve("/nowhere/at/all", arguments, environ) == -1 && errno == ENOENT);
	look("parent");
}

int main(int argc, char **argv)
{
	static void (*const handlers[])(int) = {SIG_DFL, SIG_IGN, on_trap};

	if (argc > 1) {
		look(argv[1]);
		return 0;
	}
	self = realpath("/proc/self/exe", NULL);
	expect(self);
	noise_start();
	for (int i = 0; i < 6; i++) {
		set_action(handlers[i / 2]);
		set_blocked(i % 2 ? SIG_BLOCK : SIG_UNBLOCK);
		look("first");
		all_children();
		all_of_forked();
		fail_to_execute();
	}
	raise(SIGTRAP);
	set_blocked(SIG_UNBLOCK);
	raise(SIGTRAP);
	say("%d handled", handled);
	share_all(SIG_BLOCK);
	share_all(SIG_UNBLOCK);
	raise(SIGTRAP);
	say("%d handled", handled);
	noise_stop();
	return 0;
}
