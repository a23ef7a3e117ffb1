/* SPDX-License-Identifier: Apache-2.0 */
/* A record that describes its own message is handed over by it: to a pipe by writev(), back by the
 * counter of an eventfd. Who received it prepares it for the next one. */
#include "../harness.h"

#include <sys/eventfd.h>
#include <sys/uio.h>

static struct {
	struct iovec part[2];
	char head[16], text[48];
	uint64_t count;
} record;
static int forth[2], back;

static void prepare(unsigned char turn)
{
	memset(record.head, turn, sizeof(record.head));
	memset(record.text, turn, sizeof(record.text));
	record.part[0] = (struct iovec){record.head, sizeof(record.head)};
	record.part[1] = (struct iovec){record.text, 1 + turn % sizeof(record.text)};
	record.count = 1;
}

static void *forward(void *arg)
{
	uint64_t count;

	(void)arg;
	do {
		if (writev(forth[1], record.part, 2) < 17 ||
		    read(back, &count, sizeof(count)) != sizeof(count))
			exit(2);
		work(3000);
	} while (count < 1000);
	return NULL;
}

static void *answer(void *arg)
{
	char message[64];

	(void)arg;
	for (unsigned char turn = 0;; turn++) {
		int more = running();

		if (read(forth[0], message, sizeof(message)) < 17)
			exit(2);
		prepare(turn);
		record.count = more ? 1 : 1000;
		if (write(back, &record.count, sizeof(record.count)) != sizeof(record.count))
			exit(2);
		if (!more)
			return NULL;
	}
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	back = eventfd(0, 0);
	if (pipe(forth) || back < 0)
		return 2;
	prepare(0);
	harness_start(forward, 1);
	harness_start(answer, 1);
	return harness_finish();
}
