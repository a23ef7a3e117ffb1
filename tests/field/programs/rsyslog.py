# SPDX-License-Identifier: Apache-2.0
"""rsyslogd fed over UDP, TCP and a socket, with queues of their own threads and its statistics on."""
import os
import signal
import socket
import threading
import time

from program import Server

CONFIGURATION = """
module(load="imudp" threads="2")
module(load="imtcp")
module(load="imuxsock" SysSock.Use="off")
module(load="impstats" interval="1" log.file="{folder}/stats.log" log.syslog="off")
main_queue(queue.type="LinkedList" queue.workerThreads="4" queue.workerThreadMinimumMessages="20" queue.size="20000")
input(type="imudp" port="{port}" address="127.0.0.1")
input(type="imtcp" port="{port}" address="127.0.0.1")
input(type="imuxsock" socket="{folder}/log.sock" useSysTimeStamp="off")
template(name="plain" type="string" string="%timestamp% %hostname% %syslogtag%%msg%\\n")
if $msg contains "odd" then {{
    action(type="omfile" file="{folder}/odd.log" template="plain" asyncWriting="on" flushInterval="1"
           queue.type="LinkedList" queue.workerThreads="2")
}}
*.* action(type="omfile" file="{folder}/all.log" template="plain" asyncWriting="on" flushOnTXEnd="off")
*.* action(type="omfwd" target="127.0.0.1" port="{port}9" protocol="udp" queue.type="LinkedList")
"""


class Rsyslog(Server):
    name = package = "rsyslog"
    process = "rsyslogd"
    needs = ("rsyslogd",)
    operation = "messages by TCP, UDP and socket, at a given rate; statistics each second, log rotation"

    def prepare(self, place):
        text = CONFIGURATION.format(folder=place.folder, port=place.port)
        place.write("rsyslog.conf", text.replace(f"{place.port}9", str(place.port_of("forward"))))

    def command(self, place):
        return ["rsyslogd", "-n", "-iNONE", "-f", place.path("rsyslog.conf")]

    def answers(self, place):
        return super().answers(place) and os.path.exists(place.path("log.sock"))

    def load(self, place, outcome, seconds):
        """Three clients, 3,000 messages a second each; those of TCP and the socket must all arrive."""
        end, sent = time.monotonic() + seconds, [0, 0, 0]

        def send(which, family, kind, address):
            with socket.socket(family, kind) as stream:
                stream.connect(address)
                while time.monotonic() < end:
                    for _ in range(60):
                        word = ("odd", "even")[sent[which] % 2]
                        stream.send(f"<13>Jan  1 00:00:00 host client{which}: {word} number {sent[which]}\n".encode())
                        sent[which] += 1
                    time.sleep(0.02)

        inet, unix = ("127.0.0.1", place.port), place.path("log.sock")
        clients = [threading.Thread(target=send, args=(which, *to)) for which, to in enumerate((
            (socket.AF_INET, socket.SOCK_STREAM, inet), (socket.AF_INET, socket.SOCK_DGRAM, inet),
            (socket.AF_UNIX, socket.SOCK_DGRAM, unix)))]
        for one in clients:
            one.start()
        for one in clients:
            one.join()
        outcome.operations = sum(sent)
        self.sent = sent

    def settle(self, place, outcome):
        end = time.monotonic() + 10
        while time.monotonic() < end:
            counts = [0, 0, 0]
            for name in ("all.log", "all.log.1", "all.log.2", "all.log.3"):
                if os.path.exists(place.path(name)):
                    with open(place.path(name), encoding="utf-8", errors="replace") as file:
                        text = file.read()
                    counts = [count + text.count(f" client{which}:") for which, count in enumerate(counts)]
            if counts[0] == self.sent[0] and counts[2] == self.sent[2]:
                break
            time.sleep(0.3)
        outcome.checks.add(f"all arrived by TCP: {counts[0] == self.sent[0]}, socket: {counts[2] == self.sent[2]}")

    def controls(self, place, run):
        rounds = []

        def rotate():
            if len(rounds) < 3:
                rounds.append(place.path(f"all.log.{len(rounds) + 1}"))
                os.replace(place.path("all.log"), rounds[-1])
                run.signal("rsyslogd", signal.SIGHUP)
            return "rotated"

        def statistics():
            end = time.monotonic() + 10
            while not os.path.exists(place.path("stats.log")) and time.monotonic() < end:
                time.sleep(0.1)
            return "statistics: " + str(os.path.exists(place.path("stats.log")))

        return [statistics, rotate]


PROGRAM = Rsyslog()
