/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. Not for other folders. */
#ifndef CONTROL_PRIVATE_H
#define CONTROL_PRIVATE_H

#include "control/bound.h"
#include "control/control.h"
#include "control/pace.h"
#include "control/handover.h"
#include "control/places.h"
#include "control/rhythm.h"
#include "control/samples.h"
#include "event/coverage.h"
#include "insn/forward.h"
#include "insn/insn.h"

#include <pthread.h>

#define MILLISECOND 1000000ull
#define SECOND 1000000000ull

#define REQUESTS_MAX 64
#define REQUEST_AGE (300 * MILLISECOND) /* an address sampled longer ago may be something else */
#define PROMISING_MAX 64	   /* instructions remembered whose memory other threads came to */
#define PROBE_WORDS 64		   /* looked at of one thread's next accesses */
#define ACTIVE_MAX 48		   /* threads that slots are opened in where few of many run */
#define ARM_SLOW 200000u	   /* ns */
#define CREDIT_SCARCE (SECOND / 8) /* with less, what is promising comes before what is new */
#define LINES_MAX 4096		   /* of memory remembered, with who was there */
#define DEAR_MAX 64		   /* addresses remembered as dear to watch */
#define CALM_MAX 16		   /* threads known by name of those that seldom get a CPU */
#define RHYTHMS 8		   /* addresses */
#define BRIEF_THREADS 64	   /* of a process with more, slots are never brief */
#define SLOT_HITS_MAX 64	   /* completed hits of one watch kept for pairing */

enum count {
#define COUNT(identifier, name, meaning) COUNT_##identifier,
#include "control/counts.def"
#undef COUNT
	COUNT_COUNT
};

/* A hit as copied out of the area and understood. */
struct hit {
	struct tl_access access;
	struct tl_stack stack;
	uint8_t *stack_bytes; /* owned */
	uint64_t entry, exit; /* exit 0: still held */
	unsigned value_length;
	uint8_t value[AREA_VALUE];
	uint64_t value_address;
	bool usable; /* for pairs: on time, understood, inside what is watched */
	bool origin; /* held before its access, by an execution breakpoint */
	/* Of a plain store it is held before: what stood there since. */
	bool old_known;
	uint64_t old;
};

/* Of a lasting watch within a budget: duty.c. */
struct duty {
	bool resting;	/* silenced until its hits are paid for */
	bool bounded;	/* `rate` is a lower bound */
	bool at_least;	/* so is `estimated` */
	int64_t credit; /* ns of the program's time that hits may take */
	uint64_t looked, cost_seen;
	uint64_t phase_began;
	uint64_t hits_before, busy_before, cpu_before; /* when the phase began */
	double rate;		  /* hits per ns of CPU time when it last watched */
	double estimated;	  /* hits while it rested */
	uint64_t watched, rested; /* ns */
	uint64_t value, stride;	  /* when it began to rest; 0: its hits do not count up */
	uint64_t proven;	  /* stride of the windows so far */
};

struct probe_word {
	uint64_t pc; /* of the instruction that is to access it */
	uint64_t address, value;
	unsigned length;
};

/* Memory that a held thread is about to access: probe.c. */
struct probe {
	const struct hit *hit;
	uint64_t until; /* when it is looked at again; 0: nobody is held for that */
	struct probe_word word[PROBE_WORDS];
	unsigned words;
};

struct slot {
	unsigned index;
	bool open;
	bool each_thread; /* an address of its own in each of coverage's threads */
	bool few;	  /* open in the threads that were active then, of this version */
	unsigned version;
	bool brief;	/* open only while it is armed */
	pid_t only;	/* in this thread alone; 0: in all */
	double comings; /* times a second that this thread gets a CPU */
	bool probes;	/* who comes by is held to see whether its memory changes */
	struct probe probe;
	bool armed;
	bool wide; /* widened to reads */
	unsigned widenings;
	uint32_t generation;
	struct tl_watch watch;
	struct coverage coverage;
	struct duty duty;
	uint64_t ended_hits;   /* of threads that have ended, of each_thread */
	uint64_t count_before; /* of a lasting watch: the kernel's count when it was armed */
	uint64_t armed_at, deadline;
	unsigned seen; /* hits of this watch */
	uint64_t identity[8];
	unsigned identities;
	uint64_t place; /* that its instruction was chosen for; 0: none … */
	bool start;	/* … one of code_starts() */
	struct hit *hit[SLOT_HITS_MAX];
	unsigned hits;
};

