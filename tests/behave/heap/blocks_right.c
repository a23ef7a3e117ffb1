/* SPDX-License-Identifier: Apache-2.0 */
/* Correct uses of blocks, which come near to errors or look like them: one a case. */
#include <obstack.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include "mistakes.h"

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

static uint32_t random_state = 12345;

static uint32_t draw(uint32_t bound)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % bound;
}

static void require_bytes(const char *block, size_t size, char value)
{
	for (size_t i = 0; i < size; i++)
		require(block[i] == value, "a byte of a block");
}

/* Every byte of blocks of each size is written and read, the first and last ones one by one. */
static void every_byte(void)
{
	for (size_t size = 1; size < 5000; size += 1 + size / 16) {
		char *block = checked(hidden(malloc(size)));

		((volatile char *)block)[0] = 1;
		((volatile char *)block)[size - 1] = 1;
		memset(block, 5, size);
		require_bytes(block, size, 5);
		free(block);
	}
}

static void zeroes(void)
{
	for (int round = 0; round < 2000; round++) {
		size_t size = 1 + draw(3000);
		char *block = checked(hidden(malloc(size)));

		memset(block, 0xee, size);
		free(block);
		block = checked(hidden(calloc(1, size)));
		require_bytes(block, size, 0);
		free(block);
	}
}

static void require_zeroes(int rounds)
{
	for (int round = 0; round < rounds; round++) {
		size_t size = 1 + draw(200);
		char *block = checked(hidden(calloc(1, size)));

		require_bytes(block, size, 0);
		free(hidden(memset(block, 0xee, size)));
	}
}

/* As many that memory which was another block's comes back, in a forked child, too. */
static void zeroes_again(void)
{
	int status = -1;
	pid_t child;

	require_zeroes(30000);
	child = fork();
	require(child >= 0, "fork()");
	require_zeroes(30000);
	if (!child)
		_exit(0);
	require(waitpid(child, &status, 0) == child && !status, "the child");
}

static void large_zeroes(void)
{
	for (int round = 0; round < 6; round++) {
		char *block = checked(hidden(calloc(4096, 1000)));

		require_bytes(block, 4096 * 1000, 0);
		memset(block, 0xee, 4096 * 1000);
		free(block);
	}
}

static void grow_and_shrink(void)
{
	size_t size = 10;
	char *block = checked(hidden(malloc(size)));

	memset(block, 3, size);
	for (int round = 0; round < 3000; round++) {
		size_t next = 1 + draw(round % 100 ? 2000 : 300000);

		block = checked(hidden(realloc(block, next)));
		require_bytes(block, next < size ? next : size, 3);
		memset(block, 3, next);
		size = next;
	}
	free(block);
}

/* As allocators move large ones without a copy, there is never twice as much. */
static void large_ones_grow(void)
{
	const size_t first = 40 << 20, step = 1 << 20;
	struct rusage usage;
	char *block = NULL;
	size_t size = 0;

	for (int round = 0; round < 100; round++)
		free(checked(hidden(realloc(hidden(malloc(100)), 300 << 10))));
	for (int round = 0; round < 40; round++) {
		size_t next = round ? size + step : first;

		block = checked(hidden(realloc(block, next)));
		memset(block + size, round, next - size);
		size = next;
	}
	for (int round = 1; round < 40; round++)
		require_bytes(block + first + (round - 1) * step, step, (char)round);
	free(block);
	require(!getrusage(RUSAGE_SELF, &usage), "getrusage()");
	require(usage.ru_maxrss < 120 << 10, "the most memory");
}

/* So much is what a process has bare, with room to spare. */
#define OWN_MEMORY ((rlim_t)160 << 20)

static void use_some(size_t most)
{
	for (int i = 0; i < 50; i++) {
		char *block = checked(hidden(malloc(1000 + i))), *large = hidden(malloc(most));

		memset(block, 1, 1000 + i);
		memset(checked(large), 2, most);
		free(block);
		free(large);
	}
}

static void limited_later(void)
{
	const struct rlimit limit = {OWN_MEMORY, OWN_MEMORY};
	int status = -1;
	pid_t child;

	use_some(1 << 20);
	require(!setrlimit(RLIMIT_AS, &limit), "setrlimit()");
	use_some(40 << 20);
	child = fork();
	require(child >= 0, "fork()");
	if (!child) {
		use_some(45 << 20);
		_exit(0);
	}
	require(waitpid(child, &status, 0) == child && !status, "the child");
}

