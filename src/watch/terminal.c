/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Sequences of every terminal since the VT100 and xterm: alternate screen with the cursor hidden,
 * and back. */
#define ENTER "\033[?1049h\033[?25l\033[2J"
#define LEAVE "\033[?25h\033[?1049l"

struct terminal {
	int fd;
	bool entered;
	struct termios before;
};

/* the terminal that is left when the process ends by exit(); NULL: none */
static struct terminal *current;

static void leave_current(void)
{
	if (current)
		terminal_leave(current);
}

static int set_mode(struct terminal *terminal)
{
	struct termios mode;

	if (tcgetattr(terminal->fd, &terminal->before))
		return -errno;
	mode = terminal->before;
	/* The keyboard's signals stay on, so that Ctrl-C still ends the program. */
	mode.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	mode.c_cc[VMIN] = 0;
	mode.c_cc[VTIME] = 0;
	return tcsetattr(terminal->fd, TCSAFLUSH, &mode) ? -errno : 0;
}

int terminal_open(struct terminal **terminal)
{
	struct terminal *made = calloc(1, sizeof(*made));
	int err;

	if (!made)
		return -ENOMEM;
	made->fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	err = made->fd < 0 ? -errno : set_mode(made);
	if (err) {
		if (made->fd >= 0)
			close(made->fd);
		free(made);
		return err;
	}
	made->entered = true;
	if (!current)
		atexit(leave_current);
	current = made;
	terminal_write(made, ENTER, sizeof(ENTER) - 1);
	*terminal = made;
	return 0;
}

int terminal_key(struct terminal *terminal)
{
	struct pollfd ready = {terminal->fd, POLLIN, 0};
	unsigned char key;

	if (!terminal->entered || poll(&ready, 1, 0) != 1 || read(terminal->fd, &key, 1) != 1)
		return 0;
	return key;
}

void terminal_size(const struct terminal *terminal, unsigned *rows, unsigned *columns)
{
	struct winsize size;

	*rows = 24;
	*columns = 80;
	if (ioctl(terminal->fd, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		return;
	*rows = size.ws_row;
	*columns = size.ws_col;
}

void terminal_write(struct terminal *terminal, const char *text, size_t length)
{
	while (length) {
		ssize_t written = write(terminal->fd, text, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return;
		text += written;
		length -= (size_t)written;
	}
}

void terminal_leave(struct terminal *terminal)
{
	if (!terminal->entered)
		return;
	terminal->entered = false;
	terminal_write(terminal, LEAVE, sizeof(LEAVE) - 1);
	tcsetattr(terminal->fd, TCSAFLUSH, &terminal->before);
}

void terminal_close(struct terminal *terminal)
{
	if (!terminal)
		return;
	terminal_leave(terminal);
	if (current == terminal)
		current = NULL;
	close(terminal->fd);
	free(terminal);
}