/* A limit's events in one process. */
struct target_limit {
	struct coverage coverage;
	bool open;
	uint64_t period; /* with which they were opened */
	bool compared;	 /* of CPU time: its counters with the process's clock (unpaid.c) */
	uint64_t counted, clocked;
};

/* Which threads the slots cover, where few of many run: active.c. */
struct active {
	bool few;	  /* those in `tid`; else all */
	unsigned version; /* slots opened for an earlier one are opened anew */
	unsigned count;
	pid_t tid[ACTIVE_MAX];
	struct active_thread *known; /* owned: all threads as last looked at */
	size_t known_count;
	uint64_t next_look;
	unsigned looks;
};

/* An instruction whose memory other threads came to. */
struct promise {
	uint64_t pc;
	pid_t tid;	  /* of a thread that was there */
	unsigned changes; /* times its memory changed under a thread that was held there */
	unsigned tries;	  /* times it was chosen since the first change */
};

/* A thread, as far as it is known how often it gets a CPU. */
struct thread_rate {
	pid_t tid;
	uint64_t slices; /* of time that it has been given */
	double comings;	 /* a second */
};

/* An instruction to watch, and the place that it was chosen for; 0: none. */
struct code_choice {
	struct tl_watch watch;
	uint64_t place;
	bool start;		   /* the place is one of code_starts() */
	struct thread_rate thread; /* to watch it in, where it is one alone */
	bool probe;
};

/* An address whose last watch cost more than was wanted of it: dear.c. */
struct dear {
	uint64_t address;
	uint64_t until;	 /* ns: when that is paid for */
	bool by_writers; /* no reader was seen */
};

struct line_seen {
	uint64_t number; /* of the line: address / 64 */
	pid_t tid;	 /* who was there first … */
	uint16_t visits; /* … and so often */
	bool shared;	 /* another thread was, too */
};

/* A thread that seldom gets a CPU, beside others that do all the time. */
struct calm_thread {
	pid_t tid;
	bool seen; /* in the last look */
	struct places places, starts;
};

/* How often which thread gets a CPU, and what follows from that: brief.c. */
struct brief {
	bool on;	       /* slots are open only while they are armed … */
	bool single;	       /* … and code is watched in one thread at a time */
	bool known;	       /* `thread` is of an earlier look */
	uint64_t next;	       /* when the next thread may be held */
	uint64_t next_request; /* when an address that a tool asked for may be watched */
	uint64_t next_all;     /* when code may be in all threads */
	struct thread_rate thread[BRIEF_THREADS];
	unsigned count;
	pid_t running[BRIEF_THREADS]; /* those that got a CPU since the look before */
	unsigned running_count;
	struct calm_thread calm[CALM_MAX];
	unsigned calm_count;
};

/* What processes have used so far; ns but for `hits`. */
struct spending {
	uint64_t program;  /* CPU time, with what hits took of it */
	uint64_t hits;	   /* delivered */
	uint64_t handling; /* CPU time in handlers */
	uint64_t held;
	uint64_t switching; /* CPU time for events as threads come and go, estimated */
	uint64_t sampling;  /* CPU time for clock interrupts, estimated */
};

