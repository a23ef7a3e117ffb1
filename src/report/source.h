/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_SOURCE_H
#define REPORT_SOURCE_H

#include <stddef.h>

/*
 * Line `line` of a source file, without its newline and cut at `size`; 0 or -errno. Only regular
 * files are opened, so that a finding naming a pipe or a device cannot stop or harm the reader.
 */
int source_line(const char *file, unsigned line, char *text, size_t size);

#endif
