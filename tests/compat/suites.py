# SPDX-License-Identifier: Apache-2.0
"""Programs' own test suites, or the largest part that runs in minutes from Debian's packages and sources."""
import os
import re
import shutil

from workload import NOBODY, Workload, fetch, must


class Python(Workload):
    """python3 -m test, verbosely: each test's name and what became of it."""

    package = "libpython3.11-testsuite"
    needs = ("/usr/bin/python3",)
    tests = ()
    match = ()

    def __init__(self, name, tests, ignore=(), quick=False):
        self.name, self.tests, self.ignore, self.quick = name, tests, ignore, quick
        self.title = "python3 -m test " + " ".join(tests) + "".join(f", without {pattern}" for pattern in ignore)

    def missing(self):
        found = os.path.exists("/usr/lib/python3.11/test/test_threading.py")
        return [] if found else [self.package]

    def command(self, folder):
        ignored = [word for pattern in self.ignore for word in ("-i", pattern)]
        return ["/usr/bin/python3", "-m", "test", "-v", *ignored, *self.tests]

    def checks(self, output, folder):
        found, header, failed = [], None, 0
        for line in output.splitlines():
            match = re.match(r"(\w+ \([\w.<>]+\))", line)
            header = match.group(1) if match else header
            result = re.search(r"\.\.\. (ok|skipped|FAIL|ERROR|expected failure)", line) or re.match(
                r"(ok|FAIL|ERROR)$", line)
            if header and result:
                found.append(f"{header}: {result.group(1)}")
                failed += result.group(1) in ("FAIL", "ERROR")
                header = None
            if re.match(r"(Result: |Tests result: |\d+ tests? (OK|failed))", line):
                found.append(line)
        return found, failed


class Redis(Workload):
    """Redis's own suite in Tcl, against Debian's servers: it starts dozens of them."""

    name, title, package = "redis-suite", "", "redis-server"
    needs = ("tclsh", "redis-server", "redis-cli", "redis-benchmark")
    units = ("unit/type/string", "unit/type/incr", "unit/type/hash", "unit/keyspace", "unit/expire", "unit/scan",
             "unit/info", "unit/auth", "unit/protocol", "unit/quit", "unit/multi", "unit/bitops", "unit/scripting",
             "unit/pubsub", "unit/slowlog", "unit/introspection", "unit/latency-monitor", "integration/aof",
             "integration/rdb", "integration/psync2-reg", "integration/convert-zipmap-hash-on-load")
    title = "its own suite: " + " ".join(units)

    def prepare(self):
        folder = fetch("redis")
        for name in ("redis-server", "redis-cli", "redis-benchmark", "redis-sentinel", "redis-check-aof",
                     "redis-check-rdb"):
            link = os.path.join(folder, "src", name)
            if not os.path.lexists(link) and shutil.which(name):
                os.symlink(shutil.which(name), link)

    def command(self, folder):
        chosen = [word for unit in self.units for word in ("--single", unit)]
        return ["tclsh", "tests/test_helper.tcl", "--clients", "3", "--timeout", "160", *chosen]

    def directory(self, folder):
        return fetch("redis")

    def checks(self, output, folder):
        found, failed = [], 0
        for line in re.sub(r"\x1b\[[0-9;]*m", "", output).splitlines():
            match = re.match(r"\[(ok|err|exception|skip|ignore)\]: (.*?)( \(\d+ ms\))?$", line)
            if match:
                found.append(f"{match.group(2)}: {match.group(1)}")
                failed += match.group(1) in ("err", "exception")
        return found, failed