struct target {
	struct control *control;
	uint32_t index; /* of its entry in the area; AREA_PROCESSES of them */
	pid_t pid;
	int pidfd;
	uint64_t changed; /* seen as another program since then; 0: it is itself */
	struct area_process *shared;
	/* What it announced, out of its reach: cover.c. */
	uint64_t proof_address, proof;
	struct space *space;
	struct slot slot[AREA_WATCHES];
	unsigned slots;
	struct target_limit limit[AREA_LIMITS];
	struct places places;
	struct places starts; /* of regions without synchronisation: probe.c */
	struct promise promising[PROMISING_MAX];
	unsigned promising_used;
	uint64_t arm_time; /* ns that arming takes, lately: it grows with the threads */
	uint64_t next_look;
	unsigned looks;
	pid_t first_tracer; /* who traced it before it was watched; 0: nobody */
	bool debugged;	    /* by somebody who came later: nothing is sampled meanwhile */
	unsigned armed_slots;
	uint64_t armed_since, armed_time; /* ns with any slot armed, not yet charged */
	double single_comings;		  /* of single threads while slots were armed in them */
	double switch_rate;		  /* times a second that threads get a CPU */
	struct bound bound;		  /* of what each costs while slots are armed */
	double cpu_rate;		  /* CPUs that it uses */
	uint64_t cpu_time;		  /* at the last look */
	uint64_t timeslices, looked_at, next_count;
	struct active active;
	struct brief brief;
	struct dear dear[DEAR_MAX];
	struct line_seen line[LINES_MAX];
	struct rhythm rhythm[RHYTHMS];
	struct spending seen;	   /* of this process, added to the sum */
	struct observed *observed; /* watched from outside alone: observe.c; NULL */
};

/* A record of the area from when it is first seen until it is taken back. */
struct following {
	struct target *target; /* as long as there is a hit */
	struct hit *hit;
	struct slot *slot;
	uint32_t generation;
	uint64_t since; /* 0: nothing is known of it yet */
	bool settled;	/* all is done but taking the record back */
};

struct request {
	struct tl_watch watch;
	uint64_t time;
};

#define SWITCH_PRICINGS 3

struct control {
	struct control_options options;
	struct control_observer observer;
	struct symbol_session *session;
	struct area *area;
	struct area_hit copy; /* of the record being judged */
	pid_t root;	      /* that was running before us; 0: we started it */
	int filters;	      /* of system calls, inherited, that let handlers make theirs */
	int area_fd;
	struct entries *entries;
	struct pace pace;
	struct samples *samples;
	struct {
		bool on;
		uint64_t until;	      /* when it changes */
		uint64_t since, time; /* ns that they were on, not yet charged */
		uint64_t switching;   /* ns that this takes, lately: it grows with the threads */
		bool brief;	      /* the events are open only while they are on */
	} burst;
	uint64_t secret;
	struct asker asker[AREA_ASKERS];
	uint64_t next_handover;
	pid_t child;
	bool child_ended;
	bool lingering;	      /* it has, and others of the program go on */
	uint64_t alone_since; /* nobody is watched since then */
	int child_status;
	uint64_t started;
	uint64_t random;
	struct target *target[AREA_PROCESSES];
	struct following following[AREA_HITS];
	struct request request[REQUESTS_MAX];
	unsigned requests;
	uint64_t next_drain, next_check;
	int total; /* descriptor: CPU time of all that descends from the program; -1: not counted */
	uint64_t total_before[AREA_LIMITS]; /* of it, before the limit began */
	bool limit_from_start[AREA_LIMITS]; /* no process had announced itself */
	uint64_t counted, clocked; /* what processes used, by counters and by clocks: unpaid.c */
	bool limit_known[AREA_LIMITS];
	uint32_t limits_changed; /* as it was when events were last opened for limits */
	uint64_t paused_until;
	bool sleepy;	    /* the program mostly waits: what it does, it does seldom */
	bool welcomed;	    /* some process has been */
	bool observing;	    /* a process that ran before, from outside */
	bool duty;	    /* lasting watches keep to the budget */
	uint64_t trap_cost; /* ns of a hit outside the handler */
	int64_t credit;	    /* ns of CPU time that may be spent … */
	double income;	    /* … and ns a second that were added lately */
	uint64_t loan;	    /* ns: of what switches cost, not charged to credit */
	uint64_t spent, exempt, budget_time;
	_Atomic uint64_t switch_price, timer_price; /* ns a thread's coming and going costs */
	_Atomic uint64_t sample_price;		    /* ns */
	pthread_t pricing_thread;
	bool pricing;
	unsigned pricings;		/* begun */
	_Atomic unsigned priced;	/* ended */
	int64_t price[SWITCH_PRICINGS]; /* the thread's, while it runs */
	uint64_t hit_price;		/* ns of the trap and signal of one hit */
	struct spending spending;
	uint64_t count[COUNT_COUNT];
};

