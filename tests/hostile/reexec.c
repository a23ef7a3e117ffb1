/* SPDX-License-Identifier: Apache-2.0 */
/* Executes itself from a thread other than the first, with racing threads alive, five times. */
#include "hostile.h"

static char **arguments;

static void *execute(void *arg)
{
	char count[2] = {(char)(arguments[1] ? arguments[1][0] + 1 : '1'), 0};

	if (count[0] <= '5')
		execl(arguments[0], arguments[0], count, (char *)NULL);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	arguments = argv;
	noise_start();
	nap(600000);
	say("generation %s", argc > 1 ? argv[1] : "0");
	expect(pthread_create(&thread, NULL, execute, NULL) == 0);
	expect(pthread_join(thread, NULL) == 0);
	noise_stop();
	return 0;
}