static void limited_data_later(void)
{
	const struct rlimit limit = {OWN_MEMORY / 2, OWN_MEMORY / 2};

	use_some(1 << 20);
	require(!prlimit(0, RLIMIT_DATA, &limit, NULL), "prlimit()");
	use_some(40 << 20);
}

static void locked_later(void)
{
	struct rusage usage;

	use_some(1 << 20);
	mlockall(MCL_CURRENT | MCL_FUTURE); /* which not everybody may */
	use_some(20 << 20);
	munlockall();
	require(!getrusage(RUSAGE_SELF, &usage), "getrusage()");
	require(usage.ru_maxrss < (long)(OWN_MEMORY >> 10), "the most memory");
}

/* What realloc() leaves in place is used through the old pointer. */
static void grown_in_place(void)
{
	char *block = checked(hidden(malloc(100)));
	char *same = checked(hidden(realloc(block, 60)));
	uintptr_t before = (uintptr_t)hidden(same), after;

	memset(same, 1, 60);
	same = checked(hidden(realloc(same, malloc_usable_size(same))));
	after = (uintptr_t)same;
	if (before == after)
		((volatile char *)before)[59] = 2;
	memset(same, 1, malloc_usable_size(same));
	free(same);
}

static void all_that_is_usable(void)
{
	for (size_t size = 0; size < 3000; size += 7) {
		char *block = checked(hidden(malloc(size)));
		size_t usable = malloc_usable_size(block);

		require(usable >= size, "malloc_usable_size()");
		memset(block, 9, usable);
		require_bytes(block, usable, 9);
		block = checked(hidden(realloc(block, 2 * usable)));
		require_bytes(block, usable, 9);
		free(block);
	}
}

/* Blocks cut from one large block, all given back at once, again and again. */
static void arena(void)
{
	char *base = checked(hidden(malloc(65536)));

	for (int round = 0; round < 50; round++) {
		size_t used = 0;

		while (used < 65000) {
			size_t size = 1 + draw(500);

			memset(base + used, round, size);
			used += size;
		}
	}
	free(base);
}

struct free_node {
	struct free_node *next;
};

/* A list of free blocks lies in the free blocks themselves, which are all of one real block. */
static void pool(void)
{
	char *slab = checked(hidden(malloc(48 * 200)));
	struct free_node *available = NULL, *node;

	for (int i = 0; i < 200; i++) {
		node = (struct free_node *)(slab + 48 * i);
		node->next = available;
		available = node;
	}
	for (int round = 0; round < 5000; round++) {
		node = available;
		available = node->next;
		memset(node, round, 48);
		node->next = available;
		available = node;
	}
	free(slab);
}

static void ring(void)
{
	char *bytes = checked(hidden(malloc(1001)));
	size_t head = 0;

	for (int i = 0; i < 20000; i++) {
		((volatile char *)bytes)[head] = (char)i;
		head = (head + 1) % 1001;
	}
	free(bytes);
}

/* The C library's functions load words and vectors that reach past the end of a string. */
static void strings_to_the_end(void)
{
	for (size_t size = 2; size < 300; size++) {
		char *one = checked(hidden(malloc(size))), *other = checked(hidden(malloc(size)));

		memset(one, 'a', size - 1);
		one[size - 1] = 0;
		require(strlen(one) == size - 1, "strlen()");
		strcpy(other, one);
		require(strcmp(one, other) == 0 && strncmp(one, other, size) == 0, "strcmp()");
		require(memcmp(one, other, size) == 0, "memcmp()");
		require(!strchr(one, 'b') && strrchr(one, 'a') == one + size - 2, "strchr()");
		require(memchr(one, 0, size) == one + size - 1, "memchr()");
		require(strnlen(one, size) == size - 1 && !strstr(one, "ab"), "strstr()");
		require(strspn(one, "a") == size - 1 && !strpbrk(one, "xyz"), "strspn()");
		other = checked(hidden(realloc(other, 2 * size - 1)));
		strcat(other, one);
		require(strlen(other) == 2 * size - 2, "strcat()");
		free(one);
		free(other);
	}
}

