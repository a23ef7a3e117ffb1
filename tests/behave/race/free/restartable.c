/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter for each CPU, added to without LOCK in a restartable sequence (rseq(2)): whoever is
 * interrupted, moved or signalled within begins anew, so threads of one CPU lose nothing.
 * Where the C library registers no rseq, the counters are added to by atomic operations.
 */
#include "../harness.h"

#include <sys/rseq.h>

#define CPUS 1024

static struct {
	long value;
	char padding[56];
} counter[CPUS];
static _Atomic long added;

static struct rseq *registered(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

/* False: it was interrupted. */
static int add(long *to, uint32_t cpu)
{
	struct rseq *rseq = registered();

	__asm__ goto(".pushsection __rseq_cs, \"aw\"\n"
		     ".balign 32\n"
		     "3: .long 0, 0\n"
		     ".quad 1f, 2f - 1f, 4f\n"
		     ".popsection\n"
		     "leaq 3b(%%rip), %%rax\n"
		     "movq %%rax, %[sequence]\n"
		     "1: cmpl %[cpu], %[now]\n"
		     "jnz 4f\n"
		     "addq $1, %[to]\n"
		     "2:\n"
		     ".pushsection __rseq_failure, \"ax\"\n"
		     ".byte 0x0f, 0xb9, 0x3d\n" /* ud1, with the signature of x86 */
		     ".long 0x53053053\n"
		     "4: jmp %l[interrupted]\n"
		     ".popsection\n"
		     :
		     : [sequence] "m"(rseq->rseq_cs), [cpu] "r"(cpu), [now] "m"(rseq->cpu_id),
		       [to] "m"(*to)
		     : "memory", "cc", "rax"
		     : interrupted);
	return 1;
interrupted:
	return 0;
}

static void *count(void *arg)
{
	(void)arg;
	while (running()) {
		uint32_t cpu;

		do
			cpu = __atomic_load_n(&registered()->cpu_id_start, __ATOMIC_RELAXED);
		while (cpu < CPUS && __rseq_size && !add(&counter[cpu].value, cpu));
		if (cpu >= CPUS || !__rseq_size)
			__atomic_fetch_add(&counter[0].value, 1, __ATOMIC_RELAXED);
		added++;
		work(100);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long sum = 0;

	harness_init(argc, argv, 4);
	harness_start(count, harness_threads);
	harness_finish();
	for (int i = 0; i < CPUS; i++)
		sum += counter[i].value;
	return sum != added;
}
