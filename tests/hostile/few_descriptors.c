/* SPDX-License-Identifier: Apache-2.0 */
/* RLIMIT_NOFILE 3: not one more descriptor, for this process and for what it executes. */
#include "hostile.h"

int main(int argc, char **argv)
{
	struct rlimit three = {3, 3};

	if (argc > 1) {
		noise_start();
		nap(1500000);
		expect(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE);
		noise_stop();
		return 6;
	}
	noise_start();
	nap(300000);
	expect(setrlimit(RLIMIT_NOFILE, &three) == 0);
	expect(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE);
	nap(1500000);
	pid_t child = fork();

	/* The dynamic linker needs a descriptor itself: only the plain fork can go on. */
	if (child == 0)
		_exit(main(2, argv));
	say_end("child", child);
	noise_stop();
	return 0;
}
