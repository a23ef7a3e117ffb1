/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that end, and threads, while others go on. */
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include "mistakes.h"

static void churn(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		char *block = checked(hidden(malloc(1 + i * 7 % 3000)));

		block[0] = block[i * 7 % 3000] = 1;
		free(block);
	}
}

static void *churn_for_ever(void *argument)
{
	(void)argument;
	for (;;)
		churn(100);
	return NULL;
}

/* Blocks that threads free while another one ends the process, of which many wait in the
 * quarantine. */
static void children_exit_while_threads_free(void)
{
	pthread_t thread;
	int status;

	churn(40000);
	for (int i = 0; i < 40; i++) {
		pid_t child = fork();

		if (child == 0) {
			for (int j = 0; j < 3; j++)
				require(!pthread_create(&thread, NULL, churn_for_ever, NULL),
					"thread");
			usleep(20000);
			exit(0);
		}
		require(child > 0 && waitpid(child, &status, 0) == child && !status,
			"a child's end");
	}
}

/* Whatever asks for the memory of the process by its id is told that there is none. */
static void *free_after_the_first(void *line)
{
	const size_t size = 1 << 20;
	char *block, *page, byte;
	struct iovec to = {&byte, 1}, from = {&byte, 1};

	while (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1)
		usleep(1000);
	block = checked(hidden(malloc(size)));
	page = (char *)(((uintptr_t)block + 4095) & ~(uintptr_t)4095);
	require(!mprotect(page, 4096, PROT_NONE), "mprotect()");
	free(block);
	churn(1000);
	puts(line);
	exit(0);
}

static void first_thread_ended(void)
{
	pthread_t thread;

	require(!pthread_create(&thread, NULL, free_after_the_first, "first_thread_ended: done"),
		"thread");
	pthread_exit(NULL);
}

static const struct test_case cases[] = {
	{"children_exit_while_threads_free", children_exit_while_threads_free},
	{"first_thread_ended", first_thread_ended},
};

CASES_MAIN(cases)
