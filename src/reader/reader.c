/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/reader.h"

#include "base/clock.h"

#include "module/modules.h"
#include "reader/ask.h"
#include "reader/open.h"
#include "reader/protocol.h"
#include "reader/questions.h"
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* For one question: of the reader's own time, and until its answer (it may get little time). */
#define CPU_LIMIT (15 * SECOND)
#define WAIT_LIMIT (120 * SECOND)
/* A question that takes longer is no longer answered at the asker's own priority. */
#define PROMPT_MILLISECONDS 20
#define LOOK_MILLISECONDS 200
#define LOOK_AGAIN (SECOND / 1000)
#define TRIES 3
/* What one question can need to know; the largest heaps take half as much. */
#define WISHES_MAX 100000u

/* ---- one process ------------------------------------------------------------------------ */

/* Of the reader that was started last. */
static _Atomic pid_t running;

/* clock_getcpuclockid(3) is this, and is not said to be async-signal-safe. */
static uint64_t time_of(pid_t pid)
{
	const clockid_t clock = (clockid_t)((~(unsigned)pid << 3) | 2); /* CPUCLOCK_SCHED */
	struct timespec time;

	if (!pid || clock_gettime(clock, &time))
		return 0;
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static uint64_t cpu_time(const struct symbol_reader *reader)
{
	return time_of(reader->pid);
}

uint64_t symbol_reader_time(void)
{
	return time_of(running);
}

uint64_t symbol_session_time(const struct symbol_session *session)
{
	return session->reader ? session->reader->ended + cpu_time(session->reader) : 0;
}

/* What the loader and the sanitizers need; nothing else of the environment is the reader's. */
static unsigned environment(char **list, unsigned room)
{
	static const char *const names[] = {"LD_LIBRARY_PATH=", "ASAN_OPTIONS=", "UBSAN_OPTIONS="};
	unsigned count = 0;

	for (char **at = environ; at && *at; at++)
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (count + 1 < room && strncmp(*at, names[i], strlen(names[i])) == 0)
				list[count++] = *at;
	list[count] = NULL;
	return count;
}

/* Between fork and exec of a process that has threads: async-signal-safe. What is sent to the whole
 * group (Ctrl-C, a service manager's stop) is for the asker, whose end is the reader's. */
static _Noreturn void become(const char *program, int socket, int page, pid_t asker, char **list)
{
	static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT, SIGTSTP,
				      SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2, SIGPIPE};
	char name[] = "trapline", argument[] = SYMBOL_READER_ARGUMENT;
	char *arguments[] = {name, argument, NULL};
	sigset_t none;
	int null;

	/* Above the numbers that they are to have. */
	socket = fcntl(socket, F_DUPFD, 16);
	page = fcntl(page, F_DUPFD, 16);
	null = open("/dev/null", O_RDWR);
	if (dup2(socket, SYMBOL_READER_SOCKET) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 ||
	    dup2(page, SYMBOL_READER_PAGE) < 0 || close_range(SYMBOL_READER_PAGE + 1, ~0u, 0) < 0)
		_exit(127);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A file capability of the program is not the reader's. */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (getppid() == asker)
		execve(program, arguments, list);
	_exit(127);
}

