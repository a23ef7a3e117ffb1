/* SPDX-License-Identifier: Apache-2.0 */
/* What debuggers.py has gdb and strace debug: races for three seconds, then passes break_here(). */
#include "hostile.h"

__attribute__((noinline)) void break_here(void)
{
	say("passed");
}

int main(void)
{
	noise_start();
	nap(3000000);
	break_here();
	noise_stop();
	say("%ld marks", noise_marks);
	return 3;
}