class Sqlite(Workload):
    """SQLite's test fixture, built from Debian's source, with threads, locks, forks and crashes."""

    name, package = "sqlite-suite", "sqlite3"
    needs = ("tclsh", "gcc", "make")
    user = NOBODY  # as root some tests refuse to run
    # Without those that take minutes each: walthread, crash, thread003 and the like.
    scripts = ("thread001", "thread1", "thread2", "lock", "lock2", "lock3", "shared", "select1", "trans", "attach",
               "backup", "fts3aa", "json101", "window1", "window2")
    title = "its own suite: " + " ".join(scripts)

    def fixture(self):
        return os.path.join(fetch("sqlite3"), "compat", "testfixture")

    def prepare(self):
        source = fetch("sqlite3")
        if not os.path.exists(self.fixture()):
            place = os.path.join(source, "compat")
            os.makedirs(place, exist_ok=True)
            must(["../configure", "--with-tcl=/usr/lib/x86_64-linux-gnu/tcl8.6", "CFLAGS=-O1"], place)
            must(["make", "-j2", "testfixture"], place)

    def command(self, folder):
        source = fetch("sqlite3")
        calls = "; ".join(f"echo == {name}; {self.fixture()} {source}/test/{name}.test" for name in self.scripts)
        return ["sh", "-c", calls]

    def checks(self, output, folder):
        found, failed = [], 0
        for line in output.splitlines():
            if re.match(r"(== |! |\S+\.\.\. |\d+ errors out of \d+ tests)", line):
                found.append(re.sub(r" on \S+ Linux.*", "", line))
                failed += line.startswith("! ")
        return found, failed


class Perl(Workload):
    """Perl's own tests that the installed perl can run: processes, signals, threads, files, sockets."""

    name, package = "perl-suite", "perl"
    needs = ("perl",)
    scripts = ("op/fork", "op/alarm", "op/exec", "op/kill0", "op/sigdispatch", "op/sleep", "op/die", "op/eval",
               "op/sprintf", "op/pack", "op/sort", "op/threads", "op/closure", "op/local", "op/regexp", "re/pat",
               "re/subst", "io/pipe", "io/fs", "io/open", "io/socket", "io/sem", "io/shm", "io/dup", "io/perlio")
    title = "its own tests: " + " ".join(scripts)

    def prepare(self):
        place = os.path.join(fetch("perl"), "t")
        link = os.path.join(place, "perl")
        if not os.path.lexists(link):
            os.symlink("/usr/bin/perl", link)

    def command(self, folder):
        calls = "; ".join(f"echo == {name}; ./perl -I../lib -I. {name}.t" for name in self.scripts)
        return ["sh", "-c", calls]

    def directory(self, folder):
        return os.path.join(fetch("perl"), "t")

    def checks(self, output, folder):
        found, failed = [], 0
        for line in output.splitlines():
            if re.match(r"(== |ok |not ok |1\.\.)", line):
                found.append(line)
                failed += line.startswith("not ok") and "# TODO" not in line
        return found, failed


class Bash(Workload):
    """Bash's own tests, each script's output: jobs, traps, pipelines, coprocesses, here-documents."""

    name, package = "bash-suite", "bash"
    needs = ("bash", "gcc")
    scripts = ("arith", "array", "builtins", "case", "complete", "comsub", "cond", "coproc", "dirstack", "errors",
               "execscript", "exp", "extglob", "func", "getopts", "glob-test", "heredoc", "herestr", "ifs", "jobs",
               "lastpipe", "mapfile", "more-exp", "nameref", "posixpipe", "procsub", "quote", "read", "redir", "set-e",
               "shopt", "test", "tilde", "trap", "type", "varenv", "vredir")
    title = "its own tests: " + " ".join(scripts)

    def prepare(self):
        source = fetch("bash")
        for name in ("recho", "zecho", "printenv", "xcase"):
            output = os.path.join(source, "tests", name)
            if not os.path.exists(output):
                must(["gcc", "-w", f"-I{source}", f"-I{source}/include", "-DHAVE_STDLIB_H", "-DHAVE_STRING_H",
                      "-DHAVE_UNISTD_H", "-o", output, os.path.join(source, "support", name + ".c")])

    def command(self, folder):
        calls = "; ".join(f"echo == {name}; timeout 60 bash ./{name}.tests 2>&1; echo == status $?"
                          for name in self.scripts if os.path.exists(os.path.join(self.place(), name + ".tests")))
        return ["sh", "-c", f"cp -r {self.place()} tests; cd tests; PATH=.:$PATH THIS_SH=/bin/bash; export PATH THIS_SH;"
                            + calls]

    def place(self):
        return os.path.join(fetch("bash"), "tests")

    def checks(self, output, folder):
        output = re.sub(r"/tmp/compat-\w+", "/tmp/compat", output)
        return [re.sub(r"\b\d{4,7}\b", "N", line) for line in output.splitlines()], 0


