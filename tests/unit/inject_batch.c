/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a stopped thread that it makes in one run, and what comes to it meanwhile. */
#include "inject/batch.h"

#include "agent/arch.h"
#include "inject/rush.h"
#include "inject/status.h"
#include "inject/vdso.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NO_DESCRIPTOR 9999
#define BIT(signal) (1ull << ((signal)-1))

INJECTED_RUN(run_of_calls);
extern const char run_of_calls[] __attribute__((visibility("hidden")));
static struct injected_table table, *locked_table;

struct subject {
	pid_t pid;
	struct remote remote;
	struct rush rush;
	struct batch batch;
};

static void on_fault(int number)
{
	_exit(number);
}

/* A process that ends with this one. It has a handler of SIGSEGV, and blocks `blocked`. */
static void live(pid_t parent, uint64_t blocked, int ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGSEGV, on_fault);
	raw_sigprocmask(SIG_SETMASK, &blocked, NULL);
	if (write(ready, "", 1) != 1)
		_exit(1);
	while (getppid() == parent)
		pause();
	_exit(1);
}

static void begin(struct subject *subject, uint64_t blocked, bool batches)
{
	pid_t parent = getpid();
	struct vdso vdso;
	int ready[2];
	char byte;

	memset(subject, 0, sizeof(*subject));
	assert_int_equal(pipe(ready), 0);
	subject->pid = fork();
	if (subject->pid == 0)
		live(parent, blocked, ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	subject->rush = rush_begin();
	assert_int_equal(vdso_find(subject->pid, &vdso), 0);
	assert_int_equal(remote_begin(&subject->remote, (struct remote_process){subject->pid, -1},
				      subject->pid, vdso.call),
			 0);
	subject->remote.batches = batches;
	subject->batch.run = (uintptr_t)run_of_calls;
	subject->batch.table = (uintptr_t)table.call;
}

/* As it lives on. */
static struct status let_go(struct subject *subject)
{
	struct status status;

	remote_end(&subject->remote);
	rush_end(&subject->rush);
	assert_int_equal(status_read(subject->pid, &status), 0);
	return status;
}

static void end(struct subject *subject)
{
	int status;

	kill(subject->pid, SIGKILL);
	assert_int_equal(waitpid(subject->pid, &status, 0), subject->pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void check_failures(bool batches, bool cleanup)
{
	struct subject subject;
	struct injected_call *failing, *cleaning, *last;

	begin(&subject, 0, batches);
	failing = BATCH_ADD(&subject.batch, SYS_close, NO_DESCRIPTOR);
	failing->cleanup = cleanup;
	cleaning = BATCH_ADD(&subject.batch, SYS_getpid, 0);
	cleaning->cleanup = true;
	last = BATCH_ADD(&subject.batch, SYS_getpid, 0);
	assert_int_equal(batch_run(&subject.batch, &subject.remote), 0);
	assert_int_equal(failing->result, -EBADF);
	assert_int_equal(cleaning->result, subject.pid);
	assert_int_equal(last->result, cleanup ? subject.pid : INJECTED_NOT_MADE);
	assert_int_equal(batch_error(&subject.batch), cleanup ? 0 : -EBADF);
	let_go(&subject);
	end(&subject);
}

static void what_fails_to_clean_up_ends_nothing(void **state)
{
	(void)state;
	check_failures(true, true);
	check_failures(false, true);
}

static void what_fails_ends_all_but_cleaning_up(void **state)
{
	(void)state;
	check_failures(true, false);
	check_failures(false, false);
}

static void what_was_not_made_is_an_error(void **state)
{
	struct batch batch = {.count = 0};

	(void)state;
	assert_int_equal(batch_error(&batch), 0);
	BATCH_ADD(&batch, SYS_getpid, 0);
	assert_int_equal(batch_error(&batch), -ECANCELED);
}

/* What it had made by then is known, and its action of the signal stays. */
static void fault_leaves_the_action(void **state)
{
	struct injected_call *first, *faulting;
	struct subject subject;
	struct status status;

	(void)state;
	begin(&subject, 0, true);
	first = BATCH_ADD(&subject.batch, SYS_getpid, 0);
	faulting = BATCH_ADD(&subject.batch, SYS_getpid, 0);
	faulting->from = 8;
	assert_int_equal(batch_run(&subject.batch, &subject.remote), -EFAULT);
	assert_int_equal(first->result, subject.pid);
	assert_int_equal(faulting->result, INJECTED_NOT_MADE);
	assert_int_equal(REMOTE_CALL(&subject.remote, SYS_getpid, 0), subject.pid);
	status = let_go(&subject);
	assert_true(status.caught & BIT(SIGSEGV));
	assert_false(status.pending & BIT(SIGSEGV));
	end(&subject);
}

/* A table that may only be read before its process unlocks it. */
static struct injected_table *lock_table(void)
{
	void *locked =
		mmap(NULL, sizeof(*locked_table), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(locked, MAP_FAILED);
	return locked;
}

static void unlock(bool batches)
{
	struct subject subject;
	struct injected_call *call;

	locked_table = lock_table();
	begin(&subject, 0, batches);
	subject.batch.table = (uintptr_t)locked_table->call;
	subject.batch.locked.start = (uintptr_t)locked_table;
	subject.batch.locked.length = sizeof(*locked_table);
	call = BATCH_ADD(&subject.batch, SYS_getpid, 0);
	assert_int_equal(batch_run(&subject.batch, &subject.remote), 0);
	assert_int_equal(call->result, subject.pid);
	assert_int_equal(subject.batch.locked.length, 0);
	assert_int_equal(batch_run(&subject.batch, &subject.remote), 0);
	let_go(&subject);
	end(&subject);
	munmap(locked_table, sizeof(*locked_table));
}

static void what_is_locked_is_unlocked_first(void **state)
{
	(void)state;
	unlock(true);
	unlock(false);
}

/* mprotect(2) refuses an address within a page: no call is made, and nothing faults. */
static void refuse_unlocking(bool batches)
{
	struct subject subject;
	struct injected_call *call;
	struct status status;

	locked_table = lock_table();
	begin(&subject, 0, batches);
	subject.batch.table = (uintptr_t)locked_table->call;
	subject.batch.locked.start = (uintptr_t)locked_table + 1;
	subject.batch.locked.length = sizeof(*locked_table);
	call = BATCH_ADD(&subject.batch, SYS_getpid, 0);
	assert_int_equal(batch_run(&subject.batch, &subject.remote), -EINVAL);
	assert_int_equal(call->result, INJECTED_NOT_MADE);
	assert_int_equal(REMOTE_CALL(&subject.remote, SYS_getpid, 0), subject.pid);
	status = let_go(&subject);
	assert_true(status.caught & BIT(SIGSEGV));
	end(&subject);
	munmap(locked_table, sizeof(*locked_table));
}

static void what_stays_locked_is_an_error(void **state)
{
	(void)state;
	refuse_unlocking(true);
	refuse_unlocking(false);
}

/* One that is sent to the process, and one to its thread, while it stands. */
static struct status with_signal(int number, bool to_thread)
{
	struct subject subject;
	struct injected_call *call;
	struct status status;

	begin(&subject, BIT(number), true);
	call = BATCH_ADD(&subject.batch, SYS_getpid, 0);
	if (to_thread)
		raw_syscall3(SYS_tgkill, subject.pid, subject.pid, number);
	else
		kill(subject.pid, number);
	assert_int_equal(batch_run(&subject.batch, &subject.remote), 0);
	assert_int_equal(call->result, subject.pid);
	status = let_go(&subject);
	end(&subject);
	return status;
}

static void others_signals_stay_whose_they_were(void **state)
{
	static const int numbers[] = {BATCH_SIGNAL, SIGSEGV, SIGBUS};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct status status = with_signal(numbers[i], true);

		assert_int_equal(status.pending, BIT(numbers[i]));
		assert_int_equal(status.shared_pending, 0);
		status = with_signal(numbers[i], false);
		assert_int_equal(status.pending, 0);
		assert_int_equal(status.shared_pending, BIT(numbers[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fails_to_clean_up_ends_nothing),
		cmocka_unit_test(what_fails_ends_all_but_cleaning_up),
		cmocka_unit_test(what_was_not_made_is_an_error),
		cmocka_unit_test(fault_leaves_the_action),
		cmocka_unit_test(what_is_locked_is_unlocked_first),
		cmocka_unit_test(what_stays_locked_is_an_error),
		cmocka_unit_test(others_signals_stay_whose_they_were),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
