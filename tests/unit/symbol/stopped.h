/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the fixture and stopping it inside its signal handler. */
#ifndef SYMBOL_STOPPED_H
#define SYMBOL_STOPPED_H

#include "dwarf/registers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

struct target {
	pid_t pid, tid;
	struct symbol_registers registers; /* of the thread that stopped itself */
	uint64_t fs_base;
	uint64_t server, heap, static_counter;
};

/* Line of the fixture marked with "line: MARK". */
static inline unsigned target_line(const char *mark)
{
	char line[512], wanted[128];
	unsigned number = 0, found = 0;
	FILE *file = fopen(FIXTURE_SOURCE, "re");

	assert_non_null(file);
	snprintf(wanted, sizeof(wanted), "line: %s ", mark);
	while (!found && fgets(line, sizeof(line), file)) {
		number++;
		if (strstr(line, wanted))
			found = number;
	}
	fclose(file);
	assert_int_not_equal(found, 0);
	return found;
}

static inline pid_t target_second_thread(pid_t pid)
{
	char path[64];
	struct dirent *entry;
	pid_t tid = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory)))
		if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != pid)
			tid = atoi(entry->d_name);
	closedir(directory);
	return tid;
}

static inline void target_read_registers(struct target *target)
{
	struct user_regs_struct user;
	int status;

	assert_int_equal(ptrace(PTRACE_SEIZE, target->tid, 0, 0), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, target->tid, 0, 0), 0);
	assert_int_equal(waitpid(target->tid, &status, __WALL), target->tid);
	assert_int_equal(ptrace(PTRACE_GETREGS, target->tid, 0, &user), 0);
	uint64_t general[16] = {user.rax, user.rcx, user.rdx, user.rbx, user.rsp, user.rbp,
				user.rsi, user.rdi, user.r8,  user.r9,	user.r10, user.r11,
				user.r12, user.r13, user.r14, user.r15};

	target->registers = symbol_registers_of(general, user.rip);
	target->fs_base = user.fs_base;
}

static inline void target_start(struct target *target, const char *program)
{
	int out[2], status;
	char line[256];
	FILE *file;

	memset(target, 0, sizeof(*target));
	assert_int_equal(pipe(out), 0);
	target->pid = fork();
	if (target->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed assertion leaves nothing behind */
		dup2(out[1], 1);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	file = fdopen(out[0], "r");
	assert_non_null(fgets(line, sizeof(line), file));
	assert_int_equal(sscanf(line, "%lx %lx %lx", (unsigned long *)&target->server,
				(unsigned long *)&target->heap,
				(unsigned long *)&target->static_counter),
			 3);
	fclose(file);
	assert_int_equal(waitpid(target->pid, &status, WUNTRACED), target->pid);
	assert_true(WIFSTOPPED(status));
	target->tid = target_second_thread(target->pid);
	target_read_registers(target);
}

static inline void target_end(struct target *target)
{
	kill(target->pid, SIGKILL);
	waitpid(target->tid, NULL, __WALL);
	waitpid(target->pid, NULL, 0);
}

#endif
