/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs of an odd make, to attach to: `runtimes WHAT SECONDS`. It says "ready" when it runs and
 * at its end "ok", or what was wrong.
 *
 *	language	as a runtime of a language does whose stacks are small and lie in its heap:
 *the stack pointer is that of such a stack, below which other data begins, and so every handler
 *runs on an alternate stack faults		the same, with a handler of SIGSEGV alone start
 *one thread that starts programs by vfork(2), one after the other
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#define THREADS 2
#define STACK 65536
#define HEAP 16384 /* bytes; more than a frame of the kernel's takes */
#define RED_ZONE 128

static time_t end;
static volatile long racy;
static long wrong;

static void on_signal(int number)
{
	(void)number;
}

/* Adds on a stack at whose end data begins: what the ABI grants below it is all there is. */
static void add(char *stack, long times)
{
#ifdef __x86_64__
	__asm__ volatile("movq %%rsp, %%rbx\n"
			 "movq %[stack], %%rsp\n"
			 "1: incq %[racy]\n"
			 "decq %[times]\n"
			 "jnz 1b\n"
			 "movq %%rbx, %%rsp\n"
			 : [times] "+r"(times), [racy] "+m"(racy)
			 : [stack] "r"(stack)
			 : "rbx", "memory", "cc");
#else
	(void)stack;
	__atomic_fetch_add(&racy, times, __ATOMIC_RELAXED);
#endif
}

static void *run_language(void *unused)
{
	const struct timespec pause = {0, 200000};
	stack_t alternate = {.ss_sp = malloc(STACK), .ss_size = STACK};
	char *heap = malloc(HEAP);

	if (!heap || sigaltstack(&alternate, NULL))
		abort();
	while (time(NULL) < end) {
		memset(heap, 0x5a, HEAP);
		add(heap + HEAP, 20000);
		for (size_t i = 0; i < HEAP - RED_ZONE; i++)
			if (heap[i] != 0x5a)
				__atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
		nanosleep(&pause, NULL);
	}
	free(heap);
	return unused;
}

static void run_threads(int signal)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	pthread_t thread[THREADS];

	sigaction(signal, &action, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run_language, NULL);
	printf("ready\n");
	fflush(stdout);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void confine(uint32_t others)
{
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IS(value, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise)
	struct sock_filter code[] = {
		LOAD(nr),
		IS(SYS_process_vm_readv, 7, 0),
		IS(SYS_prctl, 6, 0),
		IS(SYS_socket, 6, 0),
		IS(SYS_mmap, 0, 3),
		LOAD(args[2]),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_WRITE | PROT_EXEC),
		IS(PROT_WRITE | PROT_EXEC, 2, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, others),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		abort();
}

static void *race(void *unused)
{
	const struct timespec pause = {0, 1000000};

	while (time(NULL) < end) {
		for (int i = 0; i < 300; i++)
			racy++;
		if (nanosleep(&pause, NULL))
			wrong = 1;
	}
	return unused;
}

static void race_confined(uint32_t others)
{
	pthread_t thread[THREADS];

	confine(others);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, race, NULL);
	printf("ready\n");
	fflush(stdout);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void start_programs(void)
{
	char *const command[] = {"true", NULL}, *const environment[] = {NULL};

	printf("ready\n");
	fflush(stdout);
	while (time(NULL) < end) {
		pid_t child;
		int status = 1;

		if (posix_spawn(&child, "/bin/true", NULL, NULL, command, environment) ||
		    waitpid(child, &status, 0) != child || status)
			wrong = 1;
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	end = time(NULL) + (argc > 2 ? atoi(argv[2]) : 0);
	if (strcmp(what, "language") == 0)
		run_threads(SIGUSR1);
	else if (strcmp(what, "faults") == 0)
		run_threads(SIGSEGV);
	else if (strcmp(what, "confined") == 0)
		race_confined(SECCOMP_RET_KILL_PROCESS);
	else if (strcmp(what, "served") == 0)
		race_confined(SECCOMP_RET_ALLOW);
	else if (strcmp(what, "start") == 0)
		start_programs();
	puts(wrong ? "wrong" : "ok");
	return 0;
}
