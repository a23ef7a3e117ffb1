/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a thread inside the bytes that are to be written, now or in a frame that a signal interrupted?
 *
 * A thread that sleeps in the kernel is looked at through /proc/self/task/TID/syscall, which tells
 * its pc and stack pointer without waking it. One that runs gets a signal, whose handler looks and
 * returns. Interrupted frames are found by scanning the stack for an address inside: a value that
 * only looks like one makes us wait longer, no more. Accepted loss: what lies more than 256 KiB up
 * the stack is not looked at. A thread that has the signal blocked is not
 * sent it (it might take it by sigwait()) but looked at again later, when it sleeps.
 *
 * Accepted loss: a thread seen asleep, or answering, may block SIGTRAP, call the old function past
 * its breakpoint and be between its first instructions in the microseconds until the bytes are
 * written.
 */
#include "patch/patch.h"

#include "base/counters.h"
#include "base/syscall.h"
#include "event/threads.h"
#include "trap/ownership.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define TIMEOUT_NS 2000000000ull
#define STEP_NS 50000
#define STEPS_FOR_ANSWER 1000 /* then a thread is asked again */
#define MAX_THREADS 0x4000
#define SCAN_CHUNK 64	     /* words */
#define SCAN_MAX (1ul << 15) /* words of stack looked at */
#define RESUME_FLAG 0x10000  /* EFLAGS.RF: the next instruction ignores its breakpoint */
#define EFLAGS_MAX 0x400000
#define MAGIC 0x7c5aull

enum verdict {
	OUTSIDE,
	INSIDE,
	BLOCKED, /* runs with the signal or SIGTRAP blocked */
	ASKED,
};

/* What a thread was asked, and its answer: round << 2 | verdict. A late answer of an earlier round
 * finds another value here and is dropped. */
static uint64_t answers[MAX_THREADS];
static uint64_t current_round;
static struct tl_patch asked_about; /* a copy: an answer may come after the patch's end */
static int inquiry_signal;

/* ---- looking ---------------------------------------------------------------------------- */

static bool is_inside_any(const struct tl_patch *patch, uintptr_t pc)
{
	for (size_t i = 0; i < patch->count; i++)
		if (patch_is_inside(&patch->changes[i], pc))
			return true;
	return false;
}

/* A thread about to execute the entry with its breakpoint ignored, as after a handler that did not
 * redirect it, is as good as inside. */
static bool is_entry_of_any(const struct tl_patch *patch, uintptr_t pc)
{
	for (size_t i = 0; i < patch->count; i++)
		if (patch->changes[i].entry == pc)
			return true;
	return false;
}

static bool ignores_breakpoint(uintptr_t flags)
{
	return flags & RESUME_FLAG && flags < EFLAGS_MAX;
}

_Static_assert(REG_EFL == REG_RIP + 1, "in a signal frame the flags follow the pc");

/* From `stack_pointer` to the end of its mapping. The red zone holds no interrupted frame. */
static bool stack_holds_inside(const struct tl_patch *patch, uintptr_t stack_pointer)
{
	uintptr_t words[SCAN_CHUNK];
	uintptr_t at = stack_pointer & ~(uintptr_t)7;
	pid_t pid = raw_getpid();
	bool after_entry = false;

	for (size_t seen = 0; seen < SCAN_MAX; seen += SCAN_CHUNK) {
		/* Up to a multiple of the chunk, so that no read crosses into the next page. */
		size_t length = sizeof(words) - at % sizeof(words);

		if (raw_read_memory(pid, words, at, length) != (ssize_t)length)
			break;
		for (size_t i = 0; i < length / sizeof(words[0]); i++) {
			if (is_inside_any(patch, words[i]) ||
			    (after_entry && ignores_breakpoint(words[i])))
				return true;
			after_entry = is_entry_of_any(patch, words[i]);
		}
		at += length;
	}
	return false;
}

static enum verdict look(const struct tl_patch *patch, uintptr_t pc, uintptr_t stack_pointer)
{
	return is_inside_any(patch, pc) || is_entry_of_any(patch, pc) ||
			       stack_holds_inside(patch, stack_pointer)
		       ? INSIDE
		       : OUTSIDE;
}

/* ---- in the thread ---------------------------------------------------------------------- */

static bool blocks_trap(const ucontext_t *context)
{
	return sigismember(&context->uc_sigmask, SIGTRAP) == 1;
}

