/* SPDX-License-Identifier: Apache-2.0 */
/* Limits its own data to what it has and a little more, and then asks for that little: a block, a
 * thread, a mapping, a shell. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define LIMIT (2u << 20) /* has some 200 KB */
#define BLOCK (256u << 10)

static void *nothing(void *argument)
{
	return argument;
}

static int start_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64u << 10);
	return pthread_create(&thread, &attributes, nothing, NULL) || pthread_join(thread, NULL);
}

static void *map(size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void)
{
	const struct rlimit limit = {LIMIT, LIMIT};
	char *block;

	if (setrlimit(RLIMIT_DATA, &limit))
		return 77;
	block = malloc(BLOCK);
	printf("block: %d\n", block != NULL);
	if (block)
		memset(block, 1, BLOCK);
	printf("thread: %d\n", start_thread());
	printf("mapping: %d\n", map(BLOCK) != MAP_FAILED);
	printf("too large a mapping: %d\n", map(LIMIT) != MAP_FAILED);
	fflush(stdout);
	printf("shell: %d\n", system("exit 5"));
	free(block);
	return 0;
}
