/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlopen(3) without RTLD_DEEPBIND, in the library that guards blocks: with it what is loaded finds
 * libc's free() before ours, and gives it blocks that are none of libc's (PHP loads its extensions
 * so). libc finds out by the return address who calls, so its function is entered by a jump.
 *
 * Accepted: what is loaded prefers the program's symbols of a name to its own libraries'.
 */
#include <dlfcn.h>
#include <trapline/event.h>

typedef void *open_fn(const char *, int);

static open_fn *libc_dlopen;

__attribute__((constructor)) static void resolve(void)
{
	if (!libc_dlopen)
		libc_dlopen = (open_fn *)dlsym(RTLD_NEXT, "dlopen");
}

/* Where to go on. */
__attribute__((used, visibility("hidden"))) open_fn *deep_next(void)
{
	resolve();
	return libc_dlopen;
}

/* The stack is aligned at the call: 8 bytes of return address, 16 of arguments, 8 more. */
__asm__(".pushsection .text\n"
	".globl dlopen\n"
	".type dlopen, @function\ndlopen:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"push %rdi\n.cfi_adjust_cfa_offset 8\n"
	"push %rsi\n.cfi_adjust_cfa_offset 8\n"
	"sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
	"call deep_next\n"
	"add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
	"pop %rsi\n.cfi_adjust_cfa_offset -8\n"
	"pop %rdi\n.cfi_adjust_cfa_offset -8\n"
	"and $~8, %esi\n" /* RTLD_DEEPBIND */
	"jmp *%rax\n"
	".cfi_endproc\n"
	".size dlopen, . - dlopen\n.popsection");

_Static_assert(RTLD_DEEPBIND == 8, "glibc's");
