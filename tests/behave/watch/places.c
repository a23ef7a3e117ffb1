/* SPDX-License-Identifier: Apache-2.0 */
/* Writes `counter` from 5,000 places of the code. Compiled without line numbers. */
int counter;

int main(void)
{
	__asm__ volatile(".rept 5000\n\t"
			 "incl counter(%%rip)\n\t"
			 ".endr"
			 :
			 :
			 : "memory", "cc");
	return counter == 5000 ? 7 : 1;
}
