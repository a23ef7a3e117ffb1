/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of everything but the slots: permission, samples, counters, memory, the surroundings. */
#include "event/probe.h"

#include "base/syscall.h"
#include "event/arch.h"
#include "event/experiment.h"
#include "event/machine.h"
#include "event/perf.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <trapline/error.h>
#include <trapline/event.h>
#include <unistd.h>

/* glibc >= 2.35; declared here, weak, so that an older one only loses the probe. */
struct dl_find_object_result {
	unsigned long long flags;
	void *map_start, *map_end, *link_map, *eh_frame;
	unsigned long long reserved[7];
};
extern int _dl_find_object(void *address, struct dl_find_object_result *result)
	__attribute__((weak));

/* Nearly all of it in user mode, since the kernel's share is not sampled. */
static void burn(uint64_t nanoseconds)
{
	struct timespec now;
	uint64_t end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	end = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + nanoseconds;
	do {
		for (volatile int spin = 0; spin < 20000; spin++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec < end);
}

static void say_refused(struct probe_outcome *outcome, int err)
{
	probe_say(outcome, PROBE_MISSING, "%s refused: %s",
		  machine_filter_refuses() ? "a seccomp filter" : "the kernel", strerror(-err));
	probe_advise(outcome, "%s", tl_explain(err));
}

void probe_permission(struct probe_outcome *outcome)
{
	struct perf_request request = {.counter = TL_CPU_TIME, .period = 1000000, .disabled = true};
	int fd = perf_open(&request, 0);

	if (fd < 0) {
		say_refused(outcome, fd);
		return;
	}
	raw_close(fd);
	probe_say(outcome, PROBE_WORKS, "%s", geteuid() ? "as this user" : "as root");
}

static void body_burn(struct experiment *experiment)
{
	(void)experiment;
	burn(20000000);
}

/*
 * The sampler of `trapline race` in small: an inherited task-clock event of a child on every CPU,
 * into a ring of one page each. It opens CPUs that exist and are on line only.
 */
#define CPUS_MAX 1024
#define SAMPLE_PERIOD_NS 500000
#define TRIALS_MAX 5

struct sampler {
	size_t page;
	void *ring[CPUS_MAX];
	int fd[CPUS_MAX];
	unsigned count;
};

static int sampler_open(struct sampler *sampler, pid_t pid)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = SAMPLE_PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER,
		.sample_regs_user = event_arch.sampled,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	sampler->page = (size_t)sysconf(_SC_PAGESIZE);
	for (int cpu = 0; cpu < cpus && sampler->count < CPUS_MAX; cpu++) {
		int fd = raw_perf_event_open(&attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		void *ring;

		if (fd == -ENODEV || fd == -EINVAL) /* off line */
			continue;
		if (fd < 0)
			return fd;
		ring = mmap(NULL, 2 * sampler->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (ring == MAP_FAILED) {
			raw_close(fd);
			return -errno;
		}
		sampler->fd[sampler->count] = fd;
		sampler->ring[sampler->count++] = ring;
	}
	return sampler->count ? 0 : -ENODEV;
}

/* Bytes of samples drawn; closes everything. */
static uint64_t sampler_close(struct sampler *sampler)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < sampler->count; i++) {
		const struct perf_event_mmap_page *page = sampler->ring[i];

		bytes += page->data_head;
		munmap(sampler->ring[i], 2 * sampler->page);
		raw_close(sampler->fd[i]);
	}
	return bytes;
}

/* Bytes of samples that a child's CPU time gives, or -errno. */
static int64_t draw_samples(void)
{
	struct experiment *experiment = experiment_start(body_burn);
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	int64_t bytes = -ENOMEM;

	if (experiment && sampler)
		bytes = sampler_open(sampler, experiment->child);
	if (experiment)
		experiment_finish(experiment);
	if (sampler && bytes == 0)
		bytes = (int64_t)sampler_close(sampler);
	else if (sampler)
		sampler_close(sampler);
	free(sampler);
	experiment_end(experiment);
	return bytes;
}

void probe_samples(struct probe_outcome *outcome)
{
	int64_t bytes = 0;

	/* Where a loaded host takes the virtual CPU away, a single trial's time may be all gone. */
	for (int trial = 0; trial < TRIALS_MAX && bytes == 0; trial++)
		bytes = draw_samples();
	if (bytes == -EPERM && machine_paranoid() <= 2) {
		probe_say(outcome, PROBE_MISSING, "the rings may not be locked into memory");
		probe_advise(outcome,
			     "raise the sysctl kernel.perf_event_mlock_kb (now %ld) or `ulimit -l`",
			     machine_number("/proc/sys/kernel/perf_event_mlock_kb", 0));
	} else if (bytes < 0) {
		say_refused(outcome, (int)bytes);
	} else if (!bytes) {
		probe_say(outcome, PROBE_MISSING, "the kernel accepted it, and drew none");
		probe_advise(outcome, "the CPU clock of this virtual machine gives no samples");
	} else {
		probe_say(outcome, PROBE_WORKS, "drawn from a child, by its parent");
	}
}

