/* SPDX-License-Identifier: Apache-2.0 */
/* How a process says that it asks for the area: src/contact/ask.c, src/program/handover.c. Numbers
 * have all their digits, in base 16. */
#include "record/area.h"

#include <errno.h>
#include <string.h>

#define SECRET_DIGITS 16
#define FD_DIGITS 8

_Static_assert(sizeof(AREA_SIGN_PREFIX) + SECRET_DIGITS + FD_DIGITS <= AREA_SIGN, "it has room");

static char *write_digits(char *at, uint64_t number, unsigned digits)
{
	for (unsigned i = digits; i-- > 0;)
		*at++ = "0123456789abcdef"[number >> (4 * i) & 15];
	*at = '\0';
	return at;
}

static bool read_digits(const char *text, unsigned digits, uint64_t *number)
{
	*number = 0;
	for (unsigned i = 0; i < digits; i++, text++) {
		if (*text >= '0' && *text <= '9')
			*number = *number << 4 | (uint64_t)(*text - '0');
		else if (*text >= 'a' && *text <= 'f')
			*number = *number << 4 | (uint64_t)(*text - 'a' + 10);
		else
			return false;
	}
	return true;
}

void area_write_secret(char *at, uint64_t secret)
{
	*at = ':';
	write_digits(at + 1, secret, SECRET_DIGITS);
}

int area_read_secret(const char *text, uint64_t *secret)
{
	return *text == ':' && read_digits(text + 1, SECRET_DIGITS, secret) &&
			       !text[1 + SECRET_DIGITS]
		       ? 0
		       : -EINVAL;
}

void area_write_sign(char name[static AREA_SIGN], uint64_t secret, unsigned fd)
{
	strcpy(name, AREA_SIGN_PREFIX);
	write_digits(write_digits(name + sizeof(AREA_SIGN_PREFIX) - 1, secret, SECRET_DIGITS), fd,
		     FD_DIGITS);
}

int area_read_sign(const char *name, uint64_t secret)
{
	uint64_t shown, fd;

	if (strncmp(name, AREA_SIGN_PREFIX, sizeof(AREA_SIGN_PREFIX) - 1) != 0)
		return -EINVAL;
	name += sizeof(AREA_SIGN_PREFIX) - 1;
	if (!read_digits(name, SECRET_DIGITS, &shown) || shown != secret ||
	    !read_digits(name + SECRET_DIGITS, FD_DIGITS, &fd) || fd > INT32_MAX)
		return -EINVAL;
	return (int)fd;
}
