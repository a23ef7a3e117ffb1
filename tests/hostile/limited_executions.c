/* SPDX-License-Identifier: Apache-2.0 */
/* Shells that limit their address space or data and execute another, from what that just needs up
 * to what leaves room for all: each ends as it does without us, and the dynamic linker has nothing
 * to complain of. They have one thread each, and so find room to look at what they execute. */
#include "hostile.h"

static void limited(char resource, unsigned long kilobytes)
{
	char commands[256], who[64];
	pid_t child = fork();

	if (child == 0) {
		dup2(STDOUT_FILENO, STDERR_FILENO);
		snprintf(commands, sizeof(commands),
			 "ulimit -%c %lu; exec sh -c 'x=$(printf %%1000s); echo ${#x}; exit 3'",
			 resource, kilobytes);
		execl("/bin/sh", "sh", "-c", commands, NULL);
		_exit(125);
	}
	snprintf(who, sizeof(who), "%c %lu", resource, kilobytes);
	say_end(who, child);
}

int main(void)
{
	noise_start();
	nap(200000);
	for (unsigned long kilobytes = 4096; kilobytes < 600000; kilobytes += kilobytes / 4)
		limited('v', kilobytes);
	for (unsigned long kilobytes = 512; kilobytes < 600000; kilobytes += kilobytes / 4)
		limited('d', kilobytes);
	noise_stop();
	return 0;
}
