/* SPDX-License-Identifier: Apache-2.0 */
/* One sentence on what went wrong and what to do about it, written where it is detected. */
#ifndef SESSION_ERROR_H
#define SESSION_ERROR_H

#include <stddef.h>

struct report_error {
	char text[512];
};

/* Sets the text; `error` may be NULL. Returns `code`, to be used as `return report_error(…)`. */
int report_error(struct report_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