class Zlib(Workload):
    """A real package built with make -j and tested; what comes out must be the same byte for byte."""

    name, package = "gcc-make", "gcc"
    needs = ("gcc", "make")
    title = "zlib: configure, make -j4, make check; checksums of what is built"

    def prepare(self):
        fetch("zlib")

    def command(self, folder):
        return ["sh", "-c", f"cp -r {fetch('zlib')} zlib && cd zlib && ./configure >log 2>&1 && make -j4 >>log 2>&1 && "
                            "make -j4 check 2>&1 | grep -v warning | grep -E 'OK|FAILED' ; "
                            "sha256sum libz.a libz.so.* *.o minigzip example"]


class PostgresSql(Workload):
    """SQL scripts of PostgreSQL's regression tests, on a server of its own; the server is what is wrapped."""

    name, package, user = "postgres-sql", "postgresql-15", NOBODY
    needs = ("initdb", "postgres", "psql")
    scripts = ("boolean", "int4", "int8", "float8", "numeric", "text", "enum", "date", "timestamp", "interval", "json",
               "jsonb", "jsonpath", "arrays", "rangetypes", "domain", "sequence", "plpgsql", "triggers", "foreign_key",
               "prepare", "window", "groupingsets", "with", "xml", "rules", "txid", "uuid", "portals_p2", "truncate")
    title = "SQL of its regression tests: " + " ".join(scripts)

    def prepare(self):
        fetch("postgresql-15")

    def sql(self):
        return os.path.join(fetch("postgresql-15"), "src", "test", "regress", "sql")

    def run(self, wrap):
        self.wrap = " ".join(wrap)
        return super().run([])

    def command(self, folder):
        script = f"""
            initdb -D {folder}/data -U tester --no-sync -A trust >/dev/null || exit 1
            {self.wrap} postgres -D {folder}/data -k {folder} -c listen_addresses= -c fsync=off -c jit=off \\
                >{folder}/log 2>&1 &
            server=$!
            for i in $(seq 100); do pg_isready -q -h {folder} && break; sleep 0.1; done
            for name in {' '.join(self.scripts)}; do
                echo == $name
                psql -X -q -a -h {folder} -U tester postgres <{self.sql()}/$name.sql 2>&1
            done
            kill -INT $server
            wait $server
            echo == server ended with status $?"""
        return ["sh", "-c", script]

    def checks(self, output, folder):
        output = output.replace(folder, "FOLDER")
        # Times, object ids and the order of what has none.
        lines = [re.sub(r"\d\d:\d\d:\d\d(\.\d+)?|\b\d{4,}\b", "N", line) for line in output.splitlines()]
        return lines, 0


ALL = [Python("python-threads", ("test_threading", "test_thread", "test_threading_local", "test_queue",
                                 "test_threadsignals", "test_threadedtempfile")),
       Python("python-signals", ("test_signal", "test_subprocess", "test_fork1", "test_wait3", "test_wait4",
                                 "test_faulthandler", "test_posix")),
       # A virtual machine's own vsock device makes accept(2) of the VSOCK tests wait for ever, bare too.
       Python("python-sockets", ("test_socket", "test_socketserver", "test_selectors", "test_epoll"),
              ignore=("*VSOCK*",)),
       Python("python-asyncio", ("test_asyncio",)),
       Python("python-multiprocessing", ("test_multiprocessing_fork",)),
       Python("python-quick", ("test_thread", "test_wait4", "test_fork1"), quick=True),
       Redis(), Sqlite(), Perl(), Bash(), Zlib(), PostgresSql()]