static void strings_at_the_start(void)
{
	for (size_t size = 1; size < 200; size++) {
		char *block = checked(hidden(malloc(size)));

		memset(block, 'a', size);
		require(!memrchr(block, 'b', size), "memrchr()");
		require(memchr(block, 'a', size) == block, "memchr()");
		memmove(block, block + 1, size - 1);
		free(block);
	}
}

static void aligned(void)
{
	for (size_t alignment = 16; alignment <= 1 << 16; alignment *= 2) {
		for (size_t size = 1; size < 10000; size = size * 3 + 1) {
			void *blocks[3] = {NULL};

			require(!posix_memalign(&blocks[0], alignment, size), "posix_memalign()");
			blocks[1] = checked(aligned_alloc(alignment, alignment * (size / 50 + 1)));
			blocks[2] = checked(memalign(alignment, size));
			for (int i = 0; i < 3; i++) {
				require((uintptr_t)hidden(blocks[i]) % alignment == 0, "alignment");
				memset(blocks[i], 1, size < alignment ? size : alignment);
				free(blocks[i]);
			}
		}
	}
	free(hidden(memset(checked(valloc(5000)), 1, 5000)));
}

static void ordinary_alignment(void)
{
	for (size_t size = 1; size < 100000; size += 1 + size / 8) {
		void *block = checked(hidden(malloc(size)));

		require((uintptr_t)block % 16 == 0, "alignment to 16");
		free(block);
	}
}

static void huge(void)
{
	for (size_t size = 1 << 20; size <= 64 << 20; size *= 2) {
		char *block = checked(hidden(malloc(size + 3)));

		block[0] = block[size / 2] = block[size + 2] = 1;
		block = checked(hidden(realloc(block, 2 * size)));
		require(block[size / 2] == 1 && block[size + 2] == 1, "a moved huge block");
		block[2 * size - 1] = 1;
		free(block);
	}
}

static void nothing(void)
{
	void *empty = malloc(hidden((size_t)0)), *other = hidden(malloc(hidden((size_t)0)));

	require(hidden(empty) != other, "two empty blocks are two");
	free(empty);
	free(other);
	free(hidden((void *)NULL));
	empty = hidden(realloc(NULL, 20));
	memset(checked(empty), 1, 20);
	require(!realloc(empty, hidden((size_t)0)), "realloc() to nothing");
	free(calloc(hidden((size_t)0), 5));
}

static void grows_too_much(size_t size)
{
	static const size_t sizes[] = {PTRDIFF_MAX, SIZE_MAX - 4096, SIZE_MAX - 16, SIZE_MAX};
	char *block = checked(hidden(malloc(size)));

	memset(block, 4, size);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		errno = 0;
		require(!realloc(block, hidden(sizes[i])) && errno == ENOMEM, "realloc()");
	}
	errno = 0;
	require(!reallocarray(block, hidden((size_t)1 << 33), (size_t)1 << 33) && errno == ENOMEM,
		"reallocarray()");
	require_bytes(block, size, 4);
	free(block);
}

static void too_much(void)
{
	errno = 0;
	require(!hidden(malloc(hidden((size_t)PTRDIFF_MAX))) && errno == ENOMEM, "malloc()");
	errno = 0;
	require(!hidden(calloc(hidden((size_t)1 << 33), (size_t)1 << 33)) && errno == ENOMEM,
		"calloc()");
	require(posix_memalign((void **)&(void *){NULL}, hidden((size_t)3), 10) == EINVAL,
		"posix_memalign()");
	grows_too_much(30);
	for (int round = 0; round < 100; round++)
		grows_too_much(300 << 10);
}

static void errno_is_kept(void)
{
	errno = EDOM;
	for (int i = 0; i < 1000; i++)
		free(hidden(malloc(1 + draw(5000))));
	require(errno == EDOM, "errno");
}

static void obstacks(void)
{
	struct obstack stack;

	obstack_init(&stack);
	for (int i = 0; i < 2000; i++) {
		char *object = obstack_alloc(&stack, 1 + i % 300);

		memset(object, i, 1 + i % 300);
		if (i % 50 == 49)
			obstack_free(&stack, object);
	}
	obstack_free(&stack, NULL);
}

