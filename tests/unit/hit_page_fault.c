/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of ours waits in a fault that userfaultfd(2) holds: as it ends, its access is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hit/page_fault.h"
#include "insn/insn.h"
#include "process/space.h"
#include "reader/open.h"

#define PAGE 4096u
#define WAIT 10000 /* ms: a machine may be busy */

static struct symbol_session *session;
static struct space *space;
static int faults;
static uint8_t *pages; /* every second one is there, the others are empty */

static uint8_t *empty_page(unsigned number)
{
	return pages + 2 * number * PAGE + PAGE;
}

static int begin(void **state)
{
	struct uffdio_api api = {.api = UFFD_API,
				 .features = UFFD_FEATURE_THREAD_ID | UFFD_FEATURE_EXACT_ADDRESS};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};

	(void)state;

	if (symbol_session_open(&session, NULL) || space_open(&space, session, getpid()))
		return -1;
	pages = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (pages == MAP_FAILED || faults < 0)
		return 0;
	for (unsigned i = 0; i < 8; i++)
		pages[2 * i * PAGE] = 1;
	range.range = (struct uffdio_range){(uintptr_t)pages, 16 * PAGE};
	return ioctl(faults, UFFDIO_API, &api) || ioctl(faults, UFFDIO_REGISTER, &range) ? -1 : 0;
}

static int end(void **state)
{
	(void)state;
	space_close(space);
	symbol_session_close(session);
	return 0;
}

/* ---- what the other thread does ---------------------------------------------------------------
 */

/* The instructions stand at labels of their own, so that their addresses are known. */
extern const uint8_t store_four[], add_eight[], copy_bytes[], compare_bytes[];

__asm__(".text\n"
	"do_store:\n"
	"	mov $0x1234, %eax\n"
	"store_four:\n"
	"	mov %eax, (%rdi)\n"
	"	ret\n"
	"do_add:\n"
	"add_eight:\n"
	"	addq $1, -4(%rdi)\n"
	"	ret\n"
	"do_copy:\n"
	"	mov %rdi, %rsi\n"
	"	lea -64(%rsp), %rdi\n"
	"	mov $16, %ecx\n"
	"copy_bytes:\n"
	"	rep movsb\n"
	"	ret\n"
	"do_compare:\n"
	"	lea -64(%rsp), %rsi\n"
	"compare_bytes:\n"
	"	cmpsb\n"
	"	ret\n");

void do_store(void *at);
void do_add(void *at);
void do_copy(void *at);
void do_compare(void *at);

static void do_read(void *at)
{
	int zeroes = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ssize_t got = read(zeroes, at, 50);

	(void)got;
	close(zeroes);
}

struct touch {
	void (*access)(void *at);
	void *at;
};

static void *touch(void *argument)
{
	const struct touch *wanted = argument;

	wanted->access(wanted->at);
	return NULL;
}

/* ---- and what is told of it --------------------------------------------------------------------
 */

static void fill(uint64_t address)
{
	static const uint8_t zeroes[PAGE];
	struct uffdio_copy copy = {
		.dst = address & ~(uint64_t)(PAGE - 1), .src = (uintptr_t)zeroes, .len = PAGE};

	assert_int_equal(ioctl(faults, UFFDIO_COPY, &copy), 0);
}

static struct uffd_msg wait_for_fault(void)
{
	struct pollfd ready = {faults, POLLIN, 0};
	struct uffd_msg message;

	assert_int_equal(poll(&ready, 1, WAIT), 1);
	assert_int_equal(read(faults, &message, sizeof(message)), sizeof(message));
	return message;
}

/* False: the kernel lets nobody see it. */
static bool look(void (*access)(void *), void *at, int call, struct fault_seen *seen,
		 struct tl_access *told)
{
	struct touch wanted = {access, at};
	struct tl_fault fault = {.size = sizeof(fault), .pid = getpid(), .call = call};
	struct fault_events events;
	struct uffd_msg message;
	pthread_t thread;
	int err;

