#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trapline watch -p: a program that runs already, neither stopped nor changed.

Usage: running.py TRAPLINE RUNNING FAMILY OWN
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
import cluster

TRAPLINE, RUNNING, FAMILY, OWN = sys.argv[1:5]


def status_of(pid):
    with open(f'/proc/{pid}/status', encoding='utf-8') as file:
        return dict(line.rstrip('\n').split(':\t', 1) for line in file if ':\t' in line)


def maps_of(pid):
    with open(f'/proc/{pid}/maps', encoding='utf-8') as file:
        return [line.split()[0] for line in file]


def cpu_seconds(pid):
    with open(f'/proc/{pid}/stat', encoding='ascii') as file:
        fields = file.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def connect(port):
    deadline = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection(('127.0.0.1', port))
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


class Running(unittest.TestCase):
    def start(self, *arguments, program=RUNNING):
        program = subprocess.Popen([program, *map(str, arguments)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end, program)
        self.assertEqual(program.stdout.readline(), 'ready\n')
        return program

    @staticmethod
    def end(program):
        program.kill()
        program.wait()
        program.stdin.close()
        program.stdout.close()

    def watch(self, program, *arguments):
        watcher = subprocess.Popen([TRAPLINE, 'watch', '-p', str(program.pid), *arguments],
                                   stderr=subprocess.PIPE, text=True)
        first = watcher.stderr.readline()
        self.assertIn('is watched from outside', first)
        return watcher

    def finish(self, program, watcher):
        program.stdin.write('\n')
        program.stdin.flush()
        text = watcher.stderr.read()
        watcher.stderr.close()
        self.assertEqual(watcher.wait(timeout=60), 0)
        self.assertEqual(program.wait(timeout=60), 0)
        return text

    def test_all_threads(self):
        program = self.start(5, 20)
        before = maps_of(program.pid), status_of(program.pid)['SigCgt']
        watcher = self.watch(program, 'shared')
        self.assertEqual((maps_of(program.pid), status_of(program.pid)['SigCgt']), before)
        self.assertEqual(status_of(program.pid)['TracerPid'], '0')
        text = self.finish(program, watcher)
        lines = re.findall(r'(\w+)/\d+  write shared  \? → (\d+)  store running.c:\d+', text)
        # What a plain store leaves in its register is known.
        self.assertEqual(sorted(int(value) for name, value in lines if name == 'early'),
                         sorted(list(range(1, 21)) * 5))
        # A thread created meanwhile inherits the watch.
        self.assertEqual([int(value) for name, value in lines if name == 'late'],
                         list(range(1, 21)))
        self.assertRegex(text, r'(?m)^ +120  write  store running.c')
        self.assertNotIn('came faster', text)

    def test_reads_stacks_and_conditions(self):
        program = self.start(1, 10)
        text = self.finish(program, self.watch(program, 'shared:r', '--stack'))
        self.assertEqual(re.findall(r'read  shared:r  (\d+)  main', text), ['10'])
        program = self.start(1, 10)
        text = self.finish(program, self.watch(program, 'shared', '--if', 'new > 8', '--stack'))
        self.assertEqual(re.findall(r'→ (\d+)', text), ['9', '10'] * 2)
        self.assertRegex(text, r'#0 store .*\n +#1 work ')
        program = self.start(1, 10)
        text = self.finish(program, self.watch(program, 'store', '--count'))
        self.assertRegex(text, r'(?m)^ +20  exec +store running.c')

    def test_thread_locals(self):
        """Each thread's own copy, in threads that were there and in those that come."""
        program = self.start(20, 5, program=OWN)
        before = maps_of(program.pid), status_of(program.pid)['SigCgt']
        watcher = self.watch(program, 'mine')
        self.assertEqual((maps_of(program.pid), status_of(program.pid)['SigCgt']), before)
        self.assertEqual(status_of(program.pid)['TracerPid'], '0')
        text = self.finish(program, watcher)
        lines = re.findall(r'(\w+)/(\d+)  write mine  \S+ → (\d+)  add own.c:\d+', text)
        for name in ('early', 'late'):
            tids = {tid for other, tid, _ in lines if other == name}
            self.assertEqual(len(tids), 20, text)
            for tid in tids:
                self.assertEqual([int(value) for _, other, value in lines if other == tid],
                                 [1, 2, 3, 4, 5], tid)
        self.assertNotIn('the kernel counted', text)

    def test_thread_locals_of_threads_that_wait_to_run(self):
        """Listed for many looks before they run, as on a busy machine: watched all the same."""
        program = self.start(8, 5, 'unlisted', program=OWN)
        text = self.finish(program, self.watch(program, 'mine'))
        lines = re.findall(r'(\w+)/(\d+)  write mine  \S+ → (\d+)  add own.c:\d+', text)
        self.assertEqual([name for name, _, _ in lines].count('late'), 40, text)
        self.assertNotIn('were not watched', text)

    def test_thread_locals_of_brief_threads(self):
        """Who has ended before anybody looked is counted, and that is said."""
        program = self.start(20, 5, 'brief', program=OWN)
        text = self.finish(program, self.watch(program, 'mine'))
        seen = {tid for name, tid, _ in re.findall(r'(\w+)/(\d+)  write mine  (\S+)', text) if name == 'late'}
        said = re.search(r"(?m)^trapline: (\d+) threads' own copies of thread-local variables were not watched", text)
        self.assertTrue(said, text)
        # One may have been met and have written before its event was open.
        self.assertGreaterEqual(int(said.group(1)), 20 - len(seen) - 3, text)
        self.assertLessEqual(int(said.group(1)) + len(seen), 20, text)

    def test_children(self):
        """Those that were there, those that come, theirs, and the threads of all of them."""
        program = self.start(3, 2, 20, program=FAMILY)
        watcher = self.watch(program, 'shared')
        text = self.finish(program, watcher)
        lines = re.findall(r'(\w+)/(\d+)  write shared  \? → (\d+)  store family.c:\d+', text)
        counts = {name: [int(value) for other, _, value in lines if other == name]
                  for name in ('main', 'early', 'late', 'thread', 'grandchild')}
        times = {'main': 1, 'early': 3, 'late': 2, 'thread': 2, 'grandchild': 2}
        for name, values in counts.items():
            self.assertEqual(sorted(values), sorted(list(range(1, 21)) * times[name]), name)
        self.assertEqual(len(lines), 200, text)
        self.assertEqual(len({tid for _, tid, _ in lines}), 10, text)
        self.assertNotIn('the kernel counted', text)

    def test_children_by_process(self):
        program = self.start(2, 1, 10, program=FAMILY)
        with tempfile.NamedTemporaryFile('r') as file:
            self.finish(program, self.watch(program, 'shared', '-o', file.name))
            pids = [json.loads(line)['pid'] for line in file]
        self.assertEqual(len(pids), 60)
        # The thread's hits are its process's, the grandchild's are its own.
        self.assertEqual(sorted(pids.count(pid) for pid in set(pids)), [10, 10, 10, 10, 20])
        self.assertEqual(pids.count(program.pid), 10)

    def test_children_left_alone(self):
        program = self.start(2, 1, 10, program=FAMILY)
        text = self.finish(program, self.watch(program, 'shared', '--no-follow'))
        self.assertEqual(len(re.findall(r' write shared ', text)), 10, text)

    def test_executes(self):
        """Another program has other addresses: it is said, and nothing is told of it."""
        program = self.start('execute', program=FAMILY)
        watcher = self.watch(program, 'shared')
        program.stdin.write('\n')
        program.stdin.flush()
        text = watcher.stderr.read()
        watcher.stderr.close()
        self.assertEqual(watcher.wait(timeout=60), 0)
        self.assertIn('has executed another program', text)
        self.assertIn('shared: 0 hits', text)
        program.stdin.write('still here\n')
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), 'still here\n')

    def test_interrupted(self):
        """Watching ends, the program goes on."""
        program = self.start(2, 5)
        watcher = self.watch(program, 'shared', '--count')
        watcher.send_signal(signal.SIGINT)
        self.assertIn('shared: 0 hits', watcher.stderr.read())
        watcher.stderr.close()
        self.assertEqual(watcher.wait(timeout=60), 0)
        self.assertIsNone(program.poll())
        program.stdin.write('\n')
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), '5\n')

    def test_more_than_can_be_noted(self):
        """Nothing is lost in silence: what is noted and what is lost make the kernel's count."""
        program = self.start(4, 20000)
        os.kill(program.pid, 0)
        watcher = self.watch(program, 'shared', '--count', '--budget', '1', '--stats=all')
        program.stdin.write('\n')
        program.stdin.flush()
        watcher.send_signal(signal.SIGINT)
        text = watcher.stderr.read()
        watcher.stderr.close()
        self.assertEqual(watcher.wait(timeout=60), 0)
        noted = int(re.search(r'shared: (\d+) hits', text)[1])
        lost = int(re.search(r'(\d+)  samples-lost', text)[1])
        kernel = re.search(r'the kernel counted (\d+)', text)
        self.assertEqual(int(kernel[1]) if kernel else noted, noted + lost, text)

    def test_more_than_the_ring_holds(self):
        """Nobody reads it meanwhile, and no hit comes afterwards: what was lost is told nevertheless."""
        program = self.start(1, 60000, 'fast')
        watcher = self.watch(program, 'shared:w', '--count', '--stats=all')
        time.sleep(0.3)
        watcher.send_signal(signal.SIGSTOP)
        program.stdin.write('\n')
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), '60000\n')
        watcher.send_signal(signal.SIGCONT)
        text = watcher.stderr.read()
        watcher.stderr.close()
        self.assertEqual(watcher.wait(timeout=60), 0)
        self.assertIn('the kernel counted 120000 ', text)
        noted = int(re.search(r'shared:w: (\d+) hits', text)[1])
        told = int(re.search(r'(\d+) hits came faster', text)[1])
        self.assertEqual(noted + told, 120000, text)
        self.assertRegex(text, rf'\b{told}  samples-lost')

    def test_fast(self):
        """Every one is counted, by place where there was room for it."""
        for threads, writes in (1, 30000), (16, 2000), (60, 500):
            program = self.start(threads, writes, 'fast')
            text = self.finish(program, self.watch(program, 'shared:w', '--count'))
            noted = int(re.search(r'shared:w: (\d+) hits', text)[1])
            lost = re.search(r'(\d+) hits came faster', text)
            self.assertEqual(noted + int(lost[1] if lost else 0), (threads + 1) * writes, text)
            self.assertRegex(text, rf'(?m)^ +{noted}  write  store running.c')

    def test_first_thread_ends(self):
        """The others are watched on, and the watching sleeps where there is nothing to do."""
        program = self.start(2, 3000, 'alone')
        watcher = self.watch(program, 'shared:w', '--count')
        program.stdin.write('\n')
        program.stdin.flush()
        time.sleep(0.3)
        before = cpu_seconds(watcher.pid)
        time.sleep(1)
        self.assertLess(cpu_seconds(watcher.pid) - before, 0.3)
        text = watcher.stderr.read()
        watcher.stderr.close()
        self.assertEqual(watcher.wait(timeout=60), 0)
        self.assertIn('shared:w: 6000 hits', text)
        self.assertNotIn('came faster', text)

    def test_several_at_one_address(self):
        """Each is told its own hits, in threads that were there and in those that come."""
        program = self.start(3, 20)
        text = self.finish(program, self.watch(program, 'shared:r', 'shared:w', '--count'))
        self.assertIn('shared:r: 1 hits', text.replace('hit:', 'hits:'))
        self.assertIn('shared:w: 80 hits', text)
        self.assertNotIn('came faster', text)

    def test_by_the_c_library(self):
        """Who called it is told, with and without lines."""
        for how in [], ['--count']:
            program = self.start(1, 1)
            text = self.finish(program, self.watch(program, 'text:1:w', *how))
            self.assertRegex(text, r'(?m)^ +\d+  write  .*format running.c:\d+', text)

    @unittest.skipUnless(shutil.which('memcached'), 'memcached is not installed')
    def test_memcached(self):
        """Debian's own build, serving meanwhile: each answer is one call of sendmsg()."""
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = free.getsockname()[1]
        server = subprocess.Popen(['memcached', '-u', 'nobody', '-p', str(port), '-U', '0', '-l',
                                   '127.0.0.1', '-t', '4'])
        try:
            clients = [connect(port) for _ in range(4)]
            watcher = subprocess.Popen([TRAPLINE, 'watch', '-p', str(server.pid), 'sendmsg'],
                                       stderr=subprocess.PIPE, text=True)
            self.assertIn('is watched from outside', watcher.stderr.readline())
            for i in range(400):
                clients[i % 4].sendall(b'get x%d\r\n' % i)
                self.assertEqual(clients[i % 4].recv(100), b'END\r\n')
            watcher.send_signal(signal.SIGINT)
            text = watcher.stderr.read()
            watcher.stderr.close()
            self.assertEqual(watcher.wait(timeout=60), 0)
            self.assertEqual(len(re.findall(r' mc-worker/\d+  exec  sendmsg', text)), 400, text)
            self.assertIsNone(server.poll())
            for client in clients:
                client.close()
        finally:
            server.kill()
            server.wait()

    @unittest.skipUnless(cluster.programs(), 'PostgreSQL is not installed')
    def test_postgresql(self):
        """By its first process: each statement is one call in the process of its connection."""
        server = cluster.Cluster()
        try:
            before = [os.path.join(server.place, name) for name in ('one.sql', 'two.sql')]
            for path in before:
                with open(path, 'w', encoding='utf-8') as file:
                    file.write('select 1;\n' * 50)
            watcher = subprocess.Popen([TRAPLINE, 'watch', '-p', str(server.pid()),
                                        'pg_parse_query'],
                                       stderr=subprocess.PIPE, text=True)
            self.assertIn('is watched from outside', watcher.stderr.readline())
            for path in before:
                server.client('psql', '-q', '-f', path, 'postgres')
            watcher.send_signal(signal.SIGINT)
            text = watcher.stderr.read()
            watcher.stderr.close()
            self.assertEqual(watcher.wait(timeout=60), 0)
        finally:
            server.end()
        hits = re.findall(r' postgres/(\d+)  exec  pg_parse_query', text)
        self.assertEqual(sorted(hits.count(tid) for tid in set(hits)), [50, 50], text)

    def test_duration(self):
        program = self.start(1, 1)
        watcher = self.watch(program, 'shared', '--duration', '0.2')
        self.assertEqual(watcher.wait(timeout=30), 0)
        self.assertIn('shared: 0 hits', watcher.stderr.read())
        watcher.stderr.close()
        self.assertIsNone(program.poll())

    def test_refusals(self):
        def refused(*arguments):
            result = subprocess.run([TRAPLINE, 'watch', *arguments], capture_output=True, text=True,
                                    timeout=60, check=False)
            return result.returncode, result.stderr

        program = self.start(1, 1)
        pid = str(program.pid)
        status, text = refused('-p', pid, 'sharde')
        self.assertEqual(status, 2)
        self.assertIn('shared', text)
        self.assertIsNone(program.poll())
        for wrong in (['-p', pid, 'shared', '--abort'], ['-p', pid, 'shared', '--', RUNNING],
                      ['-p', pid], ['-p', pid, 'heap:8@no_such'], ['-p', pid, 'heap:64@main']):
            self.assertEqual(refused(*wrong)[0], 2, wrong)
        self.assertEqual(refused('shared', '--duration', '1', '--', RUNNING)[0], 2)
        for nobody in ('4194303', 'no_such_name'):
            self.assertEqual(refused('-p', nobody, 'shared')[0], 1, nobody)
        self.assertIsNone(program.poll())


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
