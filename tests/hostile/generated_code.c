/* SPDX-License-Identifier: Apache-2.0 */
/* A small JIT: code is generated, run by several threads, rewritten and unmapped. */
#include "hostile.h"

#define CODE_SIZE 4096
#define THREADS 3

static long target;
static long calls;

/* Emits: movabs $address, %rax; addq $amount, (%rax); ret */
static void generate(unsigned char *code, long *address, signed char amount)
{
	unsigned char *at = code;

	*at++ = 0x48;
	*at++ = 0xb8;
	memcpy(at, &address, sizeof(address));
	at += sizeof(address);
	*at++ = 0x48;
	*at++ = 0x83;
	*at++ = 0x00;
	*at++ = (unsigned char)amount;
	*at = 0xc3;
}

static void *run(void *arg)
{
	for (int round = 0; round < 300; round++) {
		unsigned char *code = mmap(NULL, CODE_SIZE, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		expect(code != MAP_FAILED);
		generate(code, &target, 1);
		expect(mprotect(code, CODE_SIZE, PROT_READ | PROT_EXEC) == 0);
		for (int i = 0; i < 500; i++)
			((void (*)(void))code)();
		__atomic_fetch_add(&calls, 500, __ATOMIC_RELAXED);
		expect(munmap(code, CODE_SIZE) == 0);
		nap(3000);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[THREADS];

	noise_start();
	for (int i = 0; i < THREADS; i++)
		expect(pthread_create(&threads[i], NULL, run, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		expect(pthread_join(threads[i], NULL) == 0);
	noise_stop();
	expect(target > 0 && target <= calls);
	say("%ld calls of generated code", calls);
	return 0;
}
