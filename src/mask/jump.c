/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jumps that restore the mask: siglongjmp() to sigsetjmp(…, 1), setcontext() and swapcontext() to
 * getcontext(). libc saves and restores the kernel's mask, which does not know what the thread
 * wishes of SIGTRAP (mask.c). That is noted beside it, in the last word of the saved sigset_t: the
 * kernel's masks have 64 signals, so libc, which has room for 1,024, leaves it alone (glibc,
 * sysdeps/unix/sysv/linux/x86/setjmpP.h; of a ucontext_t the same).
 *
 * sigsetjmp() and getcontext() save the registers and the stack as their caller has them: they are
 * entered by a jump, after a call that notes the wish.
 *
 * Accepted: where the program has overwritten the saved sigset_t, and in contexts that the kernel
 * gives to handlers, nothing is noted, and the wish stays what it is.
 */
/* With it <setjmp.h> gives longjmp() and its like one name, of those that are defined here. */
#undef _FORTIFY_SOURCE

#include "agent/arch.h"
#include "mask/mask.h"
#include "mask/wait.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <string.h>
#include <trapline/event.h>
#include <ucontext.h>

#define WORD (sizeof(sigset_t) / sizeof(uint64_t) - 1)
#define WISH_BLOCKED 0x9c31d5b1a7f0e623ull
#define WISH_OPEN 0x9c31d5b1a7f0e624ull

_Static_assert(sizeof(sigset_t) == 128, "glibc's");
_Static_assert(sizeof(((jmp_buf *)0)[0][0].__saved_mask) == sizeof(sigset_t), "glibc's");

typedef void jump_fn(sigjmp_buf, int);

static struct {
	void *__sigsetjmp, *setjmp, *getcontext, *swapcontext;
	jump_fn *siglongjmp, *__longjmp_chk;
	int (*setcontext)(const ucontext_t *);
} libc;

#define RESOLVE(function) libc.function = (__typeof__(libc.function))dlsym(RTLD_NEXT, #function)

__attribute__((constructor)) static void resolve(void)
{
	if (libc.__sigsetjmp)
		return;
	RESOLVE(setjmp);
	RESOLVE(getcontext);
	RESOLVE(swapcontext);
	RESOLVE(setcontext);
	RESOLVE(siglongjmp);
	RESOLVE(__longjmp_chk);
	RESOLVE(__sigsetjmp);
}

static void note_wish(void *saved_mask)
{
	const uint64_t wish = mask_is_blocked() ? WISH_BLOCKED : WISH_OPEN;

	if (mask_is_ours())
		memcpy((uint64_t *)saved_mask + WORD, &wish, sizeof(wish));
}

static void restore_wish(const void *saved_mask)
{
	uint64_t wish;

	memcpy(&wish, (const uint64_t *)saved_mask + WORD, sizeof(wish));
	if ((wish == WISH_BLOCKED || wish == WISH_OPEN) && mask_is_kept())
		mask_wish(wish == WISH_BLOCKED);
}

/* ------------------------------------------------------------------------------------------- */
/* What the entries below call; each returns where to go on. */

__attribute__((used, visibility("hidden"))) void *jump_before_sigsetjmp(sigjmp_buf to, int save)
{
	resolve();
	if (save)
		note_wish(&to[0].__saved_mask);
	return libc.__sigsetjmp;
}

__attribute__((used, visibility("hidden"))) void *jump_before_setjmp(jmp_buf to)
{
	resolve();
	note_wish(&to[0].__saved_mask);
	return libc.setjmp;
}

__attribute__((used, visibility("hidden"))) void *jump_before_getcontext(ucontext_t *to)
{
	resolve();
	note_wish(&to->uc_sigmask);
	return libc.getcontext;
}

__attribute__((used, visibility("hidden"))) void *jump_before_swapcontext(ucontext_t *to,
									  const ucontext_t *from)
{
	resolve();
	wait_left();
	note_wish(&to->uc_sigmask);
	restore_wish(&from->uc_sigmask);
	return libc.swapcontext;
}

AGENT_ENTRY(__sigsetjmp, jump_before_sigsetjmp);
AGENT_ENTRY(setjmp, jump_before_setjmp);
AGENT_ENTRY(getcontext, jump_before_getcontext);
AGENT_ENTRY(swapcontext, jump_before_swapcontext);

/* ------------------------------------------------------------------------------------------- */
/* The jumps themselves */

static void before_jump(const struct __jmp_buf_tag *to)
{
	resolve();
	wait_left();
	if (to->__mask_was_saved)
		restore_wish(&to->__saved_mask);
}

TL_API void siglongjmp(sigjmp_buf to, int value)
{
	before_jump(to);
	libc.siglongjmp(to, value);
	__builtin_unreachable();
}

TL_API void longjmp(jmp_buf to, int value)
{
	before_jump(to);
	libc.siglongjmp(to, value);
	__builtin_unreachable();
}

TL_API void _longjmp(jmp_buf to, int value)
{
	before_jump(to);
	libc.siglongjmp(to, value);
	__builtin_unreachable();
}

/* With _FORTIFY_SOURCE. */
TL_API void __longjmp_chk(sigjmp_buf to, int value) __attribute__((noreturn));
void __longjmp_chk(sigjmp_buf to, int value)
{
	before_jump(to);
	libc.__longjmp_chk(to, value);
	__builtin_unreachable();
}

TL_API int setcontext(const ucontext_t *to)
{
	resolve();
	wait_left();
	restore_wish(&to->uc_sigmask);
	return libc.setcontext(to);
}
