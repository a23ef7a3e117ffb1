/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first process of the machine that scripts/vm-run boots. The commands come in a file of
 * NUL-terminated words, since the kernel's own command line is split at blanks: the directory, then
 * each command, an empty word between two. One that fails is the last. Output goes to serial lines
 * that nobody edits, the exit status to a line of its own, then the machine is switched off.
 *
 *	ttyS0  kernel messages
 *	ttyS1  the command's standard output
 *	ttyS2  its standard error
 *	ttyS3  "begun", then its status, one decimal number as a shell gives it
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define COMMAND_FILE "/.command"
#define ARGUMENTS_MAX 4096

static void mount_all(void)
{
	mkdir("/proc", 0555);
	mkdir("/sys", 0555);
	mkdir("/dev", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	mkdir("/dev/shm", 01777);
	mount("shm", "/dev/shm", "tmpfs", 0, NULL);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "vm-init: %s: %s\n", path, strerror(errno));
	close(fd);
}

static int open_raw(const char *path)
{
	struct termios line;
	int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0 && tcgetattr(fd, &line) == 0) {
		cfmakeraw(&line);
		tcsetattr(fd, TCSANOW, &line);
	}
	return fd;
}

/* All words after the first, which is the directory to run in. */
static char **read_command(char **directory)
{
	static char text[1 << 20];
	static char *arguments[ARGUMENTS_MAX + 1];
	size_t length, at, count = 0;
	FILE *file = fopen(COMMAND_FILE, "r");

	if (!file)
		return NULL;
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	*directory = text;
	at = strlen(text) + 1;
	while (at < length && count < ARGUMENTS_MAX) {
		arguments[count++] = text + at;
		at += strlen(text + at) + 1;
	}
	return count ? arguments : NULL;
}

static int run(char **arguments, const char *directory, int out, int err)
{
	struct rlimit files = {65536, 65536};
	int status = 0;
	pid_t child = fork(), ended;

	if (child == 0) {
		int in = open("/dev/null", O_RDONLY);

		setsid();
		setrlimit(RLIMIT_NOFILE, &files);
		dup2(in, 0);
		dup2(out, 1);
		dup2(err, 2);
		if (chdir(directory) != 0)
			fprintf(stderr, "vm-init: %s: %s\n", directory, strerror(errno));
		execvp(arguments[0], arguments);
		fprintf(stderr, "vm-init: %s: %s\n", arguments[0], strerror(errno));
		_exit(127);
	}
	do
		ended = wait(&status);
	while (ended != child && (ended > 0 || errno == EINTR));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_all(int out, int err)
{
	char *directory = NULL;
	char **arguments = read_command(&directory);
	int status = arguments ? 0 : 126;

	while (!status && arguments && *arguments) {
		char **end = arguments;

		while (*end && **end)
			end++;
		if (*end)
			*end++ = NULL;
		status = run(arguments, directory, out, err);
		arguments = end;
	}
	return status;
}

int main(void)
{
	int out, err, result, status;

	mount_all();
	write_text("/proc/sys/kernel/perf_event_paranoid", "2");
	write_text("/proc/sys/kernel/core_pattern", "|/bin/false");
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/tmp", 1);
	out = open_raw("/dev/ttyS1");
	err = open_raw("/dev/ttyS2");
	result = open_raw("/dev/ttyS3");
	dprintf(result, "begun\n");
	status = out >= 0 && err >= 0 && result >= 0 ? run_all(out, err) : 126;
	tcdrain(out);
	tcdrain(err);
	dprintf(result, "%d\n", status);
	tcdrain(result);
	sync();
	reboot(RB_POWER_OFF);
	return 0;
}
