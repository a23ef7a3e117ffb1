/* SPDX-License-Identifier: Apache-2.0 */
/* A child in seccomp's strict mode: read, write, exit and sigreturn alone. */
#include "hostile.h"
#include <linux/seccomp.h>
#include <sys/prctl.h>

int main(void)
{
	pid_t child;

	noise_start();
	for (int i = 0; i < 20; i++) {
		child = fork();
		if (child == 0) {
			volatile long spin = 0;

			if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
				syscall(SYS_exit, 3);
			while (spin < 20000000)
				spin++;
			if (write(1, "strict\n", 7) != 7)
				syscall(SYS_exit, 4);
			syscall(SYS_exit, 0);
		}
		say_end("child", child);
		nap(50000);
	}
	noise_stop();
	return 0;
}
