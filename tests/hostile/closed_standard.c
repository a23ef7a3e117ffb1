/* SPDX-License-Identifier: Apache-2.0 */
/* Runs itself again with stdin, stdout and stderr closed: its own files get 0, 1 and 2. */
#include "hostile.h"

static int second_run(void)
{
	int first = open("/dev/null", O_RDONLY);
	int second = open("/dev/null", O_WRONLY);
	int third = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (first != 0 || second != 1 || third != 2)
		return 10 + first;
	noise_start();
	nap(2000000);
	noise_stop();
	return write(third, "mine", 4) == 4 && lseek(third, 0, SEEK_CUR) == 4 ? 0 : 2;
}

int main(int argc, char **argv)
{
	char content[20] = "";
	int status, fd;
	pid_t child;

	if (argc > 1)
		return second_run();
	child = fork();
	if (child == 0) {
		close(0);
		close(1);
		close(2);
		execl(argv[0], argv[0], "again", (char *)NULL);
		_exit(9);
	}
	expect(waitpid(child, &status, 0) == child);
	fd = open("out", O_RDONLY);
	expect(fd >= 0 && read(fd, content, sizeof(content) - 1) >= 0);
	expect(unlink("out") == 0);
	say("exited %d, wrote \"%s\"", WEXITSTATUS(status), content);
	return 0;
}
