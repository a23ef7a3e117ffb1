/* SPDX-License-Identifier: Apache-2.0 */
/* Holds locks on files that it executes, or tries to: they stay its own, whoever looks into the
 * file meanwhile (fcntl(2): they go when any descriptor of the file is closed). */
#include "hostile.h"

static int lock(const char *path)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
	int fd = open(path, O_RDONLY);

	expect(fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0);
	return fd;
}

/* As another process sees it. */
static int is_locked(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int status;
	pid_t child = fork();

	expect(child >= 0);
	if (child == 0)
		_exit(fcntl(fd, F_GETLK, &lock) != 0 ? 2 : lock.l_type == F_UNLCK ? 0 : 1);
	expect(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status);
}

static void refused(void)
{
	static const char path[] = "no_program";
	char *const arguments[] = {(char *)path, NULL};
	int fd = open(path, O_CREAT | O_WRONLY, 0644);

	expect(fd >= 0 && write(fd, "#!/bin/sh\n", 10) == 10 && close(fd) == 0);
	fd = lock(path);
	expect(execv(path, arguments) == -1 && errno == EACCES);
	say("not executed: %s", is_locked(fd) ? "locked" : "not locked");
	close(fd);
	unlink(path);
}

int main(int count, char **argument)
{
	char number[16], *const again[] = {argument[0], number, NULL};

	if (count < 2) {
		refused();
		snprintf(number, sizeof(number), "%d", lock("/proc/self/exe"));
		execv("/proc/self/exe", again);
		expect(0);
	}
	say("executed: %s", is_locked(atoi(argument[1])) ? "locked" : "not locked");
	noise_start();
	nap(300000);
	refused();
	noise_stop();
	return 0;
}
