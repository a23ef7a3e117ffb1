/* SPDX-License-Identifier: Apache-2.0 */
/* Our own LD_PRELOAD, as a program that is about to be started inherits it. */
#ifndef PROGRAM_PRELOAD_H
#define PROGRAM_PRELOAD_H

/* Keeps what our LD_PRELOAD was before preload_put(). All zeros to begin with. */
struct preload {
	char *user; /* the user's value, owned; NULL: it was not set */
};

/* Puts `library` before what the user preloads. Returns 0, or -ENOMEM with LD_PRELOAD unchanged. */
int preload_put(struct preload *before, const char *library);

/* Undoes a preload_put() that succeeded. */
void preload_restore(struct preload *before);

/* The path by which LD_PRELOAD can name a library. A blank or a colon would separate entries there
 * and a `$` would be expanded; a path with one of these is named through a link to its folder. The
 * link lies in a folder of this user's in /tmp and stays, since programs started later need it for
 * as long as they are watched. NULL: no link could be made. Valid until the next call. */
const char *preload_path(const char *library);

#endif
