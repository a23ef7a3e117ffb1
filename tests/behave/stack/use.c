/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of frames that are gone: see cases.h. */
#include "cases.h"

#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>

struct context {
	long value[6];
	struct context *next;
};

static struct context *volatile kept;
static long *volatile kept_buffer;

static void fill(struct context *context)
{
	for (int i = 0; i < 6; i++)
		context->value[i] = (long)cases_sum + i;
	context->next = NULL;
}

/* ------------------------------------------------------------------------------------------- */
/* In a global variable */

APART static void keep(struct context *context)
{
	kept = context;
}

APART static void leave_global(void)
{
	struct context context;

	fill(&context);
	keep(&context);
	cases_sum += (unsigned long)context.value[cases_sum % 6];
}

APART static void touch_global(void)
{
	cases_sum += (unsigned long)kept->value[3];
}

static void global_hot(void)
{
	while (again())
		for (int i = 0; i < 100; i++) {
			leave_global();
			work();
			touch_global();
		}
}

static void global_rare(void)
{
	for (unsigned i = 0; again(); i++) {
		leave_global();
		usleep(1000);
		if (i % 16 == 0)
			touch_global();
	}
}

APART static void touch_write(void)
{
	kept->value[1] = 7;
}

static void global_written(void)
{
	for (unsigned i = 0; again(); i++) {
		leave_global();
		usleep(2000);
		if (i % 8 == 0)
			touch_write();
	}
}

APART static void touch_copy(struct context *to)
{
	memcpy(to, kept, sizeof(*to));
}

static void global_copied(void)
{
	static struct context copy;

	for (unsigned i = 0; again(); i++) {
		leave_global();
		usleep(1000);
		if (i % 8 == 0)
			touch_copy(&copy);
	}
}

/* Used by a function further down, whose own frame lies where the other was. */
APART static long touch_deeper(const struct context *context, int depth)
{
	volatile long pad[4];

	pad[0] = depth;
	if (depth)
		return touch_deeper(context, depth - 1) + pad[0];
	return context->value[2];
}

static void global_deeper(void)
{
	for (unsigned i = 0; again(); i++) {
		leave_global();
		usleep(1000);
		if (i % 8 == 0)
			cases_sum += (unsigned long)touch_deeper(kept, 2);
	}
}

/* ------------------------------------------------------------------------------------------- */
/* Handed back */

APART static void leave_out(struct context **out)
{
	struct context context;

	fill(&context);
	*out = &context;
	work();
	cases_sum += (unsigned long)context.value[cases_sum % 6];
}

APART static void touch_argument(const struct context *context)
{
	cases_sum += (unsigned long)context->value[0];
	work();
	cases_sum += (unsigned long)context->value[5];
}

static void out_hot(void)
{
	struct context *out;

	while (again()) {
		leave_out(&out);
		HIDE(out);
		touch_argument(out);
	}
}

static void out_rare(void)
{
	struct context *out;

	while (again()) {
		leave_out(&out);
		HIDE(out);
		usleep(5000);
		touch_argument(out);
	}
}

APART static struct context *leave_result(void)
{
	struct context context, *result = &context;

	fill(&context);
	HIDE(result);
	return result;
}

static void result_hot(void)
{
	while (again())
		touch_argument(leave_result());
}

static void result_rare(void)
{
	while (again()) {
		struct context *result = leave_result();

		usleep(5000);
		touch_argument(result);
	}
}

/* ------------------------------------------------------------------------------------------- */
/* In a structure of the heap */

struct owner {
	long id;
	struct context *context;
	void (*call)(void *context);
	void *argument;
};

static struct owner *owner;

APART static void touch_callback(void *context)
{
	cases_sum += (unsigned long)((struct context *)context)->value[4];
}

APART static void subscribe(struct owner *to, void (*call)(void *), void *argument)
{
	to->call = call;
	to->argument = argument;
}

APART static void leave_subscribed(void)
{
	struct context context;

	fill(&context);
	subscribe(owner, touch_callback, &context);
	work();
	cases_sum += (unsigned long)context.value[cases_sum % 6];
}

static void callback_rare(void)
{
	owner = calloc(1, sizeof(*owner));
	for (unsigned i = 0; again(); i++) {
		leave_subscribed();
		usleep(1000);
		if (i % 10 == 0)
			owner->call(owner->argument);
	}
}

static void callback_hot(void)
{
	owner = calloc(1, sizeof(*owner));
	while (again()) {
		leave_subscribed();
		for (int i = 0; i < 50; i++)
			owner->call(owner->argument);
	}
}

APART static void leave_listed(struct context *head)
{
	struct context node;

	fill(&node);
	node.next = head->next;
	head->next = &node;
	work();
	cases_sum += (unsigned long)node.value[cases_sum % 6];
}

APART static void touch_list(const struct context *head)
{
	cases_sum += (unsigned long)head->next->value[1];
}

static void list_rare(void)
{
	struct context *head = calloc(1, sizeof(*head));

	for (unsigned i = 0; again(); i++) {
		leave_listed(head);
		usleep(1000);
		if (i % 10 == 0)
			touch_list(head);
		head->next = NULL;
	}
}

/* ------------------------------------------------------------------------------------------- */
/* Arrays whose size is known late */

APART static void leave_alloca(size_t size)
{
	long *buffer = (long *)alloca(size);

	memset(buffer, 1, size);
	HIDE(buffer);
	kept_buffer = buffer;
	work();
}

APART static void touch_buffer(void)
{
	cases_sum += (unsigned long)kept_buffer[2];
}

