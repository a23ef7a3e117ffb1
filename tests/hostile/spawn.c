/* SPDX-License-Identifier: Apache-2.0 */
/* vfork, posix_spawn, system and popen, from a program with threads. */
#include "hostile.h"
#include <spawn.h>

extern char **environ;

int main(void)
{
	char *const true_arguments[] = {"true", NULL};
	char *const shell_arguments[] = {"sh", "-c", "exit 7", NULL};
	char line[100] = "";
	/* volatile: vfork()'s child shares them. */
	volatile int vforked = 0, spawned = 0;
	int status;
	FILE *stream;
	pid_t child;

	noise_start();
	for (int i = 0; i < 100; i++) {
		child = vfork();
		if (child == 0) {
			execve("/bin/true", true_arguments, environ);
			_exit(9);
		}
		expect(waitpid(child, &status, 0) == child);
		vforked += WIFEXITED(status) && WEXITSTATUS(status) == 0;
		expect(posix_spawn(&child, "/bin/sh", NULL, NULL, shell_arguments, environ) == 0);
		expect(waitpid(child, &status, 0) == child);
		spawned += WIFEXITED(status) && WEXITSTATUS(status) == 7;
	}
	say("%d by vfork, %d by posix_spawn", vforked, spawned);
	status = system("exit 3");
	say("system: %d", WEXITSTATUS(status));
	stream = popen("echo from a pipe", "r");
	expect(stream && fgets(line, sizeof(line), stream));
	status = pclose(stream);
	printf("popen: %s", line);
	child = vfork();
	if (child == 0)
		_exit(11);
	say_end("vfork without exec", child);
	noise_stop();
	return 0;
}
