/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of locals that functions of the C library derive, keep or are given, that leave in
 * pairs or in structures, and from frames that are left, aligned or grown. */
#include "handed.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/uio.h>
#include <alloca.h>

/* What strchr() finds, in a global */
static char *volatile found;
APART static void touch_found(void)
{
	if (found)
		cases_sum += (unsigned char)found[1];
}
APART static void leave_found(void)
{
	LOCAL char line[80];
	snprintf(line, sizeof line, "key%lu=value", cases_sum % 10);
	found = strchr(line, '=');
	work();
	cases_sum += (unsigned char)line[2];
	FINISH(touch_found, found = NULL);
}
CASE(found, 800)

/* The state of strtok_r(), in the heap */
struct parser {
	int n;
	char *save;
	char *token;
};
static struct parser *parser;
APART static void touch_token(void)
{
	char *t = strtok_r(NULL, " ", &parser->save);
	if (t)
		cases_sum += (unsigned char)t[0];
}
APART static void leave_token(void)
{
	LOCAL char text[64];
	if (!parser)
		parser = calloc(1, sizeof *parser);
	strcpy(text, "one two three four five six seven eight nine ten");
	parser->token = strtok_r(text, " ", &parser->save);
	work();
	cases_sum += strlen(parser->token);
	FINISH(touch_token, (parser->save = NULL, parser->token = NULL));
}
CASE(token, 1500)

/* What memchr() finds, handed back */
APART static char *leave_searched0(void)
{
	LOCAL char data[100];
	memset(data, 1, sizeof data);
	data[40 + cases_sum % 7] = 9;
	work();
	return memchr(data, 9, sizeof data);
}
APART static void touch_searched0(char *p)
{
	if (p) {
		work();
		cases_sum += (unsigned char)p[3];
	}
}
static void run_searched(void)
{
	while (again()) {
		char *p = leave_searched0();
#if CORRECT == 2
		p = NULL;
#endif
		usleep(700);
		touch_searched0(p);
	}
}

/* The result of strncpy(), which strlen() reads */
APART static char *leave_copied0(const char *from)
{
	LOCAL char name[48];
	char *r = strncpy(name, from, sizeof name - 1);
	name[47] = 0;
	HIDE(r);
	return r;
}
APART static void touch_copied0(const char *p)
{
	cases_sum += strlen(p);
}
static void run_copied(void)
{
	while (again()) {
		const char *p = leave_copied0("a name that is long enough");
#if CORRECT == 2
		p = "x";
#endif
		touch_copied0(p);
		usleep(500);
	}
}

/* A stream's buffer */
static FILE *stream;
APART static void touch_buffered(void)
{
	if (stream) {
		fputs("some text", stream);
		work();
	}
}
APART static void touch_closed(void)
{
	if (stream)
		fclose(stream);
	stream = NULL;
	work();
}
APART static void leave_buffered(void)
{
	LOCAL char buffer[512];
	touch_closed();
	stream = fopen("/dev/null", "w");
	setvbuf(stream, buffer, _IOFBF, sizeof buffer);
	fputs("first", stream);
	FINISH(touch_buffered, (fclose(stream), stream = NULL));
}
static void run_buffered(void)
{
	while (again()) {
		leave_buffered();
		for (int i = 0; i < 8 && !forgotten; i++) {
			usleep(900);
			touch_buffered();
		}
		if (forgotten)
			usleep(500);
	}
}

/* A variable of the environment */
APART static void touch_environment(void)
{
	const char *v = getenv("FRESH_NAME");
	if (v)
		cases_sum += (unsigned char)v[0];
}
/* The C library compares it to the one before. */
APART static void touch_put(char *text)
{
	putenv(text);
	work();
}
APART static void leave_environment(void)
{
	LOCAL char text[40];
	snprintf(text, sizeof text, "FRESH_NAME=%lu", cases_sum % 100);
	touch_put(text);
	work();
	FINISH(touch_environment, unsetenv("FRESH_NAME"));
}
CASE(environment, 1000)

/* A thread's own pointer */
static pthread_key_t key;
APART static void touch_specific(void)
{
	long *p = pthread_getspecific(key);
	if (p)
		cases_sum += (unsigned long)p[2];
}
APART static void leave_specific(void)
{
	LOCAL long state[8];
	if (!key) {
		pthread_key_create(&key, NULL);
	}
	for (int i = 0; i < 8; i++)
		state[i] = i;
	HIDE(state[0]);
	pthread_setspecific(key, state);
	work();
	FINISH(touch_specific, pthread_setspecific(key, NULL));
}
CASE(specific, 900)

