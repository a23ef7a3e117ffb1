/* SPDX-License-Identifier: Apache-2.0 */
/* What filters of a stopped thread leave of the calls that are made in its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/filters.h"

static void be_stopped(unsigned number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
	__builtin_trap();
}

static struct filters ask_of(unsigned number)
{
	struct filters filters;
	pid_t child = fork();
	int status;

	if (child == 0)
		be_stopped(number);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGILL);
	filters = filters_ask(child, 0);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return filters;
}

static void each_call_of_the_handler_is_asked_for(void **state)
{
	static const unsigned calls[] = {SYS_futex, SYS_gettid, SYS_process_vm_readv,
					 SYS_rt_sigpending};

	(void)state;
	if (!filters_are_shown())
		skip();
	assert_int_equal(ask_of(SYS_reboot).verdict, FILTERS_ALL);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		assert_int_equal(ask_of(calls[i]).verdict, FILTERS_ENTER);
}

static void entering_takes_more(void **state)
{
	(void)state;
	if (!filters_are_shown())
		skip();
	assert_int_equal(ask_of(SYS_socketpair).verdict, FILTERS_FORBID);
	assert_int_equal(ask_of(SYS_close_range).verdict, FILTERS_ALL);
}

static void without_the_signal_calls_are_made_singly(void **state)
{
	static const unsigned calls[] = {SYS_tgkill, SYS_kill, SYS_rt_sigqueueinfo};
	struct filters filters;

	(void)state;
	if (!filters_are_shown())
		skip();
	assert_true(ask_of(SYS_reboot).batch);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		filters = ask_of(calls[i]);
		assert_int_equal(filters.verdict, FILTERS_ALL);
		assert_int_equal(filters.count, 1);
		assert_false(filters.batch);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_of_the_handler_is_asked_for),
		cmocka_unit_test(entering_takes_more),
		cmocka_unit_test(without_the_signal_calls_are_made_singly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
