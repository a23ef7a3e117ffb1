/* SPDX-License-Identifier: Apache-2.0 */
/* 2,000 short processes, forked by a program with threads. */
#include "hostile.h"

int main(void)
{
	int good = 0, status;

	noise_start();
	for (int i = 0; i < 2000; i++) {
		pid_t child = fork();

		expect(child >= 0);
		if (child == 0) {
			noise_counter += 2;
			_exit(i & 63);
		}
		expect(waitpid(child, &status, 0) == child);
		good += WIFEXITED(status) && WEXITSTATUS(status) == (i & 63);
	}
	noise_stop();
	say("%d of 2000 ended as told", good);
	return good != 2000;
}