static int make_page(struct symbol_reader *reader)
{
	int fd = memfd_create("symbols", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, sizeof(*reader->page)) < 0)
		goto failed;
	reader->page = mmap(NULL, sizeof(*reader->page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	/* The reader, which has it too, cannot cut it short under us. */
	if (reader->page != MAP_FAILED &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		return fd;
	if (reader->page != MAP_FAILED)
		munmap(reader->page, sizeof(*reader->page));
failed:
	reader->page = NULL;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void end(struct symbol_reader *reader)
{
	/* That of a process that we were forked from ends with it. */
	if (reader->pid && reader->owner == getpid()) {
		reader->ended += cpu_time(reader);
		/* One that cannot be killed ends when it finds its socket closed. */
		if (kill(reader->pid, SIGKILL) == 0)
			while (waitpid(reader->pid, NULL, 0) < 0 && errno == EINTR)
				;
	}
	if (reader->socket >= 0)
		close(reader->socket);
	if (reader->page)
		munmap(reader->page, sizeof(*reader->page));
	running = reader->pid = 0;
	reader->introduced = false;
	reader->socket = -1;
	reader->page = NULL;
}

static int spawn(struct symbol_reader *reader)
{
	int pair[2] = {-1, -1}, page = make_page(reader);
	pid_t self = getpid();
	char *list[8];

	environment(list, sizeof(list) / sizeof(list[0]));
	if (page < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		if (page >= 0)
			close(page);
		end(reader);
		return -EAGAIN;
	}
	reader->socket = pair[0];
	reader->pid = fork();
	if (reader->pid == 0)
		become(reader->program, pair[1], page, self, list);
	if (reader->pid < 0)
		reader->pid = 0;
	running = reader->pid;
	reader->owner = self;
	close(pair[1]);
	close(page);
	if (reader->pid)
		return 0;
	end(reader);
	return -EAGAIN;
}

/* ---- waiting ---------------------------------------------------------------------------- */

/* A file that takes long is not to keep the program from its processor. */
static void slow_down(struct symbol_reader *reader)
{
	if (!reader->may_slow || reader->slowed || getpriority(PRIO_PROCESS, 0) >= 0)
		return;
	reader->slowed = setpriority(PRIO_PROCESS, (id_t)reader->pid, 0) == 0;
}

static void speed_up(struct symbol_reader *reader)
{
	if (reader->slowed && reader->pid)
		setpriority(PRIO_PROCESS, (id_t)reader->pid, getpriority(PRIO_PROCESS, 0));
	reader->slowed = false;
}

/* Looked at between packets, too, or one who answers in drops is waited for without end; not each
 * time, since most answers are there at once. */
static bool is_overdue(struct symbol_reader *reader)
{
	uint64_t now = clock_now();

	if (now - reader->looked < LOOK_AGAIN)
		return false;
	reader->looked = now;
	return now - reader->asked > WAIT_LIMIT || cpu_time(reader) - reader->begun > reader->limit;
}

static int wait_for(void *context, short events)
{
	struct symbol_reader *reader = context;
	struct pollfd wait = {reader->socket, events, 0};
	bool prompt = true;

	for (;;) {
		int span = prompt ? PROMPT_MILLISECONDS : LOOK_MILLISECONDS;
		int ready;

		if (is_overdue(reader))
			return -ETIMEDOUT;
		ready = poll(&wait, 1, span);
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
		prompt = false;
		slow_down(reader);
	}
}

static void begin(struct symbol_reader *reader)
{
	reader->begun = cpu_time(reader);
	reader->asked = reader->looked = clock_now();
	reader->wishes = 0;
	__atomic_store_n(reader->page, 0, __ATOMIC_RELAXED);
}

/* ---- death ------------------------------------------------------------------------------ */

static void mark(struct symbol_session *session)
{
	for (struct symbol_modules *modules = session->all; modules; modules = modules->next) {
		const struct symbol_module *module;

		for (size_t i = 0; (module = symbol_modules_at(modules, i)); i++)
			if (!module->bad && symbol_module_is_fatal(session, module)) {
				((struct symbol_module *)module)->bad = true;
				modules->version++;
			}
	}
}

static void note_culprit(struct symbol_reader *reader, uint64_t id)
{
	struct symbol_session *session = reader->session;
	const struct symbol_module *module = NULL;

	for (struct symbol_modules *at = session->all; at && !module; at = at->next)
		module = symbol_modules_by_id(at, id);
	if (!module || module->bad || session->fatal_count == SYMBOL_FATAL_MAX)
		return;
	session->fatal[session->fatal_count++] =
		(struct symbol_fatal_file){module->path, module->inode, module->build_id};
	symbol_count(session, SYMBOL_STATISTIC_FILES_FATAL);
	mark(session);
}

static void bury(struct symbol_reader *reader)
{
	uint64_t id = __atomic_load_n(reader->page, __ATOMIC_RELAXED);

	end(reader);
	reader->slowed = false;
	reader->deaths++;
	symbol_count(reader->session, SYMBOL_STATISTIC_READERS_DIED);
	if (id)
		note_culprit(reader, id);
}

/* ---- starting --------------------------------------------------------------------------- */

static void put_list(struct symbol_packet *packet, char **list, size_t count)
{
	symbol_packet_count(packet, &count, SYMBOL_PACKET_MAX);
	for (size_t i = 0; i < count; i++)
		symbol_packet_text(packet, (const char **)&list[i]);
}

static size_t length_of(char **list)
{
	size_t count = 0;

	while (list[count])
		count++;
	return count;
}

static int introduce(struct symbol_reader *reader)
{
	const struct symbol_session *session = reader->session;
	bool confined = false;
	int err;

	begin(reader);
	symbol_packet_write(&reader->packet, SYMBOL_OPTIONS);
	/* The last directory is the one that every session has. */
	put_list(&reader->packet, session->debug_directories,
		 length_of(session->debug_directories) - 1);
	put_list(&reader->packet, session->source_directories,
		 length_of(session->source_directories));
	err = symbol_packet_send(reader->socket, &reader->packet, -1, wait_for, reader);
	if (!err)
		err = symbol_packet_receive(reader->socket, &reader->packet, NULL, wait_for,
					    reader);
	symbol_packet_bool(&reader->packet, &confined);
	if (err || reader->packet.bad || reader->packet.kind != SYMBOL_READY)
		return err ? err : -EPROTO;
	if (!confined)
		symbol_count(reader->session, SYMBOL_STATISTIC_UNCONFINED);
	reader->introduced = reader->proved = true;
	return 0;
}

/* Where there never was one, files are read here: the machine refuses processes. No file can bring
 * that about, since none is read before a reader was ready. */
static void do_without(struct symbol_reader *reader)
{
	struct symbol_session *session = reader->session;

	symbol_count(session, SYMBOL_STATISTIC_UNCONFINED);
	session->reader = NULL;
	symbol_reader_destroy(reader);
}

/* 0; -EAGAIN: not this time; -ENOTSUP: there is no reader any more, not even `reader`. */
static int start(struct symbol_reader *reader)
{
	int err = reader->pid ? 0 : spawn(reader);

	if (!err)
		err = introduce(reader);
	if (!err)
		return 0;
	end(reader);
	if (reader->proved) {
		reader->deaths++;
		return -EAGAIN;
	}
	do_without(reader);
	return -ENOTSUP;
}

void symbol_reader_prepare(struct symbol_reader *reader)
{
	if (!reader->pid)
		spawn(reader);
}

_Static_assert(SYMBOL_READER_DEATHS <= SYMBOL_FATAL_MAX, "each may die of a file of its own");

/* ---- questions -------------------------------------------------------------------------- */

static void add_statistics(struct symbol_reader *reader)
{
	const char *ambiguous = NULL;

	symbol_packet_text(&reader->packet, &ambiguous);
	if (ambiguous)
		reader->session->source_ambiguous = ambiguous;
	for (unsigned i = 0; i < SYMBOL_STATISTIC_COUNT; i++) {
		uint64_t more = 0;

		symbol_packet_u64(&reader->packet, &more);
		reader->session->statistic[i] += more;
	}
}

static int put_question(struct symbol_reader *reader, unsigned kind, void *question)
{
	struct symbol_packet *packet = &reader->packet;
	struct symbol_modules *modules = reader->modules;
	int pid = modules->pid;

	symbol_packet_write(packet, SYMBOL_QUESTION + kind);
	packet->modules = modules;
	packet->session = reader->session;
	symbol_packet_u64(packet, &modules->id);
	symbol_packet_u64(packet, &modules->version);
	symbol_packet_int(packet, &pid);
	symbol_question_kinds[kind].arguments(packet, question);
	return symbol_packet_send(reader->socket, packet, -1, wait_for, reader);
}

/* 0; -EMSGSIZE: it cannot be asked; else the reader is not to be trusted any more. */
static int converse(struct symbol_reader *reader, unsigned kind, void *question)
{
	struct symbol_packet *packet = &reader->packet;
	int err = put_question(reader, kind, question);

	while (!err) {
		err = symbol_packet_receive(reader->socket, packet, NULL, wait_for, reader);
		if (err || packet->kind == SYMBOL_ANSWER)
			break;
		err = reader->wishes++ < WISHES_MAX ? symbol_reader_grant(reader, wait_for)
						    : -ELOOP;
	}
	if (err)
		return err;
	add_statistics(reader);
	symbol_question_kinds[kind].results(packet, question);
	return packet->bad ? -EPROTO : 0;
}

static bool ask_once(struct symbol_reader *reader, unsigned kind, void *question, bool *again)
{
	int err;

	*again = false;
	if (reader->pid && reader->owner != getpid())
		end(reader);
	if (!reader->introduced) {
		err = start(reader);
		*again = err == -EAGAIN;
		if (err)
			return false;
	}
	begin(reader);
	err = converse(reader, kind, question);
	if (!err || err == -EMSGSIZE) {
		speed_up(reader);
		/* Whatever ends it from here on, no file does. */
		__atomic_store_n(reader->page, 0, __ATOMIC_RELAXED);
		return !err;
	}
	bury(reader);
	*again = true;
	return false;
}

bool symbol_reader_ask(struct symbol_modules *modules, unsigned kind, void *question,
		       const struct symbol_memory *memory)
{
	struct symbol_session *session = modules->session;
	struct symbol_reader *reader = session->reader;
	bool again = reader != NULL, answered = false;

	if (!reader)
		return false;
	reader->modules = modules;
	reader->memory = memory;
	for (int i = 0; i < TRIES && again && reader->deaths < SYMBOL_READER_DEATHS; i++)
		answered = ask_once(reader, kind, question, &again);
	if (!session->reader)
		return false;
	if (!answered)
		symbol_count(session, SYMBOL_STATISTIC_UNREAD);
	return answered;
}

void symbol_reader_forget(const struct symbol_modules *modules)
{
	struct symbol_reader *reader = modules->session->reader;
	uint64_t id = modules->id;

	if (!reader || !reader->introduced || reader->owner != getpid())
		return;
	begin(reader);
	symbol_packet_write(&reader->packet, SYMBOL_FORGET);
	symbol_packet_u64(&reader->packet, &id);
	if (symbol_packet_send(reader->socket, &reader->packet, -1, wait_for, reader))
		bury(reader);
}

/* ----------------------------------------------------------------------------------------- */

int symbol_reader_create(struct symbol_session *session, const struct symbol_options *options)
{
	unsigned milliseconds = options->reader_milliseconds;
	struct symbol_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	reader->session = session;
	reader->socket = -1;
	reader->limit = milliseconds ? milliseconds * (SECOND / 1000) : CPU_LIMIT;
	reader->packet.session = session;
	reader->may_slow = options->reader_may_slow;
	reader->program = strdup(options->reader);
	if (!reader->program) {
		free(reader);
		return -ENOMEM;
	}
	session->reader = reader;
	return 0;
}

void symbol_reader_destroy(struct symbol_reader *reader)
{
	if (!reader)
		return;
	end(reader);
	symbol_packet_free(&reader->packet);
	free(reader->program);
	free(reader);
}
