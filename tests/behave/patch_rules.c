/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be replaced and what is refused, with the reason; that the slots are free afterwards and
 * every byte is as it was.
 */
#include "check.h"

#include <pthread.h>
#include <signal.h>

#define FUNCTION __attribute__((noipa, used))

/* Called through these, so that no call is inlined or known to the compiler. */
typedef int function(int);

FUNCTION static int plain_old(int x)
{
	__asm__ volatile("nopl 0x10(%rax)\n\tnopl 0x10(%rax)"); /* long enough */
	return x + 1;
}

FUNCTION static int plain_new(int x)
{
	return x + 1000;
}

FUNCTION static int other_old(int x)
{
	__asm__ volatile("nopl 0x10(%rax)\n\tnopl 0x10(%rax)");
	return x + 2;
}

FUNCTION static int other_new(int x)
{
	return x + 2000;
}

/* Functions of known bytes. cfi directives give them bounds. */
#define ASSEMBLED(name, code)                                                                     \
	int name(int x);                                                                          \
	__asm__(".text\n.p2align 4\n.type " #name ",@function\n" #name ":\n.cfi_startproc\n" code \
		"\n.cfi_endproc\n.size " #name ",.-" #name "\n")

ASSEMBLED(too_short, "lea 1(%rdi),%eax\n ret");
ASSEMBLED(with_endbr, "endbr64\n lea 1(%rdi),%eax\n add $0,%eax\n ret");
ASSEMBLED(looping, "dec %edi\n jns looping\n mov $7,%eax\n ret");
ASSEMBLED(enters_own_bytes, "xor %eax,%eax\n1: inc %eax\n dec %edi\n jns 1b\n ret");
ASSEMBLED(calls_early, "push %rbx\n call *%rax\n pop %rbx\n ret");
ASSEMBLED(like_plt, "jmp *patch_rules_slot(%rip)");
ASSEMBLED(trapped, "int3\n mov $1,%eax\n ret");
ASSEMBLED(jumps_away, "push %rbx\n push %r12\n push %r13\n jmp part_of_it\n");
ASSEMBLED(
	part_of_it,
	"test %edi,%edi\n jz jumps_away+1\n pop %r13\n pop %r12\n pop %rbx\n lea 5(%rdi),%eax\n ret");
/* At 14 of 16: its jump crosses into the next block. */
__asm__(".text\n.p2align 4\n.skip 14,0xcc\n.type straddling,@function\nstraddling:\n.cfi_startproc\n"
	"push %rbp\n mov %rsp,%rbp\n lea 1(%rdi),%eax\n pop %rbp\n ret\n.cfi_endproc\n"
	".size straddling,.-straddling\n");
int straddling(int x);
void *patch_rules_slot = (void *)plain_new;

static int call(function *volatile fn, int x)
{
	return fn(x);
}

static void refused(function *old, unsigned flags, int expected, const char *words)
{
	tl_patch *patch = NULL;
	uint8_t before[16];

	memcpy(before, (void *)old, sizeof(before));
	CHECK_EQUAL(tl_patch_apply(&patch, (void *)old, (void *)plain_new, flags), expected);
	CHECK(strstr(tl_explain(expected), words), "%s: %s", words, tl_explain(expected));
	CHECK(!memcmp(before, (void *)old, sizeof(before)), "bytes changed");
}

/* Applied and reverted, by breakpoint or jump; the bytes around are as before. */
static void replaced(function *old, unsigned flags)
{
	tl_patch *patch;
	uint8_t before[32];
	int result = call(old, 5);

	memcpy(before, (char *)old - 8, sizeof(before));
	for (int i = 0; i < 3; i++) {
		CHECK_OK(tl_patch_apply(&patch, (void *)old, (void *)plain_new, flags));
		CHECK_EQUAL(tl_patch_on_breakpoint(patch), flags == TL_PATCH_BREAKPOINT);
		CHECK(!tl_patch_reason(patch), "%s", tl_patch_reason(patch));
		CHECK_EQUAL(call(old, 5), 1005);
		CHECK_EQUAL(!memcmp(before, (char *)old - 8, sizeof(before)),
			    flags == TL_PATCH_BREAKPOINT);
		CHECK_OK(tl_patch_revert(patch));
		CHECK_EQUAL(call(old, 5), result);
		CHECK(!memcmp(before, (char *)old - 8, sizeof(before)), "bytes changed");
	}
}

static void check_refusals(void)
{
	tl_patch *patch;

	refused(too_short, 0, -EINVAL, "shorter");
	refused(looping, 0, -EINVAL, "first instruction");
	refused(looping, TL_PATCH_BREAKPOINT, -EINVAL, "first instruction");
	refused(enters_own_bytes, 0, -EINVAL, "first five bytes");
	refused(calls_early, 0, -EINVAL, "call");
	refused(like_plt, 0, -EINVAL, "PLT");
	refused(trapped, 0, -EINVAL, "trap");
	refused(jumps_away, 0, -EINVAL, "elsewhere");
	refused((function *)((char *)plain_old + 4), 0, -EINVAL, "inside");
	refused(plain_new, 0, -EINVAL, "same");
	CHECK_EQUAL(tl_patch_apply(&patch, NULL, (void *)plain_new, 0), -EINVAL);
	CHECK_EQUAL(tl_patch_apply(&patch, (void *)plain_old, NULL, 0), -EINVAL);
	CHECK_EQUAL(tl_patch_apply(NULL, (void *)plain_old, (void *)plain_new, 0), -EINVAL);
	CHECK_EQUAL(tl_patch_apply(&patch, (void *)plain_old, (void *)plain_new, 8), -EINVAL);
	CHECK_EQUAL(tl_patch_revert(NULL), -EINVAL);
}

static void check_replacements(void)
{
	replaced(plain_old, 0);
	replaced(plain_old, TL_PATCH_BREAKPOINT);
	replaced(too_short, TL_PATCH_BREAKPOINT);
	replaced(enters_own_bytes, TL_PATCH_BREAKPOINT);
	replaced(with_endbr, 0);
	replaced(straddling, 0);
	CHECK_EQUAL(*(uint32_t *)(void *)with_endbr, 0xfa1e0ff3);
}

static void check_overlaps(void)
{
	struct tl_patch_change twice[] = {{(void *)plain_old, (void *)plain_new},
					  {(void *)plain_old, (void *)other_new}};
	struct tl_patch_change circle[] = {{(void *)plain_old, (void *)other_old},
					   {(void *)other_old, (void *)plain_old}};
	struct tl_patch_change many[TL_PATCH_MAX + 1] = {{NULL, NULL}};
	tl_patch *patch, *second;

	CHECK_EQUAL(tl_patch_apply_all(&patch, twice, 2, 0), -EEXIST);
	CHECK_EQUAL(tl_patch_apply_all(&patch, circle, 2, 0), -ELOOP);
	CHECK_EQUAL(tl_patch_apply_all(&patch, many, TL_PATCH_MAX + 1, 0), -E2BIG);
	CHECK_EQUAL(tl_patch_apply_all(&patch, many, 0, 0), -EINVAL);
	CHECK_OK(tl_patch_apply(&patch, (void *)plain_old, (void *)plain_new, 0));
	CHECK_EQUAL(tl_patch_apply(&second, (void *)plain_old, (void *)other_new, 0), -EEXIST);
	CHECK_EQUAL(tl_patch_apply(&second, (void *)other_old, (void *)plain_old, 0), -ELOOP);
	CHECK_EQUAL(call(plain_old, 1), 1001);
	CHECK_OK(tl_patch_revert(patch));
	CHECK_EQUAL(call(plain_old, 1), 2);
}

static void check_several(void)
{
	struct tl_patch_change changes[] = {{(void *)plain_old, (void *)plain_new},
					    {(void *)other_old, (void *)other_new}};
	tl_event *events[4];
	static long unused[4];
	tl_patch *patch;

	CHECK_OK(tl_patch_apply_all(&patch, changes, 2, 0));
	CHECK_EQUAL(call(plain_old, 1), 1001);
	CHECK_EQUAL(call(other_old, 1), 2001);
	/* All slots are free again: a patch of jumps holds none, and cannot be reverted now. */
	for (int i = 0; i < 4; i++)
		events[i] = check_open(&unused[i], 8, TL_WRITE, TL_PROCESS, check_count_hit, NULL);
	CHECK_EQUAL(tl_patch_revert(patch), -ENOSPC);
	CHECK_EQUAL(call(plain_old, 1), 1001);
	CHECK_EQUAL(call(other_old, 1), 2001);
	for (int i = 0; i < 4; i++)
		CHECK_OK(tl_event_close(events[i]));
	CHECK_OK(tl_patch_revert(patch));
	CHECK_EQUAL(call(plain_old, 1), 2);
	CHECK_EQUAL(call(other_old, 1), 3);
}

/* A new function out of a jump's reach is reached by a trampoline. */
static void check_far(void)
{
	static const uint8_t code[] = {0x8d, 0x87, 0x70, 0x17,
				       0,    0,	   0xc3}; /* lea 6000(%rdi),%eax; ret */
	uint8_t *far = mmap((void *)0x100000000000, 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	tl_patch *patch;

	CHECK(far != MAP_FAILED, "mmap");
	memcpy(far, code, sizeof(code));
	CHECK(!mprotect(far, 4096, PROT_READ | PROT_EXEC), "mprotect");
	for (int i = 0; i < 2; i++) {
		CHECK_OK(tl_patch_apply(&patch, (void *)plain_old, far, 0));
		CHECK_EQUAL(tl_patch_on_breakpoint(patch), 0);
		CHECK_EQUAL(call(plain_old, 1), 6001);
		CHECK_OK(tl_patch_revert(patch));
		CHECK_EQUAL(call(plain_old, 1), 2);
	}
}

static int held[2];

static void hold(int signal)
{
	char byte;

	(void)signal;
	CHECK(read(held[0], &byte, 1) == 1, "pipe");
}

static volatile int stop;

static void *spin_blocked(void *arg)
{
	sigset_t all;

	(void)arg;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	while (!stop)
		;
	return NULL;
}

/* Runs with everything blocked for longer than we wait: refused. Asleep so: no obstacle. */
static void check_blocked_thread(void)
{
	pthread_t thread;
	tl_patch *patch;

	CHECK(!pthread_create(&thread, NULL, spin_blocked, NULL), "create");
	usleep(10000);
	CHECK_EQUAL(tl_patch_apply(&patch, (void *)plain_old, (void *)plain_new, 0), -EBUSY);
	CHECK(strstr(tl_explain(-EBUSY), "SIGTRAP"), "%s", tl_explain(-EBUSY));
	CHECK_EQUAL(call(plain_old, 1), 2);
	stop = 1;
	pthread_join(thread, NULL);
	replaced(plain_old, 0);
}

/* In a thread whose signal handler sleeps, on a frame that stopped inside the bytes. */
static void *interrupted_inside(void *arg)
{
	char stack_like[64];

	(void)arg;
	/* What the kernel leaves on the stack of a thread interrupted there. */
	*(volatile uintptr_t *)(void *)stack_like =
		(uintptr_t)plain_old + 4; /* its second instruction */
	hold(0);
	return NULL;
}

static void check_interrupted_inside(void)
{
	uint64_t before = check_stat("patches-on-breakpoint");
	pthread_t thread;
	tl_patch *patch;

	CHECK(!pipe(held), "pipe");
	CHECK(!pthread_create(&thread, NULL, interrupted_inside, NULL), "create");
	usleep(10000);
	CHECK_OK(tl_patch_apply(&patch, (void *)plain_old, (void *)plain_new, 0));
	CHECK_EQUAL(tl_patch_on_breakpoint(patch), 1);
	CHECK(strstr(tl_patch_reason(patch), "interrupted"), "%s", tl_patch_reason(patch));
	CHECK_EQUAL(check_stat("patches-on-breakpoint"), before + 1);
	CHECK_EQUAL(call(plain_old, 1), 1001);
	CHECK_OK(tl_patch_revert(patch));
	CHECK(write(held[1], "", 1) == 1, "pipe");
	pthread_join(thread, NULL);
	replaced(plain_old, 0);
}

static void check_fork(void)
{
	tl_patch *patch;
	int status;
	pid_t child;

	CHECK_OK(tl_patch_apply(&patch, (void *)plain_old, (void *)plain_new, 0));
	child = fork();
	if (!child) {
		CHECK_EQUAL(call(plain_old, 1), 1001);
		CHECK_OK(tl_patch_revert(patch));
		CHECK_EQUAL(call(plain_old, 1), 2);
		_exit(0);
	}
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK_EQUAL(status, 0);
	CHECK_EQUAL(call(plain_old, 1), 1001);
	CHECK_OK(tl_patch_revert(patch));
}

int main(void)
{
	check_hardware();
	check_refusals();
	check_replacements();
	check_overlaps();
	check_several();
	check_far();
	check_blocked_thread();
	check_interrupted_inside();
	check_fork();
	return 0;
}