/* A block takes the place of one that was just freed: what is remembered of that must go. */
static void reused_at_once(void)
{
	for (int i = 0; i < 50000; i++) {
		size_t size = 1 + draw(2000);
		char *block = checked(hidden(malloc(size)));

		block[0] = block[size - 1] = 1;
		free(block);
	}
}

static void compared_after_free(void)
{
	uintptr_t old;
	char *block = checked(hidden(malloc(50)));

	old = (uintptr_t)hidden(block);
	free(block);
	for (int i = 0; i < 100; i++) {
		block = checked(hidden(malloc(50)));
		/* If it is the same it may be used by either name. */
		if ((uintptr_t)block == old)
			((volatile char *)old)[49] = 1;
		free(block);
	}
}

/* Blocks that outlive the program, and pointers to their end. */
static void never_freed(void)
{
	for (int i = 0; i < 500; i++) {
		char *block = checked(hidden(malloc(100))), *end = hidden(block + 100);

		for (char *at = block; at != end; at++)
			*(volatile char *)at = 1;
	}
}

/* Whether the byte behind the block is looked at is decided by what strncmp() returns. A limit of
 * the address space, however large, leaves the block without pages of its own, where each access
 * shows by itself. */
static void behind_a_condition(void)
{
	const struct rlimit limit = {1ull << 46, 1ull << 46};
	time_t until = time(NULL) + 2;
	const char *name = hidden("UTF-8");
	size_t length = strlen(name);
	char *key;
	unsigned same = 0;

	require(!setrlimit(RLIMIT_AS, &limit), "setrlimit()");
	key = checked(hidden(malloc(sizeof("utf8"))));
	memcpy(key, "utf8", sizeof("utf8"));
	while (time(NULL) < until)
		for (int i = 0; i < 1000; i++)
			same += !strncmp(hidden(name), hidden(key), hidden(length)) &&
				key[length] == '\0';
	require(!same, "strncmp()");
	free(key);
}

/* Mapped for itself, such a block takes with it whatever its pages were made. */
static void forbidden_pages(void)
{
	const size_t size = 256 << 10;

	mallopt(M_MMAP_THRESHOLD, 64 << 10);
	for (int i = 0; i < 1500; i++) {
		char *block = checked(hidden(malloc(size)));
		uintptr_t first = ((uintptr_t)block + 4095) & ~(uintptr_t)4095;
		uintptr_t end = (uintptr_t)(block + size) & ~(uintptr_t)4095;

		block[0] = block[size - 1] = 1;
		require(!mprotect((void *)first, end - first, PROT_NONE), "mprotect()");
		free(block);
	}
}

static void tuned(void)
{
	mallopt(M_PERTURB, 0xaa);
	mallopt(M_MMAP_THRESHOLD, 4096);
	for (int i = 0; i < 500; i++) {
		char *block = checked(hidden(malloc(draw(20000) + 1)));

		block[0] = 1;
		free(block);
	}
	malloc_trim(0);
	require(mallinfo2().arena > 0, "mallinfo2()");
}

static const struct test_case cases[] = {
	{"every_byte", every_byte},
	{"zeroes", zeroes},
	{"zeroes_again", zeroes_again},
	{"large_zeroes", large_zeroes},
	{"grow_and_shrink", grow_and_shrink},
	{"large_ones_grow", large_ones_grow},
	{"limited_later", limited_later},
	{"limited_data_later", limited_data_later},
	{"locked_later", locked_later},
	{"grown_in_place", grown_in_place},
	{"all_that_is_usable", all_that_is_usable},
	{"arena", arena},
	{"pool", pool},
	{"ring", ring},
	{"strings_to_the_end", strings_to_the_end},
	{"strings_at_the_start", strings_at_the_start},
	{"aligned", aligned},
	{"ordinary_alignment", ordinary_alignment},
	{"huge", huge},
	{"nothing", nothing},
	{"too_much", too_much},
	{"errno_is_kept", errno_is_kept},
	{"obstacks", obstacks},
	{"reused_at_once", reused_at_once},
	{"compared_after_free", compared_after_free},
	{"never_freed", never_freed},
	{"behind_a_condition", behind_a_condition},
	{"forbidden_pages", forbidden_pages},
	{"tuned", tuned},
};

CASES_MAIN(cases)
