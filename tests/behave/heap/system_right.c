/* SPDX-License-Identifier: Apache-2.0 */
/* Correct uses of the heap beside processes, threads, signals and system calls: one a case. */
#include <dirent.h>
#include <dlfcn.h>
#include <netdb.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <wchar.h>
#include "mistakes.h"

#define THREADS 8

static void wait_for(pid_t child)
{
	int status = 0;

	require(child > 0 && waitpid(child, &status, 0) == child, "waitpid()");
	require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child's end");
}

static void churn(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		char *block = checked(hidden(malloc(1 + i * 7 % 3000)));

		block[0] = block[i * 7 % 3000] = 1;
		free(block);
	}
}

/* Parent and child each free the same blocks, of which each has its own. */
static void forked(void)
{
	char *blocks[100];

	for (int i = 0; i < 100; i++)
		blocks[i] = memset(checked(malloc(40 + 90 * i)), 1, 40 + 90 * i);
	for (int round = 0; round < 5; round++) {
		pid_t child = fork();

		if (child == 0) {
			churn(2000);
			for (int i = 0; i < 100; i++)
				free(blocks[i]);
			_exit(0);
		}
		wait_for(child);
	}
	for (int i = 0; i < 100; i++)
		free(blocks[i]);
}

static void forked_twice(void)
{
	pid_t child = fork();

	if (child == 0) {
		pid_t grandchild;

		churn(1000);
		grandchild = fork();
		if (grandchild == 0) {
			churn(1000);
			_exit(0);
		}
		wait_for(grandchild);
		_exit(0);
	}
	wait_for(child);
}

static void vforked(void)
{
	for (int i = 0; i < 10; i++) {
		char *name = checked(strdup("/bin/true"));
		pid_t child = vfork();

		if (child == 0) {
			execl(name, name, (char *)NULL);
			_exit(127);
		}
		free(name);
		wait_for(child);
	}
}

static bool stop;

static void *churn_until_stopped(void *argument)
{
	(void)argument;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		churn(100);
	return NULL;
}

