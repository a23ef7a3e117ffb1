/* SPDX-License-Identifier: Apache-2.0 */
/* A request on its creator's stack is set up before its thread begins, and read when that has
 * ended. */
#include <threads.h>

struct request {
	char name[24];
	int length;
	int object;
};

static int answer(void *argument)
{
	struct request *request = argument;

	request->object = request->length + 1;
	return 0;
}

int main(void)
{
	struct request request = {.length = 3};
	thrd_t thread;

	request.object = 7;
	thrd_create(&thread, answer, &request);
	thrd_join(thread, NULL);
	return request.object != 4;
}