void probe_memory(struct probe_outcome *outcome)
{
	uint64_t from = 0x5eed, to = 0;
	ssize_t copied = raw_read_memory(&to, (uintptr_t)&from, sizeof(to));

	if (copied == (ssize_t)sizeof(to) && to == from) {
		probe_say(outcome, PROBE_WORKS, "process_vm_readv(2) works");
		return;
	}
	probe_say(outcome, PROBE_MISSING, "process_vm_readv(2): %s",
		  copied < 0 ? strerror((int)-copied) : "copied nothing");
	probe_advise(outcome, "a seccomp filter denies it: allow it in the container's profile");
}

void probe_unwind(struct probe_outcome *outcome)
{
	struct dl_find_object_result result;

	if (_dl_find_object && _dl_find_object((void *)probe_unwind, &result) == 0) {
		probe_say(outcome, PROBE_WORKS, "_dl_find_object(3) finds them");
		return;
	}
	probe_say(outcome, PROBE_MISSING, "the C library has no _dl_find_object(3)");
	probe_advise(outcome, "backtraces in handlers need glibc 2.35 or later");
}

/* A closed page under a key of its own: the write must be stopped, and say that the key did it. */
static struct experiment *protected_by_key;

static void note_key_fault(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	protected_by_key->hits = info->si_code == SEGV_PKUERR;
	_exit(0);
}

static void body_key(struct experiment *experiment)
{
	struct sigaction action = {.sa_sigaction = note_key_fault, .sa_flags = SA_SIGINFO};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory =
		mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);

	protected_by_key = experiment;
	if (key < 0 || pkey_mprotect((void *)memory, page, PROT_READ | PROT_WRITE, key)) {
		experiment->error = -errno;
		return;
	}
	sigaction(SIGSEGV, &action, NULL);
	memory[0] = 1;
}

void probe_regions(struct probe_outcome *outcome)
{
	struct experiment *experiment;

	if (!machine_has_protection_keys()) {
		probe_say(outcome, PROBE_MISSING, "the CPU has no protection keys (pku, ospke)");
		probe_advise(outcome, "watch at most 8 bytes with each slot here, or use an Intel "
				      "CPU since Skylake-SP or an AMD CPU since Zen 3");
		return;
	}
	experiment = experiment_run(body_key);
	if (experiment && experiment->hits) {
		probe_say(outcome, PROBE_WORKS, "a key stopped a write");
	} else {
		probe_say(outcome, PROBE_MISSING,
			  "the CPU has protection keys; using one failed: %s",
			  experiment && experiment->error ? strerror(-experiment->error)
							  : "it stopped nothing");
		probe_advise(outcome, "another part of the process may hold all 15 keys, or a "
				      "seccomp filter denies pkey_alloc(2)");
	}
	experiment_end(experiment);
}

static void probe_counter(struct probe_outcome *outcome, unsigned counter)
{
	struct perf_request request = {.counter = counter, .period = 1ull << 40};
	int fd = perf_open(&request, 0);
	uint64_t count;

	if (fd == -ENOENT || fd == -EOPNOTSUPP || fd == -ENODEV) {
		probe_say(outcome, PROBE_MISSING, "the machine shows us no such counter");
		probe_advise(outcome, "in a virtual machine, have its host pass the PMU through");
		return;
	}
	if (fd < 0) {
		say_refused(outcome, fd);
		return;
	}
	burn(2000000);
	count = perf_count(fd);
	raw_close(fd);
	if (count)
		probe_say(outcome, PROBE_WORKS, "it counts");
	else
		probe_say(outcome, PROBE_MISSING, "the kernel accepted it, and it stays 0");
}

void probe_cycles(struct probe_outcome *outcome)
{
	probe_counter(outcome, TL_CYCLES);
}

void probe_instructions(struct probe_outcome *outcome)
{
	probe_counter(outcome, TL_INSTRUCTIONS);
}

void probe_cache_misses(struct probe_outcome *outcome)
{
	probe_counter(outcome, TL_CACHE_MISSES);
}

void probe_branch_misses(struct probe_outcome *outcome)
{
	probe_counter(outcome, TL_BRANCH_MISSES);
}

