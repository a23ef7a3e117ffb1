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
 *
 * Where the archive has MODULES, they are loaded in the order of their names, and the commands run
 *in the tree that the outer machine lends by 9p (vm-run --host): read-only, but for what lies in
 *memory
 * (/tmp, /var/tmp, /run and the directories that SCRATCH_FILE names, a line each).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define COMMAND_FILE "/.command"
#define WRITABLE_FILE "/.writable"
#define MODULES "/.modules"
#define HOST "/host"
#define ARGUMENTS_MAX 4096

static void mount_at(const char *type, const char *root, const char *path)
{
	char at[4096];

	snprintf(at, sizeof(at), "%s%s", root, path);
	mkdir(at, 0755);
	if (mount(type, at, type, 0, strcmp(type, "tmpfs") == 0 ? "mode=1777" : NULL) != 0)
		fprintf(stderr, "vm-init: %s: %s\n", at, strerror(errno));
}

static void mount_all(const char *root)
{
	mount_at("proc", root, "/proc");
	mount_at("sysfs", root, "/sys");
	mount_at("devtmpfs", root, "/dev");
	mount_at("devpts", root, "/dev/pts");
	mount_at("tmpfs", root, "/dev/shm");
}

static void load_module(const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), MODULES "/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0) != 0)
		fprintf(stderr, "vm-init: %s: %s\n", path, strerror(errno));
	close(fd);
}

static int is_module(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* A directory of the outer machine's; the tag is that of the device which lends it. */
static int mount_lent(const char *tag, const char *path, unsigned long flags)
{
	int err = mount(tag, path, "9p", flags,
			"trans=virtio,version=9p2000.L,cache=loose,msize=512000");

	if (err)
		fprintf(stderr, "vm-init: the outer machine's %s: %s\n", path, strerror(errno));
	return err;
}

static int mount_writable(void)
{
	char line[4096], path[8192], tag[32];
	FILE *file = fopen(WRITABLE_FILE, "r");
	int err = 0;

	for (int i = 0; file && !err && fgets(line, sizeof(line), file); i++) {
		line[strcspn(line, "\n")] = '\0';
		snprintf(path, sizeof(path), HOST "%s", line);
		snprintf(tag, sizeof(tag), "writable%d", i);
		err = mount_lent(tag, path, 0);
	}
	if (file)
		fclose(file);
	return err;
}

/* Nothing where the archive has no modules: the commands run in the archive's own tree. */
static int enter_host(void)
{
	struct dirent **modules;
	int count = scandir(MODULES, &modules, is_module, alphasort);

	if (count < 0)
		return 0;
	for (int i = 0; i < count; i++)
		load_module(modules[i]->d_name);
	mkdir(HOST, 0755);
	if (mount_lent("host", HOST, MS_RDONLY) != 0)
		return -1;
	mount_all(HOST);
	mount_at("tmpfs", HOST, "/tmp");
	mount_at("tmpfs", HOST, "/var/tmp");
	mount_at("tmpfs", HOST, "/run");
	if (mount_writable() != 0 || chdir(HOST) != 0 || mount(".", "/", NULL, MS_MOVE, NULL) != 0)
		return -1;
	return chroot(".");
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

static int run_all(char **arguments, const char *directory, int out, int err)
{
	int status = 0;

	while (!status && *arguments) {
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
	char *directory = NULL, **arguments;
	int out, err, result, status = 126;

	mount_all("");
	arguments = read_command(&directory);
	if (enter_host() != 0)
		arguments = NULL;
	write_text("/proc/sys/kernel/perf_event_paranoid", "2");
	write_text("/proc/sys/kernel/core_pattern", "|/bin/false");
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/tmp", 1);
	out = open_raw("/dev/ttyS1");
	err = open_raw("/dev/ttyS2");
	result = open_raw("/dev/ttyS3");
	dprintf(result, "begun\n");
	if (arguments && out >= 0 && err >= 0 && result >= 0)
		status = run_all(arguments, directory, out, err);
	tcdrain(out);
	tcdrain(err);
	dprintf(result, "%d\n", status);
	tcdrain(result);
	sync();
	reboot(RB_POWER_OFF);
	return 0;
}
