/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread does that touches an empty page, and waits for it to be filled. */
#ifndef HEAP_TOUCH_H
#define HEAP_TOUCH_H

#include "heap/pages.h"

struct heap;

/* What it touches is watched, the page is filled, and the access shows itself as a hit. Where it
 * cannot be watched the fault itself shows it as it ends. */
void touch_look(struct heap *heap, const struct pages_fault *fault);

#endif
