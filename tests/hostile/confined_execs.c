/* SPDX-License-Identifier: Apache-2.0 */
/* A filter that kills for making a thread goes along through two executions: the image between them
 * has set none itself. */
#include "filter.h"

#include <sched.h>

static void forbid_threads(void)
{
	struct sock_filter filter[] = {
		FILTER_LOAD,
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		FILTER_ALLOW,
	};

	filter_install(filter, sizeof(filter) / sizeof(filter[0]));
}

int main(int argc, char **argv)
{
	/* For longer than the controller takes to look at it. */
	if (argc > 1) {
		nap(strcmp(argv[1], "soon") == 0 ? 0 : 500000);
		say("executed %s", argv[1]);
		execl("/bin/true", "true", (char *)NULL);
		return 1;
	}
	noise_start();
	nap(600000);
	noise_stop();
	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		if (child == 0) {
			forbid_threads();
			execl("/proc/self/exe", argv[0], i ? "soon" : "late", (char *)NULL);
			_exit(1);
		}
		say_end("child", child);
	}
	return 0;
}
