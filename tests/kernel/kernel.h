/* SPDX-License-Identifier: Apache-2.0 */
/* What the reproducers share: a watchpoint's attributes, and how a verdict is told. */
#ifndef KERNEL_H
#define KERNEL_H

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Writes of 8 bytes, each a SIGTRAP in the thread that made it; disabled. */
static inline struct perf_event_attr kernel_watchpoint(void *address)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(struct perf_event_attr),
		.sample_period = 1,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.remove_on_exec = 1,
		.sigtrap = 1,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (unsigned long)address,
		.bp_len = HW_BREAKPOINT_LEN_8,
	};
}

static inline int kernel_open(const struct perf_event_attr *attr, pid_t thread)
{
	return (int)syscall(SYS_perf_event_open, attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* One that threads inherit which this one creates. */
static inline int kernel_open_inherited(void *address)
{
	struct perf_event_attr attr = kernel_watchpoint(address);

	attr.inherit = attr.inherit_thread = 1;
	return kernel_open(&attr, 0);
}

static inline int kernel_cannot(const char *what)
{
	printf("SKIP  %s: %s\n", what, strerror(errno));
	return 77;
}

/* PASS or FAIL, the kernel's version, what was seen; 0, or 1 for FAIL. */
__attribute__((format(printf, 2, 3))) static inline int kernel_verdict(int good, const char *format,
								       ...)
{
	struct utsname name;
	va_list arguments;

	uname(&name);
	printf("%s  Linux %s: ", good ? "PASS" : "FAIL", name.release);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	return !good;
}

#endif
