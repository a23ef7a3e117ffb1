/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes chosen system calls of Trapline fail, from outside: it traces a `trapline` command and puts
 * an error in place of the call.
 *
 *	inject --role controller|program [--alone] [--list FILE] COMMAND…
 *	inject --role … [--alone] --call NUMBER --site OFFSET --error ERRNO [--nth N] COMMAND…
 *
 * Which call is meant is told by its place in the code: the offset, in Trapline's own file, of the
 * instruction that makes it or of the innermost return address of Trapline's on the stack (for
 * calls made inside a library that Trapline called). That is the same on each run, however the
 * threads are scheduled. Role controller: calls of the `trapline` process, and of its child until
 * that executes the program. Role program: calls that the preload library makes by itself, also in
 * the child that becomes a controller where no command stands in front (--alone: the program is
 * followed, since that child comes of it).
 *
 * The exit status is the command's. --report FILE receives how many calls were made to fail.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define TASKS_MAX 256
#define SITES_MAX 4096
#define STACK_WORDS 4096

struct task {
	pid_t tid;
	bool started;	 /* options are set and it runs */
	bool is_traced;	 /* its system calls are looked at */
	bool is_program; /* has executed the program */
	bool failing;	 /* its present call is being replaced */
	uint64_t text, text_end, text_offset;
};

struct site {
	uint64_t call, offset;
	unsigned count;
};

static struct {
	bool program, alone;
	const char *list, *report;
	uint64_t call, site;
	int error;
	unsigned nth;
} options;

static struct task tasks[TASKS_MAX];
static struct site sites[SITES_MAX];
static unsigned site_count, matching, failed;
static pid_t root;

static void fail(const char *what)
{
	perror(what);
	exit(125);
}

static struct task *find_task(pid_t tid)
{
	for (unsigned i = 0; i < TASKS_MAX; i++)
		if (tasks[i].tid == tid)
			return &tasks[i];
	return NULL;
}

static struct task *add_task(pid_t tid)
{
	struct task *task = find_task(tid);

	if (!task)
		task = find_task(0);
	if (!task) {
		fputs("inject: more threads than it can follow\n", stderr);
		exit(125);
	}
	task->tid = tid;
	return task;
}

/* Where Trapline's code is mapped in this task: the command's own, or the preload library's. */
static bool find_text(struct task *task)
{
	char path[64], line[4400];
	FILE *maps;

	if (task->text)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/maps", task->tid);
	maps = fopen(path, "r");
	while (maps && !task->text && fgets(line, sizeof(line), maps)) {
		unsigned long start, end, offset;
		char *name = strrchr(line, '/');

		if (!name || !strstr(line, " r-xp "))
			continue;
		if (strcmp(name, options.program ? "/libtrapline-agent.so\n" : "/trapline\n") ==
			    0 &&
		    sscanf(line, "%lx-%lx r-xp %lx", &start, &end, &offset) == 3) {
			task->text = start;
			task->text_end = end;
			task->text_offset = offset;
		}
	}
	if (maps)
		fclose(maps);
	return task->text != 0;
}

static bool is_text(const struct task *task, uint64_t address)
{
	return address >= task->text && address < task->text_end;
}

static bool read_memory(pid_t tid, uint64_t from, void *to, size_t length)
{
	struct iovec local = {to, length}, remote = {(void *)from, length};

	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)length;
}

