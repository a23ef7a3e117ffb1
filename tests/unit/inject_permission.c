/* SPDX-License-Identifier: Apache-2.0 */
/* What is said where the kernel's rules forbid to trace: each with what to do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/permission.h"

#define NOBODY 65534

/* In a process of a user without privilege, of itself. */
static void check_as_nobody(int scope, const char *begin, const char *advice)
{
	struct inject_reason reason;
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (!geteuid() && setuid(NOBODY))
			_exit(2);
		permission_explain_scope(&reason, getpid(), -EPERM, scope);
		_exit(strncmp(reason.text, begin, strlen(begin)) != 0 ||
		      !strstr(reason.text, advice));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void each_value_of_yama_has_its_sentence(void **state)
{
	(void)state;
	check_as_nobody(1, "kernel.yama.ptrace_scope is 1: only root",
			"sysctl kernel.yama.ptrace_scope=0");
	check_as_nobody(2, "kernel.yama.ptrace_scope is 2: only root",
			"sysctl kernel.yama.ptrace_scope=0");
	check_as_nobody(3, "kernel.yama.ptrace_scope is 3: nobody", "booted with another value");
	check_as_nobody(0, "process ", "CAP_SYS_PTRACE");
}

static void root_is_not_told_to_be_root(void **state)
{
	struct inject_reason reason;

	(void)state;
	if (geteuid())
		skip();
	permission_explain_scope(&reason, getpid(), -EPERM, 2);
	assert_non_null(strstr(reason.text, "CAP_SYS_PTRACE"));
	permission_explain_scope(&reason, getpid(), -EPERM, 3);
	assert_non_null(strstr(reason.text, "booted with another value"));
}

/* Errors of the process's own calls, and of its moment of execve(2), as what the process lacks. */
static void what_a_process_lacks_has_its_sentence(void **state)
{
	static const struct {
		int err;
		const char *said;
	} lacks[] = {
		{-EMFILE, "prlimit --nofile=LIMIT --pid"},
		{-ENOMEM, "gets no memory for trapline's handler"},
		{-ENOENT, "as while it begins another program: try again"},
	};
	struct inject_reason reason;

	(void)state;
	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
		assert_int_equal(permission_explain(&reason, getpid(), lacks[i].err), lacks[i].err);
		assert_non_null(strstr(reason.text, lacks[i].said));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_of_yama_has_its_sentence),
		cmocka_unit_test(root_is_not_told_to_be_root),
		cmocka_unit_test(what_a_process_lacks_has_its_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
