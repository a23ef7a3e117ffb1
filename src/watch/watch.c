/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/watch.h"

#include "base/clock.h"
#include "base/path.h"
#include "control/control.h"
#include "lasting/lasting.h"
#include "lasting/regions.h"
#include "lasting/threads.h"
#include "notice/notice.h"
#include "record/utf8.h"
#include "tool/complete.h"
#include "watch/copies.h"
#include "watch/debugger.h"
#include "watch/filter.h"
#include "watch/heap.h"
#include "watch/heap_entered.h"
#include "watch/line.h"
#include "watch/piece.h"
#include "watch/place.h"
#include "watch/region.h"
#include "watch/scouts.h"
#include "watch/state.h"
#include "watch/target.h"
#include "watch/wanted.h"
#include "watch/watched.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STACK_FRAMES 64

/* The expression is escaped as it is printed: a script may have made it of anything. */
static void complain(const char *expression, const char *error)
{
	utf8_fprintf(stderr, "trapline: %s: %s\n", expression, error);
}

int watch_create(struct watch **watch, const struct watch_options *options)
{
	struct watch *made = calloc(1, sizeof(*made));
	char error[SYMBOL_ERROR_MAX];

	if (!made) {
		fputs("trapline: out of memory\n", stderr);
		return -ENOMEM;
	}
	made->options = *options;
	made->started = clock_now();
	for (unsigned i = 0; i < options->expressions; i++) {
		made->wanted[i].text = options->expression[i];
		if (symbol_expression_parse(options->expression[i], &made->wanted[i].expression,
					    error)) {
			complain(options->expression[i], error);
			free(made);
			return -EINVAL;
		}
	}
	made->options.entered = options->outside && watch_needs_heap(made);
	*watch = made;
	return 0;
}

void watch_attach(struct watch *watch, struct control *control)
{
	watch->control = control;
	watch->program = control_program(control);
	filter_begin(watch);
}

bool watch_needs_heap(const struct watch *watch)
{
	for (unsigned i = 0; i < watch->options.expressions; i++)
		if (watch->wanted[i].expression.kind == SYMBOL_EXPRESSION_HEAP)
			return true;
	return false;
}

bool watch_refused(const struct watch *watch)
{
	return watch->refused;
}

bool watch_changed(const struct watch *watch)
{
	return watch->changed;
}

/* Says that the process goes on unwatched: reading symbols took longer than it waited. */
static void leave_unwatched(struct watch *watch, struct watched *process)
{
	for (unsigned i = 0; i < watch->options.expressions; i++) {
		watch_disarm_wanted(watch, process, i);
		process->resolved[i] = false;
		process->given_up[i] = true;
	}
	utf8_fprintf(stderr,
		     "trapline: process %d had begun before that was known: it runs unwatched\n",
		     (int)process->pid);
}

/* Ends the program if it has not begun and waits in the library's constructor; any other process
 * goes on unwatched. */
static void refuse(struct watch *watch, struct watched *process)
{
	watch->refused = watch->options.outside || control_waits(watch->control, process->pid);
	if (!watch->refused)
		leave_unwatched(watch, process);
	else if (watch->options.entered)
		control_stop(watch->control);
	else if (!watch->options.outside)
		control_signal(watch->control, process->pid, 0, SIGKILL);
}

static void process_began(void *context, pid_t pid)
{
	struct watch *watch = context;
	bool first = !watch->began, refused;
	struct watched *process;

	if (!first && !watch->options.children)
		return;
	process = calloc(1, sizeof(*process));
	if (!process) {
		utf8_fprintf(stderr, "trapline: process %d is not watched: out of memory\n",
			     (int)pid);
		return;
	}
	process->pid = pid;
	process->next = watch->processes;
	watch->processes = process;
	watch->began = true;
	copies_open(watch, process);
	filter_process_begin(watch, process);
	process->may_open = lasting_opens_regions(watch->program, pid);
	refused = watch_resolve(watch, process, first);
	process->may_open = false;
	process->begun = true;
	if (refused) {
		refuse(watch, process);
		return;
	}
	scouts_place(watch, process);
	process->next_look = clock_now() + WATCH_LOOK_NS;
}

static void note_counts(struct watch *watch, struct watched *process)
{
	for (unsigned i = 0; i < AREA_SLOTS; i++)
		if (process->piece[i].armed && !process->piece[i].scout) {
			watch->wanted[process->piece[i].wanted].kernel +=
				lasting_count(watch->program, process->pid, i);
			filter_estimate(watch, process, i);
		}
	watch->dropped += lasting_dropped(watch->program, process->pid);
	filter_process_end(watch, process);
}

