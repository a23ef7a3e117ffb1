# SPDX-License-Identifier: Apache-2.0
"""Real programs from Debian, unmodified, each with a workload that checks its own result.

`Application.run(wrap, folder, seconds)` starts the program with `wrap` (a list of words) in front
of its command line and returns an Outcome.  Nothing here knows what the wrapper is.
"""

import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Outcome:
    """What one run produced and cost."""

    def __init__(self):
        self.result = []        # lines that must be the same on every run
        self.status = None
        self.throughput = 0.0   # in the application's own unit, per second of wall time
        self.p99 = None         # of a request, in milliseconds
        self.cpu = 0.0          # seconds: the program, its children and the wrapper
        self.work = 0.0         # what that CPU time was spent on, in the same unit as throughput
        self.resident = 0       # largest sum of proportional set sizes, bytes
        self.errors = ""


class Process:
    """A wrapped program in a session of its own, its memory watched, its CPU time known at the
    end."""

    def __init__(self, line, folder, stdout=None):
        self.errors_path = os.path.join(folder, "stderr")
        with open(self.errors_path, "wb") as errors:
            self.popen = subprocess.Popen(line, cwd=folder, stdin=subprocess.DEVNULL,
                                          stdout=stdout or subprocess.DEVNULL, stderr=errors,
                                          start_new_session=True)
        self.resident = 0
        self.over = threading.Event()
        self.watcher = threading.Thread(target=self.watch, daemon=True)
        self.watcher.start()

    def watch(self):
        while not self.over.wait(0.5):
            total = sum(proportional_size(pid) for pid in members(self.popen.pid))
            self.resident = max(self.resident, total)

    def alive(self):
        return os.waitid(os.P_PID, self.popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def wait(self, limit):
        """Waits for the end; (status, CPU seconds)."""
        end = time.monotonic() + limit
        while self.alive():
            if time.monotonic() > end:
                for pid in members(self.popen.pid):
                    os.kill(pid, signal.SIGKILL)
                self.finish()
                return "timeout", 0.0
            time.sleep(0.02)
        return self.finish()

    def finish(self):
        self.over.set()
        self.watcher.join()
        _, status, usage = os.wait4(self.popen.pid, 0)
        self.popen.returncode = os.waitstatus_to_exitcode(status)
        return self.popen.returncode, usage.ru_utime + usage.ru_stime

    def stop(self, name, number=signal.SIGTERM, limit=20):
        """Tells the oldest process called `name` to end; what wraps it must end by itself."""
        for pid in sorted(members(self.popen.pid)):
            if command_name(pid) == name:
                os.kill(pid, number)
                break
        return self.wait(limit)

    def errors(self):
        with open(self.errors_path, encoding="utf-8", errors="replace") as stream:
            return stream.read()


def members(session):
    """The live processes of a session."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(entry))
    return found


def command_name(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as stream:
            return stream.read().strip()
    except OSError:
        return ""


def proportional_size(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as stream:
            for line in stream:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port, process, limit=30):
    end = time.monotonic() + limit
    while time.monotonic() < end and process.alive():
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("the server did not answer: " + process.errors()[-1000:])


def text_of(line, limit=300, status=True):
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=limit, check=False)
    if status and done.returncode:
        raise RuntimeError(f"{' '.join(line)}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout


class Application:
    """Base: what it is called and which commands it needs."""

    name = ""
    needs = ()
    package = ""

    def missing(self):
        search = os.environ.get("PATH", "") + ":/usr/sbin:/usr/lib/postgresql/15/bin"
        return [command for command in self.needs if not shutil.which(command, path=search)]

    def version(self):
        return text_of(["dpkg-query", "-W", "-f", "${Version}", self.package], status=False)


    def measured(self, wrap, seconds):
        """run() in a folder of its own, which other users may enter."""
        folder = tempfile.mkdtemp(prefix="real-")
        os.chmod(folder, 0o755)
        try:
            return self.run(wrap, folder, seconds)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


class Server(Application):
    """A server that is loaded for some seconds and then told to end."""

    process_name = ""

    def run(self, wrap, folder, seconds):
        outcome = Outcome()
        port = free_port()
        self.prepare(folder, port)
        process = Process(self.wrapped(wrap, folder, port), folder)
        try:
            wait_for_port(port, process)
            self.load(outcome, folder, port, seconds)
        finally:
            outcome.status, outcome.cpu = process.stop(self.process_name, self.stop_signal())
            outcome.resident = process.resident
            outcome.errors = process.errors()
        return outcome

    def stop_signal(self):
        return signal.SIGTERM

    def prepare(self, folder, port):
        """Makes what the server needs in its folder."""

    def wrapped(self, wrap, folder, port):
        return [*wrap, *self.command(folder, port)]


def load_client(folder):
    """Builds the load client for memcached."""
    client = os.path.join(folder, "memcached_load")
    subprocess.run(["gcc", "-O2", "-g", "-pthread", "-o", client,
                    os.path.join(HERE, "memcached_load.c")], check=True)
    return client


class Memcached(Server):
    name = process_name = package = "memcached"
    needs = ("memcached", "gcc")
    binary = "memcached"

    def command(self, _folder, port):
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        return [self.binary, *user, "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "4",
                "-m", "64"]

    def load(self, outcome, folder, port, seconds):
        line = text_of([load_client(folder), str(port), str(seconds), "4", "8"],
                       limit=seconds + 60, status=False)
        values = dict(re.findall(r"(operations|per second|p99|errors) (\d+)", line))
        outcome.result.append(f"errors {values.get('errors')}")
        outcome.throughput = float(values.get("per second", 0))
        outcome.work = float(values.get("operations", 0))
        outcome.p99 = float(values.get("p99", 0)) / 1000


class Redis(Server):
    name = "redis"
    package = process_name = "redis-server"
    needs = ("redis-server", "redis-benchmark", "redis-cli")
    requests = 2000

    def command(self, folder, port):
        return ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--io-threads", "2",
                "--io-threads-do-reads", "yes", "--save", "", "--appendonly", "no", "--dir", folder]

    def load(self, outcome, _folder, port, seconds):
        at = ["-h", "127.0.0.1", "-p", str(port)]
        rounds, operations, latencies = 0, 0, []
        start = time.monotonic()
        while time.monotonic() - start < seconds:
            text = text_of(["redis-benchmark", *at, "-n", str(self.requests), "-c", "30", "--csv", "-t",
                            "set,get,incr,lpush,rpop,sadd,hset,zadd"], limit=120)
            rounds += 1
            for row in text.strip().split("\n")[1:]:
                cells = row.replace('"', "").split(",")
                operations += self.requests
                latencies.append(float(cells[6]))
        elapsed = time.monotonic() - start
        counter = text_of(["redis-cli", *at, "get", "counter:__rand_int__"]).strip()
        length = text_of(["redis-cli", *at, "llen", "mylist"]).strip()
        outcome.result.append(f"counter right: {int(counter) == rounds * self.requests}, list {length}")
        outcome.throughput = operations / elapsed
        outcome.work = operations
        outcome.p99 = sum(latencies) / len(latencies)


NGINX_CONFIGURATION = """
daemon off; worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/error.log; {user}
thread_pool default threads=4;
events {{ worker_connections 256; }}
http {{
    access_log {folder}/access.log; aio threads; sendfile off; output_buffers 2 64k;
    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
    server {{ listen 127.0.0.1:{port}; root {folder}/www; }}
}}
"""


class Nginx(Server):
    name = process_name = "nginx"
    needs = ("nginx", "wrk")
    package = "nginx-light"

    def prepare(self, folder, port):
        os.chmod(folder, 0o755)
        os.mkdir(os.path.join(folder, "www"))
        for name, size in (("small", 1000), ("large", 300000)):
            with open(os.path.join(folder, "www", name), "wb") as stream:
                stream.write(bytes(i * 7 % 251 for i in range(size)))
        user = "user root;" if os.geteuid() == 0 else ""
        with open(os.path.join(folder, "nginx.conf"), "w", encoding="utf-8") as stream:
            stream.write(NGINX_CONFIGURATION.format(folder=folder, port=port, user=user))

    def command(self, folder, _port):
        return [shutil.which("nginx", path="/usr/sbin:/usr/bin"), "-p", folder, "-c",
                os.path.join(folder, "nginx.conf")]

    def stop_signal(self):
        return signal.SIGQUIT

    def load(self, outcome, _folder, port, seconds):
        requests, latencies, broken = 0, [], 0
        for name in ("small", "large"):
            text = text_of(["wrk", "-t1", "-c20", f"-d{max(1, int(seconds / 2))}", "--latency",
                            f"http://127.0.0.1:{port}/{name}"], limit=seconds + 60)
            requests += int(re.search(r"(\d+) requests in", text).group(1))
            outcome.throughput += float(re.search(r"Requests/sec:\s+([\d.]+)", text).group(1)) / 2
            value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
            latencies.append(float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit])
            broken += "Non-2xx" in text or "Socket errors" in text
            with socket.create_connection(("127.0.0.1", port), 10) as stream:
                stream.sendall(f"GET /{name} HTTP/1.0\r\n\r\n".encode())
                body = b""
                while chunk := stream.recv(65536):
                    body += chunk
            outcome.result.append(hashlib.sha256(body.split(b"\r\n\r\n", 1)[1]).hexdigest())
        outcome.result.append(f"broken {broken}")
        outcome.work = requests
        outcome.p99 = max(latencies)


class Postgres(Server):
    """Runs as an unprivileged user: it refuses to run as root."""

    name = package = "postgres"
    process_name = "postgres"
    package = "postgresql-15"
    needs = ("initdb", "postgres", "pgbench")
    binaries = "/usr/lib/postgresql/15/bin"

    def as_user(self):
        if os.geteuid() != 0:
            return []
        return ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "env",
                "HOME=/nonexistent"]

    def tool(self, name):
        return [*self.as_user(), os.path.join(self.binaries, name)]

    def prepare(self, folder, _port):
        os.chmod(folder, 0o777)
        text_of([*self.tool("initdb"), "-D", os.path.join(folder, "data"), "-U", "tester",
                 "--no-sync", "-A", "trust"])

    def wrapped(self, wrap, folder, port):
        return [*self.as_user(), *wrap, os.path.join(self.binaries, "postgres"), "-D",
                os.path.join(folder, "data"), "-p", str(port), "-k", folder, "-c", "fsync=off",
                "-c", "listen_addresses=127.0.0.1"]

    def stop_signal(self):
        return signal.SIGINT

    def load(self, outcome, folder, port, seconds):
        at = ["-h", "127.0.0.1", "-p", str(port), "-U", "tester"]
        for _ in range(100):
            if subprocess.run([*self.tool("pg_isready"), *at], stdout=subprocess.DEVNULL,
                              check=False).returncode == 0:
                break
            time.sleep(0.1)
        text_of([*self.tool("pgbench"), *at, "-i", "-s", "2", "-q", "postgres"])
        os.makedirs(os.path.join(folder, "log"), exist_ok=True)
        os.chmod(os.path.join(folder, "log"), 0o777)
        text = text_of([*self.tool("pgbench"), *at, "-c", "6", "-j", "2", "-T", str(int(seconds)),
                        "-l", "--log-prefix", os.path.join(folder, "log", "p"), "postgres"],
                       limit=seconds + 120)
        outcome.throughput = float(re.search(r"tps = ([\d.]+)", text).group(1))
        outcome.work = float(re.search(r"actually processed: (\d+)", text).group(1))
        outcome.result.append(re.search(r"failed transactions: (\d+)", text).group(0))
        query = ("select (select sum(abalance) from pgbench_accounts) = "
                 "(select coalesce(sum(delta), 0) from pgbench_history), "
                 "(select sum(tbalance) from pgbench_tellers) = "
                 "(select sum(bbalance) from pgbench_branches)")
        outcome.result.append(text_of([*self.tool("psql"), *at, "-At", "-c", query,
                                       "postgres"]).strip())
        outcome.p99 = log_percentile(os.path.join(folder, "log"))


def log_percentile(folder):
    """The 99th percentile of pgbench's per-transaction log, in milliseconds."""
    latencies = []
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as stream:
            latencies += [int(line.split()[2]) for line in stream]
    latencies.sort()
    return latencies[int(len(latencies) * 0.99)] / 1000 if latencies else None


def make_input(path, megabytes):
    """Text that compresses about three to one, the same every time."""
    words = [hashlib.sha256(str(i).encode()).hexdigest()[:3 + i % 9] for i in range(2000)]
    state = 12345
    with open(path, "w", encoding="ascii") as stream:
        for _ in range(megabytes * 16):
            chunk = []
            length = 0
            while length < 65536:
                state = (state * 1103515245 + 12345) & 0x7fffffff
                word = words[state % 2000 if state & 64 else state % 100]
                chunk.append(word)
                length += len(word) + 1
            stream.write(" ".join(chunk)[:65535] + "\n")


class Batch(Application):
    """A program that works through an input and ends; its output must not change."""

    megabytes = 0

    def run(self, wrap, folder, _seconds):
        outcome = Outcome()
        given = os.path.join(os.path.dirname(folder.rstrip("/")) or "/tmp",
                             f"real-input-{self.megabytes}")
        if self.megabytes and not os.path.exists(given):
            make_input(given, self.megabytes)
        output = os.path.join(folder, "output")
        start = time.monotonic()
        with open(output, "wb") as stream:
            process = Process([*wrap, *self.command(given)], folder, stdout=stream)
            outcome.status, outcome.cpu = process.wait(600)
        elapsed = time.monotonic() - start
        with open(output, "rb") as stream:
            outcome.result.append(hashlib.sha256(stream.read()).hexdigest())
        outcome.resident = process.resident
        outcome.errors = process.errors()
        outcome.work = max(self.megabytes, 1)
        outcome.throughput = outcome.work / elapsed
        return outcome


class Pigz(Batch):
    name = package = "pigz"
    needs = ("pigz",)
    megabytes = 160

    def command(self, given):
        return ["pigz", "-p", "4", "-9", "-n", "-c", given]


class Pbzip2(Batch):
    name = package = "pbzip2"
    needs = ("pbzip2",)
    megabytes = 40

    def command(self, given):
        return ["pbzip2", "-p4", "-c", given]


class Xz(Batch):
    name = "xz"
    package = "xz-utils"
    needs = ("xz",)
    megabytes = 40

    def command(self, given):
        return ["xz", "-T2", "-1", "--block-size=2MiB", "-c", given]


class Python(Batch):
    name = "python3"
    package = "python3"
    needs = ("/usr/bin/python3",)

    def command(self, _given):
        return ["/usr/bin/python3", os.path.join(HERE, "python_threads.py")]


ALL = [Memcached(), Redis(), Nginx(), Postgres(), Pigz(), Pbzip2(), Xz(), Python()]
