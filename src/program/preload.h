/* SPDX-License-Identifier: Apache-2.0 */
/* Our own LD_PRELOAD, as a program that is about to be started inherits it. */
#ifndef PROGRAM_PRELOAD_H
#define PROGRAM_PRELOAD_H

/* Our LD_PRELOAD before preload_put(). Zeros to begin with. */
struct preload {
	char *user; /* owned; NULL: it was not set */
};

/* Puts `library` before what the user preloads. 0 or -ENOMEM, and then nothing has changed. */
int preload_put(struct preload *before, const char *library);

/* After preload_put(), which succeeded. */
void preload_restore(struct preload *before);

/* The path by which LD_PRELOAD can name a library: its own; or, where that has a blank, a colon or
 * a `$`, which separate entries or are expanded there, one through a link to its folder, in a
 * folder of this user's in /tmp that stays: programs started later need it for as long as they are
 * watched. NULL: none could be made. Valid until the next call. */
const char *preload_path(const char *library);

#endif
