/* SPDX-License-Identifier: Apache-2.0 */
/* PR_SET_DUMPABLE 0: nobody but root may look at this process any more. */
#include "hostile.h"
#include <sys/prctl.h>

int main(void)
{
	noise_start();
	nap(300000);
	expect(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
	nap(2500000);
	say("dumpable: %d", prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
	noise_stop();
	return 0;
}
