/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_PACKAGE_H
#define REPORT_PACKAGE_H

#include <stddef.h>

/*
 * "PACKAGE VERSION" of the Debian package that installed the file at this path, from dpkg's own
 * lists below `lists` (/var/lib/dpkg): 0, or -ENOENT. Nothing is executed. Diversions are not
 * followed.
 */
int package_find(const char *lists, const char *path, char *text, size_t size);

#endif
