/* SPDX-License-Identifier: Apache-2.0 */
/* Becomes a daemon by a double fork; the daemon works on after its parents are gone. */
#include "hostile.h"

int main(void)
{
	char result[40] = "";
	int ends[2];
	pid_t child;

	expect(pipe(ends) == 0);
	child = fork();
	if (child == 0) {
		if (setsid() < 0 || fork() != 0)
			_exit(0);
		close(ends[0]);
		noise_start();
		nap(2000000);
		noise_stop();
		expect(write(ends[1], "the daemon is done", 18) == 18);
		_exit(0);
	}
	close(ends[1]);
	say_end("middle", child);
	expect(read(ends[0], result, sizeof(result) - 1) == 18);
	say("%s", result);
	return 0;
}
