/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/status.h"

#include "base/proc_line.h"
#include "base/syscall.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLAG_EXITING 4u	   /* PF_EXITING, linux/sched.h */
#define HWCAP2_FSGSBASE 2u /* asm/hwcap2.h */

static FILE *open_of(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

static void take_line(struct status *status, const char *line)
{
	const char *last;

	sscanf(line, "State: %c", &status->state);
	sscanf(line, "Tgid: %d", &status->tgid);
	sscanf(line, "PPid: %d", &status->parent);
	sscanf(line, "TracerPid: %d", &status->tracer);
	sscanf(line, "Uid: %*u %u", &status->uid);
	sscanf(line, "Seccomp: %d", &status->seccomp);
	sscanf(line, "Seccomp_filters: %d", &status->filters);
	sscanf(line, "SigPnd: %lx", &status->pending);
	sscanf(line, "ShdPnd: %lx", &status->shared_pending);
	sscanf(line, "SigBlk: %lx", &status->blocked);
	sscanf(line, "SigIgn: %lx", &status->ignored);
	sscanf(line, "SigCgt: %lx", &status->caught);
	sscanf(line, "voluntary_ctxt_switches: %lu", &status->switches);
	last = strncmp(line, "NSpid:", 6) == 0 ? strrchr(line, '\t') : NULL;
	if (last)
		status->inside = (pid_t)strtol(last, NULL, 10);
}

int status_read(pid_t tid, struct status *status)
{
	FILE *file = open_of(tid, "status");
	char line[1024];

	memset(status, 0, sizeof(*status));
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	if (fgets(line, sizeof(line), file))
		sscanf(line, "Name: %16[^\n]", status->name);
	while (proc_line_next(file, line, sizeof(line)))
		take_line(status, line);
	fclose(file);
	return status->state ? 0 : -ESRCH;
}

/* The flags are the seventh number behind the name. The name may hold anything, but ends with the
 * last bracket. */
bool status_is_ending(pid_t tid)
{
	FILE *file = open_of(tid, "stat");
	char line[1024];
	unsigned flags = 0;
	const char *at;

	if (!file)
		return errno == ENOENT;
	at = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	return !at ||
	       (sscanf(at, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 && flags & FLAG_EXITING);
}

bool status_borrows_memory(pid_t pid, const struct status *status)
{
	return status->parent > 0 &&
	       raw_syscall6(SYS_kcmp, status->parent, pid, KCMP_VM, 0, 0, 0) == 0;
}

uint64_t status_ran(pid_t tid)
{
	FILE *file = open_of(tid, "schedstat");
	unsigned long ran;

	if (!file)
		return UINT64_MAX;
	if (fscanf(file, "%lu", &ran) != 1)
		ran = UINT64_MAX;
	fclose(file);
	return ran;
}

bool status_seccomp(pid_t tid, int *mode, int *filters)
{
	FILE *file = open_of(tid, "status");
	char line[64];
	bool any;

	if (!file)
		return false;
	*mode = SECCOMP_MODE_DISABLED;
	*filters = 0;
	/* The list of groups stands before, in one line of any length. */
	for (any = false; proc_line_next(file, line, sizeof(line)); any = true) {
		sscanf(line, "Seccomp: %d", mode);
		/* The last of them, where there is one. */
		if (sscanf(line, "Seccomp_filters: %d", filters) == 1)
			break;
	}
	fclose(file);
	return any;
}

enum status_calls status_may_call(pid_t tid)
{
	struct status status = {0}, own = {0};

	if (!status_seccomp(tid, &status.seccomp, &status.filters))
		return STATUS_CALLS_NONE;
	if (status.seccomp == SECCOMP_MODE_DISABLED)
		return STATUS_CALLS_ALL;
	return status.seccomp == SECCOMP_MODE_FILTER &&
			       status_seccomp(getpid(), &own.seccomp, &own.filters) &&
			       own.seccomp == SECCOMP_MODE_FILTER && status.filters &&
			       status.filters <= own.filters
		       ? STATUS_CALLS_KNOWN
		       : STATUS_CALLS_NONE;
}

int mappings_read(pid_t pid, mapping_fn *each, void *context)
{
	FILE *file = open_of(pid, "maps");
	char line[512], rights[8]; /* mapping.name has less room than a line */
	int result = 0;

	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!result && proc_line_next(file, line, sizeof(line))) {
		struct mapping mapping = {.start = 0};
		int name = 0;

		if (sscanf(line, "%lx-%lx %7s %*x %*s %lu %n", &mapping.start, &mapping.end, rights,
			   &mapping.inode, &name) < 4)
			continue;
		mapping.readable = rights[0] == 'r';
		mapping.writable = rights[1] == 'w';
		mapping.executable = rights[2] == 'x';
		mapping.shared = rights[3] == 's';
		if (name)
			snprintf(mapping.name, sizeof(mapping.name), "%.*s",
				 (int)strcspn(line + name, "\n"), line + name);
		result = each(context, &mapping);
	}
	fclose(file);
	return result;
}

/* "running", "-1 0xSP 0xPC" or "NR 0xA … 0xF 0xSP 0xPC". */
int sleeper_read(pid_t pid, pid_t tid, struct sleeper *sleeper)
{
	char name[32], line[256];
	struct sleeper found = {.call = -1};
	uint64_t *argument = found.argument;
	FILE *file;
	int err;

	snprintf(name, sizeof(name), "task/%d/syscall", (int)tid);
	file = open_of(pid, name);
	if (!file)
		return errno == ENOENT ? -ESRCH : -errno;
	err = fgets(line, sizeof(line), file) ? 0 : -ESRCH;
	fclose(file);
	if (err)
		return err;
	if (sscanf(line, "-1 %lx %lx", &found.sp, &found.pc) != 2 &&
	    sscanf(line, "%ld %lx %lx %lx %lx %lx %lx %lx %lx", &found.call, &argument[0],
		   &argument[1], &argument[2], &argument[3], &argument[4], &argument[5], &found.sp,
		   &found.pc) != 9)
		return -EBUSY;
	*sleeper = found;
	return 0;
}

bool status_reads_fs_base(pid_t pid)
{
	FILE *file = open_of(pid, "auxv");
	Elf64_auxv_t entry;
	bool allowed = false;

	if (!file)
		return false;
	while (fread(&entry, sizeof(entry), 1, file) == 1)
		if (entry.a_type == AT_HWCAP2)
			allowed = entry.a_un.a_val & HWCAP2_FSGSBASE;
	fclose(file);
	return allowed;
}
