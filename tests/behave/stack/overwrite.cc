/* SPDX-License-Identifier: Apache-2.0 */
/* The function named is one of C++, with an overload: see cases.h. */
#include "cases.h"

namespace requests
{

struct parser {
	APART void victim_method(const char *text);
	APART void victim_method(int number);
};

APART void overrun_bytes(char *to, const char *from, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		((volatile char *)to)[i] = from[i];
}

void parser::victim_method(const char *text)
{
	char copy[16];

	overrun_bytes(copy, text, 48);
	work();
	cases_sum += (unsigned long)copy[3];
}

void parser::victim_method(int number)
{
	char digits[24];

	memset(digits, number, sizeof(digits));
	HIDE(number);
	work();
	cases_sum += (unsigned long)((volatile char *)digits)[3];
}

} // namespace requests

static void method(void)
{
	static const char text[64] = "longer than there is room for it in the frame";
	requests::parser parser;

	for (int i = 0; again(); i++) {
		parser.victim_method(i);
		usleep(500);
		if (i == 200)
			parser.victim_method(text);
	}
}

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {{"method", method}, {NULL, NULL}};

	return run_case(cases, argc, argv);
}
