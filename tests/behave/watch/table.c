/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More than the hardware covers: `table` writes some elements of a table of 256 bytes in two
 * threads, reads one, lets the kernel write one, and touches what lies beside it. `table end`
 * forbids itself calls that regions need after the first element, `table freeze` those that opening
 * and closing need.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct {
	int before;
	volatile int table[64];
	int after;
} all;

volatile int (*volatile way)[64] = &all.table;

/* On a page of its own: by the hardware, while the table is a region. */
static volatile int apart __attribute__((aligned(4096)));

static __attribute__((noinline)) void set(int at, int to)
{
	all.table[at] = to; /* the write */
}

static __attribute__((noinline)) int get(int at)
{
	return all.table[at]; /* the read */
}

static void *work(void *name)
{
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < 64; i += 16)
		set(i, 100 + i);
	return NULL;
}

static int forbid(unsigned call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int restrict_and_write(const char *how)
{
	set(0, 1);
	if (forbid(strcmp(how, "end") == 0 ? SYS_prctl : SYS_pkey_mprotect))
		return 1;
	set(1, 2);
	return 7;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int ends[2], sum;
	volatile char *block;

	if (argc > 1)
		return restrict_and_write(argv[1]);
	usleep(100000); /* pointers are looked at meanwhile */
	pthread_create(&thread, NULL, work, "writer");
	pthread_join(thread, NULL);
	set(63, 7);
	set(63, 8);
	*(volatile int *)&all.before = 1;
	*(volatile int *)&all.after = 1;
	apart = 3;
	if (pipe(ends) || write(ends[1], "12345678", 8) != 8 ||
	    read(ends[0], (void *)&all.table[4], 8) != 8)
		return 1;
	sum = get(63) + get(16);
	block = malloc(100);
	if (!block)
		return 1;
	block[0] = 1;
	block[99] = 2; /* the block's end */
	free((void *)block);
	printf("%d\n", sum);
	return 7;
}
