/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be replaced and what is refused, with the reason; that threads inside the first bytes go
 * on rightly, the old function can still be called, and every byte is as it was.
 */
#include "check.h"

#include <pthread.h>
#include <signal.h>

/* Nothing is known of it where it is called. */
#ifdef __clang__
#define FUNCTION __attribute__((noinline, optnone, used))
#else
#define FUNCTION __attribute__((noipa, used))
#endif

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

ASSEMBLED(padded, "lea 1(%rdi),%eax\n ret");
ASSEMBLED(with_endbr, "endbr64\n lea 1(%rdi),%eax\n add $0,%eax\n ret");
ASSEMBLED(looping, "dec %edi\n jns looping\n mov $7,%eax\n ret");
ASSEMBLED(enters_own_bytes, "xor %eax,%eax\n1: inc %eax\n dec %edi\n jns 1b\n ret");
/* Returns into its first bytes: rdi is what it calls. */
ASSEMBLED(calls_early, "push %rbx\n call *%rdi\n pop %rbx\n ret");
ASSEMBLED(calls_at_two, "xchg %ax,%ax\n call *%rdi\n sub $8,%rsp\n add $8,%rsp\n ret");
ASSEMBLED(calls_at_four, "xchg %ax,%ax\n call *%rdi\n nop\n ret");
ASSEMBLED(calls_directly, "sub $8,%rsp\n call plain_helper\n add $8,%rsp\n ret");
ASSEMBLED(calls_by_memory, "push %rbx\n call *patch_rules_slot(%rip)\n pop %rbx\n ret");
ASSEMBLED(plain_helper, "lea 9(%rdi),%eax\n ret");
ASSEMBLED(reads_variable, "mov patch_rules_number(%rip),%eax\n add %edi,%eax\n ret");
ASSEMBLED(writes_constant,
	  "movl $77,patch_rules_number(%rip)\n mov patch_rules_number(%rip),%eax\n ret");
ASSEMBLED(takes_address, "lea patch_rules_number(%rip),%rax\n ret");
ASSEMBLED(takes_address_later,
	  "sub $8,%rsp\n lea patch_rules_number(%rip),%rax\n add $8,%rsp\n ret");
/* The low half of the address, by an address-size prefix. */
ASSEMBLED(takes_low_address, "lea patch_rules_number(%eip),%rax\n ret");
ASSEMBLED(jumps_early, "test %edi,%edi\n js 1f\n lea 3(%rdi),%eax\n ret\n1: mov $-1,%eax\n ret");
ASSEMBLED(tail_call, "inc %edi\n jmp plain_helper");
ASSEMBLED(uses_loop, "push %rcx\n mov %edi,%ecx\n loop 1f\n1: pop %rcx\n mov $3,%eax\n ret");
ASSEMBLED(splits, "cmp $3,%edi\n je 1f\n .byte 0xf0\n1: addl $1,patch_rules_number(%rip)\n ret");
ASSEMBLED(splits_first,
	  "1: .byte 0xf0\n2: addl $1,patch_rules_number(%rip)\n dec %edi\n jns 2b\n ret");
ASSEMBLED(like_plt, "jmp *patch_rules_slot(%rip)");
ASSEMBLED(trapped, "int3\n mov $1,%eax\n ret");
ASSEMBLED(jumps_away, "push %rbx\n push %r12\n push %r13\n jmp part_of_it\n");
ASSEMBLED(
	part_of_it,
	"test %edi,%edi\n jz jumps_away+2\n pop %r13\n pop %r12\n pop %rbx\n lea 5(%rdi),%eax\n ret");
/* Nothing lies between these two. */
__asm__(".text\n.p2align 4\n.type too_short,@function\ntoo_short:\n.cfi_startproc\n"
	"lea 1(%rdi),%eax\n ret\n.cfi_endproc\n.size too_short,.-too_short\n"
	".type follows,@function\nfollows:\n.cfi_startproc\n"
	"lea 2(%rdi),%eax\n ret\n.cfi_endproc\n.size follows,.-follows\n");
