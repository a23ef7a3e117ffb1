# SPDX-License-Identifier: Apache-2.0
"""Puts a program together: its files, how it is compiled, and the finding it asks for."""

import access
import filler
import guard
from draw import Draw
from plan import PERIODS, MILLISECOND

LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */"
PERSISTENT = ("barrier", "create and join")


def indent(lines, depth=1):
    return ["\t" * depth + line if line else "" for line in lines]


class Program:
    """The text of one seed's program."""

    def __init__(self, plan):
        self.plan = plan
        atomic = None
        if plan.twin == "atomic type":
            atomic = (f"std::atomic<{plan.scalar}>" if plan.language == "c++"
                      else f"_Atomic {plan.scalar}")
        self.object = access.Object(plan, atomic)
        self.accesses = list(access.sides(plan, self.object, Draw(plan.seed, "access")))
        self.make_guard()
        self.functions = [[], []]  # the names of each side's, innermost first
        self.library_lines, self.main_lines = [], []
        self.twist = Draw(plan.seed, "paths")

    def make_guard(self):
        plan = self.plan
        if plan.free:
            self.guard, self.apart = guard.twin(plan), [True, True]
            styles = [plan.twin] * 2
        else:
            self.guard, self.apart = guard.mistake(plan)
            styles = [None, None]
            if plan.mistake == "one side atomic":
                styles[plan.seed % 2] = "relaxed builtins"
        for side, style in enumerate(styles):
            if style and (style in ("atomic type", "sync builtins") or style.startswith("relaxed")):
                self.accesses[side].lines = access.atomic_lines(plan, self.object,
                                                                self.accesses[side], style)

    # What both files know.

    def header(self):
        plan = self.plan
        lines = [LICENCE, "#ifndef PROGRAM_H", "#define PROGRAM_H", ""]
        if plan.language == "c++":
            lines += ["#include <atomic>", "#include <mutex>", "#include <shared_mutex>"]
        elif plan.twin == "atomic type":
            lines += ["#include <stdatomic.h>"]
        lines += ["#include <dlfcn.h>", "#include <sched.h>", "#include <sys/eventfd.h>",
                  '#include "prelude.h"', "", *self.object.type_lines()]
        lines += [f"extern {self.object.declaration()};"]
        lines += [f"extern {declaration};" for declaration, _ in self.guard.shared]
        lines += ["", *self.helpers(), '#ifdef __cplusplus', 'extern "C" {', "#endif",
                  "void work_step(struct context *c);"]
        if plan.library != "none":
            lines += [f"void path_{side}(struct context *c);" for side in "ab"]
        return lines + ["#ifdef __cplusplus", "}", "#endif", "#endif"]

    def helpers(self):
        """What some accesses call."""
        plan, lines = self.plan, []
        if plan.category == "bytes":
            lines += ["/* One instruction. ThreadSanitizer is shown a call, since it sees no assembly. */",
                      "static inline void copy_octets(void *to, const void *from, size_t length)",
                      "{", "#ifdef __SANITIZE_THREAD__", "\tmemcpy(to, from, length);", "#else",
                      '\t__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(length) : : '
                      '"memory");', "#endif", "}", ""]
        if plan.twin == "relaxed in functions":
            kind = plan.scalar
            lines += [f"static inline {kind} peek(const {kind} *from)", "{",
                      "\treturn __atomic_load_n(from, __ATOMIC_RELAXED);", "}", "",
                      f"static inline void poke({kind} *to, {kind} value)", "{",
                      "\t__atomic_store_n(to, value, __ATOMIC_RELAXED);", "}", ""]
        return lines

    # From a thread's body to its access.

    def path(self, side):
        """Functions from the access outwards; returns the lines that a body has for it."""
        plan = self.plan
        access_ = self.accesses[side]
        lines = self.guard.around(side, access_.writes, access_.lines)
        for depth in range(plan.depths[side]):
            verb = plan.verbs[side] if not depth else ("handle", "serve", "dispatch")[depth]
            name = f"{verb}_{plan.name}_{'ab'[side]}"
            lines = self.function(side, name, lines, depth)
        return lines

    def in_library(self, side):
        plan = self.plan
        return plan.library in ("both sides", "dlopen") or (plan.library == "one side" and side == 0)

    def function(self, side, name, lines, depth):
        plan, target = self.plan, self.library_lines if self.in_library(side) else self.main_lines
        self.functions[side].append(name)
        qualifier = "inline" if plan.inline[side] else "__attribute__((noinline))"
        before = self.private_lines()
        body = [*before, *indent(braced_if(lines)), *self.private_lines()]
        if plan.language == "c++" and plan.method[side] and depth == 0:
            target += [f"struct {plan.name}_{'ab'[side]}_user {{",
                       f"\t{qualifier} static void {name}(struct context *c)", "\t{",
                       *indent(body), "\t}", "};", ""]
            return [f"{plan.name}_{'ab'[side]}_user::{name}(c);"]
        target += [f"static {qualifier} void {name}(struct context *c)", "{", *body, "}", ""]
        return [f"{name}(c);"]

    def private_lines(self):
        """What a function does beside: with memory of its thread's own."""
        draw = self.twist
        return [f"\tc->words[{draw.below(64)}] += c->bytes[{draw.below(256)}] + {draw.below(99)};"
                for _ in range(draw.below(3))]

    def accessing(self, side):
        """A body's lines that access, inside the library too."""
        lines = self.path(side)
        plan, letter = self.plan, "ab"[side]
        if not self.in_library(side):
            return braced_if(lines)
        self.functions[side].append(f"path_{letter}")
        self.library_lines += [f'void path_{letter}(struct context *c)', "{",
                               *indent(braced_if(lines)), "}", ""]
        if plan.library == "dlopen":
            return [f"plugin_{letter}(c);"]
        return [f"path_{letter}(c);"]

    # Bodies of threads.

    def body(self, side):
        """The function of a thread of this side, by how it rests and how long it lives."""
        plan, letter = self.plan, "ab"[side]
        period = PERIODS[plan.periods[side]]
        name = f"thread_{letter}"
        lines = self.accessing(side)
        self.functions[side].append(name)
        once = ["work_step(c);", "if (active()) {", *indent(lines), "}"]
        if plan.twin == "barrier":
            self.main_lines += self.barrier_body(name, lines, max(period, MILLISECOND))
        elif plan.twin == "create and join" or (plan.lifetime != "steady" and
                                                not (side and plan.lifetime != "short")):
            rounds = plan.life if plan.lifetime != "steady" else 1
            self.main_lines += thread(name, [f"for (unsigned i = 0; i < {rounds}; i++) {{",
                                             *indent(once), "}"])
            if plan.lifetime == "short":
                self.main_lines += spawner(f"spawn_{letter}", name, period, plan)
        elif plan.lifetime != "steady":
            self.main_lines += self.creator(name, lines, period)
        else:
            self.main_lines += thread(name, self.steady(side, once, period))

    def steady(self, side, once, period):
        plan = self.plan
        if plan.rest == "busy":
            if not period:
                return ["while (running()) {", *indent(once), "}"]
            return ["while (running()) {", "\twork_step(c);",
                    f"\tif (due(c, {period}, {plan.jitter}) && active()) {{",
                    *indent(once[2:-1]), "\t}", "}"]
        if not period:
            return ["while (running()) {", *indent(once), "\tif (c->turn % 256 == 0)",
                    "\t\tnap(MILLISECOND);", "}"]
        if plan.rest == "woken":
            return [f"while (take(jobs[c->rank][0])) {{", *indent(once), "}"]
        return [f"while (come_round(c, {period}, {plan.jitter})) {{", *indent(once), "}"]

    def creator(self, name, lines, period):
        """Creates a thread of the other side and accesses the object while that one lives."""
        plan = self.plan
        rest = [f"if (!come_round(c, {period}, {plan.jitter}))", "\tbreak;"] if period else []
        return thread(name, ["while (running()) {", "\tpthread_t born;",
                             "\tstruct context *child = c + MAX_SLOTS;", "",
                             "\tchild->group = c->group - 1;",
                             "\tbegin_thread(&born, thread_a, child);", "\tif (active()) {",
                             *indent(lines, 2), "\t}", "\tpthread_join(born, NULL);",
                             "\twork_step(c);", *indent(rest), "}"])

    def barrier_body(self, name, lines, period):
        return thread(name, [
            "for (int ends = 0; !ends;) {",
            f"\tfor (unsigned turn = 0; turn < {self.plan.participants}; turn++) {{",
            "\t\tif (turn == c->rank) {", *indent(lines, 3), "\t\t}",
            "\t\tpthread_barrier_wait(&meeting);", "\t}", "\twork_step(c);",
            f"\tcome_round(c, {period}, 0);", "\tif (c->rank == 0)", "\t\tlast = !running();",
            "\tpthread_barrier_wait(&meeting);", "\tends = last;", "}"])

    # Everything else of the main file.

    def background(self):
        plan = self.plan
        period = plan.background_period
        tick = thread("thread_tick", [f"while (come_round(c, {period}, {plan.jitter}))",
                                      "\twork_step(c);"])
        if plan.background == "busy":
            tick += thread("thread_busy", ["while (running())", "\twork_step(c);"])
        if plan.background == "pairs":
            tick += thread("thread_pair", [
                "unsigned mine = c->slot - first_pair;", "",
                "while (take(pairs[mine][0])) {", "\twork_step(c);",
                "\tif (mine % 2 == 0 && c->turn % 16 == 0)", f"\t\tnap({max(period // 8, MILLISECOND)});",
                "\tgive(pairs[mine ^ 1][1]);", "}", "close(pairs[mine ^ 1][1]);"])
        if plan.background == "churn":
            tick += thread("thread_brief", ["for (unsigned i = 0; i < 20; i++)", "\twork_step(c);"])
            tick += spawner("thread_churn", "thread_brief", max(period // 8, 2 * MILLISECOND), plan)
        return tick

    def background_starts(self):
        plan = self.plan
        rest = plan.threads - plan.participants
        if rest <= 0:
            return []
        special = {"busy": min(rest, 2), "pairs": min(rest, 16) & ~1, "churn": min(rest, 3)}.get(
            plan.background, 0)
        name = {"busy": "thread_busy", "pairs": "thread_pair", "churn": "thread_churn"}.get(
            plan.background)
        lines = []
        if special and plan.background == "pairs":
            lines += ["first_pair = thread_count;", f"for (unsigned i = 0; i < {special}; i++)",
                      "\tif (pipe(pairs[i]))", "\t\texit(2);",
                      f"for (unsigned i = 0; i < {special}; i += 2)", "\tgive(pairs[i][1]);"]
        if special:
            lines += [f"for (unsigned i = 0; i < {special}; i++)", f"\tadd_thread({name}, 2, 0);"]
        if rest > special:
            lines += [f"for (unsigned i = {special}; i < {rest}; i++)",
                      "\tadd_thread(thread_tick, 2, 0);"]
        return lines

    def woken(self):
        plan = self.plan
        return (plan.rest == "woken" and plan.lifetime == "steady" and plan.twin not in PERSISTENT
                and any(PERIODS[period] for period in plan.periods))

    def dispatcher(self):
        """Hands each participant its jobs, those of both sides from the same thread."""
        plan = self.plan
        periods = [PERIODS[plan.periods[rank >= plan.writers]] for rank in
                   range(plan.participants)]
        step = min(period for period in periods if period)
        lines = [f"static const uint64_t every[{plan.participants}] = "
                 f"{{{', '.join(f'{period}ull' for period in periods)}}};",
                 f"uint64_t time[{plan.participants}];", "",
                 f"for (unsigned i = 0; i < {plan.participants}; i++)",
                 "\ttime[i] = program_begin + every[i] / 1024 * (draw(c) % 1024);",
                 f"while (come_round(c, {step}, {plan.jitter}))",
                 f"\tfor (unsigned i = 0; i < {plan.participants}; i++)",
                 "\t\tif (every[i] && time[i] <= now()) {",
                 "\t\t\tgive(jobs[i][1]);", "\t\t\ttime[i] += every[i];", "\t\t}",
                 f"for (unsigned i = 0; i < {plan.participants}; i++)", "\tclose(jobs[i][1]);"]
        return thread("thread_dispatch", lines)

    def conductor(self):
        """Creates a thread of one side, joins it, then one of the other."""
        period = max(min(PERIODS[period] for period in self.plan.periods), MILLISECOND)
        return thread("thread_conduct", [
            "while (running()) {", "\tpthread_t born;", "",
            "\tbegin_thread(&born, thread_a, c + MAX_SLOTS);", "\tpthread_join(born, NULL);",
            "\tbegin_thread(&born, thread_b, c + MAX_SLOTS);", "\tpthread_join(born, NULL);",
            f"\tcome_round(c, {period}, 0);", "}"])

    def keeper(self):
        plan = self.plan
        storage = "per_thread " if plan.place == "thread-local" else ""
        outside = [f"static {storage}struct {plan.type} kept;", ""] if storage else []
        inside = [] if storage else [f"struct {plan.type} kept;", "",
                                     "memset((void *)&kept, 0, sizeof(kept));"]
        self.main_lines += ["static sem_t kept_ready, kept_done;", "static pthread_t keeper;", "", *outside]
        return thread("thread_keep", [*inside, "(void)c;", f"{plan.name} = &kept;",
                                      "sem_post(&kept_ready);", "while (sem_wait(&kept_done))",
                                      "\t;"])

    def participants_start(self):
        plan = self.plan
        if plan.twin == "create and join":
            return ["add_thread(thread_conduct, 0, 0);"]
        names = ["thread_a", "thread_b"]
        if plan.lifetime == "short":
            names = ["spawn_a", "spawn_b"]
        counts = [plan.writers, plan.others]
        if plan.lifetime == "with its creator":
            return [f"for (unsigned i = 0; i < {plan.others}; i++) {{",
                    f"\tcontexts[thread_count + MAX_SLOTS].rank = {plan.others} + i;",
                    "\tadd_thread(thread_b, 1, i);", "}"]
        lines = []
        for side in (0, 1):
            first = f"{plan.writers} + i" if side else "i"
            lines += [f"for (unsigned i = 0; i < {counts[side]}; i++) {{",
                      f"\tcontexts[thread_count + MAX_SLOTS].rank = {first};",
                      f"\tadd_thread({names[side]}, {side}, {first});", "}"]
        return lines

    def run_function(self):
        plan = self.plan
        start, end = list(self.guard.set_up), ["join_threads();"]
        if plan.library == "dlopen":
            self.main_lines += [f"static void (*plugin_{letter})(struct context *c);"
                                for letter in "ab"] + [""]
        if plan.library == "dlopen":
            start += ['void *library = dlopen("libpart.so", RTLD_NOW);', "", "if (!library)",
                      "\texit(2);"]
            start += [f'plugin_{letter} = (void (*)(struct context *))dlsym(library, "path_{letter}");'
                      for letter in "ab"]
        if self.object.kept():
            start += ["sem_init(&kept_ready, 0, 0);",
                      "sem_init(&kept_done, 0, 0);",
                      "begin_thread(&keeper, thread_keep, &contexts[2 * MAX_SLOTS - 1]);",
                      "while (sem_wait(&kept_ready))", "\t;"]
            end += ["sem_post(&kept_done);", "pthread_join(keeper, NULL);"]
        if self.woken():
            start += [f"for (unsigned i = 0; i < {plan.participants}; i++)",
                      "\tif (pipe(jobs[i]))", "\t\texit(2);"]
        start += self.participants_start()
        if self.woken():
            start += ["add_thread(thread_dispatch, 3, 0);"]
        return ["static void set_up(void)", "{", *indent(self.object.set_up()), "}", "",
                "static void start(void)", "{", *indent(start + self.background_starts()), "}", "",
                "static void finish(void)", "{", *indent(end), "}", ""]

    def globals(self):
        plan = self.plan
        lines = [f"{self.object.declaration()};"]
        lines += [f"{declaration}{initialiser};" for declaration, initialiser in self.guard.shared]
        if self.woken():
            lines += [f"static int jobs[{plan.participants}][2];"]
        if plan.background == "pairs":
            lines += ["static int pairs[16][2];", "static unsigned first_pair;"]
        return lines + [""]

    def settings(self):
        plan = self.plan
        burst = (plan.burst, plan.burst * plan.burst_percent // 100) if plan.phase == "bursts" else (
            0, 0)
        phase = (plan.phase_begin, 1000) if plan.phase == "phase" else (0, 1000)
        return [f"const struct program program = {{{burst[0]}, {burst[1]}, {phase[0]}, {phase[1]}, "
                f"{plan.forks}, set_up, start}};", ""]

    def main_file(self):
        plan = self.plan
        self.main_lines += self.globals()
        tail = self.run_function()
        for side in (0, 1):
            self.body(side)
        if plan.twin == "create and join":
            self.main_lines += self.conductor()
        if self.object.kept():
            self.main_lines += self.keeper()
        if self.woken():
            self.main_lines += self.dispatcher()
        self.main_lines += self.background() + tail + self.settings()
        self.main_lines += ["int main(int argc, char **argv)", "{",
                            "\treturn run_program(argc, argv);", "}"]
        return [LICENCE, "#define PRELUDE_MAIN", '#include "program.h"', "", *self.main_lines]

    def files(self):
        """{name: text}, of which the extension follows from the language."""
        suffix = "cc" if self.plan.language == "c++" else "c"
        files = {f"main.{suffix}": self.main_file(), "program.h": self.header(),
                 f"work.{suffix}": filler.source(self.plan, Draw(self.plan.seed, "work"))}
        assembled = filler.counts(self.plan)[1]
        if assembled:
            files["work_asm.S"] = filler.assembly(assembled, Draw(self.plan.seed, "assembly"))
        if self.plan.library != "none":
            files[f"part.{suffix}"] = [LICENCE, '#include "program.h"', "", *self.library_lines]
        return {name: "\n".join(lines) + "\n" for name, lines in files.items()}

    def commands(self):
        """Shell commands; $EXTRA goes to each of the compilers, $CC and $CXX replace them."""
        plan = self.plan
        suffix = "cc" if plan.language == "c++" else "c"
        if plan.language == "c++":
            compiler = "${CXX:-%s} -std=c++17" % {"gcc": "g++", "clang": "clang++"}[plan.compiler]
        else:
            compiler = "${CC:-%s} -std=gnu11" % plan.compiler
        base = f"{compiler} {plan.level} -g -pthread $EXTRA"
        link = ""
        lines = []
        if plan.library != "none":
            lines.append(f"{base} -shared -fPIC -o libpart.so part.{suffix}")
            link = " -rdynamic -Wl,-rpath,'$ORIGIN'"
            # RPATH, not RUNPATH, is heeded when a sanitizer calls dlopen() for the program.
            link += " -Wl,--disable-new-dtags -ldl" if plan.library == "dlopen" else " -L. -lpart"
        assembly = " work_asm.S" if filler.counts(plan)[1] else ""
        lines.append(f"{base} -o program main.{suffix} work.{suffix}{assembly}{link}")
        return lines

    def expected(self):
        """Pairs of places that race, and what the object is called. A place is the function that
        accesses, followed by those that call it: of these some may be the last one's jump."""
        plan, pairs = self.plan, []
        for first, second in ((0, 0), (0, 1), (1, 1)):
            writes = self.accesses[first].writes or self.accesses[second].writes
            if first == second:
                many = plan.side_threads(first) > 1
                if not (writes and many) or self.apart[first]:
                    continue
            if not plan.free and writes:
                pairs.append([self.functions[first], self.functions[second]])
        return {"seed": plan.seed, "free": plan.free, "dimensions": {
                    **plan.dimensions(), "kind": self.accesses[0].kind,
                    "other kind": ("write " if self.accesses[1].writes else "read ") +
                    self.accesses[1].kind},
                "object": {"kinds": self.object.kinds(), "names": self.object.names()},
                "functions": pairs, "compile": self.commands()}


def braced_if(lines):
    """Declarations among the lines need a block of their own, wherever they are put."""
    return lines if len(lines) == 1 else guard.braced(lines)


def thread(name, lines):
    return [f"static void *{name}(void *arg)", "{", "\tstruct context *c = (struct context *)arg;",
            "", *indent(lines), "\treturn NULL;", "}", ""]


def spawner(name, body, period, plan):
    """Keeps one place filled: a thread is created there, joined, and followed by the next."""
    rest = [f"if (!come_round(c, {period}, {plan.jitter}))", "\tbreak;"] if period else []
    return thread(name, ["struct context *child = c + MAX_SLOTS;", "",
                         "child->group = c->group;", "while (running()) {", "\tpthread_t born;", "",
                         f"\tbegin_thread(&born, {body}, child);",
                         "\tpthread_join(born, NULL);", *indent(rest), "}"])
