/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/section.h"

#include "inject/memory.h"

#include <stddef.h>
#include <sys/ptrace.h>

/* Linux 5.13's struct ptrace_rseq_configuration, struct rseq and struct rseq_cs (linux/ptrace.h,
 * linux/rseq.h), which older headers lack. */
struct configuration {
	uint64_t address;
	uint32_t size, signature, flags, none;
};
#define GET_CONFIGURATION ((enum __ptrace_request)0x420f)
struct area_of_thread {
	uint32_t cpu_at_start, cpu;
	uint64_t section;
};
struct section {
	uint32_t version, flags;
	uint64_t start, length, abort;
};

uint64_t section_abort_address(pid_t tid, uint64_t pc)
{
	struct configuration configuration = {0};
	uint64_t address = 0;
	struct section section;

	if (ptrace(GET_CONFIGURATION, tid, (void *)sizeof(configuration), &configuration) < 0 ||
	    !configuration.address)
		return 0;
	/* The registered address may still name a section that the thread has left. */
	if (memory_read(tid, configuration.address + offsetof(struct area_of_thread, section),
			&address, sizeof(address)) ||
	    !address || memory_read(tid, address, &section, sizeof(section)))
		return 0;
	return pc - section.start < section.length ? section.abort : 0;
}
