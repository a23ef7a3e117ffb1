/* SPDX-License-Identifier: Apache-2.0 */
/* Which byte of a text a conversion of sscanf(), or strtoul() and the like, begins to read a value
 * at. Pure functions on strings that may hold anything. */
#ifndef FLOW_SCAN_H
#define FLOW_SCAN_H

/* Of strtol() and the like: behind blanks and a sign. */
unsigned flow_scan_number(const char *text);
/*
 * Of conversion `number`, from 0 on, of those that store something: the offset in `text` where what
 * it stores begins; -1: not known, as behind a set ("%[…]") or what does not match.
 */
int flow_scan_find(const char *format, const char *text, unsigned number);

#endif
