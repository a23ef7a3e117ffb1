/* SPDX-License-Identifier: Apache-2.0 */
/* chroot into an empty folder, and children in namespaces of their own. */
#include "hostile.h"
#include <sched.h>
#include <sys/stat.h>

static int in_namespaces(void)
{
	if (unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID) != 0)
		return SKIP;
	pid_t child = fork();

	if (child == 0) {
		noise_start();
		nap(500000);
		noise_stop();
		say("the first process of its namespace is %d", getpid());
		_exit(0);
	}
	say_end("inner", child);
	return 0;
}

int main(void)
{
	pid_t child;

	if (getuid() != 0)
		return SKIP;
	child = fork();
	if (child == 0)
		_exit(in_namespaces());
	say_end("outer", child);
	expect(mkdir("jail", 0755) == 0);
	noise_start();
	nap(300000);
	child = open(".", O_RDONLY);
	expect(chroot("jail") == 0 && chdir("/") == 0);
	expect(access("/proc", F_OK) == -1 && errno == ENOENT);
	nap(2000000);
	expect(fchdir(child) == 0 && rmdir("jail") == 0);
	noise_stop();
	say("done in the jail");
	return 0;
}
