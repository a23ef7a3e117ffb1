# SPDX-License-Identifier: Apache-2.0
"""apache2 with its event workers, started in the background as apachectl does."""
import os
import signal
import time

from program import Server, http_get, wrk

MODULES = "mpm_event authz_core authz_host status mime dir alias deflate log_config".split()
CONFIGURATION = """
ServerRoot {folder}
ServerName localhost
PidFile {folder}/apache2.pid
DefaultRuntimeDir {folder}
User www-data
Group www-data
Listen 127.0.0.1:{port}
ErrorLog {folder}/error.log
LogFormat "%h %t \\"%r\\" %>s %D" timed
CustomLog {folder}/access.log timed
ExtendedStatus On
StartServers 2
ThreadsPerChild 16
MaxRequestWorkers 64
MaxConnectionsPerChild 3000
TypesConfig /etc/mime.types
DocumentRoot {folder}/www
<Directory {folder}/www>
    Require all granted
</Directory>
<Location /server-status>
    SetHandler server-status
</Location>
"""


class Apache(Server):
    name = package = process = "apache2"
    packages = ("wrk",)
    needs = ("apache2", "wrk")
    operation = "files; server-status, log rotation, graceful reload, children that end after 3,000 connections"

    def prepare(self, place):
        modules = [name for name in MODULES
                   if os.path.exists(f"/usr/lib/apache2/modules/mod_{name}.so")]
        place.write("apache2.conf", "".join(
            f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n" for name in modules)
            + CONFIGURATION.format(folder=place.folder, port=place.port))
        place.write("www/index.html", "<p>" + "word " * 400)

    def command(self, place):
        return ["apache2", "-d", place.folder, "-f", place.path("apache2.conf"), "-k", "start"]

    def load(self, place, outcome, seconds):
        wrk(outcome, f"http://127.0.0.1:{place.port}/index.html", seconds / 2)
        wrk(outcome, f"http://127.0.0.1:{place.port}/index.html", seconds / 2, headers=["Connection: close"])

    def controls(self, place, run):
        def master(number):
            with open(place.path("apache2.pid"), encoding="ascii") as file:
                os.kill(int(file.read()), number)

        def status():
            text = http_get(place.port, "/server-status?auto")
            return f"status: {'Scoreboard' in text and 'Total Accesses' in text}"

        def page():
            return "page: " + http_get(place.port, "/server-status").split("\r\n")[0]

        def rotate():
            os.replace(place.path("access.log"), place.path("access.log.1"))
            master(signal.SIGUSR1)
            time.sleep(1.5)
            return f"rotated: {os.path.exists(place.path('access.log'))}"

        return [status, page, status, rotate]

    def end(self, run, place):
        run.signal("apache2", signal.SIGTERM)


PROGRAM = Apache()