static inline void count_one(struct control *control, enum count count)
{
	control->count[count]++;
}

static inline bool is_scarce(const struct control *control)
{
	return control->credit < (int64_t)CREDIT_SCARCE;
}

/* ns; 0 when it is not there, as of a process that ended. */
uint64_t control_clock(clockid_t clock);
uint64_t control_now(void);
uint64_t control_random(struct control *control);
/* One of `count`, each as likely as its weight says; `count`: none has any. */
unsigned control_draw(struct control *control, const uint64_t *weight, unsigned count);

/* target.c */
void targets_welcome(struct control *control); /* newly announced processes */
void targets_check(struct control *control);   /* those that have ended */
void target_end(struct target *target);
bool target_has_ended(const struct target *target);
pid_t target_name_inside(pid_t pid); /* its id in its own pid namespace; 0: not known */
struct target *target_find(struct control *control, pid_t pid);
/* Does process `pid` map our area? Does it call itself `inside`, as it would without a namespace?
 */
bool target_maps_area(const struct control *control, pid_t pid);
bool target_is_named_inside(pid_t pid, pid_t inside);
/* A process without our library; `observed` is the target's from then on. 0 or -errno. */
int target_observe(struct control *control, pid_t pid, struct observed *observed);

/* cover.c: each event opened in a process, with the same signal data in all its threads */
int cover_open(struct target *target, struct coverage *coverage,
	       const struct coverage_target *threads, const struct perf_request *request,
	       uint64_t data);
/* One thread's own, not inherited. */
int cover_add(struct target *target, struct coverage *coverage, const struct perf_request *request,
	      pid_t tid);
/* Is the thread in which an event was opened just now one of the process's? */
bool cover_belongs(struct target *target, pid_t tid);
/* It has executed nothing since it announced itself. */
bool cover_is_itself(const struct target *target);
int cover_modify(struct coverage *coverage, const struct coverage_target *threads,
		 const struct perf_request *request, uint64_t data);

/* slots.c */
struct coverage_target slot_coverage(const struct target *target);
int slot_open(struct target *target, struct slot *slot);
void slot_close(struct target *target, struct slot *slot);
void slots_close_silent(struct target *target); /* all that are open and not armed */
/* A silent one, where the threads to cover have changed. */
void slot_suit_threads(struct target *target, struct slot *slot);
/* Hits of its generation are hits from here on. */
void slot_publish(struct target *target, struct slot *slot);
int slot_arm(struct target *target, struct slot *slot, const struct tl_watch *watch);
void slot_widen(struct target *target, struct slot *slot);
void slot_narrow(struct target *target, struct slot *slot);
void slot_silence(struct target *target, struct slot *slot); /* its holds go on */
void slot_disarm(struct target *target, struct slot *slot);
void slot_release(struct target *target, struct slot *slot); /* whom it holds */
/* In this thread alone, where slots are brief. */
int slot_arm_in(struct target *target, struct slot *slot, const struct tl_watch *watch,
		const struct thread_rate *thread);

/* active.c: which threads run */
void active_look(struct target *target, uint64_t now);
void active_note(struct target *target, pid_t tid);
void active_forget(struct target *target);

/* meetings.c: threads that come by an address at equal intervals */
void meeting_begin(struct target *target, const struct slot *slot); /* it is being armed */
/* It has come, or its hold has ended. */
void meeting_note(struct target *target, const struct slot *slot, const struct hit *hit);
/* Are two expected at the address that is watched, now or later? At any that is? */
bool meeting_waits(const struct target *target, const struct slot *slot);
bool meeting_is_on(const struct target *target);
/* An address that regular threads come by is watched until they meet. */
void meeting_suit(struct target *target, struct tl_watch *watch);

/* extent.c: cuts a load of the C library to what its call is to read. False: that is nothing. */
bool extent_settle(struct target *target, const struct slot *slot,
		   const struct insn_registers *registers, struct hit *hit);

/* update.c: is one thread's update lost by another's write? */
void update_note(struct target *target, struct hit *hit); /* what a store will overwrite */
bool update_is_lost(struct control *control, const struct hit *held, const struct hit *write);

