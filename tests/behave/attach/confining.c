/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread confines itself and nobody else, to strict mode or by a filter that kills for what a
 * handler might call. It keeps to its registers for a while, and then comes to what others race on.
 *
 * usage: confining strict|filter|limited; it begins when it is told to by a byte.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KEEP_APART 300000000l /* ns of a processor: it can only last longer */
#define ACCESSES 2000

static volatile long watched;
static atomic_int over, finished;
static long rounds_apart; /* that last so long */

static void keep_to_registers(long rounds)
{
	__asm__ volatile("1: pause; dec %0; jnz 1b" : "+r"(rounds) : : "cc");
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000l + time.tv_nsec;
}

static void measure(void)
{
	const long begun = now();

	while (now() - begun < KEEP_APART) {
		keep_to_registers(1000);
		rounds_apart += 1000;
	}
}

static void *race(void *argument)
{
	const struct timespec pause = {0, 100000};

	while (!over) {
		watched++;
		nanosleep(&pause, NULL);
	}
	return argument;
}

#define DENY(number)                                         \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* A limit need not make the last two. */
static int set_filter(bool limited)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		DENY(limited ? SYS_prctl : SYS_futex),
		DENY(limited ? SYS_prctl : SYS_gettid),
		DENY(SYS_prctl),
		DENY(SYS_process_vm_readv),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static void *confine(void *how)
{
	if (strcmp(how, "strict") == 0 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
				       : set_filter(strcmp(how, "limited") == 0))
		exit(2);
	keep_to_registers(rounds_apart);
	for (int i = 0; i < ACCESSES; i++) {
		keep_to_registers(rounds_apart / ACCESSES);
		watched++;
	}
	finished = 1;
	syscall(SYS_exit, 0);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t racing, confined;

	if (argc < 2 || pthread_create(&racing, NULL, race, NULL))
		return 2;
	measure();
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF || pthread_create(&confined, NULL, confine, argv[1]))
		return 2;
	pthread_join(confined, NULL);
	over = 1;
	pthread_join(racing, NULL);
	puts(finished ? "ok" : "it was killed");
	return 0;
}
