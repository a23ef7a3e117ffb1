/* SPDX-License-Identifier: Apache-2.0 */
/* Regions: limits and moves, overlaps, what is restored, children, numbers and sizes. */
#include "region.h"

/* ---- life ------------------------------------------------------------------------------- */

static void limits_and_moves(void)
{
	tl_event *event;
	struct tl_spec spec = {.size = sizeof(spec),
			       .addr = (const void *)memory,
			       .len = 100,
			       .access = TL_WRITE,
			       .scope = TL_PROCESS,
			       .limit = 3};

	hits = 0;
	CHECK_EQUAL(tl_event_open(&event, &spec, count, NULL), 0);
	for (int i = 0; i < 10; i++)
		memory[i] = 1;
	CHECK_EQUAL(hits, 3);
	CHECK_EQUAL(tl_event_rearm(event, 2), 0);
	for (int i = 0; i < 10; i++)
		memory[i] = 1;
	CHECK_EQUAL(hits, 5);
	CHECK_EQUAL(tl_event_move(event, (const void *)(memory + PAGE), 5000, 0), 0);
	CHECK_EQUAL(tl_event_rearm(event, 100), 0);
	memory[0] = 1;
	CHECK_EQUAL(hits, 5);
	memory[PAGE + 4999] = 1;
	CHECK_EQUAL(hits, 6);
	CHECK_EQUAL(tl_event_disable(event), 0);
	memory[PAGE] = 1;
	CHECK_EQUAL(hits, 6);
	CHECK_EQUAL(tl_event_enable(event), 0);
	memory[PAGE] = 1;
	CHECK_EQUAL(hits, 7);
	tl_event_close(event);
}

static void overlapping(void)
{
	tl_event *outer = watch(memory, 3 * PAGE, TL_WRITE);
	tl_event *inner = watch(memory + PAGE + 8, 8, TL_WRITE);

	memory[PAGE + 8] = 1;
	CHECK_EQUAL(hits, 2);
	tl_event_close(outer);
	hits = 0;
	memory[PAGE + 8] = 1;
	memory[PAGE + 7] = 1;
	memory[0] = 1;
	CHECK_EQUAL(hits, 1);
	tl_event_close(inner);
	memory[PAGE + 8] = 1;
	CHECK_EQUAL(hits, 1);
}

static int protection_of(const volatile void *address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], rights[5];
	unsigned long start, end;
	int found = -1;

	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) == 3 &&
		    start <= (unsigned long)address && (unsigned long)address < end)
			found = (rights[0] == 'r') | (rights[1] == 'w') << 1;
	fclose(maps);
	return found;
}

static void protections_kept(void)
{
	volatile char *pages =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	tl_event *event;

	mprotect((void *)(pages + PAGE), PAGE, PROT_READ);
	event = watch(pages, 3 * PAGE, TL_READ | TL_WRITE);
	CHECK_EQUAL(protection_of(pages), 3);
	CHECK_EQUAL(protection_of(pages + PAGE), 1);
	pages[0] = 1;
	CHECK_EQUAL(hits, 1);
	own_faults = 0;
	if (!sigsetjmp(escape, 1))
		pages[PAGE] = 1;
	CHECK_EQUAL(own_faults, 1);
	CHECK_EQUAL(hits, 1);
	munmap((void *)(pages + 2 * PAGE), PAGE);
	mprotect((void *)(pages + PAGE), PAGE, PROT_READ | PROT_WRITE);
	pages[PAGE] = 1;
	CHECK_EQUAL(hits, 2);
	CHECK(mmap((void *)(pages + 2 * PAGE), PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == pages + 2 * PAGE);
	pages[2 * PAGE] = 1;
	CHECK_EQUAL(hits, 3);
	tl_event_close(event);
	CHECK_EQUAL(protection_of(pages + PAGE), 3);
	pages[PAGE] = 1;
	CHECK_EQUAL(hits, 3);
	munmap((void *)pages, 4 * PAGE);
}

static void refused(void)
{
	char buffer[100];
	struct tl_spec spec = {.size = sizeof(spec),
			       .addr = (const void *)0x10000,
			       .len = 100,
			       .access = TL_WRITE,
			       .scope = TL_PROCESS};
	tl_event *event;

	CHECK_EQUAL(tl_event_open(&event, &spec, count, NULL), -ENOMEM);
	CHECK(strstr(tl_explain(-ENOMEM), "not mapped"));
	spec.addr = buffer;
	spec.len = sizeof(buffer);
	CHECK_EQUAL(tl_event_open(&event, &spec, count, NULL), -EFAULT);
	CHECK(strstr(tl_explain(-EFAULT), "stack"));
	spec.access = TL_EXEC;
	spec.len = 0;
	spec.flags = TL_REGION;
	CHECK_EQUAL(tl_event_open(&event, &spec, count, NULL), -ENOTSUP);
}

static int status_of_child(enum tl_scope scope)
{
	tl_event *event = watch_with(memory, 16, TL_WRITE, scope, count);
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		memory[0] = 1;
		_exit(hits);
	}
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status));
	CHECK_EQUAL(hits, 0);
	memory[0] = 1;
	CHECK_EQUAL(hits, 1);
	tl_event_close(event);
	return WEXITSTATUS(status);
}

