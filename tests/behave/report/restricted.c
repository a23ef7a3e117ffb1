/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command as docs/FLEET.md deploys it: as another user, without any capability and without
 * the means to get one, and under a seccomp filter with the rules of the drop-in for systemd
 * (`service`) or of a container (`container`), with perf_event_open allowed unless --deny-perf.
 *
 * usage: restricted service|container [--deny-perf] COMMAND…
 */
#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534
#define LAST_CAPABILITY 63
#define LAST_KNOWN 450 /* system calls; a container's runtime answers ENOSYS to later ones */
#define NAMESPACES                                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)

#define BOTH(name) SYS_##name,
#define CONTAINER(name)
#define SERVICE(name) SYS_##name,
static const int service[] = {
#include "restricted_calls.def"
};
#undef CONTAINER
#undef SERVICE
#define CONTAINER(name) SYS_##name,
#define SERVICE(name)
static const int container[] = {
#include "restricted_calls.def"
};

struct program {
	struct sock_filter code[512];
	unsigned short length;
};

static void load(struct program *program, unsigned offset)
{
	program->code[program->length++] =
		(struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
}

static void give(struct program *program, unsigned result)
{
	program->code[program->length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, result);
}

static void compare(struct program *program, unsigned short comparison, unsigned value,
		    unsigned char skip_when_true, unsigned char skip_when_false)
{
	program->code[program->length++] = (struct sock_filter)BPF_JUMP(
		BPF_JMP | comparison | BPF_K, value, skip_when_true, skip_when_false);
}

static void refuse(struct program *program, int call, int error)
{
	compare(program, BPF_JEQ, (unsigned)call, 0, 1);
	give(program, SECCOMP_RET_ERRNO | (unsigned)error);
}

#define NUMBER offsetof(struct seccomp_data, nr)
#define FIRST_ARGUMENT offsetof(struct seccomp_data, args[0])

/* Refuses a call when its first argument satisfies the comparison. */
static void refuse_argument(struct program *program, int call, unsigned short comparison,
			    unsigned value)
{
	compare(program, BPF_JEQ, (unsigned)call, 0, 4);
	load(program, FIRST_ARGUMENT);
	compare(program, comparison, value, 0, 1);
	give(program, SECCOMP_RET_ERRNO | EPERM);
	load(program, NUMBER);
}

/* Refuses a call unless its first argument is one of these. */
static void refuse_others(struct program *program, int call, const unsigned *values,
			  unsigned char count)
{
	compare(program, BPF_JEQ, (unsigned)call, 0, (unsigned char)(2 + 2 * count));
	load(program, FIRST_ARGUMENT);
	for (unsigned char i = 0; i < count; i++) {
		compare(program, BPF_JEQ, values[i], 0, 1);
		give(program, SECCOMP_RET_ALLOW);
	}
	give(program, SECCOMP_RET_ERRNO | EPERM);
}

static void add_container_rules(struct program *program)
{
	static const unsigned personalities[] = {0, 8, 0x20000, 0x20008, 0xffffffff};

	for (size_t i = 0; i < sizeof(container) / sizeof(container[0]); i++)
		refuse(program, container[i], EPERM);
	refuse_argument(program, SYS_socket, BPF_JEQ, AF_VSOCK);
	refuse_others(program, SYS_personality, personalities, 5);
	compare(program, BPF_JGT, LAST_KNOWN, 0, 1);
	give(program, SECCOMP_RET_ERRNO | ENOSYS);
}

static int install_filter(int is_container, int deny_perf)
{
	struct program program = {.length = 0};
	struct sock_fprog installed;

	load(&program, offsetof(struct seccomp_data, arch));
	compare(&program, BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0);
	give(&program, SECCOMP_RET_KILL_PROCESS);
	load(&program, NUMBER);
	refuse_argument(&program, SYS_clone, BPF_JSET, NAMESPACES);
	/* Its flags are in memory: both make libraries fall back on clone(2). */
	refuse(&program, SYS_clone3, ENOSYS);
	if (deny_perf)
		refuse(&program, SYS_perf_event_open, EPERM);
	if (is_container)
		add_container_rules(&program);
	else
		for (size_t i = 0; i < sizeof(service) / sizeof(service[0]); i++)
			refuse(&program, service[i], EPERM);
	give(&program, SECCOMP_RET_ALLOW);
	installed = (struct sock_fprog){program.length, program.code};
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &installed);
}

static int drop_privileges(void)
{
	int capability;

	if (geteuid() == 0) {
		for (capability = 0; capability <= LAST_CAPABILITY; capability++)
			prctl(PR_CAPBSET_DROP, capability); /* the kernel may know fewer */
		if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		    setresuid(NOBODY, NOBODY, NOBODY))
			return -1;
	}
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int main(int argc, char **argv)
{
	int is_container = argc > 1 && !strcmp(argv[1], "container");
	int deny_perf = argc > 2 && !strcmp(argv[2], "--deny-perf");

	if (argc < 3 + deny_perf || (!is_container && strcmp(argv[1], "service") != 0)) {
		fputs("usage: restricted service|container [--deny-perf] COMMAND…\n", stderr);
		return 2;
	}
	if (drop_privileges() || install_filter(is_container, deny_perf)) {
		perror("restricted");
		return 77;
	}
	execvp(argv[2 + deny_perf], argv + 2 + deny_perf);
	perror(argv[2 + deny_perf]);
	return 127;
}
