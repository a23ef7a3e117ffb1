/* SPDX-License-Identifier: Apache-2.0 */
/* SIGTRAP meets a thread in calls that wait: they end with EINTR or go on, as the program's action
 * of it says, also after siginterrupt(), and go on where it is blocked. */
#include "trap.h"
#include <semaphore.h>
#include <stdbool.h>
#include <sys/socket.h>

static pid_t waiter;
static long calling;		       /* the system call's number */
static volatile bool blocks, returned; /* it has SIGTRAP blocked; its call has ended */
static int feeder, peer;
static sem_t semaphore;

/* Where /proc shows the thread that waits to be asleep; -1: it runs. */
static long call_it_sleeps_in(void)
{
	char path[64];
	long call = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)waiter);
	file = fopen(path, "re");
	expect(file != NULL);
	if (fscanf(file, "%ld", &call) != 1)
		call = -1;
	fclose(file);
	return call;
}

/* On a busy machine it comes there late. */
static void wait_until_asleep(void)
{
	while (call_it_sleeps_in() != calling && !returned)
		nap(1000);
}

/* First the signal, to a thread that waits; and what the call waits for only when that has been
 * handled, if it is not blocked, and has not ended the call. */
static void *disturb(void *argument)
{
	int before = handled;

	nap(100000);
	wait_until_asleep();
	syscall(SYS_tgkill, getpid(), waiter, SIGTRAP);
	while (!blocks && handled == before)
		nap(1000);
	nap(100000);
	wait_until_asleep();
	expect(write(feeder, "f", 1) == 1 && write(peer, "p", 1) == 1);
	sem_post(&semaphore);
	return argument;
}

static void try(const char *what, int which, int from, int socket)
{
	int before = handled, err;
	static const long numbers[] = {SYS_read, SYS_recvfrom, SYS_futex};
	long result = -2;
	pthread_t thread;
	char byte;

	calling = numbers[which];
	returned = false;
	expect(pthread_create(&thread, NULL, disturb, NULL) == 0);
	errno = 0;
	if (which == 0)
		result = read(from, &byte, 1);
	else if (which == 1)
		result = recv(socket, &byte, 1, 0);
	else if (which == 2)
		result = sem_wait(&semaphore);
	err = errno;
	returned = true;
	expect(pthread_join(thread, NULL) == 0);
	say("%s, call %d: %ld, %s, handled %d", what, which, result, strerror(err),
	    (int)handled - before);
	/* Whatever is left. */
	fcntl(from, F_SETFL, O_NONBLOCK);
	while (read(from, &byte, 1) == 1)
		;
	fcntl(from, F_SETFL, 0);
	while (recv(socket, &byte, 1, MSG_DONTWAIT) == 1)
		;
	while (sem_trywait(&semaphore) == 0)
		;
}

static void try_all(const char *what, int from, int socket)
{
	for (int which = 0; which < 3; which++)
		try(what, which, from, socket);
}

static void set_action(int flags)
{
	struct sigaction action = {.sa_handler = on_trap, .sa_flags = flags};

	expect(sigaction(SIGTRAP, &action, NULL) == 0);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
int main(void)
{
	int pipes[2], sockets[2];

	expect(pipe(pipes) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	expect(sem_init(&semaphore, 0, 0) == 0);
	feeder = pipes[1];
	peer = sockets[1];
	waiter = (pid_t)syscall(SYS_gettid);
	noise_start();
	set_action(0);
	try_all("interrupts", pipes[0], sockets[0]);
	set_action(SA_RESTART);
	try_all("restarts", pipes[0], sockets[0]);
	expect(siginterrupt(SIGTRAP, 1) == 0);
	try_all("siginterrupt()", pipes[0], sockets[0]);
	set_trap(SIG_BLOCK);
	blocks = true;
	try_all("blocked", pipes[0], sockets[0]);
	set_trap(SIG_UNBLOCK);
	say("handled %d", (int)handled);
	for (int i = 0; i < 20; i++) {
		pid_t child;

		syscall(SYS_tgkill, getpid(), waiter, SIGTRAP);
		child = fork();
		expect(child >= 0);
		if (child == 0)
			_exit(0);
		while (waitpid(child, NULL, 0) < 0)
			expect(errno == EINTR);
	}
	noise_stop();
	return 0;
}