static void process_ended(void *context, pid_t pid)
{
	struct watch *watch = context;

	for (struct watched **at = &watch->processes; *at; at = &(*at)->next) {
		struct watched *process = *at;

		if (process->pid != pid)
			continue;
		region_report(watch, process);
		note_counts(watch, process);
		*at = process->next;
		copies_close(process);
		region_close_all(process);
		free(process);
		return;
	}
}

/* The user quits the table. */
static void end_top(struct watch *watch)
{
	top_leave(watch->options.top);
	if (watch->options.outside)
		control_stop(watch->control);
	else
		fputs("trapline: the program runs on; the whole table follows when it ends\n",
		      stderr);
}

static void tick(void *context)
{
	struct watch *watch = context;

	if (watch->options.top && !top_tick(watch->options.top, watch))
		end_top(watch);

	debugger_check(watch, false);
	for (struct watched *process = watch->processes; process; process = process->next) {
		watch_look_again(watch, process);
		if (watch->options.entered)
			heap_entered_tick(watch, process);
	}
}

/* Extends a value as its type asks: a short signed integer's sign fills the upper bits. */
static uint64_t extend(const struct wanted *wanted, unsigned length, uint64_t value)
{
	unsigned shift = 64 - 8 * length;

	return wanted->is_signed && shift ? (uint64_t)((int64_t)(value << shift) >> shift) : value;
}

static bool in_c_library(const struct finding_access *access)
{
	return access->stack.count && path_is_c_library(access->stack.frames[0].module);
}

static struct finding *begin_finding(struct watch *watch, const struct trace *trace, size_t frames)
{
	struct finding *finding = finding_create(FINDING_HIT);
	struct finding_access *access;

	if (!finding)
		return NULL;
	access = complete_access(finding, control_space(watch->control, trace->access->pid),
				 trace->access, frames, false);
	if (!access) {
		finding_destroy(finding);
		return NULL;
	}
	access->thread = *trace->thread ? finding_string(finding, trace->thread) : NULL;
	return finding;
}

/* Makes the finding of a hit. It has the whole stack if that is asked for, or if the first frame is
 * not the program's own. */
static struct finding *make_finding(struct watch *watch, const struct trace *trace)
{
	bool whole = watch->options.stack_needed;
	struct finding *finding = begin_finding(watch, trace, whole ? STACK_FRAMES : 1);

	if (finding && !whole && in_c_library(&finding->accesses[0])) {
		finding_destroy(finding);
		finding = begin_finding(watch, trace, STACK_FRAMES);
	}
	return finding;
}

static void fill_object(struct finding *finding, const struct piece *piece,
			const struct trace *trace)
{
	struct finding_object *object = &finding->object;

	object->address = piece->address;
	object->size = piece->length;
	if (piece->block)
		object->kind = FINDING_OBJECT_HEAP;
	else if (piece->each_thread)
		object->kind = FINDING_OBJECT_TLS;
	if (piece->each_thread)
		object->tid = trace->access->tid;
	if (piece->block || piece->start) {
		object->address = piece->block ? piece->block : piece->start;
		object->offset = piece->address - object->address;
	}
}

static void fill_finding(struct watch *watch, struct finding *finding, const struct wanted *wanted,
			 const struct piece *piece, const struct trace *trace)
{
	struct finding_access *access = &finding->accesses[0];

	access->before_known = trace->before_known || piece->value_known;
	access->before =
		extend(wanted, piece->length, trace->before_known ? trace->before : piece->value);
	access->after_known = trace->value_known;
	access->after = extend(wanted, piece->length, trace->value);
	if (trace->late)
		finding_add_evidence(finding, "late: the thread had SIGTRAP blocked");
	else if (!trace->understood || (trace->access->access & TL_GUESSED))
		finding_add_evidence(finding, "the instruction is a guess");
	finding->object.name = finding_string(finding, wanted->text);
	fill_object(finding, piece, trace);
	finding->pid = trace->pid;
	finding->program = complete_program(
		finding, control_space(watch->control, trace->access->pid), watch->options.program);
	finding->time = clock_read(CLOCK_REALTIME);
	finding_identify(finding);
}

