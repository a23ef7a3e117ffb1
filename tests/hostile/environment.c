/* SPDX-License-Identifier: Apache-2.0 */
/* Empties its environment and executes itself, twice; the arguments and the name stay. */
#include "hostile.h"
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	char name[17] = "";

	noise_start();
	nap(500000);
	noise_stop();
	if (argc > 2) {
		expect(prctl(PR_GET_NAME, name, 0, 0, 0) == 0);
		say("second generation is %s", name);
		return 0;
	}
	expect(clearenv() == 0);
	if (argc > 1)
		execl(argv[0], argv[0], "again", "and again", (char *)NULL);
	say("first generation");
	expect(setenv("LD_PRELOAD", "", 1) == 0);
	say("an empty LD_PRELOAD stays: %x", system("env | grep -x LD_PRELOAD="));
	expect(clearenv() == 0);
	execl(argv[0], argv[0], "again", (char *)NULL);
	return 1;
}
