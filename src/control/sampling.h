/* SPDX-License-Identifier: Apache-2.0 */
/* From one clock sample to the accesses that the thread is about to make. */
#ifndef CONTROL_SAMPLING_H
#define CONTROL_SAMPLING_H

#include "sample/samples.h"

/* A sample_fn; `context` is the controller. */
void sampling_take(void *context, const struct sample *sample);

#endif