int too_short(int x);
/* At 14 of 16: its jump crosses into the next block. */
__asm__(".text\n.p2align 4\n.skip 14,0xcc\n.type straddling,@function\nstraddling:\n.cfi_startproc\n"
	"push %rbp\n mov %rsp,%rbp\n lea 1(%rdi),%eax\n pop %rbp\n ret\n.cfi_endproc\n"
	".size straddling,.-straddling\n");
int straddling(int x);
void *patch_rules_slot = (void *)plain_new;
int patch_rules_number = 40;

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
	refused(splits_first, 0, -EINVAL, "middle");
	refused(uses_loop, 0, -EINVAL, "elsewhere");
	refused(like_plt, 0, -EINVAL, "PLT");
	refused(trapped, 0, -EINVAL, "trap");
	refused(jumps_away, 0, -EINVAL, "lies elsewhere");
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
	replaced(uses_loop, TL_PATCH_BREAKPOINT);
	replaced(padded, 0);
	replaced(enters_own_bytes, 0);
	replaced(enters_own_bytes, TL_PATCH_BREAKPOINT);
	replaced(with_endbr, 0);
	replaced(straddling, 0);
	CHECK_EQUAL(*(uint32_t *)(void *)with_endbr, 0xfa1e0ff3);
}

/* The copy of the first instructions does what they do. */
static void check_original(function *old, int x)
{
	struct tl_patch_change change = {(void *)old, (void *)plain_new, NULL};
	int result = call(old, x);
	function *original = NULL;
	tl_patch *patch;

	change.original = (void **)&original;
	CHECK_EQUAL(tl_patch_apply_all(&patch, &change, 1, TL_PATCH_BREAKPOINT), -EINVAL);
	CHECK_OK(tl_patch_apply_all(&patch, &change, 1, 0));
	CHECK(original, "no original");
	CHECK_EQUAL(call(old, x), x + 1000);
	CHECK_EQUAL(call(original, x), result);
	CHECK_OK(tl_patch_revert(patch));
	CHECK_EQUAL(call(original, x), result);
	CHECK_EQUAL(call(old, x), result);
}

static void check_originals(void)
{
	function *const functions[] = {plain_old,	    padded,	      enters_own_bytes,
				       with_endbr,	    straddling,	      calls_directly,
				       calls_by_memory,	    reads_variable,   writes_constant,
				       jumps_early,	    tail_call,	      takes_address,
				       takes_address_later, takes_low_address};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		check_original(functions[i], 4);
	check_original(jumps_early, -5);
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

/* On failure nothing is changed: neither code nor the caller's pointers. */
static void check_failures(void)
{
	void *original = (void *)check_failures;
	struct tl_patch_change changes[] = {{(void *)plain_old, (void *)plain_new, &original},
					    {(void *)too_short, (void *)other_new, NULL}};
	tl_patch *patch = NULL;

	CHECK_EQUAL(tl_patch_apply_all(&patch, changes, 2, 0), -EINVAL);
	CHECK(original == (void *)check_failures, "%p", original);
	changes[1] = changes[0];
	CHECK_EQUAL(tl_patch_apply_all(&patch, changes, 2, 0), -EEXIST);
	CHECK(original == (void *)check_failures, "%p", original);
	CHECK(!patch, "a patch");
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
	/* A patch of jumps holds no slot, and needs none. */
	for (int i = 0; i < 4; i++)
		events[i] = check_open(&unused[i], 8, TL_WRITE, TL_PROCESS, check_count_hit, NULL);
	CHECK_OK(tl_patch_revert(patch));
	CHECK_EQUAL(tl_patch_apply_all(&patch, changes, 2, TL_PATCH_BREAKPOINT), -ENOSPC);
	CHECK_EQUAL(call(plain_old, 1), 2);
	for (int i = 0; i < 4; i++)
		CHECK_OK(tl_event_close(events[i]));
	CHECK_OK(tl_patch_apply_all(&patch, changes, 2, TL_PATCH_BREAKPOINT));
	CHECK_EQUAL(call(plain_old, 1), 1001);
	CHECK_EQUAL(call(other_old, 1), 2001);
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
	CHECK(strstr(tl_explain(-EBUSY), "SIGILL"), "%s", tl_explain(-EBUSY));
	CHECK_EQUAL(call(plain_old, 1), 2);
	stop = 1;
	pthread_join(thread, NULL);
	replaced(plain_old, 0);
}

/* A thread is inside the first bytes when they change: in a function that they call, to which it
 * will return. It must come back as if nothing had happened, patched or not. */
static int entered, leave;

static int wait_inside(void)
{
	__atomic_store_n(&entered, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&leave, __ATOMIC_SEQ_CST))
		usleep(100);
	return 4711;
}

