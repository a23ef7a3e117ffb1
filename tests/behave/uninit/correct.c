/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing here depends on what nobody wrote, though much of it is loaded. */
#define _GNU_SOURCE
#include "cases.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

struct padded {
	char kind;
	long number;
	short last;
};

static NOINLINE void padding_copied(void)
{
	struct padded *from = malloc(sizeof(*from)), *to = malloc(sizeof(*to));

	HIDE(from);
	from->kind = 1;
	from->number = 2;
	from->last = 3;
	HIDE(from);
	HIDE(to);
	*to = *from;
	HIDE(to);
	sink = to->kind + to->number + to->last;
	free(from);
	free(to);
}

/* The padding outlives its block, and nobody asks for it. */
static NOINLINE void freed_after_copy(void)
{
	struct padded *from = malloc(sizeof(*from)), copy;

	HIDE(from);
	from->kind = 1;
	from->number = 2;
	from->last = 3;
	HIDE(from);
	copy = *from;
	free(from);
	if (copy.kind == 1 && copy.number == 2 && copy.last == 3)
		touch();
}

static NOINLINE void whole_buffer_copied(void)
{
	size_t length = 64;
	char *from = malloc(64), *to = malloc(64);

	HIDE(from);
	HIDE(to);
	strcpy(from, "short");
	HIDE(length);
	memcpy(to, from, length);
	HIDE(to);
	sink = (long)strlen(to);
	free(from);
	free(to);
}

static NOINLINE void short_string(void)
{
	char *text = malloc(64);

	HIDE(text);
	strcpy(text, "ab");
	HIDE(text);
	sink = (long)strlen(text) + (strchr(text, 'b') != NULL) + strcmp(text, "abc");
	free(text);
}

static NOINLINE void searched_in_part(void)
{
	char *text = malloc(64);
	size_t length = 8;

	HIDE(text);
	memset(text, 'x', 8);
	HIDE(length);
	HIDE(text);
	sink = memchr(text, 'y', length) != NULL;
	free(text);
}

static NOINLINE void zeroed(void)
{
	long *block = calloc(9, sizeof(*block));

	HIDE(block);
	for (int i = 0; i < 9; i++)
		if (block[i])
			exit(4);
	free(block);
}

static NOINLINE void set_then_read(void)
{
	long *block = malloc(72);
	size_t length = 72;

	HIDE(block);
	HIDE(length);
	memset(block, 0, length);
	HIDE(block);
	for (int i = 0; i < 9; i++)
		if (block[i])
			exit(4);
	free(block);
}

static NOINLINE void bit_by_bit(void)
{
	struct bits {
		unsigned a : 3, b : 9, c : 20;
	} *bits = malloc(sizeof(*bits));

	HIDE(bits);
	bits->a = 1;
	HIDE(bits);
	bits->b = 2;
	HIDE(bits);
	bits->c = 3;
	HIDE(bits);
	if (bits->a + bits->b + bits->c != 6)
		exit(4);
	free(bits);
}

static NOINLINE void some_bits(void)
{
	struct bits {
		unsigned a : 3, b : 9, c : 20;
	} *bits = malloc(sizeof(*bits));

	HIDE(bits);
	bits->a = 5;
	HIDE(bits);
	if (bits->a != 5)
		exit(4);
	free(bits);
}

static NOINLINE void byte_by_byte(void)
{
	unsigned char *bytes = malloc(8);

	HIDE(bytes);
	for (int i = 0; i < 8; i++) {
		bytes[i] = (unsigned char)i;
		HIDE(bytes);
	}
	if (*(volatile uint64_t *)bytes == 3)
		exit(4);
	free(bytes);
}

static NOINLINE void masked_out(void)
{
	uint32_t *word = malloc(16);

	HIDE(word);
	((volatile uint8_t *)word)[0] = 7;
	HIDE(word);
	if ((*(volatile uint32_t *)word & 0xff) != 7)
		exit(4);
	free(word);
}

/* Both members are evaluated as one where a compiler likes to. */
static NOINLINE void guarded(void)
{
	struct guarded {
		bool valid;
		bool value;
		char rest[14];
	} *guarded = malloc(sizeof(*guarded));

	HIDE(guarded);
	guarded->valid = false;
	HIDE(guarded);
	if (guarded->valid && guarded->value)
		exit(4);
	free(guarded);
}

static NOINLINE void set_by_read(void)
{
	char *buffer = malloc(32);
	int descriptor = open("/dev/zero", O_RDONLY);

	HIDE(buffer);
	if (read(descriptor, buffer, 32) != 32)
		exit(3);
	HIDE(buffer);
	for (int i = 0; i < 32; i++)
		if (buffer[i])
			exit(4);
	close(descriptor);
	free(buffer);
}

/* Past the page cache the device writes to the pages, by no address of the program's. Where the
 * file system cannot do that it is another read. */
