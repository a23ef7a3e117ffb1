/* SPDX-License-Identifier: Apache-2.0 */
/* A request on its creator's stack is answered while that looks, by C11's threads. */
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
	int early;

	thrd_create(&thread, answer, &request);
	early = request.object;
	thrd_join(thread, NULL);
	return early != 0 && early != 4;
}