static void *call_inside(void *arg)
{
	int (*volatile fn)(int (*)(void)) = (int (*)(int (*)(void)))arg;

	return (void *)(intptr_t)fn(wait_inside);
}

static void inside(void *fn, bool revert)
{
	uint64_t moves = check_stat("patch-moves");
	pthread_t thread;
	tl_patch *patch;
	void *result;

	entered = leave = 0;
	CHECK(!pthread_create(&thread, NULL, call_inside, fn), "create");
	while (!__atomic_load_n(&entered, __ATOMIC_SEQ_CST))
		usleep(100);
	CHECK_OK(tl_patch_apply(&patch, fn, (void *)plain_new, 0));
	CHECK_EQUAL(tl_patch_on_breakpoint(patch), 0);
	CHECK_EQUAL(call((function *)fn, 1), 1001);
	if (revert)
		CHECK_OK(tl_patch_revert(patch));
	leave = 1;
	pthread_join(thread, &result);
	CHECK_EQUAL((intptr_t)result, 4711);
	CHECK_EQUAL(check_stat("patch-moves"), moves + !revert);
	if (!revert)
		CHECK_OK(tl_patch_revert(patch));
	CHECK_EQUAL((intptr_t)call_inside(fn), 4711);
}

/* Where the first choice of a trap for the highest byte of a jump's distance leads to memory that
 * is in use, another one is taken. */
static void occupy_distances(uintptr_t fn, uint8_t highest)
{
	uintptr_t middle = (fn + ((uintptr_t)highest << 24) + 0x800000) & ~4095ul;

	/* What is mapped already stays so. */
	for (uintptr_t page = middle - 0x1000000; page < middle + 0x1000000; page += 4096)
		mmap((void *)page, 4096, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
}

static void check_inside(void)
{
	tl_patch *patch;

	for (int revert = 0; revert < 2; revert++) {
		inside((void *)calls_early, revert);
		inside((void *)calls_at_two, revert);
	}
	occupy_distances((uintptr_t)calls_at_four, 0x61);
	for (int revert = 0; revert < 2; revert++)
		inside((void *)calls_at_four, revert);
	CHECK_OK(tl_patch_apply(&patch, (void *)calls_at_four, (void *)plain_new, 0));
	CHECK_EQUAL(*((volatile uint8_t *)calls_at_four + 4), 0x60);
	CHECK_OK(tl_patch_revert(patch));
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

/* Code that belongs to a file through a shared mapping is not written to. */
static void check_unwritable(void)
{
	static const uint8_t code[] = {0x8d, 0x87, 0x70, 0x17, 0, 0, 0xc3};
	int fd = memfd_create("code", MFD_CLOEXEC);
	tl_patch *patch;
	uint8_t *shared;

	CHECK(fd >= 0 && write(fd, code, sizeof(code)) == sizeof(code), "memfd");
	shared = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	CHECK(shared != MAP_FAILED, "mmap");
	CHECK_EQUAL(tl_patch_apply(&patch, shared, (void *)plain_new, 0), -EINVAL);
	CHECK(strstr(tl_explain(-EINVAL), "unwind"), "%s", tl_explain(-EINVAL));
	CHECK_OK(tl_patch_apply(&patch, shared, (void *)plain_new, TL_PATCH_BREAKPOINT));
	CHECK_EQUAL(call((function *)(void *)shared, 5), 1005);
	CHECK_OK(tl_patch_revert(patch));
	CHECK_EQUAL(call((function *)(void *)shared, 5), 6005);
	close(fd);
}

int main(void)
{
	check_hardware();
	check_refusals();
	check_replacements();
	check_overlaps();
	check_failures();
	check_several();
	check_far();
	check_blocked_thread();
	check_originals();
	check_inside();
	check_unwritable();
	check_fork();
	return 0;
}
