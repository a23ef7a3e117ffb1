/* SPDX-License-Identifier: Apache-2.0 */
#include "libc/c_function.h"

#include "libc/c_name.h"

#include <string.h>

#define SCAN_MOST 65536 /* bytes of memory that are looked at for one access */
#define NEEDLE_MOST 64	/* elements of a string that is looked for */

#define NO (-1)
#define STRING(p)                           \
	{                                   \
		p, NO, NO, NO, C_TERMINATED \
	}
#define STRING_N(p, n)                     \
	{                                  \
		p, n, NO, NO, C_TERMINATED \
	}
#define SEARCH(p, c)                       \
	{                                  \
		p, NO, c, NO, C_TERMINATED \
	}
#define SEARCH_RAW(p, c)        \
	{                       \
		p, NO, c, NO, 0 \
	}
#define BLOCK(p, n)             \
	{                       \
		p, n, NO, NO, 0 \
	}
#define BLOCK_SEARCH(p, c, n)  \
	{                      \
		p, n, c, NO, 0 \
	}
#define BLOCK_SEARCH_LAST(p, c, n)       \
	{                                \
		p, n, c, NO, C_BACKWARDS \
	}
#define COMPARED(p, q)                                  \
	{                                               \
		p, NO, NO, q, C_TERMINATED | C_COMPARES \
	}
#define COMPARED_N(p, q, n)                            \
	{                                              \
		p, n, NO, q, C_TERMINATED | C_COMPARES \
	}
#define FOLDED(p, q)                                              \
	{                                                         \
		p, NO, NO, q, C_TERMINATED | C_COMPARES | C_FOLDS \
	}
#define FOLDED_N(p, q, n)                                        \
	{                                                        \
		p, n, NO, q, C_TERMINATED | C_COMPARES | C_FOLDS \
	}
#define SPAN(p, q)                                   \
	{                                            \
		p, NO, NO, q, C_TERMINATED | C_SPANS \
	}
#define SPAN_NOT(p, q)                                   \
	{                                                \
		p, NO, NO, q, C_TERMINATED | C_SPANS_NOT \
	}
#define FOUND(p, q)                                  \
	{                                            \
		p, NO, NO, q, C_TERMINATED | C_FINDS \
	}
#define FOUND_FOLDED(p, q)                                     \
	{                                                      \
		p, NO, NO, q, C_TERMINATED | C_FINDS | C_FOLDS \
	}
#define COUNT_OF(...) (sizeof((struct c_operand[]){__VA_ARGS__}) / sizeof(struct c_operand))

static const struct c_function functions[] = {
#define C_FUNCTION(name, width, ...) {#name, width, {__VA_ARGS__}, COUNT_OF(__VA_ARGS__)},
#include "libc/c_functions.def"
#undef C_FUNCTION
};

static bool begins_with(const char *symbol, const char *name)
{
	size_t length = strlen(name);

	return strncmp(symbol, name, length) == 0 && strchr("_.", symbol[length]);
}

const struct c_function *c_function_find(const char *symbol)
{
	const struct c_function *found = NULL;
	size_t longest = 0;

	symbol = c_plain_name(symbol);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		size_t length = strlen(functions[i].name);

		if (length > longest && begins_with(symbol, functions[i].name) &&
		    !strstr(symbol + length, ".cold")) {
			found = &functions[i];
			longest = length;
		}
	}
	return found;
}

/* glibc's, sysdeps/x86_64/multiarch: __strlen_avx2_rtm, __memcmp_sse4_1. A compiler puts a dot and
 * more behind the name of a part. */
static bool is_variant(const char *ending)
{
	static const char *const parts[] = {
		"sse2", "sse3", "sse4",	 "sse42",     "ssse3",	  "avx",  "avx2",      "avx512",
		"evex", "rtm",	"movbe", "unaligned", "evex512",  "erms", "no",	       "bsf",
		"1",	"2",	"slow",	 "generic",   "nonascii", "c",	  "vzeroupper"};

	while (*ending == '_') {
		size_t length = strcspn(++ending, "_."), i = 0;

		while (i < sizeof(parts) / sizeof(parts[0]) &&
		       (strlen(parts[i]) != length || strncmp(parts[i], ending, length) != 0))
			i++;
		if (i == sizeof(parts) / sizeof(parts[0]))
			return false;
		ending += length;
	}
	return *ending == '\0' || *ending == '.';
}

/* Of all others C or a standard above it reserves the name; a program's own of that name does the
 * same, as compilers take it to. */
