/* SPDX-License-Identifier: Apache-2.0 */
/* A filter that kills the process on perf_event_open, ioctl, ptrace, prctl, bpf and more. */
#include "filter.h"

int main(void)
{
	struct sock_filter filter[] = {
		FILTER_LOAD,
		FILTER_DENY(SYS_perf_event_open),
		FILTER_DENY(SYS_ioctl),
		FILTER_DENY(SYS_ptrace),
		FILTER_DENY(SYS_process_vm_readv),
		FILTER_DENY(SYS_process_vm_writev),
		FILTER_DENY(SYS_bpf),
		FILTER_DENY(SYS_prctl),
		FILTER_DENY(SYS_socket),
		FILTER_DENY(SYS_openat),
		FILTER_DENY(SYS_memfd_create),
		FILTER_DENY(SYS_kill),
		FILTER_DENY(SYS_tgkill),
		FILTER_DENY(SYS_sched_yield),
		FILTER_ALLOW,
	};

	noise_start();
	nap(300000);
	filter_install(filter, sizeof(filter) / sizeof(filter[0]));
	nap(3000000);
	noise_stop();
	say("nobody was killed");
	return 0;
}
