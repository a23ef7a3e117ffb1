/* SPDX-License-Identifier: Apache-2.0 */
/* Executes programs whose first argument is watched: the kernel reads it on the way. */
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static char argument[8] = "true";
static char *const arguments[] = {argument, NULL};

static pid_t start(int way)
{
	pid_t pid = -1;

	if (way == 0 && !(pid = fork()))
		execv("/bin/true", arguments);
	else if (way == 1 && !(pid = vfork()))
		execv("/bin/true", arguments);
	else if (way == 2 && !(pid = fork()))
		execvp("true", arguments);
	else if (way == 3 && posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ))
		return -1;
	if (!pid)
		_exit(1);
	return pid;
}

int main(void)
{
	int bad = 0;

	for (int i = 0; i < 20; i++) {
		pid_t pid = start(i % 4);
		int status = -1;

		bad += pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
	}
	printf("%d of 20 ended badly\n", bad);
	return bad;
}