static void answer(uint64_t question, const ucontext_t *context)
{
	uint64_t asked = (question & 0xffffffff) << 2 | ASKED;
	const greg_t *registers = context->uc_mcontext.gregs;
	uint64_t *word = &answers[question >> 32 & (MAX_THREADS - 1)];
	enum verdict verdict = BLOCKED;

	if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != asked)
		return;
	if (!blocks_trap(context))
		verdict = look(&asked_about, (uintptr_t)registers[REG_RIP],
			       (uintptr_t)registers[REG_RSP]);
	__atomic_compare_exchange_n(word, &asked, (asked & ~3ull) | verdict, false,
				    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

static void on_inquiry(int signal, siginfo_t *info, void *context)
{
	uint64_t question = (uintptr_t)info->si_value.sival_ptr;
	int saved_errno = errno;

	if (info->si_code == SI_QUEUE && info->si_pid == raw_getpid() && question >> 48 == MAGIC)
		answer(question, context);
	else
		signal_chain(signal, info, context);
	errno = saved_errno;
}

/* ---- asking ----------------------------------------------------------------------------- */

/* The highest real-time signal that the program leaves alone. If it takes it later, both get
 * theirs: see ownership.h. */
static int choose_signal(void)
{
	for (int signal = SIGRTMAX - 1; signal > SIGRTMIN && !inquiry_signal; signal--) {
		struct sigaction action;

		if (sigaction(signal, NULL, &action) || action.sa_handler != SIG_DFL ||
		    signal_own(signal, on_inquiry))
			continue;
		inquiry_signal = signal;
	}
	return inquiry_signal ? 0 : -EAGAIN;
}

static ssize_t read_task_file(pid_t tid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, name);
	fd = (int)raw_syscall3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	got = raw_syscall3(SYS_read, fd, (long)text, (long)size - 1);
	raw_close(fd);
	if (got >= 0)
		text[got] = 0;
	return got;
}

/* "number six-arguments sp pc", "-1 sp pc", or "running". proc_pid_syscall(5). */
static bool parse_sleeping(const char *text, uintptr_t *stack_pointer, uintptr_t *pc)
{
	const char *last = strrchr(text, ' '), *before = last;

	if (!last)
		return false;
	while (before > text && *--before != ' ')
		;
	*stack_pointer = strtoul(before, NULL, 16);
	*pc = strtoul(last, NULL, 16);
	return true;
}

static bool may_be_asked(pid_t tid)
{
	uint64_t needed = 1ull << (inquiry_signal - 1) | 1ull << (SIGTRAP - 1);
	char text[4096];
	const char *line;

	if (read_task_file(tid, "status", text, sizeof(text)) <= 0)
		return true;
	line = strstr(text, "SigBlk:");
	return !line || !(strtoull(line + strlen("SigBlk:"), NULL, 16) & needed);
}

static bool ask(pid_t tid, uint64_t question)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = inquiry_signal;
	info.si_code = SI_QUEUE;
	info.si_pid = raw_getpid();
	info.si_value.sival_ptr = (void *)question;
	return raw_syscall6(SYS_rt_tgsigqueueinfo, raw_getpid(), tid, inquiry_signal, (long)&info,
			    0, 0) != -ESRCH;
}

static void examine_thread(const struct tl_patch *patch, pid_t tid, size_t index)
{
	uint64_t asked = current_round << 2 | ASKED, verdict = OUTSIDE;
	uintptr_t stack_pointer, pc;
	char text[256];
	ssize_t got;

	if (tid == raw_gettid()) {
		verdict = look(patch, 0, (uintptr_t)__builtin_frame_address(0));
	} else {
		got = read_task_file(tid, "syscall", text, sizeof(text));
		if (got > 0 && parse_sleeping(text, &stack_pointer, &pc)) {
			verdict = look(patch, pc, stack_pointer);
		} else if (got != -ENOENT && got != -ESRCH) {
			__atomic_store_n(&answers[index], asked, __ATOMIC_RELEASE);
			if (!may_be_asked(tid))
				verdict = BLOCKED;
			else if (ask(tid, MAGIC << 48 | index << 32 | (current_round & 0xffffffff)))
				return;
		}
	}
	__atomic_store_n(&answers[index], (asked & ~3ull) | verdict, __ATOMIC_RELEASE);
}

static enum verdict verdict_of(size_t index)
{
	return __atomic_load_n(&answers[index], __ATOMIC_ACQUIRE) & 3;
}

/* One look at every thread not yet seen outside; these are taken off the list. Returns the worst
 * that was seen. */
static enum verdict pass(const struct tl_patch *patch, struct thread_set *threads)
{
	enum verdict worst = OUTSIDE;
	size_t kept = 0;
	int steps = 0;

	current_round = (current_round + 1) & 0xffffffff;
	for (size_t i = 0; i < threads->count; i++)
		examine_thread(patch, threads->tids[i], i);
	for (size_t i = 0; i < threads->count; i++) {
		enum verdict verdict;

		while ((verdict = verdict_of(i)) == ASKED && steps++ < STEPS_FOR_ANSWER)
			raw_nanosleep(STEP_NS);
		if (verdict == OUTSIDE)
			continue;
		/* It may have gone to sleep, or blocked the signal, just then. */
		worst = verdict == ASKED ? worst : verdict;
		worst = worst == OUTSIDE ? INSIDE : worst;
		threads->tids[kept++] = threads->tids[i];
	}
	threads->count = kept;
	return worst;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Threads created meanwhile come to the function, if at all, through its breakpoint. */
int patch_check_threads(const struct tl_patch *patch)
{
	uint64_t deadline = now_ns() + TIMEOUT_NS;
	struct thread_set threads = {0};
	enum verdict worst;
	int err = choose_signal();

	if (!err)
		err = thread_set_list(&threads, 0);
	if (!err && threads.count > MAX_THREADS)
		err = -EAGAIN;
	asked_about = *patch;
	while (!err && (worst = pass(patch, &threads)) != OUTSIDE) {
		if (now_ns() > deadline)
			err = worst == BLOCKED ? -EBUSY : -ETIMEDOUT;
		else
			raw_nanosleep(STEP_NS);
	}
	thread_set_destroy(&threads);
	return err;
}
