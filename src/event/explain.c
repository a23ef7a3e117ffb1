/* SPDX-License-Identifier: Apache-2.0 */
#include "event/explain.h"

#include "event/arch.h"

#include "event/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <trapline/error.h>
#include <unistd.h>

#define SENTENCE_MAX 512

/* Initial-exec: a handler that fails must not make the dynamic linker allocate. */
static __thread struct {
	int err;
	const char *sentence;
} last_failure __attribute__((tls_model("initial-exec")));

static __thread char text[SENTENCE_MAX] __attribute__((tls_model("initial-exec")));

int explain_failure(int err, const char *sentence)
{
	last_failure.err = err;
	last_failure.sentence = sentence;
	return err;
}

void explain_clear(void)
{
	last_failure.sentence = NULL;
}

static void explain_filter(long paranoid)
{
	snprintf(
		text, sizeof(text),
		"a seccomp filter refuses perf_event_open(2), as the default profiles of docker and "
		"podman do without CAP_PERFMON: start the container with --security-opt "
		"seccomp=FILE, a profile that allows perf_event_open and process_vm_readv "
		"(examples/container/allow-perf makes it from the default one), or with "
		"--cap-add=PERFMON; of a systemd service add both to SystemCallFilter=%s",
		paranoid > 2 ? "; then set kernel.perf_event_paranoid to 2, too" : "");
}

/* Who may refuse, in the order in which the kernel asks: seccomp, paranoid, ptrace rights. */
static void explain_refusal(void)
{
	long paranoid = machine_paranoid();

	if (paranoid == MACHINE_NO_PERF)
		snprintf(text, sizeof(text),
			 "this kernel has no perf events (CONFIG_PERF_EVENTS); use one that has");
	else if (machine_filter_refuses())
		explain_filter(paranoid);
	else if (paranoid > 2) /* distributions' own levels, each with exceptions of its own */
		snprintf(text, sizeof(text),
			 "kernel.perf_event_paranoid is %ld; set it to 2 (sysctl "
			 "kernel.perf_event_paranoid=2), or give this program CAP_SYS_ADMIN: "
			 "CAP_PERFMON is not enough on Debian's kernels",
			 paranoid);
	else if (paranoid == 2 && geteuid() != 0)
		snprintf(text, sizeof(text),
			 "kernel.perf_event_paranoid is 2, which forbids seeing the kernel "
			 "(TL_INCLUDE_KERNEL, context switches, migrations); set it to 1 or give "
			 "CAP_PERFMON, or the thread belongs to a process you may not ptrace");
	else
		snprintf(text, sizeof(text),
			 "the kernel refuses: the thread belongs to a process that you may not "
			 "ptrace (another user's, set-user-ID or not dumpable)");
}

static void explain_unknown_call(void)
{
	if (machine_filter_refuses())
		explain_filter(machine_paranoid());
	else
		snprintf(text, sizeof(text),
			 "this kernel lacks a system call that is needed: perf_event_open(2) and "
			 "others need Linux 5.13 with CONFIG_PERF_EVENTS");
}

static void explain_no_slot(void)
{
	char name[32];
	pid_t tracer = machine_tracer(name, sizeof(name));
	unsigned ours = machine_perf_descriptors();

	if (tracer)
		snprintf(text, sizeof(text),
			 "no hardware slot is free: this process holds %u perf events, and process "
			 "%d (%s) traces it and may hold slots; close events or detach it",
			 ours, tracer, name);
	else if (ours)
		snprintf(
			text, sizeof(text),
			"no hardware slot is free in some thread: this process itself holds %u "
			"perf events (a thread has %d slots here; a watch not aligned to its length "
			"takes two); close or move one, or use TL_REGION",
			ours, EVENT_SLOTS);
	else
		snprintf(text, sizeof(text),
			 "no hardware slot is free in some thread and this process holds none: a "
			 "debugger or another user of perf (perf record -e mem:…) does; end it");
}

static void explain_no_hardware(void)
{
	if (!machine_has_protection_keys())
		snprintf(text, sizeof(text),
			 "this machine lacks the hardware: no protection keys here (regions, more "
			 "than 8 bytes), and in virtual machines often no counters; `trapline "
			 "doctor` shows which parts work");
	else
		snprintf(text, sizeof(text),
			 "this machine lacks the hardware asked for; in virtual machines hardware "
			 "counters are often absent; `trapline doctor` shows which parts work");
}

static void explain_descriptors(void)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	snprintf(
		text, sizeof(text),
		"one descriptor a covered thread is needed and the limit is %llu (hard limit %llu); "
		"raise it with `ulimit -n`, or `ulimit -Hn` as root",
		(unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
}

static const struct {
	int err;
	void (*look)(void);   /* writes to text, or … */
	const char *sentence; /* … what never depends on the machine */
} explanations[] = {
	{EPERM, explain_refusal, NULL},
	{EACCES, explain_refusal, NULL},
	{ENOSPC, explain_no_slot, NULL},
	{EOPNOTSUPP, explain_no_hardware, NULL},
	{ENODEV, explain_no_hardware, NULL},
	{EMFILE, explain_descriptors, NULL},
	{EINVAL, NULL,
	 "the request contradicts itself: spec.size must be sizeof(struct tl_spec); memory needs addr, "
	 "len >= 1 and TL_READ and/or TL_WRITE; code needs addr, len 0 and TL_EXEC alone; a counter "
	 "needs access 0, a known counter and a period; or the kernel is older than 5.13"},
	{E2BIG, NULL,
	 "the program was compiled against a newer trapline than the library it runs with, and uses "
	 "a field that this one does not know; install the newer library"},
	{ESRCH, NULL, "a thread named in spec.tids has ended, or never was; list them again"},
	{ENFILE, NULL, "the whole system is out of descriptors; raise the sysctl fs.file-max"},
	{ENOMEM, NULL, "there is no memory left, or a limit on it (ulimit -v) is reached"},
	{ENOSYS, explain_unknown_call, NULL},
	{ENOEXEC, NULL,
	 "the instruction could not be decoded, so where it ends is not known; use "
	 "tl_hit_resume_at() with an address you know"},
	{EBUSY, NULL,
	 "the resource is held by somebody else, such as another tool on the same processor; wait or "
	 "end that tool"},
	{EFAULT, NULL, "an address that was handed over is not mapped in this process"},
	{ETIMEDOUT, NULL, "a thread did not answer in time; the call undid what it had begun"},
	{EAGAIN, NULL, "the kernel is short of something for the moment; try again"},
	{EEXIST, NULL, "it exists already; close the old one first"},
	{EINTR, NULL, "a signal arrived meanwhile; call again"},
};

const char *tl_explain(int err)
{
	int number = abs(err);

	if (number == 0)
		return "no error";
	if (last_failure.sentence && abs(last_failure.err) == number)
		return last_failure.sentence;
	for (size_t i = 0; i < sizeof(explanations) / sizeof(explanations[0]); i++) {
		if (explanations[i].err != number)
			continue;
		if (!explanations[i].look)
			return explanations[i].sentence;
		explanations[i].look();
		return text;
	}
	snprintf(text, sizeof(text),
		 "%s (error %d), which trapline does not expect here; "
		 "`trapline doctor` may tell more",
		 strerrordesc_np(number) ? strerrordesc_np(number) : "unknown error", number);
	return text;
}
