/* SPDX-License-Identifier: Apache-2.0 */
/* Root changes to nobody for good, drops capabilities, forbids new privileges, and works on. */
#include "hostile.h"
#include <grp.h>
#include <sys/prctl.h>

int main(void)
{
	uid_t real, effective, saved;

	if (getuid() != 0)
		return SKIP;
	noise_start();
	nap(500000);
	expect(setgroups(0, NULL) == 0);
	expect(setresgid(65534, 65534, 65534) == 0);
	expect(setresuid(65534, 65534, 65534) == 0);
	expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	expect(getresuid(&real, &effective, &saved) == 0);
	say("now user %u %u %u", real, effective, saved);
	expect(setuid(0) == -1 && errno == EPERM);
	nap(2000000);
	noise_stop();
	say("done");
	return 0;
}
