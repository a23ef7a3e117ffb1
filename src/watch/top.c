/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/top.h"

#include "base/clock.h"
#include "record/utf8.h"
#include "watch/filter.h"
#include "watch/line.h"
#include "watch/place.h"
#include "watch/state.h"
#include "watch/terminal.h"
#include "watch/wanted.h"
#include "watch/watched.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REFRESH_NS 250000000u
#define RATE_NS 1000000000u /* ns over which a rate is taken */
#define FIXED_ROWS 4	    /* rows of title, keys, heading, and the program's last line */
#define TAIL 512

enum order { BY_COUNT, BY_RATE, BY_TIME, BY_PLACE };
static const char *const order_name[] = {"count", "rate", "last", "place"};

struct row {
	size_t place;
	double rate;
};

struct top {
	struct terminal *terminal;
	FILE *held; /* what the program has written, in a file without a name */
	off_t passed_on;
	int own_stderr; /* a copy of our standard error; -1: that is no terminal */
	bool left;
	enum order order;
	uint64_t drawn, rated, began;
	uint64_t *before; /* each place's count when rates were last taken */
	double *rate;
	size_t known; /* number of places in `before` and `rate` */
};

/* Our own messages would be printed into the table: they are held in a file until its end. */
static void hold_messages(struct top *top)
{
	int fd = fileno(top->held);

	/* O_APPEND: several writers share the file, and each adds at its end. */
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_APPEND);
	if (!isatty(STDERR_FILENO))
		return;
	top->own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (top->own_stderr >= 0)
		dup2(fd, STDERR_FILENO);
}

int top_open(struct top **top)
{
	struct top *made = calloc(1, sizeof(*made));
	int err;

	if (!made)
		return -ENOMEM;
	made->own_stderr = -1;
	made->held = tmpfile();
	err = made->held ? terminal_open(&made->terminal) : -errno;
	if (err) {
		if (made->held)
			fclose(made->held);
		free(made);
		return err;
	}
	hold_messages(made);
	*top = made;
	return 0;
}

int top_output(const struct top *top)
{
	return fileno(top->held);
}

/* ---- rates -------------------------------------------------------------------------------- */

static bool make_room(struct top *top, size_t places)
{
	uint64_t *before;
	double *rate;

	if (places <= top->known)
		return true;
	before = realloc(top->before, places * sizeof(*before));
	if (before)
		top->before = before;
	rate = realloc(top->rate, places * sizeof(*rate));
	if (rate)
		top->rate = rate;
	if (!before || !rate)
		return false;
	for (; top->known < places; top->known++) {
		top->before[top->known] = 0;
		top->rate[top->known] = 0;
	}
	return true;
}

static void take_rates(struct top *top, const struct watch *watch, uint64_t now)
{
	double seconds = (double)(now - top->rated) / 1e9;

	for (size_t i = 0; i < watch->places; i++) {
		top->rate[i] = (double)(watch->place[i].count - top->before[i]) / seconds;
		top->before[i] = watch->place[i].count;
	}
	top->rated = now;
}

/* ---- the table ---------------------------------------------------------------------------- */

struct sorting {
	const struct top *top;
	const struct watch *watch;
};

static int compare_numbers(double a, double b)
{
	return a == b ? 0 : a > b ? -1 : 1;
}

static int compare(const void *a, const void *b, void *context)
{
	const struct sorting *sorting = context;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const struct place *x = &sorting->watch->place[i], *y = &sorting->watch->place[j];
	int result = 0;

	if (sorting->top->order == BY_RATE)
		result = compare_numbers(sorting->top->rate[i], sorting->top->rate[j]);
	else if (sorting->top->order == BY_TIME)
		result = compare_numbers((double)x->last_time, (double)y->last_time);
	else if (sorting->top->order == BY_PLACE)
		result = strcmp(x->text ? x->text : "", y->text ? y->text : "");
	return result ? result : compare_numbers((double)x->count, (double)y->count);
}

/* Writes at most `columns` columns of the text, never a part of a character's bytes. */
static void put_text(FILE *to, const char *text, unsigned columns)
{
	for (unsigned used = 0; *text && used < columns; used++) {
		size_t length = utf8_showable(text);

		if (length)
			fwrite(text, 1, length, to);
		else
			fputc('?', to);
		text += length ? length : 1;
	}
}

/* Writes the text and clears the rest of its row. */
static void put_line(FILE *to, const char *text, unsigned columns)
{
	put_text(to, text, columns);
	fputs("\033[K\r\n", to);
}

static void put_title(FILE *to, const struct top *top, const struct watch *watch, uint64_t now,
		      unsigned columns)
{
	double rate = 0;
	uint64_t count = 0;
	char text[512];

	for (size_t i = 0; i < watch->places; i++) {
		rate += top->rate[i];
		count += watch->place[i].count;
	}
	snprintf(text, sizeof(text), "trapline watch  %.0f s  %llu hits  %.0f/s%s  %s",
		 (double)(now - top->began) / 1e9, (unsigned long long)count, rate,
		 watch->options.sampled ? " (of those seen within --budget)" : "",
		 watch->options.program ? watch->options.program : "");
	put_line(to, text, columns);
	snprintf(text, sizeof(text),
		 "sorted by %s   keys: c count  r rate  l last  p place  q quit",
		 order_name[top->order]);
	put_line(to, text, columns);
}