static NOINLINE void set_by_device(void)
{
	char name[] = "trapline-uninit-XXXXXX";
	int plain = mkstemp(name), direct = open(name, O_RDONLY | O_DIRECT);
	static const char zeroes[4096];
	long *block = aligned_alloc(4096, 4096);

	if (write(plain, zeroes, sizeof(zeroes)) != sizeof(zeroes) || fsync(plain))
		exit(3);
	unlink(name);
	HIDE(block);
	if (pread(direct < 0 ? plain : direct, block, 4096, 0) != 4096)
		exit(3);
	close(direct);
	close(plain);
	HIDE(block);
	for (int i = 0; i < 512; i++)
		if (block[i])
			exit(4);
	free(block);
}

/* Through the kernel's own mapping of a registered buffer. */
static NOINLINE void set_by_ring(void)
{
	struct io_uring_params parameters = {0};
	int ring = (int)syscall(SYS_io_uring_setup, 1, &parameters);
	int descriptor = open("/dev/zero", O_RDONLY);
	struct iovec buffer = {malloc(40), 40};
	struct io_uring_sqe *entry;
	unsigned *queue, tail;
	long *block;

	if (ring < 0) /* forbidden here */
		exit(0);
	queue = mmap(NULL, parameters.sq_off.array + sizeof(unsigned), PROT_READ | PROT_WRITE,
		     MAP_SHARED, ring, IORING_OFF_SQ_RING);
	entry = mmap(NULL, sizeof(*entry), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		     IORING_OFF_SQES);
	if (queue == MAP_FAILED || entry == MAP_FAILED ||
	    syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &buffer, 1))
		exit(0);
	*entry = (struct io_uring_sqe){.opcode = IORING_OP_READ_FIXED,
				       .fd = descriptor,
				       .addr = (uintptr_t)buffer.iov_base,
				       .len = 40};
	tail = queue[parameters.sq_off.tail / 4];
	queue[parameters.sq_off.array / 4] = 0;
	__atomic_store_n(&queue[parameters.sq_off.tail / 4], tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		exit(3);
	block = buffer.iov_base;
	HIDE(block);
	for (int i = 0; i < 5; i++)
		if (block[i])
			exit(4);
	free(block);
}

static void *fill(void *block)
{
	memset(block, 1, 48);
	return NULL;
}

static NOINLINE void set_by_thread(void)
{
	char *block = malloc(48);
	pthread_t thread;

	HIDE(block);
	pthread_create(&thread, NULL, fill, block);
	pthread_join(thread, NULL);
	HIDE(block);
	for (int i = 0; i < 48; i++)
		if (block[i] != 1)
			exit(4);
	free(block);
}

/* As the workers of the C library's aio_read() do: what it stores trips a watch, and is not told.
 */
static void *fill_blocking_signals(void *block)
{
	uint64_t all = ~0ull;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof(all));
	memset(block, 0, 24);
	return block;
}

/* Zeroes over the zeroes of memory that nobody has used yet. */
static NOINLINE void set_by_blocking_thread(void)
{
	long *block = malloc(24);
	pthread_t thread;

	pthread_create(&thread, NULL, fill_blocking_signals, block);
	pthread_join(thread, NULL);
	HIDE(block);
	for (int i = 0; i < 3; i++)
		if (block[i])
			touch();
	free(block);
}

struct counted {
	long strong, weak, rest[4];
};

typedef long pair __attribute__((vector_size(16), aligned(8)));

/* One store for two words, of which one watch's hit is told; that may be over by then, since
 * another thread's block was worth more. */
static NOINLINE struct counted *make_counted(void)
{
	struct counted *made = malloc(sizeof(*made));

	*(pair *)made->rest = (pair){2, 3};
	*(pair *)&made->rest[2] = (pair){4, 5};
	*(pair *)made = (pair){1, 1};
	if (__atomic_add_fetch(&made->strong, 1, __ATOMIC_RELAXED) <= 0)
		exit(5);
	return made;
}

static void *make_many(void *unused)
{
	struct counted *made[8];

	for (int i = 0; i < 60; i++) {
		for (int j = 0; j < 8; j++)
			made[j] = make_counted();
		for (int j = 0; j < 8; j++)
			free(made[j]);
	}
	return unused;
}