/* In an array of struct iovec */
static struct iovec *parts;
APART static void touch_parts(void)
{
	char out[32];
	if (parts[1].iov_base) {
		memcpy(out, parts[1].iov_base, 32);
		cases_sum += (unsigned char)out[5];
	}
}
APART static void leave_parts(void)
{
	LOCAL char head[32], body[64];
	if (!parts)
		parts = calloc(4, sizeof *parts);
	memset(head, 2, sizeof head);
	memset(body, 3, sizeof body);
	parts[0] = (struct iovec){head, sizeof head};
	parts[1] = (struct iovec){body, sizeof body};
	work();
	cases_sum += (unsigned char)body[3];
	FINISH(touch_parts, (parts[0].iov_base = parts[1].iov_base = NULL));
}
CASE(parts, 1200)

/* A thread's argument */
struct job {
	long a[8];
};
static void *touch_job(void *p)
{
	struct job *job = p;
	usleep(3000);
	for (int i = 0; i < 20; i++) {
		cases_sum += (unsigned long)((volatile struct job *)job)->a[i % 8];
		usleep(500);
	}
	return NULL;
}
APART static void leave_job(pthread_t *t)
{
	LOCAL struct job job;
	for (int i = 0; i < 8; i++)
		job.a[i] = i;
	pthread_create(t, NULL, touch_job, &job);
	work();
#if CORRECT == 2
	pthread_join(*t, NULL);
#endif
	cases_sum += (unsigned long)job.a[3];
}
static void run_jobs(void)
{
	while (again()) {
		pthread_t t;
		leave_job(&t);
		for (int i = 0; i < 12; i++)
			usleep(1500);
#if CORRECT != 2
		pthread_join(t, NULL);
#endif
	}
}

/* Left by longjmp(), used deeper */
static jmp_buf back;
static long *volatile jumped_pointer;
APART static long touch_jumped1(int depth)
{
	volatile long pad[6];
	pad[0] = depth;
	if (depth)
		return touch_jumped1(depth - 1) + pad[0];
	return jumped_pointer ? jumped_pointer[1] : 0;
}
APART static void leave_jumped2(void)
{
	LOCAL long values[12];
	for (int i = 0; i < 12; i++)
		values[i] = i + (long)cases_sum;
	jumped_pointer = values + 2;
	work();
#if CORRECT == 2
	cases_sum += (unsigned long)touch_jumped1(3);
	jumped_pointer = NULL;
#endif
	longjmp(back, 1);
}
APART static void jumped1(void)
{
	if (!setjmp(back))
		leave_jumped2();
}
static void run_jumped(void)
{
	for (unsigned i = 0; again(); i++) {
		jumped1();
		usleep(700);
		if (i % 4 == 0)
			cases_sum += (unsigned long)touch_jumped1(3);
	}
}

/* Aligned more than the stack is */
struct wide {
	_Alignas(64) long v[16];
};
static struct wide *volatile wide;
APART static void touch_aligned(void)
{
	if (wide)
		cases_sum += (unsigned long)wide->v[9];
}
APART static void leave_aligned(void)
{
	LOCAL struct wide local;
	for (int i = 0; i < 16; i++)
		local.v[i] = i;
	wide = &local;
	work();
	FINISH(touch_aligned, wide = NULL);
}
CASE(aligned, 900)

/* The middle of an array of variable length */
struct window {
	size_t n;
	int *middle;
};
static struct window *window;
APART static void touch_window(void)
{
	if (window->middle)
		cases_sum += (unsigned)window->middle[-2];
}
APART static void leave_window(int n)
{
#if CORRECT == 1
	static int array[100];
#else
	int array[n];
#endif
	if (!window)
		window = calloc(1, sizeof *window);
	for (int i = 0; i < n; i++)
		array[i] = i;
	window->n = (size_t)n;
	window->middle = &array[n / 2];
	work();
	cases_sum += (unsigned)array[n - 1];
	FINISH(touch_window, window->middle = NULL);
}
static void run_windows(void)
{
	for (unsigned i = 0; again(); i++) {
		leave_window(20 + (int)(i % 30));
		usleep(1000);
		if (i % 6 == 0 && !forgotten)
			touch_window();
	}
}

/* Two pointers, which one vector may store */
struct range {
	char *begin, *end;
};
static struct range *range;
APART static void touch_range(void)
{
	for (char *p = range->begin; p != range->end; p++)
		cases_sum += (unsigned char)*p;
}
APART static void leave_range(void)
{
	LOCAL char bytes[24];
	if (!range)
		range = malloc(sizeof *range);
	memset(bytes, (int)cases_sum & 63, sizeof bytes);
	range->begin = bytes;
	range->end = bytes + sizeof bytes;
	work();
	cases_sum += (unsigned char)bytes[1];
	FINISH(touch_range, (range->begin = range->end = NULL));
}
CASE(range, 1100)