/* brief.c: programs whose threads come and go all the time */
/* `thread`: all, with their slices now; their comings are filled in. None: they are too many. */
void brief_look(struct target *target, struct thread_rate *thread, unsigned count, double seconds);
/* One that may be held and has no slot. NULL: none. */
const struct thread_rate *brief_choose(struct target *target, uint64_t now);
/* This one, if it may be and has none. */
const struct thread_rate *brief_find(struct target *target, pid_t tid, uint64_t now);
uint64_t
brief_hold(const struct target *target); /* ns, that a thread has saved up for often enough */
/* NULL: it is none of those that seldom get a CPU. */
struct calm_thread *brief_calm(struct target *target, pid_t tid);

/* order.c: by the name of a function of the C library */
/* Its argument is a lock, or memory that is nobody's: held there, a thread meets no race. */
bool order_is_its_purpose(struct space *space, uint64_t function);
enum order_effect { ORDER_NONE, ORDER_RELEASES, ORDER_WAITS /* for other threads */ };
enum order_effect order_effect(struct space *space, uint64_t function);

/* ahead.c */
/* Where the thread will be then. */
struct ahead_end {
	uint64_t pc; /* 0: not known */
	bool waited; /* for another thread, as far as it may have to */
	uint64_t
		released; /* where it has first given something back that others wait for; 0: not */
};
typedef void ahead_fn(void *context, const struct insn_forward_access *access);
/* In so many instructions at most. False: there is none. `end` may be NULL. */
bool ahead_walk(struct target *target, const struct insn_registers *from, unsigned most,
		ahead_fn *each, void *context, struct ahead_end *end);

/* lines.c: a thread comes to memory there. False: it is its own. */
bool lines_note(struct target *target, uint64_t address, pid_t tid);

/* probe.c */
void probe_begin(struct target *target, struct slot *slot, const struct hit *hit);
void probe_end(struct target *target, struct slot *slot);

/* Arming takes a few microseconds a thread. Where that comes near a hold, widening comes too late
 * to be of use. */
static inline bool arms_slowly(const struct target *target)
{
	return target->arm_time >= ARM_SLOW && !target->control->options.stall_first;
}

/* dear.c: addresses that many threads come to all the time */
void dear_note(struct target *target, const struct slot *slot); /* its watch is over */
bool dear_is(struct target *target, const struct tl_watch *watch);

/* limit.c */
void limits_open(struct target *target); /* those that are on */
void limits_close(struct target *target);
void limits_follow(struct control *control); /* what has changed in the area */

/* unpaid.c: CPU time that nobody paid for */
void unpaid_launch(struct control *control, pid_t pid); /* before the program begins */
void unpaid_begin(struct control *control);		/* limits that are new */
void unpaid_charge(struct control *control);
bool control_process_time(pid_t pid, uint64_t *time); /* ns; false: it has ended */

/* hits.c */
void hits_collect(struct control *control);
void hits_forget_slot(struct control *control, struct slot *slot);
void hits_forget_target(struct control *control, struct target *target);
void hit_free(struct hit *hit);

/* traces.c: lasting watches */
void traces_collect(struct control *control);
void trace_tell(struct control *control, struct target *target, const struct area_hit *record);

/* notices.c */
void notice_tell(struct control *control, struct target *target, const struct area_hit *record);
void notice_answer(struct control *control, uint32_t process);
void threads_check(struct target *target);

/* understand.c: from registers to accesses */
struct insn_registers hit_registers(const struct area_registers *noted);
uint64_t value_cut(uint64_t value, uint64_t length); /* its first bytes; all from 8 on */
/* Does it touch bytes that are watched? */
bool hit_is_inside(const struct slot *slot, const struct tl_access *access);
bool hit_understand(struct target *target, struct slot *slot, const struct area_hit *record,
		    struct hit *hit);
/* Of a region: the program has understood it. */
void hit_take(struct target *target, const struct area_hit *record, struct hit *hit);
unsigned insn_traits(const struct insn *insn, unsigned operand, uint64_t address, uint64_t length);

