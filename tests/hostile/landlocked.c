/* SPDX-License-Identifier: Apache-2.0 */
/* Forbids itself all files but the system's and its own (landlock(7)), then executes itself and a
 * shell: neither says anything that it would not say alone. */
#include "hostile.h"
#include <libgen.h>
#include <linux/landlock.h>
#include <sys/prctl.h>

extern char **environ;

#define ALL \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

static void allow(int rules, const char *folder)
{
	struct landlock_path_beneath_attr beneath = {.allowed_access = ALL,
						     .parent_fd = open(folder, O_PATH | O_CLOEXEC)};

	if (beneath.parent_fd < 0)
		return;
	expect(syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0);
	close(beneath.parent_fd);
}

static void restrict_self(char *own)
{
	const struct landlock_ruleset_attr all = {.handled_access_fs = ALL};
	int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);

	expect(rules >= 0);
	allow(rules, "/usr");
	allow(rules, "/lib");
	allow(rules, "/lib64");
	allow(rules, "/bin");
	allow(rules, "/etc");
	allow(rules, dirname(own));
	expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	expect(syscall(SYS_landlock_restrict_self, rules, 0) == 0);
	close(rules);
}

static int look(const char *who)
{
	int ours = 0;

	for (char **at = environ; *at; at++)
		ours += strncmp(*at, "TRAPLINE_AREA=", 14) == 0;
	say("%s has %d variables of another's", who, ours);
	return 0;
}

static void execute(char *self)
{
	pid_t child = fork();

	if (child == 0) {
		execl(self, self, "executed", (char *)NULL);
		_exit(9);
	}
	say_end("executed", child);
}

int main(int argc, char **argv)
{
	char *self = realpath("/proc/self/exe", NULL), *own = strdup(self);

	if (argc > 1)
		return look(argv[1]);
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1)
		return SKIP;
	/* A library that somebody else preloads is theirs to complain of. */
	unsetenv("LD_PRELOAD");
	/* What the dynamic linker complains of is part of the transcript. */
	expect(dup2(STDOUT_FILENO, STDERR_FILENO) == STDERR_FILENO);
	noise_start();
	execute(self);
	restrict_self(own);
	execute(self);
	say("a shell ends with %d", system("exit 3") >> 8);
	noise_stop();
	return 0;
}
