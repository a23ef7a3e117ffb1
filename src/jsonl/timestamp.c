/* SPDX-License-Identifier: Apache-2.0 */
#include "jsonl/timestamp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NANOSECONDS UINT64_C(1000000000)

void timestamp_format(uint64_t nanoseconds, char text[TIMESTAMP_SIZE])
{
	time_t seconds = (time_t)(nanoseconds / NANOSECONDS);
	struct tm parts;
	size_t length;

	gmtime_r(&seconds, &parts);
	length = strftime(text, TIMESTAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text + length, TIMESTAMP_SIZE - length, ".%09" PRIu64 "Z",
		 nanoseconds % NANOSECONDS);
}

void timestamp_format_short(uint64_t nanoseconds, char text[TIMESTAMP_SIZE])
{
	time_t seconds = (time_t)(nanoseconds / NANOSECONDS);
	struct tm parts;

	gmtime_r(&seconds, &parts);
	strftime(text, TIMESTAMP_SIZE, "%Y-%m-%d %H:%M:%S", &parts);
}

/* Exactly `digits` digits; -1 when there are fewer. */
static int take_number(const char **at, int digits)
{
	int number = 0;

	while (digits-- > 0) {
		if (**at < '0' || **at > '9')
			return -1;
		number = number * 10 + (*(*at)++ - '0');
	}
	return number;
}

static uint64_t take_fraction(const char **at)
{
	uint64_t unit = NANOSECONDS / 10, fraction = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++, unit /= 10)
		fraction += (uint64_t)(**at - '0') * unit;
	return fraction;
}

static bool take(const char **at, char character)
{
	if (**at != character)
		return false;
	(*at)++;
	return true;
}

static bool take_date(const char **at, struct tm *parts)
{
	parts->tm_year = take_number(at, 4) - 1900;
	if (parts->tm_year < 70 || !take(at, '-'))
		return false;
	parts->tm_mon = take_number(at, 2) - 1;
	if (parts->tm_mon < 0 || parts->tm_mon > 11 || !take(at, '-'))
		return false;
	parts->tm_mday = take_number(at, 2);
	return parts->tm_mday >= 1 && parts->tm_mday <= 31;
}

static bool take_clock(const char **at, struct tm *parts, uint64_t *fraction)
{
	parts->tm_hour = take_number(at, 2);
	if (parts->tm_hour < 0 || parts->tm_hour > 23 || !take(at, ':'))
		return false;
	parts->tm_min = take_number(at, 2);
	if (parts->tm_min < 0 || parts->tm_min > 59)
		return false;
	if (!take(at, ':'))
		return true;
	parts->tm_sec = take_number(at, 2);
	if (parts->tm_sec < 0 || parts->tm_sec > 60)
		return false;
	if (take(at, '.'))
		*fraction = take_fraction(at);
	return true;
}

int timestamp_parse(const char *text, uint64_t *nanoseconds)
{
	struct tm parts = {0};
	uint64_t fraction = 0;
	time_t seconds;

	if (!take_date(&text, &parts))
		return -EINVAL;
	if ((take(&text, 'T') || take(&text, ' ')) && !take_clock(&text, &parts, &fraction))
		return -EINVAL;
	take(&text, 'Z');
	/* Past the year 2500 nanoseconds no longer fit 64 bits. */
	if (*text || parts.tm_year > 2500 - 1900)
		return -EINVAL;
	seconds = timegm(&parts);
	if (seconds < 0)
		return -EINVAL;
	*nanoseconds = (uint64_t)seconds * NANOSECONDS + fraction;
	return 0;
}