/* pairs.c */
bool hits_conflict(const struct hit *a, const struct hit *b); /* but for their times */
void pairs_complete(struct control *control, struct slot *slot, struct hit *hit);

/* sampling.c */
void sampling_drain(struct control *control);

/* schedule.c */
void schedule_run(struct control *control);
uint64_t schedule_next(const struct control *control);
/* A thread is held now. Returns the slot whose hit it is from now on. */
struct slot *schedule_hit(struct control *control, struct target *target, struct slot *slot,
			  struct hit *hit);

/* stall_first.c: another strategy, in place of the schedule */
int stall_first_open(struct target *target);
void stall_first_run(struct control *control, struct target *target, uint64_t now);
struct slot *stall_first_hit(struct control *control, struct target *target, struct slot *slot,
			     struct hit *hit);

/* promises.c */
/* Another thread came to what the instruction accesses: look there again. */
void promises_note(struct target *target, uint64_t pc, pid_t tid);
/* Its memory changed while the thread was held there or before. */
void promises_change(struct target *target, uint64_t pc, pid_t tid);
/* One that is worth a look now, and how much it is; NULL: none. What was looked at often without a
 * find leaves its turn to others: of few that promise one would always be chosen. */
struct promise *promises_choose(struct target *target, unsigned *interest);

/* code.c */
#define INTEREST_EQUAL 32 /* of an instruction that nobody has an opinion of */
unsigned code_interest(struct target *target, uint64_t pc);
/* Where regions begin in which it does not wait for others. */
struct places *code_starts(struct target *target, pid_t tid);
/* Code there is in use by the thread. */
void code_note(struct target *target, pid_t tid, uint64_t pc);
/* In use by one thread: what it will return to, where it sleeps. */
void code_look_at(struct target *target, struct calm_thread *thread);
void code_look(struct target *target); /* at what sleeping threads will do */
bool code_choose(struct target *target, struct code_choice *choice);
/* In one thread alone. */
bool code_choose_single(struct target *target, uint64_t now, struct code_choice *choice);
/* A thread has come to a chosen instruction: what is around it, others may come to as well. */
void code_came(struct target *target, const struct hit *hit);
/* May others access it? Not what is near the thread's own stack. */
bool code_is_shareable(struct target *target, const struct hit *hit, uint64_t address);
/* Was the place that the slot's instruction was chosen for worth the watch? */
void code_tell(struct target *target, const struct slot *slot, bool worth);
/* The watch of an instruction is over. */
void code_unwatched(struct target *target, const struct slot *slot);
/* What to watch now that a thread stands before a chosen instruction. */
bool code_hit(struct target *target, const struct hit *hit, struct tl_watch *watch);

/* Do --include and --exclude let us look at code of this file? */
bool control_wants_module(const struct control *control, const char *path);

/* bursts.c */
uint64_t burst_period(const struct control *control); /* ns of CPU time between samples */
void bursts_run(struct control *control);
/* ns that samples were on since the last call. */
uint64_t bursts_take_time(struct control *control);
uint64_t bursts_next(const struct control *control);
bool bursts_are_new(const struct control *control, uint64_t now); /* all of what they show is */

/* budget.c */
void budget_start(struct control *control);
void budget_begin(struct target *target);
void budget_collect(struct target *target); /* also at its end */
void budget_check(struct control *control);

/* CPU time of a process, for clock_gettime(). */
clockid_t control_process_clock(pid_t pid);

/* duty.c */
void duty_start(struct control *control);
void duty_begin(struct target *target, struct slot *slot); /* it has just been armed */
void duty_run(struct control *control);
uint64_t duty_next(const struct control *control);

/* launch.c */
pid_t launch(struct control *control, char *const argv[], const char *library);

/* attach.c: programs that started us themselves */
bool is_attached(const struct control *control);
/* Samples of a process that was running before us. */
void attach_samples(struct control *control, pid_t pid);
/* Samples of all that is watched, opened anew. */
void attach_samples_again(struct control *control);
/* Has everything to be watched ended? */
bool attach_is_over(struct control *control);
/* Processes that are watched or ask to be. */
unsigned attach_waiting(struct control *control);

#endif
