# SPDX-License-Identifier: Apache-2.0
"""A workload for python3 itself: threads, queues, locks, sockets, subprocesses; prints sums."""

import concurrent.futures
import hashlib
import queue
import socket
import subprocess
import sys
import threading
import zlib

sys.setswitchinterval(0.0005)


def queues():
    jobs, results = queue.Queue(50), queue.Queue()

    def worker():
        while (job := jobs.get()) is not None:
            results.put(sum(i * i for i in range(job)))

    threads = [threading.Thread(target=worker) for _ in range(6)]
    for thread in threads:
        thread.start()
    for i in range(6000):
        jobs.put(i % 300)
    for _ in threads:
        jobs.put(None)
    for thread in threads:
        thread.join()
    return sum(results.get() for _ in range(6000))


def conditions():
    turn, changed, trail = [0], threading.Condition(), []

    def play(me):
        for _ in range(800):
            with changed:
                changed.wait_for(lambda: turn[0] % 4 == me)
                trail.append(me)
                turn[0] += 1
                changed.notify_all()

    threads = [threading.Thread(target=play, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return hashlib.sha256(bytes(trail)).hexdigest()


def hashing():
    """hashlib and zlib release the interpreter lock: real parallelism."""
    data = [bytes([i]) * 300000 for i in range(64)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        digests = list(pool.map(lambda d: hashlib.sha256(d).hexdigest(), data * 4))
        sizes = list(pool.map(lambda d: len(zlib.compress(d, 6)), data))
    return hashlib.sha256("".join(digests).encode()).hexdigest(), sum(sizes)


def echo():
    server = socket.create_server(("127.0.0.1", 0))
    total = [0]

    def serve():
        for _ in range(40):
            connection, _address = server.accept()
            with connection:
                while chunk := connection.recv(4096):
                    connection.sendall(chunk.upper())

    def call(index):
        with socket.create_connection(server.getsockname()) as client:
            for i in range(20):
                message = f"message {index} {i}".encode()
                client.sendall(message)
                if client.recv(4096) == message.upper():
                    total[0] += 1

    thread = threading.Thread(target=serve)
    thread.start()
    for index in range(40):
        call(index)
    thread.join()
    server.close()
    return total[0]


def children():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(lambda i: subprocess.run(["sh", "-c", f"exit {i % 5}"],
                                                       check=False).returncode, range(60)))
    return sum(codes)


print("queues", queues())
print("conditions", conditions())
print("hashing", *hashing())
print("echo", echo())
print("children", children())
