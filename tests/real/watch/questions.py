# SPDX-License-Identifier: Apache-2.0
"""Questions that people have about real programs, each put to trapline watch, to gdb and to perf.

A question knows its program, the work it does meanwhile, and how each tool is asked. ask_TOOL()
returns an Answer: how long the work took and which functions did it, how often.
"""
import collections
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = '/usr/bin/python3.11'
PYTHON_LINES = '/usr/share/doc/python3.11-dbg'
LIMIT = 200     # seconds that a tool may take


class Unavailable(Exception):
    """Why a question cannot be asked on this machine."""


class Answer:
    """What a tool answered."""

    def __init__(self, seconds, functions, text=''):
        self.seconds = seconds          # of wall time, program and tool
        self.functions = functions      # Counter: the function, not inlined, that made the access
        self.text = text                # as the tool printed it


class Question:
    """One program whose variable is watched for writes."""

    name = title = symbol = ''
    cast = None                         # type at a bare symbol, for gdb
    length = 8
    options = []                        # of trapline

    def __init__(self, trapline, folder, amount):
        self.trapline = trapline
        self.folder = folder
        self.amount = amount
        self.known_address = None
        self.prepare()

    def prepare(self):
        """Raises Unavailable."""

    def command(self):
        raise NotImplementedError

    def work(self):
        """Done while the program runs."""

    def run(self, line, **options):
        """Runs a program or a tool around it, with the work; (seconds, its output)."""
        begin = time.monotonic()
        with tempfile.TemporaryFile('w+', errors='replace') as output:
            with subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=subprocess.STDOUT, cwd=self.folder, **options) as process:
                try:
                    self.work()
                    process.wait(LIMIT)
                except BaseException:
                    process.kill()
                    output.seek(0)
                    print(output.read())
                    raise
            seconds = time.monotonic() - begin
            output.seek(0)
            return seconds, output.read()

    def ask_nobody(self):
        seconds, text = self.run(self.command())
        return Answer(seconds, None, text)

    def ask_trapline(self):
        path = os.path.join(self.folder, 'hits.jsonl')
        seconds, text = self.run([self.trapline, 'watch', self.expression(), *self.options, '-o', path,
                                  '--', *self.command()])
        functions = collections.Counter()
        with open(path, encoding='utf-8') as file:
            for line in file:
                stack = json.loads(line)['accesses'][0]['stack']
                functions[next((frame.get('function') for frame in stack
                                if not frame.get('inlined')), '?')] += 1
        return Answer(seconds, functions, text)

    def ask_trapline_lines(self):
        """Lines and table alone, without the stacks that ask_trapline() has written."""
        seconds, text = self.run([self.trapline, 'watch', self.expression(), *self.options, '--',
                                  *self.command()])
        functions = collections.Counter()
        for count, place in re.findall(r'^ +(\d+)  \S+ +(\S+ .*)$', text, re.M):
            outer = re.search(r'\(in (\S+) ', place)
            functions[outer[1] if outer else place.split()[0]] += int(count)
        return Answer(seconds, functions, text)

    def expression(self):
        return self.symbol

    def gdb_expression(self):
        return f'*({self.cast} *)&{self.symbol}' if self.cast else self.symbol

    def ask_gdb(self):
        """A hardware watchpoint whose commands print the innermost frame that is not inlined."""
        if not shutil.which('gdb'):
            raise Unavailable('gdb is not installed')
        script = os.path.join(self.folder, 'commands.gdb')
        with open(script, 'w', encoding='utf-8') as file:
            file.write(f'''set pagination off
set confirm off
set print thread-events off
handle SIGPIPE SIGUSR1 nostop noprint pass
python
def place():
    frame = gdb.selected_frame()
    while frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    print("place " + str(frame.name()))
end
break main
run
delete
watch {self.gdb_expression()}
commands
silent
python place()
continue
end
continue
''')
        seconds, text = self.run(['gdb', '-q', '-nx', '-batch', '-x', script, '--args',
                                  *self.command()])
        places = re.findall(r'^place (.+)$', text, re.M)
        return Answer(seconds, collections.Counter(places), text)

    def address(self):
        """Of the variable where addresses are not randomised, by gdb."""
        if not self.known_address:
            self.known_address = self.find_address()
        return self.known_address

    def find_address(self):
        text = subprocess.run(['gdb', '-q', '-nx', '-batch', '-ex', 'break main', '-ex', 'run', '-ex',
                               f'print/x (long)&{self.symbol}', '-ex', 'kill', '--args',
                               *self.command()], capture_output=True, text=True, timeout=LIMIT,
                              stdin=subprocess.DEVNULL, cwd=self.folder, check=False).stdout
        return re.search(r'\$1 = (0x[0-9a-f]+)', text)[1]

    def ask_perf(self):
        """Samples of a breakpoint event: the instruction after the access, no values."""
        perf = shutil.which('perf')
        if not perf:
            raise Unavailable('perf is not installed (linux-perf)')
        data = os.path.join(self.folder, 'perf.data')
        event = f'mem:{self.address()}/{self.length}:wu'
        seconds, text = self.run(['setarch', '-R', perf, 'record', '-q', '-c', '1', '-o', data, '-e',
                                  event, '--', *self.command()])
        if not os.path.exists(data):
            raise Unavailable('perf cannot run here: ' + text.strip()[:200])
        script = subprocess.run([perf, 'script', '-i', data, '-F', 'ip,sym'], capture_output=True,
                                text=True, timeout=LIMIT, check=False).stdout
        functions = collections.Counter(line.split()[1].split('.')[0] for line in script.splitlines()
                                        if len(line.split()) > 1)
        return Answer(seconds, functions, text)


