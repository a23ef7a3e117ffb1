# SPDX-License-Identifier: Apache-2.0
"""slapd as its unit starts it, in the background, with clients that add, search, change and delete."""
import threading
import time

from program import Server, client

CONFIGURATION = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
pidfile {folder}/pid
argsfile {folder}/arguments
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload back_monitor
threads 8
database config
rootdn "cn=config"
rootpw secret
database monitor
access to * by * read
database mdb
suffix "dc=field"
rootdn "cn=admin,dc=field"
rootpw secret
directory {folder}/data
maxsize 33554432
index objectClass,cn eq
"""


class Slapd(Server):
    name = package = process = "slapd"
    packages = ("ldap-utils",)
    needs = ("slapd", "ldapsearch", "ldapadd", "ldapmodify")
    operation = "searches, additions, changes and deletions of four clients; its monitor, log level and index changed"

    def prepare(self, place):
        place.folder_of("data", "openldap")
        place.write("slapd.conf", CONFIGURATION.format(folder=place.folder))

    def url(self, place):
        return f"ldap://127.0.0.1:{place.port}/"

    def command(self, place):
        return ["slapd", "-h", self.url(place), "-g", "openldap", "-u", "openldap", "-f", place.path("slapd.conf")]

    def change(self, place, text, who="cn=admin,dc=field"):
        client(["ldapmodify", "-x", "-H", self.url(place), "-D", who, "-w", "secret"], text=text)

    def load(self, place, outcome, seconds):
        self.change(place, "dn: dc=field\nchangetype: add\nobjectClass: domain\ndc: field\n")
        end, done = time.monotonic() + seconds, []

        def work(which):
            rounds = 0
            while time.monotonic() < end:
                names = [f"cn=p{which}-{number},dc=field" for number in range(100)]
                self.change(place, "\n".join(f"dn: {name}\nchangetype: add\nobjectClass: person\nsn: s\n" for name in names))
                found = client(["ldapsearch", "-x", "-LLL", "-H", self.url(place), "-b", "dc=field", f"(cn=p{which}-*)", "cn"])
                if found.count("dn:") != len(names):
                    outcome.checks.add(f"{found.count('dn:')} found")
                self.change(place, "\n".join(f"dn: {name}\nchangetype: modify\nreplace: sn\nsn: t{rounds}\n" for name in names))
                self.change(place, "\n".join(f"dn: {name}\nchangetype: delete\n" for name in names))
                rounds += 1
            done.append(rounds * 301)

        workers = [threading.Thread(target=work, args=(which,)) for which in range(4)]
        for one in workers:
            one.start()
        for one in workers:
            one.join()
        outcome.operations = sum(done)
        outcome.checks.add(f"clients that ended well: {len(done)}")

    def controls(self, place, run):
        def monitor():
            text = client(["ldapsearch", "-x", "-LLL", "-H", self.url(place), "-b", "cn=monitor", "+"])
            return "monitor: " + " ".join(str(word in text) for word in ("cn=Threads", "monitorCounter", "cn=Connections"))

        def level():
            for value in ("stats", "none"):
                self.change(place, f"dn: cn=config\nchangetype: modify\nreplace: olcLogLevel\nolcLogLevel: {value}\n", "cn=config")
            return "log level changed"

        def threads():
            for value in ("6", "8"):
                self.change(place, f"dn: cn=config\nchangetype: modify\nreplace: olcThreads\nolcThreads: {value}\n", "cn=config")
            return "threads changed"

        return [monitor, level, monitor, threads]


PROGRAM = Slapd()