/* In a table */
static const char *table[16];
static unsigned table_at;
APART static void touch_table(void)
{
	for (int i = 0; i < 16; i++)
		if (table[i])
			cases_sum += (unsigned char)table[i][0];
}
APART static void enter(const char *name)
{
	table[table_at++ % 16] = name;
}
APART static void leave_table(void)
{
	LOCAL char name[16];
	snprintf(name, sizeof name, "n%lu", cases_sum % 1000);
	enter(name);
	work();
	FINISH(touch_table, memset(table, 0, sizeof table));
}
CASE(table, 1000)

/* In a structure that is handed back */
struct slice {
	const char *text;
	size_t length;
};
APART static struct slice leave_slice(void)
{
	LOCAL char text[60];
	snprintf(text, sizeof text, "slice number %lu", cases_sum % 1000);
	work();
	struct slice s = {text, strlen(text)};
#if CORRECT == 2
	s.text = "constant text";
	s.length = 8;
#endif
	HIDE(s.text);
	return s;
}
APART static void touch_slice(struct slice s)
{
	for (size_t i = 0; i < s.length && i < 8; i++)
		cases_sum += (unsigned char)s.text[i];
}
static void run_slices(void)
{
	while (again()) {
		struct slice s = leave_slice();
		touch_slice(s);
		usleep(600);
	}
}

/* A node of a list */
struct node {
	struct node *next, *prev;
	long v;
};
static struct node *head;
APART static void touch_nodes(void)
{
	for (struct node *n = head->next; n != head; n = n->next)
		cases_sum += (unsigned long)n->v;
}
APART static void touch_first(void)
{
	cases_sum += (unsigned long)head->next->v;
}
APART static void leave_nodes(void)
{
	LOCAL struct node node;
	node.v = (long)cases_sum;
	node.next = head->next;
	node.prev = head;
	head->next = &node;
	work();
	FINISH(touch_nodes, head->next = head->prev = head);
}
static void run_nodes(void)
{
	head = malloc(sizeof *head);
	head->next = head->prev = head;
	for (unsigned i = 0; again(); i++) {
		head->next = head->prev = head;
		leave_nodes();
		usleep(1000);
		if (i % 6 == 0 && !forgotten)
			touch_first();
	}
}

/* What a handler of signals uses */
static struct job *volatile handled;
static void touch_signal(int s)
{
	(void)s;
	if (handled)
		cases_sum += (unsigned long)handled->a[4];
}
APART static void leave_signal(void)
{
	LOCAL struct job job;
	for (int i = 0; i < 8; i++)
		job.a[i] = i;
	handled = &job;
	work();
	cases_sum += (unsigned long)job.a[2];
#if CORRECT == 2
	raise(SIGUSR1);
	handled = NULL;
#endif
}
static void run_signals(void)
{
	signal(SIGUSR1, touch_signal);
	for (unsigned i = 0; again(); i++) {
		leave_signal();
		usleep(900);
		if (i % 5 == 0)
			raise(SIGUSR1);
	}
}

/* Handed back, for the C library to read */
APART static char *leave_bad(void)
{
	LOCAL char charString[] = "helperBad string";
	char *p = charString;
	HIDE(p);
	return p;
}
APART static void touch_print(const char *s)
{
	char out[64];
	snprintf(out, sizeof out, "%s", s);
	cases_sum += (unsigned char)out[1];
}
static void run_juliet(void)
{
	while (again()) {
		char *p = leave_bad();
#if CORRECT == 2
		p = "x";
#endif
		touch_print(p);
		usleep(500);
	}
}

/* From alloca(), as a callback's argument */
static void (*call)(void *);
static void *call_argument;
static void touch_call(void *p)
{
	cases_sum += (unsigned long)((long *)p)[1];
}
APART static void leave_alloca(size_t n)
{
	long *p = CORRECT == 1 ? (long *)malloc(n * 8) : (long *)alloca(n * sizeof(long));
	for (size_t i = 0; i < n; i++)
		p[i] = (long)i;
	call = touch_call;
	call_argument = p;
	work();
#if CORRECT == 2
	call(call_argument);
	call = NULL;
#endif
}
static void run_allocas(void)
{
	for (unsigned i = 0; again(); i++) {
		leave_alloca(4 + i % 9);
		usleep(800);
		if (i % 6 == 0 && call)
			call(call_argument);
	}
}

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {
		{"found", run_found},	    {"token", run_token},
		{"searched", run_searched}, {"copied", run_copied},
		{"buffered", run_buffered}, {"environment", run_environment},
		{"specific", run_specific}, {"parts", run_parts},
		{"jobs", run_jobs},	    {"jumped", run_jumped},
		{"aligned", run_aligned},   {"windows", run_windows},
		{"range", run_range},	    {"table", run_table},
		{"slices", run_slices},	    {"nodes", run_nodes},
		{"signals", run_signals},   {"juliet", run_juliet},
		{"allocas", run_allocas},   {NULL, NULL}};
	return run_case(cases, argc, argv);
}
