/* SPDX-License-Identifier: Apache-2.0 */
/* What filters say of a call, and which of our own calls they leave. */
#include "agent/permitted.h"
#include "base/seccomp_run.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <sys/syscall.h>

#define NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define RETURN(verdict) BPF_STMT(BPF_RET | BPF_K, (verdict))
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static unsigned run(const struct sock_filter *code, size_t length, int number)
{
	struct seccomp_data call = {
		.nr = number, .arch = AUDIT_ARCH_X86_64, .args = {7, 0x100000002}};

	return seccomp_run(code, (unsigned)length, &call);
}

static void test_jumps(void **state)
{
	const struct sock_filter code[] = {
		NUMBER,
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 100, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 39, 0, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1, 0, 1),
		RETURN(SECCOMP_RET_ERRNO | 5),
		BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
		RETURN(SECCOMP_RET_TRAP),
		RETURN(SECCOMP_RET_ALLOW),
	};

	(void)state;
	assert_int_equal(run(code, LENGTH(code), 39), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(run(code, LENGTH(code), 40), SECCOMP_RET_ALLOW);
	assert_int_equal(run(code, LENGTH(code), 41), SECCOMP_RET_ERRNO | 5);
	assert_int_equal(run(code, LENGTH(code), 101), SECCOMP_RET_ERRNO | 5);
	assert_int_equal(run(code, LENGTH(code), 102), SECCOMP_RET_ALLOW);
}

static void test_arithmetic(void **state)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_STMT(BPF_ST, 3),
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 6),	   /* 42 */
		BPF_STMT(BPF_LDX | BPF_MEM, 3),		   /* x 7 */
		BPF_STMT(BPF_ALU | BPF_SUB | BPF_X, 0),	   /* 35 */
		BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 4),	   /* 560 */
		BPF_STMT(BPF_ALU | BPF_OR | BPF_K, 3),	   /* 563 */
		BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0),	   /* 80 */
		BPF_STMT(BPF_MISC | BPF_TAX, 0),	   /* x 80 */
		BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),	   /* 64 */
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),	   /* 16 */
		BPF_STMT(BPF_ALU | BPF_NEG, 0),		   /* -16 */
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff), /* 240 */
		BPF_STMT(BPF_RET | BPF_A, 0),
	};

	(void)state;
	assert_int_equal(run(code, LENGTH(code), 1), 240);
}

static void test_what_is_no_filter(void **state)
{
	const struct sock_filter beyond[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64),
					     RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter memory[] = {BPF_STMT(BPF_ST, BPF_MEMWORDS),
					     RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter away[] = {BPF_JUMP(BPF_JMP | BPF_JA, 0xffffffff, 0, 0),
					   RETURN(SECCOMP_RET_ALLOW)};
	const struct sock_filter endless[] = {NUMBER};
	const struct sock_filter zero[] = {BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0),
					   RETURN(SECCOMP_RET_ALLOW)};

	(void)state;
	assert_int_equal(run(beyond, 2, 1), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(run(memory, 2, 1), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(run(away, 2, 1), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(run(endless, 1, 1), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(run(zero, 2, 1), SECCOMP_RET_KILL_PROCESS);
}

static void test_calls_of_our_own(void **state)
{
	struct sock_filter logs[] = {RETURN(SECCOMP_RET_LOG)};
	struct sock_filter one[] = {
		NUMBER,
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 1),
		RETURN(SECCOMP_RET_USER_NOTIF),
		RETURN(SECCOMP_RET_ALLOW),
	};
	/* Which is called for a program that is executed, not in a forked child. */
	struct sock_filter status[] = {
		NUMBER,
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 0, 1),
		RETURN(SECCOMP_RET_KILL_PROCESS),
		RETURN(SECCOMP_RET_ALLOW),
	};
	/* Forbidden with some arguments. */
	struct sock_filter some[] = {
		NUMBER,
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 1000, 0, 1),
		RETURN(SECCOMP_RET_ERRNO | 1),
		RETURN(SECCOMP_RET_ALLOW),
	};

	(void)state;
	permitted_note(&(struct sock_fprog){.len = 1, .filter = logs});
	assert_true(permitted(SYS_getpid) && permitted(SYS_tgkill) && permitted_to_begin());
	permitted_note(&(struct sock_fprog){.len = LENGTH(one), .filter = one});
	assert_true(permitted(SYS_getpid) && !permitted(SYS_tgkill) && permitted_to_begin());
	permitted_note(&(struct sock_fprog){.len = LENGTH(status), .filter = status});
	assert_true(!permitted(SYS_newfstatat) && permitted_to_begin());
	permitted_note(&(struct sock_fprog){.len = LENGTH(some), .filter = some});
	assert_true(!permitted(SYS_getpid) && permitted(SYS_gettid) && !permitted_to_begin());
	assert_true(permitted(SYS_reboot)); /* none of ours */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_what_is_no_filter),
		cmocka_unit_test(test_calls_of_our_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
