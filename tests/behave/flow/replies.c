/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes, of which one replies to what the other asks: by pipes, and in memory that both
 * have. See asked.c.
 *
 * usage: replies CASE SECONDS
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kinds.h"

/* a process that doubles what it is sent, by pipes */
static int to_child[2], from_child[2];
static uint64_t asked, answer;

static APART void ask_child(void)
{
	asked = made;
	if (write(to_child[1], &asked, sizeof(asked)) != sizeof(asked) ||
	    read(from_child[0], &answer, sizeof(answer)) != sizeof(answer))
		abort();
}

static APART void finish_answer(void)
{
	result = answer;
}

static void serve_pipe(void)
{
	uint64_t question, reply;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(to_child[1]);
	while (read(to_child[0], &question, sizeof(question)) == sizeof(question)) {
		reply = question * 2;
		if (write(from_child[1], &reply, sizeof(reply)) != sizeof(reply))
			break;
	}
	_exit(0);
}

static void through_pipes(void)
{
	static int child = -1;

	if (child < 0) {
		if (pipe(to_child) != 0 || pipe(from_child) != 0)
			abort();
		child = fork();
		if (child == 0)
			serve_pipe();
	}
	ask_child();
	finish_answer();
}

/* the same in memory that both have */
struct board {
	_Atomic unsigned asked, answered;
	uint64_t question, reply;
};

static struct board *board;

static APART void ask_board(void)
{
	board->question = made;
	board->asked++;
}

static APART void reply_board(void)
{
	board->reply = board->question * 2;
	board->answered++;
}

static APART void finish_board(void)
{
	result = board->reply;
}

static void serve_board(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		while (board->asked == board->answered)
			sched_yield();
		reply_board();
	}
}

static void through_board(void)
{
	if (!board) {
		board = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (board == MAP_FAILED)
			abort();
		if (fork() == 0)
			serve_board();
	}
	ask_board();
	while (board->asked != board->answered)
		sched_yield();
	finish_board();
}

static const struct road roads[] = {{"pipes", through_pipes}, {"board", through_board}};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
