#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trapline watch -p: a program that runs already, neither stopped nor changed.

Usage: running.py TRAPLINE RUNNING
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

TRAPLINE, RUNNING = sys.argv[1:3]


def status_of(pid):
    with open(f'/proc/{pid}/status', encoding='utf-8') as file:
        return dict(line.rstrip('\n').split(':\t', 1) for line in file if ':\t' in line)


def maps_of(pid):
    with open(f'/proc/{pid}/maps', encoding='utf-8') as file:
        return [line.split()[0] for line in file]


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
    def start(self, *arguments):
        program = subprocess.Popen([RUNNING, *map(str, arguments)], stdin=subprocess.PIPE,
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
                      ['-p', 'x', 'shared'], ['-p', pid], ['-p', pid, 'heap:8@main']):
            self.assertEqual(refused(*wrong)[0], 2, wrong)
        self.assertEqual(refused('-p', '4194303', 'shared')[0], 1)
        self.assertIsNone(program.poll())


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
