/* SPDX-License-Identifier: Apache-2.0 */
/* Closes descriptors one by one, as daemons do: none beyond 2 was open. */
#include "hostile.h"

int main(void)
{
	int closed = 0;

	noise_start();
	for (int round = 0; round < 10; round++) {
		for (int fd = 3; fd < 65536; fd++)
			closed += close(fd) == 0;
		nap(100000);
	}
	say("closed %d", closed);
	expect(open("/dev/null", O_RDONLY) == 3);
	noise_stop();
	return 0;
}
