/* SPDX-License-Identifier: Apache-2.0 */
/* SIGALRM meets a thread that waits at a semaphore, which may be watched: the wait ends with EINTR
 * or goes on, as the program's action of it says. */
#include "hostile.h"
#include <semaphore.h>

static pid_t waiter;
static sem_t semaphore;
static volatile sig_atomic_t handled;

static void on_alarm(int number)
{
	(void)number;
	handled++;
}

/* First the signal; and what is waited for only if that has not ended the wait. */
static void *disturb(void *argument)
{
	nap(100000);
	syscall(SYS_tgkill, getpid(), waiter, SIGALRM);
	nap(100000);
	sem_post(&semaphore);
	return argument;
}

static void try(const char *what, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	int before = handled, result, err;
	pthread_t thread;

	expect(sigaction(SIGALRM, &action, NULL) == 0);
	expect(pthread_create(&thread, NULL, disturb, NULL) == 0);
	errno = 0;
	result = sem_wait(&semaphore);
	err = errno;
	expect(pthread_join(thread, NULL) == 0);
	say("%s: %d, %s, handled %d", what, result, strerror(err), (int)handled - before);
	while (sem_trywait(&semaphore) == 0)
		;
}

int main(void)
{
	expect(sem_init(&semaphore, 0, 0) == 0);
	waiter = (pid_t)syscall(SYS_gettid);
	noise_start();
	for (int i = 0; i < 3; i++) {
		try("interrupts", on_alarm, 0);
		try("restarts", on_alarm, SA_RESTART);
		try("ignored", SIG_IGN, 0);
	}
	noise_stop();
	return 0;
}
