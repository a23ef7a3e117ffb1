/* SPDX-License-Identifier: Apache-2.0 */
/* The strategy of lasting watches, which the caller arms: control_arm(). */
#ifndef CONTROL_LASTING_H
#define CONTROL_LASTING_H

#include "explore/strategy.h"

extern const struct strategy lasting_strategy;

#endif
