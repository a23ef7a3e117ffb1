/* SPDX-License-Identifier: Apache-2.0 */
/* Under which filters handlers make system calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/restriction.h"

static bool is_on(int mode, int filters, int inherited)
{
	return restriction_is_on(&(struct restriction){mode, filters}, inherited);
}

static void without_filters_there_is_none(void **state)
{
	(void)state;
	assert_false(is_on(SECCOMP_MODE_DISABLED, 0, 0));
}

static void what_is_inherited_is_known(void **state)
{
	(void)state;
	assert_false(is_on(SECCOMP_MODE_FILTER, 1, 1));
	assert_false(is_on(SECCOMP_MODE_FILTER, 2, 2));
}

static void what_was_added_is_not(void **state)
{
	(void)state;
	assert_true(is_on(SECCOMP_MODE_FILTER, 1, 0));
	assert_true(is_on(SECCOMP_MODE_FILTER, 3, 2));
}

static void an_old_kernel_does_not_count(void **state)
{
	(void)state;
	assert_true(is_on(SECCOMP_MODE_FILTER, 0, 0));
	assert_true(is_on(SECCOMP_MODE_FILTER, 0, 1));
}

static void strict_mode_is_always(void **state)
{
	(void)state;
	assert_true(is_on(SECCOMP_MODE_STRICT, 0, 0));
	assert_true(is_on(SECCOMP_MODE_STRICT, 1, 1));
}

/* In a child, under a filter that kills for that call where its first argument has any of `bits`.
 */
static int inherited_under(int number, unsigned bits)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
				      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)
			      ? 255
			      : restriction_inherited());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 255);
	return WEXITSTATUS(status);
}

static void what_is_inherited_is_tried(void **state)
{
	(void)state;
	assert_int_not_equal(inherited_under(SYS_reboot, ~0u), 0);
	assert_int_equal(inherited_under(SYS_process_vm_readv, ~0u), 0);
}

static void a_look_into_a_file_takes_a_thread(void **state)
{
	(void)state;
	assert_int_equal(inherited_under(SYS_clone, CLONE_THREAD), 0);
	assert_int_equal(inherited_under(SYS_tgkill, ~0u), 0);
}

static void an_interrupted_call_takes_a_look_at_signals(void **state)
{
	(void)state;
	assert_int_equal(inherited_under(SYS_rt_sigpending, ~0u), 0);
}

static void another_signal_is_put_back(void **state)
{
	(void)state;
	assert_int_equal(inherited_under(SYS_rt_tgsigqueueinfo, ~0u), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_filters_there_is_none),
		cmocka_unit_test(what_is_inherited_is_known),
		cmocka_unit_test(what_was_added_is_not),
		cmocka_unit_test(an_old_kernel_does_not_count),
		cmocka_unit_test(strict_mode_is_always),
		cmocka_unit_test(what_is_inherited_is_tried),
		cmocka_unit_test(a_look_into_a_file_takes_a_thread),
		cmocka_unit_test(an_interrupted_call_takes_a_look_at_signals),
		cmocka_unit_test(another_signal_is_put_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
