/* SPDX-License-Identifier: Apache-2.0 */
/* New functions for tests/cli/patchable.c. */
#define VISIBLE __attribute__((visibility("default")))

VISIBLE int value(int x)
{
	return x + 1001;
}

/* Not exported: found in the symbol table. */
__attribute__((used)) static int new_second(int x)
{
	return x + 1002;
}

VISIBLE int fix_variable = 1;

/* Told where the old one is. */
VISIBLE int (*original_third)(int);

VISIBLE int adding(int x)
{
	return original_third(x) + 500;
}

VISIBLE int constant(int x)
{
	return x + 600;
}

/* Cannot be told: read-only once relocated. */
VISIBLE int (*const original_uses_doubled)(int) = constant;
