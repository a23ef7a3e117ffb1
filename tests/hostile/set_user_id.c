/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes a set-user-ID copy of itself as an ordinary user: the kernel and the dynamic linker keep
 * every library and variable of the user's out of it, and ours with them.
 */
#include "hostile.h"
#include <grp.h>
#include <sys/auxv.h>
#include <sys/stat.h>

static int privileged(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096];
	int ours = 0;

	while (maps && fgets(line, sizeof(line), maps))
		ours += strstr(line, "trapline") != NULL && strstr(line, "/set_user_id") == NULL;
	if (maps)
		fclose(maps);
	noise_start();
	nap(300000);
	noise_stop();
	say("secure: %lu, effective user %d, libraries of others: %d", getauxval(AT_SECURE),
	    geteuid(), ours);
	return 6;
}

/* To a file system that honours the bit, or not: then the program cannot try. */
static void copy_self(const char *to)
{
	static char buffer[1 << 16];
	int from = open("/proc/self/exe", O_RDONLY);
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	ssize_t length;

	expect(from >= 0 && fd >= 0);
	while ((length = read(from, buffer, sizeof(buffer))) > 0)
		expect(write(fd, buffer, (size_t)length) == length);
	expect(fchmod(fd, 04755) == 0 && close(fd) == 0 && close(from) == 0);
}

int main(int argc, char **argv)
{
	pid_t child;

	(void)argv;
	if (argc > 1)
		return privileged();
	if (getuid() != 0)
		return SKIP;
	copy_self("set_user_id");
	expect(chmod(".", 0755) == 0);
	noise_start();
	child = fork();
	if (child == 0) {
		if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
		    setresuid(65534, 65534, 65534))
			_exit(SKIP);
		execl("set_user_id", "set_user_id", "again", (char *)NULL);
		_exit(SKIP);
	}
	say_end("privileged", child);
	noise_stop();
	expect(unlink("set_user_id") == 0);
	return 0;
}
