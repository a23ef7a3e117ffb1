/* SPDX-License-Identifier: Apache-2.0 */
/* At which byte of a text sscanf(), strtoul() and the like begin to read a value. Pure functions on
 * strings that may hold anything. */
#ifndef FLOW_SCAN_H
#define FLOW_SCAN_H

/* The offset at which strtol() and the like find the digits: behind blanks and a sign. */
unsigned flow_scan_number(const char *text);
/*
 * Of conversion `number`, from 0 on, of those that store something: the offset in `text` where what
 * it stores begins; -1: not known, as behind a set ("%[…]") or what does not match.
 */
int flow_scan_find(const char *format, const char *text, unsigned number);

#endif
