/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does insn_attribute() name the right instruction? Each form of insn_live_forms.def runs on a
 * buffer under a real hardware watchpoint, and the answer given in the SIGTRAP handler is compared
 * with the truth: the label, address, size and kind. A wrong answer fails unless it is marked
 * TL_GUESSED; a marked one fails unless the form is listed as one that cannot be known.
 *
 *	insn_live [--blind | --cost] [FORM]	exit status 0 passed, 1 failed, 77 no hardware
 *
 * --blind: without function bounds, as in code of a JIT; every answer must be marked, and most are
 * right all the same. --cost: what one call takes, form by form.
 */
#include <asm/prctl.h>
#include <cpuid.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trapline/event.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/syscall.h"
#include "insn/extended.h"
#include "insn/insn.h"

#define PAGE 4096u
#define PLACE_OFFSET (PAGE + 128u)
#define CROSS_OFFSET (2 * PAGE - 8u)
#define HITS_MAX 64
#define MEASURED_CALLS 1000

#define R TL_READ
#define W TL_WRITE
#define RW (TL_READ | TL_WRITE)
#define A TL_ATOMIC
#define K TL_KERNEL

enum {
	MAY_GUESS = 1, /* nobody could know: the mark is right */
	NO_HIT = 2,    /* touches nothing the slot sees */
	MAY_MISS = 4,  /* whether it trips depends on the CPU */
	LAST = 8,      /* what comes before it hits too: judge the last hit */
	ELEMENTS = 16, /* one hit for each of several elements */
	LOW = 32,      /* below 4 GiB */
	CROSS = 64,    /* eight bytes before a page's end */
	ZEROED = 128,  /* a buffer without distinguishable contents */
	KERNEL = 256,  /* watches the kernel too */
};

enum feature {
	ANY,
	MOVBE,
	POPCNT,
	CX16,
	SSSE3,
	SSE41,
	XSAVE,
	AVX,
	AVX2,
	AVX512F,
	AVX512BW,
	AVX512VL,
	MOVDIR64B,
	CLZERO,
};

char insn_live_area[4 * PAGE] __attribute__((aligned(4096)));
const int insn_live_indices[16]
	__attribute__((aligned(64))) = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
int insn_live_pipe;

/* Function bounds, and each form's entry and the label 77 in it, as the assembler knows them. */
#define FUNC(name, text)                                     \
	".p2align 4\n" name ":\n" text "\n.L" name "_end:\n" \
	".pushsection insn_bounds,\"aw\"\n.quad " name ",.L" name "_end\n.popsection\n"
#define FORM(name, other, body, slot, at, watched, first, size, access, flags, feature)            \
	__asm__(".text\n" other FUNC(                                                              \
		"form_" #name, body "\n ret") ".pushsection insn_places,\"aw\"\n.quad form_" #name \
					      ",77b\n.popsection\n.text\n");
#include "insn_live_forms.def"
#undef FORM

struct bounds {
	uint64_t start, end;
};
struct place {
	void (*run)(void *place, void *other);
	uint64_t pc;
};
extern const struct bounds __start_insn_bounds[], __stop_insn_bounds[];
extern const struct place __start_insn_places[];

struct form {
	const char *name;
	unsigned slot;
	int at;
	unsigned watched;
	int first;
	unsigned size;
	unsigned access;
	unsigned flags;
	enum feature feature;
};

static const struct form forms[] = {
#define FORM(name, other, body, slot, at, watched, first, size, access, flags, feature) \
	{#name, slot, at, watched, first, size, access, flags, feature},
#include "insn_live_forms.def"
#undef FORM
};

static struct {
	struct insn_access hit[HITS_MAX];
	volatile unsigned hits;
	uint64_t watched;
	uint64_t watched_length;
	unsigned wanted;
	struct insn_xsave_layout layout;
	bool blind;
	bool measure;
	uint64_t nanoseconds; /* of the quickest insn_attribute() at the last hit */
	unsigned blind_right, blind_hits;
} live;

static char other[2 * PAGE] __attribute__((aligned(4096)));
static char alternate_stack[64 * 1024];

static int known_bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
	(void)context;
	for (const struct bounds *b = __start_insn_bounds; b < __stop_insn_bounds && !live.blind;
	     b++)
		if (pc >= b->start && pc < b->end) {
			*start = b->start;
			*end = b->end;
			return 0;
		}
	return -2;
}

/* Data is read through the kernel, which the watchpoint does not see; the forms' code directly. */
static int read_own(void *context, uint64_t address, void *to, size_t length)
{
	uint64_t start, end;

	if (!known_bounds(context, address, &start, &end) && length <= end - address) {
		memcpy(to, (const void *)address, length);
		return 0;
	}
	return raw_read_memory(to, address, length) == (ssize_t)length ? 0 : -14;
}

static const int register_order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
				       REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
				       REG_R12, REG_R13, REG_R14, REG_R15};