class Neighbour(Question):
    """Which statement corrupts the balance? deposit() writes it too, rightly."""

    name = 'neighbour'
    title = 'which statement corrupts a neighbour'
    symbol = 'account.balance'
    options = ['--not-from', 'deposit']

    def prepare(self):
        self.program = os.path.join(self.folder, 'neighbour')
        subprocess.run(['cc', '-g', '-O1', os.path.join(HERE, 'neighbour.c'), '-o', self.program],
                       check=True)

    def command(self):
        return [self.program, str(self.amount)]


class Reference(Question):
    """Who modifies the reference count of a Python object? Ellipsis has a name in the interpreter's
    own symbols, and is seldom used by anybody else."""

    name = 'python'
    title = "every function that modifies a Python object's reference count"
    symbol = '_Py_EllipsisObject'
    cast = 'long'

    def prepare(self):
        if not os.path.exists(PYTHON):
            raise Unavailable('there is no python3.11')
        if not os.path.exists(PYTHON_LINES):
            raise Unavailable('python3.11-dbg is not installed')
        self.script = os.path.join(self.folder, 'script.py')
        with open(self.script, 'w', encoding='utf-8') as file:
            file.write(f'kept = []\nfor i in range({self.amount}):\n    kept.append(...)\n'
                       'pair = tuple(kept)\nkept.clear()\nprint(len(pair))\n')

    def expression(self):
        return self.symbol + ':8'

    def command(self):
        return [PYTHON, '-I', '-S', self.script]


class Redis(Question):
    """Which code writes the count of connections?"""

    name = 'redis'
    title = "which code writes redis's server.stat_numconnections"
    symbol = 'server.stat_numconnections'

    def prepare(self):
        self.program = build_redis(os.environ.get('TRAPLINE_REAL_CACHE', self.folder))
        with socket.socket() as probe:
            probe.bind(('127.0.0.1', 0))
            self.port = probe.getsockname()[1]

    def command(self):
        return [self.program, '--port', str(self.port), '--save', '', '--daemonize', 'no']

    def work(self):
        if self.connect(60) is None:
            raise Unavailable('redis did not answer')
        for _ in range(self.amount - 1):
            with socket.create_connection(('127.0.0.1', self.port), 20) as client:
                client.sendall(b'PING\r\n')
                assert client.recv(100) == b'+PONG\r\n'
        with socket.create_connection(('127.0.0.1', self.port), 20) as client:
            client.sendall(b'SHUTDOWN NOSAVE\r\n')
            client.recv(100)

    def connect(self, patience):
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            try:
                with socket.create_connection(('127.0.0.1', self.port), 20) as client:
                    client.sendall(b'PING\r\n')
                    return client.recv(100)
            except OSError:
                time.sleep(0.02)
        return None


ALL = [Redis, Reference, Neighbour]


def build_redis(cache):
    """redis-server of Debian's source, built with -g (Debian's symbols are not in its main archive);
    kept in `cache`."""
    folder = os.path.join(os.path.abspath(cache), 'redis')
    program = os.path.join(folder, 'redis-server')
    if os.path.exists(program):
        return program
    if not shutil.which('dpkg-source'):
        raise Unavailable('dpkg-dev is not installed')
    os.makedirs(os.path.join(folder, 'lists', 'partial'), exist_ok=True)
    with open(os.path.join(folder, 'build.log'), 'w', encoding='utf-8') as log:
        done = subprocess.run(['bash', '-c', BUILD_REDIS, 'build', folder], stdout=log,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise Unavailable(f"redis's source could not be had or built: see {log.name}")
    return program


# A list of sources of our own: the machine's may have no deb-src lines, and is not ours to change.
BUILD_REDIS = r'''
set -e
cd "$1"
. /etc/os-release
for archive in "http://deb.debian.org/debian $VERSION_CODENAME" \
	"http://security.debian.org/debian-security $VERSION_CODENAME-security"; do
	echo "deb-src $archive main"
done >sources.list
apt="apt-get -q -o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=-"
apt="$apt -o Dir::State::lists=$PWD/lists -o APT::Sandbox::User=root"
$apt update
$apt source --download-only redis
rm -rf redis-*/
dpkg-source -x redis_*.dsc
make -C redis-*/src MALLOC=libc BUILD_TLS=no USE_SYSTEMD=no OPTIMIZATION=-O2 DEBUG=-g -j2 redis-server
mv redis-*/src/redis-server .partial
rm -rf redis-*/[a-rt-z]*
mv .partial redis-server
'''
