/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about the machine and this process as the kernel tells them now. Not async-signal-safe. */
#ifndef EVENT_MACHINE_H
#define EVENT_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A file of one number under /proc; `absent` where there is none. */
long machine_number(const char *path, long absent);
/* A decimal field of /proc/self/status, by its name without the colon; `absent` likewise. */
long machine_status(const char *field, long absent);

/* kernel.perf_event_paranoid; 100 where the kernel has no perf events. */
#define MACHINE_NO_PERF 100
long machine_paranoid(void);
/* Process that traces this one, 0 if none; its name goes to `name`. */
pid_t machine_tracer(char *name, size_t size);
/* A seccomp filter is in force. */
bool machine_filtered(void);
/* And it refuses perf_event_open(2), as perf_open() has found out. */
bool machine_filter_refuses(void);
/* The CPU has protection keys and the kernel uses them. */
bool machine_has_protection_keys(void);
/* Descriptors of perf events that this process holds. */
unsigned machine_perf_descriptors(void);

#endif