static void alloca_rare(void)
{
	for (unsigned i = 0; again(); i++) {
		leave_alloca(64 + (i & 7) * 16);
		usleep(1000);
		if (i % 8 == 0)
			touch_buffer();
	}
}

APART static void leave_array(int size)
{
	long buffer[size];

	for (int i = 0; i < size; i++)
		buffer[i] = i;
	kept_buffer = buffer;
	work();
	cases_sum += (unsigned long)buffer[size / 2];
}

static void array_rare(void)
{
	for (unsigned i = 0; again(); i++) {
		leave_array(8 + (int)(i & 7));
		usleep(1000);
		if (i % 8 == 0)
			touch_buffer();
	}
}

/* ------------------------------------------------------------------------------------------- */
/* Frames left by longjmp() */

static jmp_buf back;

APART static void leave_jump(void)
{
	struct context context;

	fill(&context);
	keep(&context);
	longjmp(back, 1);
}

static void jump_hot(void)
{
	while (again()) {
		if (!setjmp(back))
			leave_jump();
		for (int i = 0; i < 50; i++)
			touch_global();
	}
}

/* ------------------------------------------------------------------------------------------- */
/* By other threads */

static void *touch_other(void *unused)
{
	(void)unused;
	while (again()) {
		struct context *context = kept;

		if (context)
			cases_sum += (unsigned long)context->value[2];
		usleep(3000);
	}
	return NULL;
}

static void other_rare(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, touch_other, NULL);
	while (again()) {
		leave_global();
		usleep(20000);
	}
	pthread_join(thread, NULL);
}

static void *touch_other_hot(void *unused)
{
	(void)unused;
	while (again())
		for (int i = 0; i < 100; i++) {
			struct context *context = kept;

			if (context)
				cases_sum += (unsigned long)context->value[2];
			work();
		}
	return NULL;
}

static void other_hot(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, touch_other_hot, NULL);
	while (again()) {
		leave_global();
		usleep(2000);
	}
	pthread_join(thread, NULL);
}

/* The thread whose frame it was sleeps higher up, most of the time. */
APART static void leave_far_below(void)
{
	volatile char pad[8192];

	pad[0] = 0;
	leave_global();
	pad[1] = pad[0];
}

static void *sleep_above(void *unused)
{
	(void)unused;
	leave_far_below();
	while (again()) {
		for (int i = 0; i < 2000; i++)
			work();
		usleep(5000);
	}
	return NULL;
}

APART static void touch_far_below(const struct context *context)
{
	for (int i = 0; i < 100; i++)
		cases_sum +=
			(unsigned long)((volatile const struct context *)context)->value[i % 6];
}

static void asleep_hot(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sleep_above, NULL);
	while (again())
		if (kept)
			touch_far_below(kept);
	pthread_join(thread, NULL);
}

static void *touch_given(void *given)
{
	const struct context *context = given;
	double until = cases_now() + 0.2;

	while (cases_now() < until) {
		cases_sum += (unsigned long)((const volatile struct context *)context)->value[1];
		usleep(1000);
	}
	return NULL;
}

APART static void leave_thread(pthread_t *thread)
{
	struct context context;

	fill(&context);
	pthread_create(thread, NULL, touch_given, &context);
	cases_sum += (unsigned long)context.value[cases_sum % 6];
}

static void thread_argument(void)
{
	while (again()) {
		pthread_t thread;

		leave_thread(&thread);
		usleep(200000);
		pthread_join(thread, NULL);
	}
}

static void *leave_ended(void *unused)
{
	struct context context;

	(void)unused;
	fill(&context);
	keep(&context);
	usleep(500);
	cases_sum += (unsigned long)context.value[cases_sum % 6];
	return NULL;
}

static void thread_ended(void)
{
	while (again()) {
		pthread_t thread;

		pthread_create(&thread, NULL, leave_ended, NULL);
		pthread_join(thread, NULL);
		usleep(1000);
		touch_global();
	}
}

/* Who waits gives up, and leaves its request in the queue. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct context *queue;

APART static void leave_request(void)
{
	struct context request;

	fill(&request);
	pthread_mutex_lock(&lock);
	queue = &request;
	pthread_mutex_unlock(&lock);
	usleep(1000);
	cases_sum += (unsigned long)request.value[0];
}

static void *touch_request(void *unused)
{
	(void)unused;
	while (again()) {
		pthread_mutex_lock(&lock);
		if (queue)
			cases_sum += (unsigned long)queue->value[5];
		pthread_mutex_unlock(&lock);
		usleep(7000);
	}
	return NULL;
}

static void request_late(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, touch_request, NULL);
	while (again()) {
		leave_request();
		usleep(15000);
	}
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {{"global_hot", global_hot},
						{"global_rare", global_rare},
						{"global_written", global_written},
						{"global_copied", global_copied},
						{"global_deeper", global_deeper},
						{"out_hot", out_hot},
						{"out_rare", out_rare},
						{"result_hot", result_hot},
						{"result_rare", result_rare},
						{"callback_rare", callback_rare},
						{"callback_hot", callback_hot},
						{"list_rare", list_rare},
						{"alloca_rare", alloca_rare},
						{"array_rare", array_rare},
						{"jump_hot", jump_hot},
						{"other_rare", other_rare},
						{"other_hot", other_hot},
						{"asleep_hot", asleep_hot},
						{"thread_argument", thread_argument},
						{"thread_ended", thread_ended},
						{"request_late", request_late},
						{NULL, NULL}};

	return run_case(cases, argc, argv);
}
