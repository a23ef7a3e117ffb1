/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what a function that has returned left behind on the stack, from ever higher up it: a
 * handler that is called at such a read has its own frames there, and reads them on its way back.
 * Other signals come meanwhile. Afterwards it is written from elsewhere, which is seen.
 */
#include "hostile.h"

#include <alloca.h>
#include <sys/time.h>

#define STACK (256 * 1024)
#define WRITES 300
#define DEEPEST 12288 /* bytes from the stack pointer down to what is read */

static _Alignas(4096) char own_stack[STACK];
volatile long *const frame_word = (long *)(own_stack + STACK / 2);
static volatile sig_atomic_t alarms;
static long reads;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

/* Reads it with the stack pointer `above` bytes over it. */
__attribute__((noinline)) static void read_from(size_t above)
{
	char *here = __builtin_frame_address(0);
	volatile char *room = alloca((size_t)(here - (char *)frame_word) - above);

	room[0] = 0;
	(void)*frame_word;
	reads++;
}

static void *body(void *arg)
{
	for (size_t above = 256; above < DEEPEST; above += 8)
		read_from(above);
	return arg;
}

int main(void)
{
	const struct itimerval each = {{0, 5000}, {0, 5000}};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	pthread_attr_t attr;
	pthread_t thread;

	expect(sigaction(SIGALRM, &action, NULL) == 0);
	noise_start();
	expect(setitimer(ITIMER_REAL, &each, NULL) == 0);
	expect(pthread_attr_init(&attr) == 0);
	expect(pthread_attr_setstack(&attr, own_stack, STACK) == 0);
	expect(pthread_create(&thread, &attr, body, NULL) == 0);
	expect(pthread_join(thread, NULL) == 0);
	/* The watch rests for 0.1 s at the thread's last read; then these are seen. */
	nap(800000);
	for (int i = 0; i < WRITES; i++) {
		*frame_word = i;
		nap(100);
	}
	noise_stop();
	while (!alarms)
		nap(1000);
	say("%ld reads", reads);
	return 0;
}