static NOINLINE void stored_by_vectors(void)
{
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, make_many, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

static NOINLINE void grown_by_copy(void)
{
	char *block = malloc(24);

	HIDE(block);
	strcpy(block, "text");
	block = realloc(block, 100000);
	HIDE(block);
	if (strcmp(block, "text") != 0)
		exit(4);
	free(block);
}

static NOINLINE void reused(void)
{
	for (int i = 0; i < 50; i++) {
		long *block = malloc(40);

		HIDE(block);
		for (int j = 0; j < 5; j++)
			block[j] = j;
		HIDE(block);
		for (int j = 0; j < 5; j++)
			if (block[j] != j)
				exit(4);
		free(block);
	}
}

struct arena {
	char *at, *end;
};

static NOINLINE void *take(struct arena *arena, size_t length)
{
	void *block = arena->at;

	arena->at += length;
	return arena->at <= arena->end ? block : NULL;
}

static NOINLINE void arena_of_malloc(void)
{
	struct arena arena;
	char *memory = malloc(4096);

	HIDE(memory);
	arena = (struct arena){memory, memory + 4096};
	for (int i = 0; i < 20; i++) {
		long *block = take(&arena, 24);

		HIDE(block);
		block[0] = i;
		if (block[0] != i)
			exit(4);
	}
	free(memory);
}

static NOINLINE void fresh_mapping(void)
{
	long *block = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	HIDE(block);
	if (block[0] || block[500])
		exit(4);
	munmap(block, 8192);
}

static NOINLINE void swapped(void)
{
	long *block = malloc(16), first;

	HIDE(block);
	block[0] = 1;
	HIDE(block);
	first = block[0];
	block[0] = block[1];
	block[1] = first;
	HIDE(block);
	if (block[1] != 1)
		exit(4);
	free(block);
}

static NOINLINE void counted_up(void)
{
	long *block = malloc(16);

	HIDE(block);
	block[0] = 0;
	HIDE(block);
	for (int i = 0; i < 10; i++)
		__atomic_fetch_add(&block[0], 1, __ATOMIC_RELAXED);
	if (block[0] != 10)
		exit(4);
	free(block);
}

static NOINLINE void formatted(void)
{
	char *text = malloc(128);

	HIDE(text);
	snprintf(text, 128, "%d of %s", 3, "four");
	HIDE(text);
	sink = (long)strlen(text);
	puts(text);
	free(text);
}

static NOINLINE void part_written_out(void)
{
	char *buffer = malloc(256);
	int descriptor = open("/dev/null", O_WRONLY);

	HIDE(buffer);
	memset(buffer, 'x', 100);
	HIDE(buffer);
	if (write(descriptor, buffer, 100) != 100)
		exit(3);
	free(buffer);
}

static NOINLINE void wide_text(void)
{
	wchar_t *text = malloc(32 * sizeof(*text));

	HIDE(text);
	wcscpy(text, L"abc");
	HIDE(text);
	sink = (long)wcslen(text);
	free(text);
}

static int compare(const void *a, const void *b)
{
	const struct padded *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static NOINLINE void sorted(void)
{
	struct padded *all = malloc(20 * sizeof(*all));

	HIDE(all);
	for (int i = 0; i < 20; i++) {
		all[i].kind = 1;
		all[i].number = (i * 7) % 20;
		all[i].last = 2;
	}
	HIDE(all);
	qsort(all, 20, sizeof(*all), compare);
	for (int i = 0; i < 20; i++)
		if (all[i].number != i)
			exit(4);
	free(all);
}

static NOINLINE void forgotten(void)
{
	long *block = malloc(32);
	volatile long copy[4];

	HIDE(block);
	for (int i = 0; i < 4; i++)
		copy[i] = block[i];
	for (int i = 0; i < 4; i++)
		copy[i] = i;
	sink = copy[2];
	free(block);
}

struct turned {
	unsigned kept : 21;
	int rotation : 10;
};

/* Compilers read such a field by doubling the word, which holds a bit of nobody's, too. */
static NOINLINE void field_between(void)
{
	struct turned *turned = malloc(sizeof(*turned));

	HIDE(turned);
	turned->rotation = 45;
	HIDE(turned);
	if (turned->rotation == 45)
		touch();
	free(turned);
}

/* The parent gets the low eight bits. */
static NOINLINE void ended_with_others(void)
{
	int *status = malloc(sizeof(*status));

	HIDE(status);
	exit(*status & 0x100);
}

static const struct row rows[] = {
	{"padding_copied", padding_copied},
	{"whole_buffer_copied", whole_buffer_copied},
	{"freed_after_copy", freed_after_copy},
	{"short_string", short_string},
	{"searched_in_part", searched_in_part},
	{"zeroed", zeroed},
	{"set_then_read", set_then_read},
	{"bit_by_bit", bit_by_bit},
	{"some_bits", some_bits},
	{"byte_by_byte", byte_by_byte},
	{"masked_out", masked_out},
	{"guarded", guarded},
	{"set_by_read", set_by_read},
	{"set_by_device", set_by_device},
	{"set_by_ring", set_by_ring},
	{"set_by_thread", set_by_thread},
	{"set_by_blocking_thread", set_by_blocking_thread},
	{"stored_by_vectors", stored_by_vectors},
	{"grown_by_copy", grown_by_copy},
	{"reused", reused},
	{"arena_of_malloc", arena_of_malloc},
	{"fresh_mapping", fresh_mapping},
	{"swapped", swapped},
	{"counted_up", counted_up},
	{"formatted", formatted},
	{"part_written_out", part_written_out},
	{"wide_text", wide_text},
	{"sorted", sorted},
	{"forgotten", forgotten},
	{"ended_with_others", ended_with_others},
	{"field_between", field_between},
};

RUN_CASES(rows)
