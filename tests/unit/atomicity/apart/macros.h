/* SPDX-License-Identifier: Apache-2.0 */
/* Macros alone: no debug information names this file. */
#define take(object) __atomic_load_n(&(object), __ATOMIC_RELAXED)