static void forked_while_threads_allocate(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		require(!pthread_create(&threads[i], NULL, churn_until_stopped, NULL), "thread");
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		if (child == 0) {
			churn(500);
			_exit(0);
		}
		wait_for(child);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void *churn_for_ever(void *argument)
{
	(void)argument;
	for (;;)
		churn(100);
	return NULL;
}

static void exit_while_threads_allocate(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		require(!pthread_create(&thread, NULL, churn_for_ever, NULL), "thread");
	usleep(50000);
}

static char *volatile handed[64];

/* Blocks go from thread to thread: each takes one, uses it whole, and leaves another. */
static void *exchange(void *argument)
{
	unsigned seed = (unsigned)(uintptr_t)argument;

	for (int i = 0; i < 20000; i++) {
		char *fresh = checked(malloc(128)), *old;

		seed = seed * 1103515245 + 12345;
		memset(fresh, 1, 128);
		old = __atomic_exchange_n(&handed[(seed >> 16) % 64], fresh, __ATOMIC_ACQ_REL);
		if (old)
			memset(old, 2, 128);
		free(old);
	}
	return NULL;
}

static void handed_over(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		require(!pthread_create(&threads[i], NULL, exchange, (void *)i), "thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 64; i++)
		free(handed[i]);
}

static void *leave_a_block(void *argument)
{
	return memset(checked(malloc((size_t)argument)), 1, (size_t)argument);
}

static void outlived_threads(void)
{
	for (size_t i = 1; i < 300; i++) {
		pthread_t thread;
		void *block;

		require(!pthread_create(&thread, NULL, leave_a_block, (void *)(i * 20)), "thread");
		pthread_join(thread, &block);
		memset(block, 2, i * 20);
		free(block);
	}
}

static void free_at_exit(void *block)
{
	memset(block, 3, 77);
	free(block);
}

static pthread_key_t key;

static void *keep_in_key(void *argument)
{
	(void)argument;
	pthread_setspecific(key, checked(malloc(77)));
	return NULL;
}

static void freed_by_keys(void)
{
	require(!pthread_key_create(&key, free_at_exit), "key");
	for (int i = 0; i < 100; i++)
		in_thread(keep_in_key, NULL);
}

static void *block_of_process;

static void free_block_of_process(void)
{
	free_at_exit(block_of_process);
}

static void freed_at_exit(void)
{
	block_of_process = checked(malloc(77));
	atexit(free_block_of_process);
}

static volatile sig_atomic_t handled;

static void allocate_in_handler(int signal)
{
	(void)signal;
	free(memset(checked(hidden(malloc(200))), 1, 200));
	handled++;
}

/* Raised where the program is in no function of the allocator. */
static void allocated_in_handler(void)
{
	struct sigaction action = {.sa_handler = allocate_in_handler};
	stack_t stack = {.ss_sp = checked(malloc(65536)), .ss_size = 65536};

	require(!sigaltstack(&stack, NULL), "sigaltstack()");
	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	for (int i = 0; i < 500; i++) {
		churn(3);
		raise(i % 2 ? SIGUSR1 : SIGUSR2);
	}
	require(handled == 500, "signals");
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
}

static void segv_handler(int signal)
{
	(void)signal;
	_exit(handled == 500 ? 1 : 7);
}

/* The program's own handler for what its own pages do. */
static void own_fault(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		signal(SIGSEGV, segv_handler);
		churn(100);
		*(volatile char *)hidden((uintptr_t)16) = 1;
	}
	require(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
			WEXITSTATUS(status) == 7,
		"the program's own SIGSEGV handler");
}

static void exact_buffers(void)
{
	int ends[2];

	require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair()");
	for (size_t size = 1; size < 5000; size += 1 + size / 5) {
		char *from = checked(hidden(malloc(size))), *to = checked(hidden(malloc(size)));
		struct iovec parts[2] = {{to, size / 2}, {to + size / 2, size - size / 2}};

		memset(from, 'f', size);
		require(write(ends[0], from, size) == (ssize_t)size, "write()");
		require(readv(ends[1], parts, 2) == (ssize_t)size, "readv()");
		require(send(ends[0], from, size, 0) == (ssize_t)size, "send()");
		require(recv(ends[1], to, size, MSG_WAITALL) == (ssize_t)size, "recv()");
		require(memcmp(from, to, size) == 0, "what was sent");
		free(from);
		free(to);
	}
	close(ends[0]);
	close(ends[1]);
}

/* More is asked for than fits the block, and less comes. */
static void short_reads(void)
{
	int ends[2];

	require(pipe(ends) == 0, "pipe()");
	for (int i = 0; i < 200; i++) {
		char *block = checked(hidden(malloc(13)));

		require(write(ends[1], "little", 6) == 6, "write()");
		require(read(ends[0], block, hidden((size_t)4096)) == 6, "read()");
		free(block);
	}
	close(ends[0]);
	close(ends[1]);
}

static void bad_buffers(void)
{
	int ends[2];
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	require(pipe(ends) == 0 && write(ends[1], "x", 1) == 1, "pipe()");
	require(read(ends[0], hidden((char *)NULL), 1) == -1 && errno == EFAULT, "read() to NULL");
	require(read(ends[0], page, 1) == -1 && errno == EFAULT, "read() to a closed page");
	require(write(ends[1], page, 1) == -1 && errno == EFAULT, "write() of a closed page");
	require(read(ends[0], hidden((char *)page - 1), 0) == 0, "read() of nothing");
	munmap(page, 4096);
	close(ends[0]);
	close(ends[1]);
}

/* Whole pages of a block given back to the kernel, and closed, as allocators above malloc do. */
static void pages_of_blocks(void)
{
	char *block;

	require(!posix_memalign((void **)&block, 4096, 65536), "posix_memalign()");
	memset(block, 5, 65536);
	require(!madvise(block + 4096, 8192, MADV_DONTNEED), "madvise()");
	require(block[4096] == 0 && block[4095] == 5 && block[12288] == 5, "what remains");
	require(!mprotect(block + 4096, 4096, PROT_NONE), "mprotect()");
	require(!mprotect(block + 4096, 4096, PROT_READ | PROT_WRITE), "mprotect()");
	memset(block, 6, 65536);
	free(block);
}

static void blocks_of_libc(void)
{
	char *line = NULL, *text = NULL, *at;
	size_t size = 0;
	struct dirent **names = NULL;
	FILE *stream = tmpfile();

	require(stream != NULL, "tmpfile()");
	for (int i = 0; i < 1000; i++)
		fprintf(stream, "line %d of the file\n", i);
	rewind(stream);
	while (getline(&line, &size, stream) > 0)
		require(line[strlen(line) - 1] == '\n', "getline()");
	free(line);
	fclose(stream);
	require(asprintf(&text, "%d %s", 7, "seven") == 7, "asprintf()");
	free(text);
	stream = open_memstream(&text, &size);
	for (int i = 0; i < 3000; i++)
		fputc('m', stream);
	fclose(stream);
	require(size == 3000 && text[2999] == 'm' && text[3000] == 0, "open_memstream()");
	free(text);
	free(realpath("/proc/self/..", NULL));
	free(getcwd(NULL, 0));
	free(strndup("twelve", 3));
	free(wcsdup(L"wide"));
	for (int i = scandir("/", &names, NULL, alphasort); i-- > 0;)
		free(names[i]);
	free(names);
	setenv("HEAP_TEST", "value", 1);
	at = getenv("HEAP_TEST");
	require(strcmp(at, "value") == 0, "getenv()");
	unsetenv("HEAP_TEST");
}

static void stream_buffers(void)
{
	char *buffer = checked(malloc(777));
	FILE *stream = fopen("/dev/null", "w");

	setvbuf(stream, buffer, _IOFBF, 777);
	for (int i = 0; i < 1000; i++)
		fprintf(stream, "%d %s\n", i, "text");
	fclose(stream);
	free(buffer);
}

static void loaded_libraries(void)
{
	for (int i = 0; i < 20; i++) {
		void *library =
			dlopen(i % 2 ? "libm.so.6" : "libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

		if (library)
			dlclose(library);
		else
			free(strdup(dlerror()));
	}
}

static ucontext_t outer, inner;

static void coroutine(void)
{
	for (int i = 0; i < 100; i++) {
		churn(5);
		swapcontext(&inner, &outer);
	}
}

/* A stack in a block: what lies below its stack pointer is no freed frame of the heap. */
static void stacks_in_blocks(void)
{
	for (int round = 0; round < 5; round++) {
		char *stack = checked(malloc(100000));

		getcontext(&inner);
		inner.uc_stack.ss_sp = stack;
		inner.uc_stack.ss_size = 100000;
		inner.uc_link = &outer;
		makecontext(&inner, coroutine, 0);
		for (int i = 0; i < 100; i++)
			swapcontext(&outer, &inner);
		free(stack);
	}
}

static void *large;

static void free_large(void)
{
	free(large);
	large = NULL;
}

/* Where the kernel itself puts memory depends on the gaps between libraries. */
static char *map_below(char *high, size_t size)
{
	char *mapped = MAP_FAILED;

	for (size_t below = 2 << 20; mapped == MAP_FAILED && below < 64 << 20; below += 2 << 20)
		mapped = mmap(high - below, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	require(mapped != MAP_FAILED && mapped < high, "mmap()");
	return mapped;
}

/* Without randomisation mapped blocks lie a mere 128 MiB below the first thread's stack; here the
 * first thread stands below one of them. */
static void mapped_stack(void)
{
	char *stack;
	int kind = personality(0xffffffff);

	if (!(kind & ADDR_NO_RANDOMIZE)) {
		require(personality((unsigned)kind | ADDR_NO_RANDOMIZE) >= 0, "personality()");
		execl("/proc/self/exe", "system_right", "mapped_stack", NULL);
	}
	large = checked(aligned_alloc(8192, 8 << 20)); /* of such an alignment none is guarded */
	stack = map_below(large, 1 << 20);
	getcontext(&inner);
	inner.uc_stack.ss_sp = stack;
	inner.uc_stack.ss_size = 1 << 20;
	inner.uc_link = &outer;
	makecontext(&inner, free_large, 0);
	swapcontext(&outer, &inner);
	require(!large, "swapcontext()");
	munmap(stack, 1 << 20);
}

static void *churn_some(void *argument)
{
	(void)argument;
	churn(1000);
	return NULL;
}

static void thread_stacks_in_blocks(void)
{
	for (int i = 0; i < 20; i++) {
		pthread_attr_t attributes;
		pthread_t thread;
		void *stack = checked(aligned_alloc(4096, 131072));

		pthread_attr_init(&attributes);
		require(!pthread_attr_setstack(&attributes, stack, 131072), "setstack");
		require(!pthread_create(&thread, &attributes, churn_some, NULL), "thread");
		pthread_join(thread, NULL);
		pthread_attr_destroy(&attributes);
		free(stack);
	}
}

static void all_descriptors_closed(void)
{
	churn(1000);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	churn(5000);
	for (int i = 0; i < 10; i++)
		free(memset(checked(hidden(malloc(1 << 20))), 1, 1 << 20));
}

/* Counts its memory by what the kernel says: blocks freed are not kept without bound. */
static void counted_memory(void)
{
	unsigned long before, after, ignored;
	FILE *stream = fopen("/proc/self/statm", "r");

	require(stream && fscanf(stream, "%lu %lu", &ignored, &before) == 2, "statm");
	fclose(stream);
	for (int i = 0; i < 200; i++)
		free(memset(checked(hidden(malloc(1 << 20))), 1, 1 << 20));
	stream = fopen("/proc/self/statm", "r");
	require(stream && fscanf(stream, "%lu %lu", &ignored, &after) == 2, "statm");
	fclose(stream);
	require(after < before + (40 << 20) / 4096, "resident memory");
}

static int shares_heap(void *argument)
{
	(void)argument;
	churn(200);
	return 0;
}

/* A raw clone that shares the memory and no thread of libc's: it allocates while the other waits.
 */
static void cloned(void)
{
	char *stack = checked(malloc(65536));

	for (int i = 0; i < 10; i++) {
		pid_t child =
			clone(shares_heap, stack + 65536, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);

		wait_for(child);
	}
	free(stack);
}

static void resolved_names(void)
{
	struct addrinfo *found = NULL, hints = {.ai_flags = AI_NUMERICHOST};

	for (int i = 0; i < 50; i++) {
		require(!getaddrinfo("127.0.0.1", "80", &hints, &found), "getaddrinfo()");
		freeaddrinfo(found);
	}
}

static const struct test_case cases[] = {
	{"forked", forked},
	{"forked_twice", forked_twice},
	{"vforked", vforked},
	{"forked_while_threads_allocate", forked_while_threads_allocate},
	{"exit_while_threads_allocate", exit_while_threads_allocate},
	{"handed_over", handed_over},
	{"outlived_threads", outlived_threads},
	{"freed_by_keys", freed_by_keys},
	{"freed_at_exit", freed_at_exit},
	{"allocated_in_handler", allocated_in_handler},
	{"own_fault", own_fault},
	{"exact_buffers", exact_buffers},
	{"short_reads", short_reads},
	{"bad_buffers", bad_buffers},
	{"pages_of_blocks", pages_of_blocks},
	{"blocks_of_libc", blocks_of_libc},
	{"stream_buffers", stream_buffers},
	{"loaded_libraries", loaded_libraries},
	{"stacks_in_blocks", stacks_in_blocks},
	{"mapped_stack", mapped_stack},
	{"thread_stacks_in_blocks", thread_stacks_in_blocks},
	{"all_descriptors_closed", all_descriptors_closed},
	{"counted_memory", counted_memory},
	{"cloned", cloned},
	{"resolved_names", resolved_names},
};

CASES_MAIN(cases)
