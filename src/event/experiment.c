/* SPDX-License-Identifier: Apache-2.0 */
#include "event/experiment.h"

#include "base/perf_siginfo.h"
#include "base/syscall.h"
#include "event/arch.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Every experiment takes milliseconds; a child that is still there after this long is stuck. */
#define SECONDS_MAX 5

static struct experiment *running; /* in the child */

static void note_hit(int signal, siginfo_t *info, void *context)
{
	const struct perf_siginfo *perf = (const struct perf_siginfo *)(const void *)info;

	(void)signal;
	if (info->si_code != PERF_SIGINFO_CODE)
		_exit(1);
	running->address = perf->address;
	running->data = perf->data;
	running->late = perf->flags & PERF_SIGINFO_LATE;
	running->pc = event_arch.pc(context);
	__atomic_fetch_add(&running->hits, 1, __ATOMIC_RELAXED);
}

static void child_main(struct experiment *experiment, experiment_fn *body)
{
	struct sigaction action = {.sa_sigaction = note_hit, .sa_flags = SA_SIGINFO};
	sigset_t none;

	running = experiment;
	sigemptyset(&none);
	sigaction(SIGTRAP, &action, NULL);
	signal(SIGALRM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	experiment->making = "alarm";
	alarm(SECONDS_MAX);
	experiment->making = "prctl";
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	experiment->making = NULL;
	while (!__atomic_load_n(&experiment->go, __ATOMIC_ACQUIRE))
		raw_futex(&experiment->go, FUTEX_WAIT, 0, NULL);
	body(experiment);
	_exit(0);
}

void experiment_may_end(void)
{
	signal(SIGSYS, SIG_DFL);
	prctl(PR_SET_DUMPABLE, 0);
}

static struct experiment *start(experiment_fn *body, const void *argument, bool go)
{
	struct experiment *experiment = mmap(NULL, sizeof(*experiment), PROT_READ | PROT_WRITE,
					     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (experiment == MAP_FAILED)
		return NULL;
	experiment->argument = argument;
	experiment->go = go;
	experiment->child = fork();
	if (experiment->child == 0)
		child_main(experiment, body);
	if (experiment->child < 0) {
		experiment_end(experiment);
		return NULL;
	}
	return experiment;
}

struct experiment *experiment_start(experiment_fn *body)
{
	return start(body, NULL, false);
}

void experiment_finish(struct experiment *experiment)
{
	int status = 0;

	if (!experiment->go) {
		__atomic_store_n(&experiment->go, 1, __ATOMIC_RELEASE);
		raw_futex(&experiment->go, FUTEX_WAKE, 1, NULL);
	}
	while (waitpid(experiment->child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		experiment->ending = WTERMSIG(status);
}

/* The child does not wait: a filter may kill whoever calls futex(2), and the parent is one. */
struct experiment *experiment_run_with(experiment_fn *body, const void *argument)
{
	struct experiment *experiment = start(body, argument, true);

	if (experiment)
		experiment_finish(experiment);
	return experiment;
}

struct experiment *experiment_run(experiment_fn *body)
{
	return experiment_run_with(body, NULL);
}

void experiment_end(struct experiment *experiment)
{
	if (experiment)
		munmap(experiment, sizeof(*experiment));
}
