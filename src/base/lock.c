/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lock.h"

bool owner_lock_anonymous;
