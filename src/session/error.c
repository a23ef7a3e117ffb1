/* SPDX-License-Identifier: Apache-2.0 */
#include "session/error.h"

#include <stdarg.h>
#include <stdio.h>

int report_error(struct report_error *error, int code, const char *format, ...)
{
	va_list arguments;

	if (!error)
		return code;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return code;
}