static void registers_of(const ucontext_t *context, struct insn_registers *registers)
{
	for (int i = 0; i < 16; i++)
		registers->general[i] = (uint64_t)context->uc_mcontext.gregs[register_order[i]];
	registers->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	registers->flags = (uint64_t)context->uc_mcontext.gregs[REG_EFL];
	registers->gs_base = 0x1000;
	__asm__("mov %%fs:0,%0" : "=r"(registers->fs_base));
}

/* The frame's XSAVE size: struct _fpx_sw_bytes in the last 48 bytes of the FXSAVE part. */
static uint32_t area_length(const void *fpregs)
{
	uint32_t software[2];

	memcpy(software, (const char *)fpregs + 464, sizeof(software));
	return software[0] == 0x46505853 ? software[1] : 512;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The least of many calls: the machine's other work is none of ours. */
static void attribute(const struct insn_registers *registers, const struct insn_memory *memory,
		      struct insn_access *answer)
{
	uint64_t from, took;

	live.nanoseconds = UINT64_MAX;
	for (unsigned i = 0; i < (live.measure ? MEASURED_CALLS : 1); i++) {
		from = now();
		insn_attribute(registers, live.watched, live.watched_length, live.wanted, memory,
			       answer);
		took = now() - from;
		live.nanoseconds = took < live.nanoseconds ? took : live.nanoseconds;
	}
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *saved = context;
	struct insn_registers registers;
	struct insn_extended extended = {
		.area = (const uint8_t *)saved->uc_mcontext.fpregs,
		.length = area_length(saved->uc_mcontext.fpregs),
		.layout = live.layout,
	};
	struct insn_memory memory = {read_own, known_bounds, NULL};

	(void)signal;
	(void)info;
	registers_of(saved, &registers);
	registers.extended = &extended;
	if (live.hits < HITS_MAX)
		attribute(&registers, &memory, &live.hit[live.hits]);
	live.hits++;
}

static int open_watchpoint(const struct form *form, uint64_t address)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = form->slot == W ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
		.bp_addr = address,
		.bp_len = form->watched == 2 && address % 2 ? 1 : form->watched,
		.sample_period = 1,
		.disabled = 1,
		.exclude_kernel = !(form->flags & KERNEL),
		.exclude_hv = 1,
		.remove_on_exec = 1,
		.sigtrap = 1,
	};

	return raw_perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool cpu_has(enum feature feature)
{
	unsigned a, b, c, d;

	switch (feature) {
	case ANY:
		return true;
	case MOVBE:
		return __get_cpuid(1, &a, &b, &c, &d) && (c >> 22 & 1);
	case POPCNT:
		return __builtin_cpu_supports("popcnt");
	case CX16:
		return __get_cpuid(1, &a, &b, &c, &d) && (c >> 13 & 1);
	case SSSE3:
		return __builtin_cpu_supports("ssse3");
	case SSE41:
		return __builtin_cpu_supports("sse4.1");
	case XSAVE:
		return __get_cpuid(1, &a, &b, &c, &d) && (c >> 27 & 1);
	case AVX:
		return __builtin_cpu_supports("avx");
	case AVX2:
		return __builtin_cpu_supports("avx2");
	case AVX512F:
		return __builtin_cpu_supports("avx512f");
	case AVX512BW:
		return __builtin_cpu_supports("avx512bw");
	case AVX512VL:
		return __builtin_cpu_supports("avx512vl");
	case MOVDIR64B:
		return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c >> 28 & 1);
	case CLZERO:
		return __get_cpuid(0x80000008, &a, &b, &c, &d) && (b & 1);
	}
	return false;
}

static char *low_area(void)
{
	static char *low;

	if (!low) {
		low = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
		if (low == MAP_FAILED)
			abort();
	}
	return low;
}

static char *prepare_place(const struct form *form)
{
	char *area = form->flags & LOW ? low_area() : insn_live_area;

	for (unsigned i = 0; i < 4 * PAGE; i++)
		area[i] = form->flags & ZEROED ? 0 : (char)(i * 37 + (i >> 8) * 11 + 5);
	for (unsigned i = 0; i < sizeof(other); i++)
		other[i] = (char)(i * 29 + 3);
	return area + (form->flags & CROSS ? CROSS_OFFSET : PLACE_OFFSET);
}

static bool is_right(const struct form *form, const struct insn_access *got, const char *place,
		     uint64_t pc)
{
	uint64_t first = (uint64_t)place + (uint64_t)(int64_t)form->first;

	if (got->pc != pc || got->length != form->size ||
	    (got->access & ~TL_GUESSED) != form->access)
		return false;
	if (form->flags & ELEMENTS)
		return got->first + got->length > live.watched &&
		       got->first < live.watched + live.watched_length;
	return got->first == first;
}

