/* SPDX-License-Identifier: Apache-2.0 */
/* What a function of the C library returns that only reads its caller's memory. Pure, as
 * c_function.h. */
#ifndef LIBC_C_RESULT_H
#define LIBC_C_RESULT_H

#include "libc/c_function.h"

#include <stdbool.h>

/* False: it is not one of strlen(), strchrnul(), strcmp(), strncmp() and memcmp() of equal bytes,
 * an argument is not known, memory cannot be read, or more of it would have to be than
 * C_RESULT_MOST bytes. */
#define C_RESULT_MOST 512u
bool c_result(const struct c_call *call, uint64_t *value);

#endif
