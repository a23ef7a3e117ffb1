/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who damaged the stack? Run alone, this program ends with "stack smashing detected", which names
 * nobody. `trapline stack --tool-option function=parse_header -- build/examples/stack_overwrite`
 * names the line that wrote beyond the array.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct request {
	const char *text;
};

__attribute__((noinline)) static void copy_name(char *to, const char *from)
{
	while (*from && *from != ':')
		*to++ = *from++;
	*to = '\0';
}

__attribute__((noinline)) static int parse_header(const struct request *request)
{
	char name[24];

	copy_name(name, request->text);
	return name[0];
}

int main(void)
{
	static const struct request good = {"Content-Length: 4"};
	static const struct request bad = {
		"X-A-Header-With-A-Name-That-Is-Longer-Than-Anybody-Thought: 1"};
	int sum = 0;

	for (int i = 0; i < 40; i++) {
		sum += parse_header(&good);
		usleep(20000);
	}
	sum += parse_header(&bad);
	printf("%d\n", sum);
	return 0;
}