static void children(void)
{
	tl_event *event;
	FILE *output;
	char text[16] = "";

	CHECK_EQUAL(status_of_child(TL_PROCESS), 0);
	CHECK_EQUAL(status_of_child(TL_TREE), 1);
	event = watch(memory, 16, TL_WRITE);
	output = popen("echo hello", "r");
	CHECK(output && fgets(text, sizeof(text), output));
	CHECK_EQUAL(strcmp(text, "hello\n"), 0);
	pclose(output);
	if (vfork() == 0)
		_exit(0);
	wait(NULL);
	memory[0] = 1;
	CHECK_EQUAL(hits, 1);
	tl_event_close(event);
}

/* ---- death ------------------------------------------------------------------------------ */

static int death_of(void (*act)(void))
{
	tl_event *event = watch(memory, 16, TL_WRITE);
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		signal(SIGSEGV, SIG_DFL);
		memory[0] = 1;
		act();
		_exit(0);
	}
	waitpid(child, &status, 0);
	tl_event_close(event);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static volatile char *volatile nowhere = (volatile char *)8;

static void touch_nowhere(void)
{
	*nowhere = 1;
}

static void touch_nowhere_beside_a_region(void)
{
	tl_event *event = watch(memory, 16, TL_READ | TL_WRITE);

	*nowhere = (char)memory[0];
	tl_event_close(event);
}

static void send_itself(void)
{
	raise(SIGSYS);
}

/* Signals that kill do so, and are what the parent is told. */
static void deaths(void)
{
	CHECK_EQUAL(death_of(touch_nowhere), SIGSEGV);
	CHECK_EQUAL(death_of(touch_nowhere_beside_a_region), SIGSEGV);
	CHECK_EQUAL(death_of(abort), SIGABRT);
	CHECK_EQUAL(death_of(send_itself), SIGSYS);
}

/* ---- sizes ------------------------------------------------------------------------------ */

static void many(void)
{
	static tl_event *event[1000];
	struct tl_spec spec = {
		.size = sizeof(spec), .len = 10, .access = TL_WRITE, .scope = TL_PROCESS};

	for (int i = 0; i < 1000; i++) {
		spec.addr = (const void *)(memory + 200 * i);
		CHECK_EQUAL(tl_event_open(&event[i], &spec, count, NULL), 0);
	}
	hits = 0;
	for (int i = 0; i < 1000; i++) {
		memory[200 * i + 9] = 1;
		memory[200 * i + 10] = 1;
	}
	CHECK_EQUAL(hits, 1000);
	for (int i = 0; i < 1000; i++)
		tl_event_close(event[i]);
	memory[0] = 1;
	CHECK_EQUAL(hits, 1000);
}

static void large(void)
{
	size_t size = 1ul << 30;
	volatile char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	tl_event *event = watch(pages, size, TL_READ | TL_WRITE);

	for (size_t at = 0; at < size; at += size / 64)
		pages[at] = 1;
	CHECK_EQUAL(hits, 64);
	pages[size - 1] = 1;
	CHECK_EQUAL(hits, 65);
	tl_event_close(event);
	pages[0] = 1;
	CHECK_EQUAL(hits, 65);
	munmap((void *)pages, size);
}

void region_life(void)
{
	RUN(limits_and_moves);
	RUN(overlapping);
	RUN(protections_kept);
	RUN(refused);
	RUN(children);
	RUN(deaths);
	RUN(many);
	RUN(large);
}