static bool may_be_anybodys(const char *name)
{
	return strcmp(name, "index") == 0 || strcmp(name, "rindex") == 0;
}

const struct c_function *c_function_linked(const char *symbol)
{
	const struct c_function *function = c_function_find(symbol);

	return function && !may_be_anybodys(function->name) &&
			       is_variant(c_plain_name(symbol) + strlen(function->name))
		       ? function
		       : NULL;
}

/* One of their variants loads aligned words around the source and shifts what it wants out of them.
 */
bool c_function_copies(const char *symbol, bool linked)
{
	static const char *const copies[] = {"memcpy", "memmove", "mempcpy"};

	if (strstr(symbol, "ssse3"))
		return false;
	symbol = c_plain_name(symbol);
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++)
		if (begins_with(symbol, copies[i]))
			return !linked || is_variant(symbol + strlen(copies[i]));
	return false;
}

/* Memory read a piece at a time, forwards. */
struct reader {
	const struct symbol_memory *memory;
	unsigned width;
	uint64_t start;
	size_t length;
	uint8_t bytes[256];
};

static struct reader read_from(const struct c_call *call)
{
	return (struct reader){.memory = call->memory, .width = call->function->width};
}

/* As much as is there, up to the end of a page: what lies behind may not be mapped. */
static bool fill(struct reader *reader, uint64_t address)
{
	size_t length = sizeof(reader->bytes), left = 4096 - address % 4096;

	reader->start = address;
	reader->length = length < left ? length : left;
	if (!symbol_memory_read(reader->memory, address, reader->bytes, reader->length))
		return true;
	reader->length = 0;
	return false;
}

static bool element(struct reader *reader, uint64_t address, uint32_t *value)
{
	uint64_t offset = address - reader->start;

	*value = 0;
	if (offset >= reader->length || reader->length - offset < reader->width) {
		if (!fill(reader, address) || reader->length < reader->width)
			return false;
		offset = 0;
	}
	memcpy(value, reader->bytes + offset, reader->width);
	return true;
}

static uint32_t fold(uint32_t value)
{
	return value >= 'A' && value <= 'Z' ? value + ('a' - 'A') : value;
}

/* Is `value` one of string `set`? Negative: it could not be read. */
static int is_in(struct reader *reader, uint64_t set, uint32_t value)
{
	uint32_t one;

	for (uint64_t at = set; at - set < SCAN_MOST; at += reader->width) {
		if (!element(reader, at, &one))
			return -1;
		if (!one || one == value)
			return one != 0;
	}
	return -1;
}

/* How many elements string `needle` has. Negative: too many, or it could not be read. */
static int needle_length(struct reader *reader, uint64_t needle)
{
	uint32_t one;

	for (int length = 0; length <= NEEDLE_MOST; length++)
		if (!element(reader, needle + (unsigned)length * reader->width, &one))
			return -1;
		else if (!one)
			return length;
	return -1;
}

/* Does string `other` end with the element at `at`, of memory from `begin` on? Negative: it could
 * not be read. */
static int ends_here(const struct c_call *call, const struct c_operand *operand,
		     struct reader *reader, uint64_t at)
{
	uint64_t needle = call->argument[operand->other];
	uint64_t begin = call->argument[operand->pointer];
	bool folds = operand->flags & C_FOLDS;
	int length = needle_length(&reader[0], needle);
	uint32_t one, two;

	if (length <= 0 || (at - begin) / reader->width + 1 < (unsigned)length)
		return length < 0 ? -1 : !length;
	/* From its end: most places differ there. */
	for (unsigned i = 0; i < (unsigned)length; i++) {
		uint64_t place = needle + ((unsigned)length - 1 - i) * reader->width;

		if (!element(&reader[0], place, &one) ||
		    !element(&reader[1], at - i * reader->width, &two))
			return -1;
		if (folds ? fold(one) != fold(two) : one != two)
			return 0;
	}
	return 1;
}

/* Do two elements of strings that are compared? Negative: what a locale folds beyond ASCII is not
 * known. */
static int differs(const struct c_operand *operand, uint32_t one, uint32_t two)
{
	if (!(operand->flags & C_FOLDS))
		return one != two;
	if (one != two && one >= 0x80 && two >= 0x80)
		return -1;
	return fold(one) != fold(two);
}

static bool is_known(const struct c_call *call, int number)
{
	return number >= 0 && (call->known >> number & 1);
}

/* Is the element at `at`, `value`, the last that is read? Negative: not known. `reader`: one for
 * the other string, one more. */
