/* SPDX-License-Identifier: Apache-2.0 */
extern volatile int late_variable;
volatile int late_variable;

__attribute__((constructor)) static void begin(void)
{
	late_variable = 10;
}

extern void write_late(void);
void write_late(void)
{
	late_variable = late_variable + 1;
}

extern __thread volatile int late_local;
__thread volatile int late_local;

extern void write_late_local(void);
void write_late_local(void)
{
	late_local = late_local + 1;
}
