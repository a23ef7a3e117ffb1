# SPDX-License-Identifier: Apache-2.0
"""nginx whose workers read files in a pool of threads."""
import os
import signal
import time

from program import Server, http_get, wrk

CONFIGURATION = """
user www-data; worker_processes 2; pid {folder}/nginx.pid; error_log {folder}/error.log;
thread_pool default threads=4;
events {{ worker_connections 768; }}
http {{
    access_log {folder}/access.log; aio threads; sendfile off; output_buffers 2 64k; gzip on;
    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
    server {{ listen 127.0.0.1:{port}; root {folder}/www; }}
}}
"""


class Nginx(Server):
    name = process = "nginx"
    package = "nginx-light"
    packages = ("wrk",)
    needs = ("nginx", "wrk")
    operation = "files of 1 and 300 KB; log rotation, reload"
    end_signal = signal.SIGQUIT

    def prepare(self, place):
        for name, size in (("small", 1000), ("large", 300000)):
            place.write("www/" + name, "".join(chr(32 + i * 7 % 90) for i in range(size)))
        place.write("nginx.conf", CONFIGURATION.format(folder=place.folder, port=place.port))

    def command(self, place):
        return ["nginx", "-c", place.path("nginx.conf"), "-p", place.folder, "-g", "daemon on; master_process on;"]

    def load(self, place, outcome, seconds):
        for name in ("small", "large"):
            wrk(outcome, f"http://127.0.0.1:{place.port}/{name}", seconds / 2)

    def controls(self, place, run):
        def master(number):
            with open(place.path("nginx.pid"), encoding="ascii") as file:
                os.kill(int(file.read()), number)

        def rotate():
            if os.path.exists(place.path("access.log")):
                os.replace(place.path("access.log"), place.path("access.log.1"))
            master(signal.SIGUSR1)
            time.sleep(0.3)
            return "rotated: " + str(os.path.exists(place.path("access.log")))

        def reload():
            master(signal.SIGHUP)
            time.sleep(0.5)
            return "after reload: " + http_get(place.port, "/small").split("\r\n")[0]

        return [rotate, reload]


PROGRAM = Nginx()
