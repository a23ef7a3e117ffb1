/* SPDX-License-Identifier: Apache-2.0 */
/* The handler's code as linked (src/handler/injected.ld): record/injected.h says what is where. */
#ifndef INJECT_IMAGE_H
#define INJECT_IMAGE_H

/* The bytes that follow it in the process, from header.data on, begin as zeros. */
extern const char injected_image[];
extern const unsigned long injected_image_size;

#endif
