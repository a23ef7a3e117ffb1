/* SPDX-License-Identifier: Apache-2.0 */
/* Statically linked: nothing can be loaded into it. It is run as it is, which is said. */
#include "hostile.h"

int main(void)
{
	noise_start();
	nap(300000);
	noise_stop();
	say("static, as always");
	return 0;
}
