// SPDX-License-Identifier: Apache-2.0
// Errors with operator new and delete, and with the standard library's containers: one a case.
#include <memory>
#include <new>
#include <string>
#include <vector>
#include "mistakes.h"

struct session {
	virtual ~session() = default;
	virtual int turn()
	{
		return ++turns;
	}
	uint64_t padding[4] = {};
	int turns = 0;
};

struct alignas(64) line {
	char bytes[64];
};

static volatile int seen;

static NOINLINE session *make_session()
{
	session *made = new session;

	stay();
	return hidden(made);
}

static NOINLINE void drop_session(session *which)
{
	delete which;
	stay();
}

static NOINLINE void use_session(session *which)
{
	which->turns = 5;
	stay();
}

static void write_deleted_object()
{
	session *which = make_session();

	drop_session(which);
	use_session(hidden(which));
}

static NOINLINE int *make_numbers(size_t count)
{
	int *made = new int[hidden(count)]();

	stay();
	return hidden(made);
}

static NOINLINE void set_number(int *at)
{
	*(volatile int *)at = 0x31;
}

// 44 bytes: the twelfth lies in the slack.
static void write_past_array()
{
	int *numbers = make_numbers(11);

	set_number(numbers + 11);
	delete[] numbers;
}

static NOINLINE int read_number(const int *at)
{
	return *(volatile const int *)at;
}

static void read_before_array()
{
	int *numbers = make_numbers(10);

	seen = read_number(numbers - 1);
	delete[] numbers;
}

static NOINLINE void grow_vector(std::vector<int> &numbers)
{
	numbers.push_back(hidden(4));
	stay();
}

static NOINLINE void fill_vector(std::vector<int> &numbers)
{
	numbers.reserve(20);
	numbers.resize(20);
	stay();
}

static void read_old_iterator()
{
	std::vector<int> numbers;
	const int *tenth;

	fill_vector(numbers);
	tenth = hidden(&numbers[10]);
	grow_vector(numbers);
	seen = read_number(tenth);
}

static NOINLINE const char *text_of_temporary(size_t length)
{
	std::string text(hidden(length), 't');

	return hidden(text.c_str());
}

static NOINLINE char first_of(const char *text)
{
	return *(volatile const char *)(text + 40);
}

static void read_temporary_text()
{
	seen = first_of(text_of_temporary(90));
}

static NOINLINE void release(std::shared_ptr<session> &owner)
{
	owner.reset();
	stay();
}

static void read_released_object()
{
	std::shared_ptr<session> owner = std::make_shared<session>();
	int *turns = hidden(&owner->turns);

	release(owner);
	seen = read_number(turns);
}

static NOINLINE line *make_lines(size_t count)
{
	line *made = new line[hidden(count)];

	stay();
	return hidden(made);
}

// Bare, the byte belongs to what glibc cut off behind the aligned block: it is read, not written.
static void read_past_aligned_array()
{
	line *lines = make_lines(3);

	seen = first_of(lines[3].bytes - 40);
	delete[] lines;
}

static NOINLINE void *allocate_plain(size_t size)
{
	void *block = checked(malloc(hidden(size)));

	stay();
	return hidden(block);
}

static NOINLINE char *allocate_new(size_t size)
{
	char *made = static_cast<char *>(operator new(hidden(size)));

	stay();
	return hidden(made);
}

static NOINLINE char *allocate_array(size_t size)
{
	char *made = new char[hidden(size)];

	stay();
	return hidden(made);
}

static NOINLINE void release_by_free(void *block)
{
	free(block);
	stay();
}

static NOINLINE void release_by_delete(void *block)
{
	operator delete(block);
	stay();
}

static NOINLINE void release_by_delete_array(void *block)
{
	operator delete[](block);
	stay();
}

static void malloc_then_delete()
{
	release_by_delete(allocate_plain(60));
}

static void malloc_then_delete_array()
{
	release_by_delete_array(allocate_plain(6000));
}

static void new_then_free()
{
	release_by_free(allocate_new(33));
}

static void new_array_then_free()
{
	release_by_free(allocate_array(333));
}

static void new_array_then_delete()
{
	release_by_delete(allocate_array(50000));
}

static void new_then_delete_array()
{
	release_by_delete_array(allocate_new(8));
}

struct shape {
	int sides = 4;
};

struct square : shape {
	double length[6] = {};
};

static NOINLINE shape *make_shape()
{
	shape *made = new square;

	stay();
	return hidden(made);
}

static NOINLINE void drop_shape(shape *which)
{
	delete which;
	stay();
}

// The destructor is not virtual: the compiler takes it for one of 4 bytes.
static void deleted_as_base()
{
	drop_shape(make_shape());
}

static void deleted_without_alignment()
{
	release_by_delete_array(make_lines(2));
}

static NOINLINE void delete_again(void *block)
{
	operator delete(block);
	stay();
}

// Bare, the second delete is of the object that took the first one's place.
static void double_delete()
{
	char *object = allocate_new(120), *other;

	release_by_delete(object);
	other = hidden(static_cast<char *>(operator new(120)));
	memset(other, 1, 120);
	delete_again(hidden(object));
}

static const test_case cases[] = {
	{"write_deleted_object", write_deleted_object},
	{"write_past_array", write_past_array},
	{"read_before_array", read_before_array},
	{"read_old_iterator", read_old_iterator},
	{"read_temporary_text", read_temporary_text},
	{"read_released_object", read_released_object},
	{"read_past_aligned_array", read_past_aligned_array},
	{"malloc_then_delete", malloc_then_delete},
	{"malloc_then_delete_array", malloc_then_delete_array},
	{"new_then_free", new_then_free},
	{"new_array_then_free", new_array_then_free},
	{"new_array_then_delete", new_array_then_delete},
	{"new_then_delete_array", new_then_delete_array},
	{"deleted_as_base", deleted_as_base},
	{"deleted_without_alignment", deleted_without_alignment},
	{"double_delete", double_delete},
};

CASES_MAIN(cases)