static void put_row(FILE *to, const struct top *top, const struct watch *watch, size_t index,
		    unsigned columns)
{
	const struct place *place = &watch->place[index];
	const struct wanted *wanted = &watch->wanted[place->wanted];
	char text[1024], value[32];

	value_text(wanted, place->last_known, place->last_value, value, sizeof(value));
	snprintf(text, sizeof(text), "%10llu %8.0f %-5s %12s %-12.12s %s%s%s",
		 (unsigned long long)place->count, top->rate[index],
		 finding_operation_name(place->operation),
		 place->operation == FINDING_EXECUTE ? "" : value, place->last_thread,
		 place->text ? place->text : "?", watch->options.expressions > 1 ? "  of " : "",
		 watch->options.expressions > 1 ? wanted->text : "");
	put_line(to, text, columns);
}

static void put_rows(FILE *to, const struct top *top, const struct watch *watch, unsigned rows,
		     unsigned columns)
{
	struct sorting sorting = {top, watch};
	size_t *order = calloc(watch->places ? watch->places : 1, sizeof(*order));

	if (!order)
		return;
	for (size_t i = 0; i < watch->places; i++)
		order[i] = i;
	qsort_r(order, watch->places, sizeof(*order), compare, &sorting);
	for (size_t i = 0; i < watch->places && i < rows; i++)
		put_row(to, top, watch, order[i], columns);
	free(order);
}

/* Writes the last line of the program's output, by which one sees that the program is alive. */
static void put_tail(FILE *to, const struct top *top, unsigned rows, unsigned columns)
{
	char text[TAIL + 16] = "program: ", *line, *end;
	size_t prefix = strlen(text);
	struct stat status;
	ssize_t length;

	if (fstat(top_output(top), &status))
		return;
	length = pread(top_output(top), text + prefix, TAIL - 1,
		       status.st_size > TAIL ? status.st_size - TAIL : 0);
	if (length <= 0)
		return;
	text[prefix + (size_t)length] = '\0';
	line = text + prefix;
	for (end = line + length; end > line && isspace((unsigned char)end[-1]); end--)
		end[-1] = '\0';
	end = strrchr(line, '\n');
	if (end)
		memmove(line, end + 1, strlen(end + 1) + 1);
	fprintf(to, "\033[%u;1H", rows);
	put_text(to, text, columns);
	fputs("\033[K", to);
}

static void draw(struct top *top, struct watch *watch, uint64_t now)
{
	unsigned rows, columns;
	size_t length = 0;
	char *text = NULL;
	FILE *to = open_memstream(&text, &length);

	if (!to)
		return;
	terminal_size(top->terminal, &rows, &columns);
	fputs("\033[H", to);
	put_title(to, top, watch, now, columns);
	fputs("\033[7m", to);
	put_line(to, "     COUNT   RATE/S OP      LAST VALUE LAST THREAD  PLACE", columns);
	fputs("\033[0m", to);
	if (rows > FIXED_ROWS)
		put_rows(to, top, watch, rows - FIXED_ROWS, columns);
	fputs("\033[J", to);
	put_tail(to, top, rows, columns);
	if (!fclose(to))
		terminal_write(top->terminal, text, length);
	free(text);
}

/* ---- keys, and the program's output --------------------------------------------------------- */

static bool take_keys(struct top *top, bool *changed)
{
	int key;

	while ((key = terminal_key(top->terminal))) {
		*changed = true;
		if (key == 'q' || key == 'Q')
			return false;
		if (key == 'c')
			top->order = BY_COUNT;
		else if (key == 'r')
			top->order = BY_RATE;
		else if (key == 'l')
			top->order = BY_TIME;
		else if (key == 'p')
			top->order = BY_PLACE;
	}
	return true;
}

static void pass_on(struct top *top)
{
	char buffer[4096];
	ssize_t length;

	while ((length = pread(top_output(top), buffer, sizeof(buffer), top->passed_on)) > 0) {
		terminal_write(top->terminal, buffer, (size_t)length);
		top->passed_on += length;
	}
}

bool top_tick(struct top *top, struct watch *watch)
{
	uint64_t now = clock_now();
	bool changed = false;

	if (top->left) {
		pass_on(top);
		return true;
	}
	if (!top->began)
		top->began = top->rated = now;
	if (!take_keys(top, &changed))
		return false;
	if (now - top->drawn < REFRESH_NS && !changed)
		return true;
	for (struct watched *process = watch->processes; process; process = process->next)
		filter_refresh(watch, process);
	if (!make_room(top, watch->places))
		return true;
	if (now - top->rated >= RATE_NS)
		take_rates(top, watch, now);
	draw(top, watch, now);
	top->drawn = now;
	return true;
}

void top_leave(struct top *top)
{
	if (top->left) {
		pass_on(top);
		return;
	}
	top->left = true;
	terminal_leave(top->terminal);
	pass_on(top);
	if (top->own_stderr >= 0) {
		dup2(top->own_stderr, STDERR_FILENO);
		close(top->own_stderr);
	}
}

void top_close(struct top *top)
{
	if (!top)
		return;
	top_leave(top);
	terminal_close(top->terminal);
	fclose(top->held);
	free(top->before);
	free(top->rate);
	free(top);
}