static void execute(const struct watch *watch, const struct trace *trace)
{
	pid_t tid = trace->access->tid;
	pid_t pid = fork();
	char text[2][16];

	if (pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		snprintf(text[0], sizeof(text[0]), "%d", (int)trace->pid);
		snprintf(text[1], sizeof(text[1]), "%d", (int)tid);
		setenv("TRAPLINE_PID", text[0], 1);
		/* The program itself told the thread's id: unless a thread of this process has it,
		 * a command that acts on it could meet another process. */
		if (lasting_thread_lives(trace->pid, tid))
			setenv("TRAPLINE_TID", text[1], 1);
		else
			unsetenv("TRAPLINE_TID");
		execl("/bin/sh", "sh", "-c", watch->options.command, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void act(struct watch *watch, const struct trace *trace)
{
	const struct tl_access *access = trace->access;
	struct watched *process = watch_find(watch, access->pid);

	switch (watch->options.action) {
	case WATCH_STOP:
		control_signal(watch->control, access->pid, 0, SIGSTOP);
		break;
	case WATCH_ABORT:
		if (!access->tid ||
		    control_signal(watch->control, access->pid, access->tid, SIGABRT))
			control_signal(watch->control, access->pid, 0, SIGABRT);
		break;
	case WATCH_EXECUTE:
		execute(watch, trace);
		break;
	case WATCH_DEBUG:
		if (process)
			debugger_start(watch, process, trace);
		break;
	default:
		break;
	}
}

static void show(struct watch *watch, const struct finding *finding, const struct wanted *wanted,
		 const struct trace *trace, uint64_t number)
{
	const struct watch_options *options = &watch->options;

	if (!filter_chooses(lasting_filter(watch->program), number))
		return;
	if (options->action != WATCH_COUNT && !options->top)
		line_print(watch, finding, wanted, trace->access->time);
	if (options->deliver)
		options->deliver(options->context, finding);
	act(watch, trace);
}

static struct piece *piece_of(struct watch *watch, struct watched *process,
			      const struct trace *trace)
{
	struct piece *piece = &process->piece[trace->slot];

	if (piece->region)
		return region_piece(watch, process, trace);
	return piece->armed && piece->each_thread ? copies_piece(process, trace) : piece;
}

static void notice(void *context, const struct notice *notice)
{
	struct watch *watch = context;
	struct watched *process = watch_find(watch, notice->from->pid);

	if (process && notice->kind == NOTICE_THREAD_BEGINS)
		copies_notice(watch, process, notice);
	else if (process)
		heap_notice(watch, process, notice);
}

static void trace(void *context, const struct trace *trace)
{
	struct watch *watch = context;
	struct watched *process = watch_find(watch, trace->access->pid);
	struct piece *piece = process ? piece_of(watch, process, trace) : NULL;
	struct finding *finding;
	struct wanted *wanted;
	enum filter_refusal refused;
	int place = -1;

	if (!piece || !piece->armed)
		return;
	if (piece->role) {
		heap_entered_hit(watch, process, piece, trace);
		return;
	}
	if (piece->scout) {
		watch_scout_tripped(watch, process);
		return;
	}
	if (piece->block && watch->options.entered && !heap_entered_is_live(watch, process))
		return;
	wanted = &watch->wanted[piece->wanted];
	finding = make_finding(watch, trace);
	if (!finding)
		return;
	fill_finding(watch, finding, wanted, piece, trace);
	piece->value_known = false; /* from the first hit on the handler knows the value */
	refused = filter_judge(watch, finding, wanted, trace);
	if (refused == FILTER_REFUSALS) {
		wanted->shown++;
		/* the kernel keeps no count of a region's hits, so each is counted here */
		wanted->kernel += piece->region;
		place = place_count(watch, piece->wanted, finding);
		show(watch, finding, wanted, trace, filter_number(watch, trace));
	}
	if (piece->region)
		region_keep(watch, process, trace);
	else
		filter_teach(watch, process, finding, trace, refused, place);
	finding_destroy(finding);
}

struct control_observer watch_observer(struct watch *watch)
{
	return (struct control_observer){.process_began = process_began,
					 .process_ended = process_ended,
					 .trace = trace,
					 .notice = notice,
					 .tick = tick,
					 .context = watch};
}

void watch_finish(struct watch *watch)
{
	debugger_check(watch, true);
	if (watch->options.top)
		top_leave(watch->options.top);
	while (watch->processes)
		process_ended(watch, watch->processes->pid);
	if (!watch->refused)
		places_print(watch);
}

void watch_destroy(struct watch *watch)
{
	for (size_t i = 0; i < watch->places; i++)
		free(watch->place[i].text);
	free(watch->place);
	free(watch);
}