	assert_int_equal(pthread_create(&thread, NULL, touch, &wanted), 0);
	message = wait_for_fault();
	fault.tid = (pid_t)message.arg.pagefault.feat.ptid;
	fault.address = message.arg.pagefault.address;
	fault.write = message.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WRITE;
	err = fault_open(&events, fault.tid);
	fill(fault.address);
	if (!err) {
		assert_true(fault_take(&events, fault.address, WAIT, seen));
		fault_close(&events);
		assert_int_equal(seen->sample.tid, fault.tid);
		memset(told, 0, sizeof(*told));
		if (!page_fault_attribute(space, seen, &fault, told))
			told->length = 0;
	}
	pthread_join(thread, NULL);
	return !err;
}

static void need(bool seen)
{
	if (faults < 0 || !seen)
		skip();
}

static void test_a_store(void **state)
{
	uint8_t *at = empty_page(0) + 13;
	struct fault_seen seen;
	struct tl_access told;

	(void)state;
	need(faults >= 0 && look(do_store, at, -1, &seen, &told));
	assert_false(seen.kernel);
	assert_ptr_equal(seen.address, at);
	assert_ptr_equal(told.pc, store_four);
	assert_ptr_equal(told.address, at);
	assert_int_equal(told.length, 4);
	assert_int_equal(told.access, TL_WRITE);
	assert_true(told.before);
	assert_int_equal(seen.sample.registers.general[0], 0x1234);
	assert_true(seen.stack_length >= 8);
}

/* It begins on the page before, which is there. */
static void test_an_update_across_the_edge(void **state)
{
	uint8_t *at = empty_page(1);
	struct fault_seen seen;
	struct tl_access told;

	(void)state;
	need(faults >= 0 && look(do_add, at, -1, &seen, &told));
	assert_ptr_equal(told.pc, add_eight);
	assert_ptr_equal(told.address, at - 4);
	assert_int_equal(told.length, 8);
	assert_int_equal(told.access, TL_READ | TL_WRITE);
}

static void test_a_string_instruction_in_the_middle(void **state)
{
	uint8_t *at = empty_page(2) - 5;
	struct fault_seen seen;
	struct tl_access told;

	(void)state;
	need(faults >= 0 && look(do_copy, at, -1, &seen, &told));
	assert_ptr_equal(told.pc, copy_bytes);
	assert_ptr_equal(told.address, at + 5);
	assert_int_equal(told.access, TL_READ);
}

/* It reads elsewhere first. */
static void test_the_second_of_two_reads(void **state)
{
	uint8_t *at = empty_page(5) + 7;
	struct fault_seen seen;
	struct tl_access told;

	(void)state;
	need(faults >= 0 && look(do_compare, at, -1, &seen, &told));
	assert_ptr_equal(told.pc, compare_bytes);
	assert_ptr_equal(told.address, at);
	assert_int_equal(told.length, 1);
	assert_int_equal(told.access, TL_READ);
}

static void test_a_system_call(void **state)
{
	uint8_t *at = empty_page(3) + 100;
	struct fault_seen seen;
	struct tl_access told;

	(void)state;
	need(faults >= 0 && look(do_read, at, SYS_read, &seen, &told));
	assert_true(seen.kernel);
	assert_ptr_equal(told.address, at);
	assert_int_equal(told.length, 1);
	assert_int_equal(told.access, TL_KERNEL | TL_GUESSED | TL_WRITE);
	assert_int_equal(told.call, SYS_read);
}

/* A call whose arguments do not lead there, as read(2) of /proc/self/mem. */
static void test_a_system_call_that_is_not_asked_about_it(void **state)
{
	uint8_t *at = empty_page(4);
	struct fault_seen seen;
	struct tl_access told;

	(void)state;
	need(faults >= 0 && look(do_read, at, SYS_write, &seen, &told));
	assert_int_equal(told.length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_store),
		cmocka_unit_test(test_an_update_across_the_edge),
		cmocka_unit_test(test_a_string_instruction_in_the_middle),
		cmocka_unit_test(test_the_second_of_two_reads),
		cmocka_unit_test(test_a_system_call),
		cmocka_unit_test(test_a_system_call_that_is_not_asked_about_it),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