static void print_answer(const struct form *form, unsigned hit, const struct insn_access *got,
			 const char *place, uint64_t pc, const char *problem)
{
	fprintf(stderr,
		"%s: hit %u: %s: pc %+lld from the truth, first %+lld, length %llu, access 0x%x; "
		"expected first %+d, length %u, access 0x%x\n",
		form->name, hit, problem, (long long)(got->pc - pc),
		(long long)(got->first - (uint64_t)place), (unsigned long long)got->length,
		got->access, form->first, form->size, form->access);
}

static int judge(const struct form *form, const char *place, uint64_t pc)
{
	unsigned hits = live.hits < HITS_MAX ? live.hits : HITS_MAX;
	int wrong = 0;

	if (form->flags & NO_HIT ? hits : !hits && !(form->flags & MAY_MISS)) {
		fprintf(stderr, "%s: %u hits\n", form->name, hits);
		return 1;
	}
	for (unsigned i = form->flags & LAST && hits ? hits - 1 : 0; i < hits; i++) {
		const struct insn_access *got = &live.hit[i];
		bool right = is_right(form, got, place, pc), guessed = got->access & TL_GUESSED;

		live.blind_right += live.blind && right;
		live.blind_hits += live.blind;
		if (live.blind && guessed)
			continue;
		if (live.blind)
			print_answer(form, i, got, place, pc, "not marked without bounds"),
				wrong = 1;
		else if (!right && !guessed)
			print_answer(form, i, got, place, pc, "wrong and not marked"), wrong = 1;
		else if (guessed && !(form->flags & MAY_GUESS))
			print_answer(form, i, got, place, pc, "needlessly marked"), wrong = 1;
	}
	return wrong;
}

/* 0 passed, 1 failed, 77 the kernel refuses. */
static int run_form(const struct form *form, const struct place *where)
{
	char *place = prepare_place(form);
	int fd;

	live.hits = 0;
	live.watched = (uint64_t)place + (uint64_t)(int64_t)form->at;
	live.watched_length = form->watched;
	live.wanted = form->slot | (form->flags & KERNEL ? TL_KERNEL : 0);
	fd = open_watchpoint(form, live.watched);
	if (fd < 0) {
		fprintf(stderr, "%s: perf_event_open: %s\n", form->name, strerror(-fd));
		return 77;
	}
	raw_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	where->run(place, other + 256);
	raw_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	raw_close(fd);
	if (live.measure && live.hits)
		printf("%-28s %6llu ns\n", form->name, (unsigned long long)live.nanoseconds);
	return judge(form, place, where->pc);
}

static void install_handler(void)
{
	stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof(alternate_stack)};
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	if (sigaltstack(&stack, NULL) || sigaction(SIGTRAP, &action, NULL))
		abort();
	raw_syscall3(SYS_arch_prctl, ARCH_SET_GS, 0x1000, 0);
	insn_xsave_layout_probe(&live.layout);
}

static void fill_pipe(void)
{
	int ends[2];

	if (pipe(ends) || write(ends[1], other, 512) != 512)
		abort();
	insn_live_pipe = ends[0];
}

/* Some virtual machines accept breakpoints that never fire: only firing proves them. */
static bool hardware_works(void)
{
	static const struct form probe = {"probe", W, 0, 8, 0, 8, W, 0, ANY};
	volatile uint64_t *place = (volatile uint64_t *)(insn_live_area + PLACE_OFFSET);
	int fd = open_watchpoint(&probe, (uint64_t)place);

	if (fd < 0)
		return false;
	raw_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	*place = 1;
	raw_close(fd);
	return live.hits == 1;
}

int main(int argc, char **argv)
{
	unsigned failed = 0, skipped = 0, run = 0, count = sizeof(forms) / sizeof(forms[0]);
	bool mode = argc > 1 && argv[1][0] == '-';

	install_handler();
	fill_pipe();
	if (!hardware_works()) {
		fprintf(stderr, "insn_live: no hardware breakpoints here\n");
		return getenv("TRAPLINE_REQUIRE_HARDWARE") ? 1 : 77;
	}
	live.blind = mode && !strcmp(argv[1], "--blind");
	live.measure = mode && !strcmp(argv[1], "--cost");
	argc -= mode;
	argv += mode;
	for (unsigned i = 0; i < count; i++) {
		int result;

		if (argc > 1 && strcmp(argv[1], forms[i].name))
			continue;
		result = cpu_has(forms[i].feature) ? run_form(&forms[i], &__start_insn_places[i])
						   : 77;
		failed += result == 1;
		skipped += result == 77;
		run++;
	}
	printf("insn_live: %u forms, %u failed, %u skipped for want of the CPU's or kernel's leave\n",
	       run, failed, skipped);
	if (live.blind)
		printf("without function bounds %u of %u answers were right all the same\n",
		       live.blind_right, live.blind_hits);
	return failed ? 1 : 0;
}
