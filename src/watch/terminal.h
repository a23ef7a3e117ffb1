/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal as --top uses it: on its alternate screen, with keys that need no Enter. What was on
 * the screen before is put back. */
#ifndef WATCH_TERMINAL_H
#define WATCH_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

struct terminal;

/* 0, or -errno: -ENXIO when there is no terminal. */
int terminal_open(struct terminal **terminal);
/* The next key that was pressed; 0: none. */
int terminal_key(struct terminal *terminal);
void terminal_size(const struct terminal *terminal, unsigned *rows, unsigned *columns);
void terminal_write(struct terminal *terminal, const char *text, size_t length);
/* Puts the terminal back to what it was before; output goes there again. */
void terminal_leave(struct terminal *terminal);
void terminal_close(struct terminal *terminal);

#endif