static void body_software(struct experiment *experiment)
{
	struct perf_request request = {.counter = TL_CPU_TIME, .period = 1000000, .signal = true};
	int fd = perf_open(&request, 0);

	if (fd < 0)
		experiment->error = fd;
	else
		burn(5000000);
}

void probe_software(struct probe_outcome *outcome)
{
	for (int trial = 0; trial < TRIALS_MAX; trial++) {
		struct experiment *experiment = experiment_run(body_software);

		if (experiment && experiment->hits)
			probe_say(outcome, PROBE_WORKS, "CPU time called back");
		else if (experiment && experiment->error)
			say_refused(outcome, experiment->error);
		else
			probe_say(outcome, PROBE_MISSING, "CPU time passed and nobody was called");
		experiment_end(experiment);
		if (outcome->state == PROBE_WORKS)
			return;
	}
	if (!outcome->advice[0])
		probe_advise(outcome, "the CPU clock of this virtual machine calls nobody back");
}

static long membarrier(int command)
{
	return raw_syscall3(SYS_membarrier, command, 0, 0);
}

void probe_sync_core(struct probe_outcome *outcome)
{
	long supported = membarrier(MEMBARRIER_CMD_QUERY);

	if (supported > 0 && (supported & MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE) &&
	    membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) == 0 &&
	    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE) == 0) {
		probe_say(outcome, PROBE_WORKS, "membarrier(2) SYNC_CORE works");
		return;
	}
	probe_say(outcome, PROBE_MISSING, "membarrier(2) lacks SYNC_CORE");
	probe_advise(outcome,
		     "patches then keep their slot, since code cannot be rewritten safely");
}

void probe_debugger(struct probe_outcome *outcome)
{
	char name[32];
	pid_t tracer = machine_tracer(name, sizeof(name));

	if (!tracer) {
		probe_say(outcome, PROBE_WORKS, "nobody traces this process");
		return;
	}
	probe_say(outcome, PROBE_LIMITED, "process %d (%s) traces this one", tracer, name);
	probe_advise(outcome, "its hardware watchpoints take from the same slots");
}

void probe_paranoid(struct probe_outcome *outcome)
{
	long paranoid = machine_paranoid();

	if (paranoid == MACHINE_NO_PERF) {
		probe_say(outcome, PROBE_MISSING, "this kernel has no perf events");
		probe_advise(outcome, "boot a kernel with CONFIG_PERF_EVENTS");
	} else if (paranoid <= 1) {
		probe_say(outcome, PROBE_WORKS, "%ld: programs may see the kernel too", paranoid);
	} else if (paranoid == 2) {
		probe_say(outcome, PROBE_WORKS, "2: all but kernel accesses without privilege");
	} else {
		probe_say(outcome, PROBE_LIMITED, "%ld: nothing without privilege", paranoid);
		probe_advise(outcome, "sysctl kernel.perf_event_paranoid=2, or CAP_SYS_ADMIN "
				      "(on Debian's kernels CAP_PERFMON is not enough)");
	}
}

void probe_yama(struct probe_outcome *outcome)
{
	long scope = machine_number("/proc/sys/kernel/yama/ptrace_scope", 0);

	if (scope == 0 || geteuid() == 0) {
		probe_say(outcome, scope < 3 ? PROBE_WORKS : PROBE_MISSING,
			  "kernel.yama.ptrace_scope is %ld", scope);
		return;
	}
	probe_say(outcome, PROBE_LIMITED, "kernel.yama.ptrace_scope is %ld", scope);
	probe_advise(outcome, "only programs started by trapline can be watched; -p PID needs "
			      "sysctl kernel.yama.ptrace_scope=0");
}

void probe_descriptors(struct probe_outcome *outcome)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	probe_say(outcome, limit.rlim_max < 1024 ? PROBE_LIMITED : PROBE_WORKS, "at most %llu",
		  (unsigned long long)limit.rlim_max);
	if (outcome->state == PROBE_LIMITED)
		probe_advise(outcome, "programs of more threads need a higher `ulimit -Hn`");
}

void probe_debuginfo(struct probe_outcome *outcome)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	bool local = access("/usr/lib/debug/.build-id", R_OK | X_OK) == 0;

	if ((urls && *urls) || local) {
		probe_say(outcome, PROBE_WORKS, "%s%s", local ? "/usr/lib/debug is there; " : "",
			  urls && *urls ? "DEBUGINFOD_URLS is set" : "DEBUGINFOD_URLS is not set");
		return;
	}
	probe_say(outcome, PROBE_LIMITED, "no /usr/lib/debug/.build-id, no DEBUGINFOD_URLS");
	probe_advise(outcome, "stripped programs show module+offset; install -dbgsym packages or "
			      "export DEBUGINFOD_URLS=https://debuginfod.debian.net");
}
