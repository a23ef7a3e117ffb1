/* SPDX-License-Identifier: Apache-2.0 */
/* A stub that is about to report the end of its call, when nobody wants to know any more. */
#include "region/stub.h"

/* Others see region_dispatch_over when their call is over. */
void region_stub_forget(ucontext_t *context)
{
	greg_t *registers = context->uc_mcontext.gregs;
	uintptr_t pc = (uintptr_t)registers[REG_RIP];

	if (pc >= (uintptr_t)region_stub_report && pc < (uintptr_t)region_stub_reported)
		registers[REG_RIP] = (greg_t)(uintptr_t)region_stub_close;
}
