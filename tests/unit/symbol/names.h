/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of functions of names.cc. */
#ifndef SYMBOL_NAMES_H
#define SYMBOL_NAMES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint64_t names_outer(void);
uint64_t names_operator(void);

#ifdef __cplusplus
}
#endif

#endif
