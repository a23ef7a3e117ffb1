/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code of a test's own, assembled where it is named: from NAME_start to before NAME_end. */
#ifndef TESTS_UNIT_CODE_H
#define TESTS_UNIT_CODE_H

#include <stdint.h>

#define CODE(name, text)                                   \
	extern const uint8_t name##_start[], name##_end[]; \
	__asm__(".pushsection .text\n" #name "_start:\n" text "\n" #name "_end:\n.popsection")

#endif