static int is_last(const struct c_call *call, const struct c_operand *operand,
		   struct reader *reader, uint64_t at, uint32_t value)
{
	uint64_t begin = call->argument[operand->pointer];
	unsigned width = call->function->width;
	uint32_t wanted, two;
	int in;

	if ((operand->flags & C_TERMINATED) && !value)
		return 1;
	if (operand->wanted >= 0) {
		wanted = (uint32_t)call->argument[operand->wanted];
		if (!is_known(call, operand->wanted))
			return -1;
		return value == (width == 1 ? wanted & 0xff : wanted);
	}
	if (operand->other < 0)
		return 0;
	if (!is_known(call, operand->other))
		return -1;
	if (operand->flags & C_FINDS)
		return ends_here(call, operand, reader, at);
	if (operand->flags & C_COMPARES)
		return element(&reader[0], call->argument[operand->other] + (at - begin), &two)
			       ? differs(operand, value, two)
			       : -1;
	in = is_in(&reader[0], call->argument[operand->other], value);
	return in < 0 ? -1 : (operand->flags & C_SPANS) ? !in : in;
}

struct range {
	uint64_t begin, end;
};

/* So many elements are read, whatever they are. */
static bool is_block(const struct c_operand *operand)
{
	return !operand->flags && operand->wanted < 0 && operand->other < 0;
}

static uint64_t end_of(uint64_t begin, uint64_t count, unsigned width)
{
	return count <= (UINT64_MAX - begin) / width ? begin + count * width : UINT64_MAX;
}

/* How far the operand is read from its pointer on, as far as `limit` at most. False: not known,
 * but no further than range->end. */
static bool forwards(const struct c_call *call, const struct c_operand *operand, uint64_t limit,
		     struct range *range)
{
	struct reader reader = read_from(call), others[2] = {read_from(call), read_from(call)};
	uint64_t at = range->begin, count = UINT64_MAX;
	bool certain = operand->count < 0 || is_known(call, operand->count);
	uint32_t value;
	int last;

	if (operand->count >= 0 && certain)
		count = call->argument[operand->count];
	if (is_block(operand) && certain) {
		range->end = end_of(range->begin, count, reader.width);
		return true;
	}
	range->end = limit;
	for (uint64_t i = 0; at < limit; i++, at += reader.width) {
		if (i >= count) {
			range->end = at;
			return certain;
		}
		if (at - range->begin > SCAN_MOST || !element(&reader, at, &value))
			return false;
		last = is_last(call, operand, others, at, value);
		certain &= last >= 0;
		if (last > 0) {
			range->end = at + reader.width;
			return certain;
		}
	}
	return certain;
}

static bool backwards(const struct c_call *call, const struct c_operand *operand, uint64_t limit,
		      struct range *range)
{
	struct reader reader = read_from(call), others[2] = {reader, reader};
	unsigned width = reader.width;
	uint32_t value;
	int last;

	range->end = UINT64_MAX;
	if (!is_known(call, operand->count))
		return false;
	range->end = end_of(range->begin, call->argument[operand->count], width);
	for (uint64_t at = range->end; at > range->begin && at > limit; at -= width) {
		reader.length = 0;
		if (range->end - at > SCAN_MOST / 64 || !element(&reader, at - width, &value))
			return false;
		last = is_last(call, operand, others, at - width, value);
		if (last < 0)
			return false;
		if (last) {
			range->begin = at - width;
			break;
		}
	}
	return true;
}

enum c_extent c_extent(const struct c_call *call, uint64_t *first, uint64_t *length)
{
	const struct c_function *function = call->function;
	uint64_t limit = *first + *length;
	bool certain = true;

	for (unsigned i = 0; i < function->operands; i++) {
		const struct c_operand *operand = &function->operand[i];
		struct range range = {0};
		bool known;

		if (!is_known(call, operand->pointer)) {
			certain = false;
			continue;
		}
		range.begin = call->argument[operand->pointer];
		known = operand->flags & C_BACKWARDS ? backwards(call, operand, *first, &range)
						     : forwards(call, operand, limit, &range);
		if (range.end > limit)
			range.end = limit;
		if (range.begin < *first)
			range.begin = *first;
		if (range.begin >= range.end)
			continue;
		if (!known) {
			certain = false;
			continue;
		}
		*first = range.begin;
		*length = range.end - range.begin;
		return C_EXTENT_WITHIN;
	}
	return certain ? C_EXTENT_OUTSIDE : C_EXTENT_UNKNOWN;
}