/* call rel32, or call *r/m with two to seven bytes (Intel SDM volume 2, CALL). */
static bool follows_call(pid_t tid, uint64_t address)
{
	static const int lengths[] = {2, 3, 4, 6, 7};
	uint8_t code[8];

	if (!read_memory(tid, address - sizeof(code), code, sizeof(code)))
		return false;
	if (code[3] == 0xe8)
		return true;
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		const uint8_t *at = code + sizeof(code) - lengths[i];

		if (at[0] == 0xff && (at[1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

/* 0 when the call is not one of Trapline's. */
static uint64_t find_site(struct task *task, uint64_t pc, uint64_t stack)
{
	static uint64_t words[STACK_WORDS];
	size_t length = sizeof(words);

	if (!find_text(task))
		return 0;
	if (is_text(task, pc))
		return pc - task->text + task->text_offset;
	if (options.program)
		return 0;
	while (length >= 512 && !read_memory(task->tid, stack, words, length))
		length /= 2;
	for (size_t i = 0; i < length / sizeof(words[0]); i++)
		if (is_text(task, words[i]) && follows_call(task->tid, words[i]))
			return words[i] - task->text + task->text_offset;
	return 0;
}

static void note_site(uint64_t call, uint64_t offset)
{
	for (unsigned i = 0; i < site_count; i++) {
		if (sites[i].call == call && sites[i].offset == offset) {
			sites[i].count++;
			return;
		}
	}
	if (site_count < SITES_MAX)
		sites[site_count++] = (struct site){call, offset, 1};
}

static bool is_wanted(uint64_t call, uint64_t offset)
{
	if (!options.error || call != options.call || offset != options.site)
		return false;
	matching++;
	return !options.nth || matching == options.nth;
}

static void on_entry(struct task *task, const struct __ptrace_syscall_info *info)
{
	uint64_t offset = find_site(task, info->instruction_pointer, info->stack_pointer);
	struct user_regs_struct registers;

	if (!offset)
		return;
	note_site(info->entry.nr, offset);
	if (!is_wanted(info->entry.nr, offset))
		return;
	/* close(2) closes even when it says that it failed. */
	if (info->entry.nr != SYS_close) {
		if (ptrace(PTRACE_GETREGS, task->tid, 0, &registers))
			return;
		registers.orig_rax = (unsigned long long)-1;
		if (ptrace(PTRACE_SETREGS, task->tid, 0, &registers))
			return;
	}
	task->failing = true;
	failed++;
}

static void on_exit_of_call(struct task *task)
{
	struct user_regs_struct registers;

	if (!task->failing)
		return;
	task->failing = false;
	if (ptrace(PTRACE_GETREGS, task->tid, 0, &registers))
		return;
	registers.rax = (unsigned long long)-(long long)options.error;
	ptrace(PTRACE_SETREGS, task->tid, 0, &registers);
}

static void on_call(struct task *task)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		on_entry(task, &info);
	else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
		on_exit_of_call(task);
}

static void resume(const struct task *task, int signal)
{
	ptrace(task->is_traced ? PTRACE_SYSCALL : PTRACE_CONT, task->tid, 0, signal);
}

static bool runs_trapline(pid_t tid)
{
	char link[64], path[4096] = "", *name;

	snprintf(link, sizeof(link), "/proc/%d/exe", tid);
	if (readlink(link, path, sizeof(path) - 1) < 0)
		return false;
	name = strrchr(path, '/');
	return name && strcmp(name, "/trapline") == 0;
}

/* True when the task is no longer ours. */
static bool on_exec(struct task *task)
{
	task->text = 0;
	task->is_program = !runs_trapline(task->tid);
	task->is_traced = options.program == task->is_program;
	if (!task->is_program || options.program || options.alone)
		return false;
	ptrace(PTRACE_DETACH, task->tid, 0, 0);
	task->tid = 0;
	return true;
}

static void on_new_task(const struct task *parent)
{
	unsigned long tid = 0;
	struct task *task;

	if (ptrace(PTRACE_GETEVENTMSG, parent->tid, 0, &tid) || !tid)
		return;
	task = add_task((pid_t)tid);
	task->is_program = parent->is_program;
	task->is_traced = parent->is_traced;
	task->text = parent->text;
	task->text_end = parent->text_end;
	task->text_offset = parent->text_offset;
}

static void on_stop(struct task *task, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;

	if (signal == (SIGTRAP | 0x80)) {
		on_call(task);
	} else if (event == PTRACE_EVENT_EXEC) {
		if (on_exec(task))
			return;
	} else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
		   event == PTRACE_EVENT_CLONE) {
		on_new_task(task);
	} else if (event == PTRACE_EVENT_STOP) {
		if (signal != SIGTRAP) {
			ptrace(PTRACE_LISTEN, task->tid, 0, 0);
			return;
		}
	} else if (!event) {
		resume(task, signal);
		return;
	}
	resume(task, 0);
}

static int follow(void)
{
	int status, result = 125;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		struct task *task;

		if (WIFSTOPPED(status)) {
			on_stop(add_task(tid), status);
			continue;
		}
		task = find_task(tid);
		if (task)
			memset(task, 0, sizeof(*task));
		if (tid == root)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return result;
}

static void start(char **command)
{
	long wanted = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |
		      PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
	int ready[2];
	char go = 0;

	if (pipe(ready))
		fail("pipe");
	root = fork();
	if (root == 0) {
		close(ready[1]);
		if (read(ready[0], &go, 1) != 1)
			_exit(125);
		close(ready[0]);
		execvp(command[0], command);
		_exit(125);
	}
	close(ready[0]);
	add_task(root);
	if (root < 0 || ptrace(PTRACE_SEIZE, root, 0, wanted))
		fail("PTRACE_SEIZE");
	if (write(ready[1], &go, 1) != 1)
		fail("write");
	close(ready[1]);
}

static void write_results(void)
{
	FILE *file = options.list ? fopen(options.list, "w") : NULL;

	for (unsigned i = 0; file && i < site_count; i++)
		fprintf(file, "%lu %#lx %u\n", (unsigned long)sites[i].call,
			(unsigned long)sites[i].offset, sites[i].count);
	if (file)
		fclose(file);
	file = options.report ? fopen(options.report, "w") : NULL;
	if (file) {
		fprintf(file, "%u\n", failed);
		fclose(file);
	}
}

int main(int argc, char **argv)
{
	static const struct option names[] = {{"role", required_argument, NULL, 'r'},
					      {"list", required_argument, NULL, 'l'},
					      {"report", required_argument, NULL, 'p'},
					      {"call", required_argument, NULL, 'c'},
					      {"site", required_argument, NULL, 's'},
					      {"error", required_argument, NULL, 'e'},
					      {"nth", required_argument, NULL, 'n'},
					      {"alone", no_argument, NULL, 'a'},
					      {NULL, 0, NULL, 0}};
	int option, status;

	while ((option = getopt_long(argc, argv, "+", names, NULL)) != -1) {
		switch (option) {
		case 'r':
			options.program = strcmp(optarg, "program") == 0;
			break;
		case 'l':
			options.list = optarg;
			break;
		case 'p':
			options.report = optarg;
			break;
		case 'c':
			options.call = strtoull(optarg, NULL, 0);
			break;
		case 's':
			options.site = strtoull(optarg, NULL, 0);
			break;
		case 'e':
			options.error = atoi(optarg);
			break;
		case 'a':
			options.alone = true;
			break;
		case 'n':
			options.nth = (unsigned)atoi(optarg);
			break;
		default:
			return 125;
		}
	}
	if (optind >= argc)
		return 125;
	start(argv + optind);
	status = follow();
	write_results();
	return status;
}
