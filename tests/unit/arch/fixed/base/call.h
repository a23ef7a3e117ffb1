/* SPDX-License-Identifier: Apache-2.0 */
/* The test makes its system calls on the machine that it runs on. */
#ifndef BASE_CALL_H
#define BASE_CALL_H

long raw_syscall6(long number, long a, long b, long c, long d, long e, long f);
long raw_syscall3(long number, long a, long b, long c);

#endif
