# SPDX-License-Identifier: Apache-2.0
"""named, for a zone that is edited meanwhile, and its rndc."""
from dns import ZONE, NameServer
from program import client

CONFIGURATION = """
options {{
    directory "{folder}";
    pid-file "{folder}/pid";
    session-keyfile "{folder}/session.key";
    listen-on port {port} {{ 127.0.0.1; }};
    listen-on-v6 {{ none; }};
    recursion no;
    dnssec-validation no;
    statistics-file "{folder}/statistics";
    zone-statistics full;
    notify no;
}};
key field {{ algorithm hmac-sha256; secret "ZmllbGRmaWVsZGZpZWxk"; }};
controls {{ inet 127.0.0.1 port {control} allow {{ 127.0.0.1; }} keys {{ field; }}; }};
statistics-channels {{ inet 127.0.0.1 port {web} allow {{ 127.0.0.1; }}; }};
logging {{ channel file {{ file "{folder}/log" versions 3 size 1m; severity info; }}; category default {{ file; }};
    category queries {{ file; }}; }};
zone "field.test" {{ type primary; file "{folder}/zone"; allow-update {{ 127.0.0.1; }}; }};
"""
RNDC = """
key field {{ algorithm hmac-sha256; secret "ZmllbGRmaWVsZGZpZWxk"; }};
options {{ default-key field; default-server 127.0.0.1; default-port {control}; }};
"""


class Bind(NameServer):
    name, package, process = "bind9", "bind9", "named"
    packages = ("dnsperf", "bind9-dnsutils", "bind9-utils")
    needs = ("named", "rndc", "nsupdate", "dnsperf")
    operation = "questions by UDP and TCP at a given rate; statistics, dynamic updates, query log, freeze, reload"

    def prepare(self, place):
        place.folder_of("zones")
        place.write("zone", ZONE, 0o666)
        ports = {"port": place.port, "control": place.port_of("control"), "web": place.port_of("web")}
        place.write("named.conf", CONFIGURATION.format(folder=place.folder, **ports))
        place.write("rndc.conf", RNDC.format(**ports))

    def command(self, place):
        return ["named", "-f", "-u", "bind", "-n", "4", "-c", place.path("named.conf")]

    def controls(self, place, run):
        names = iter(range(1000000))

        def ask(*words):
            return client(["rndc", "-c", place.path("rndc.conf"), *words], status=False).strip()

        def statistics():
            page = client(["curl", "-s", f"http://127.0.0.1:{place.port_of('web')}/json/v1"], status=False)
            return f"statistics: {ask('stats')} {'server' in page or 'json' in page} {len(ask('status')) > 100}"

        def update():
            text = f"server 127.0.0.1 {place.port}\nzone field.test\nupdate add new{next(names)}.field.test 60 A 127.0.0.8\nsend\n"
            return "updated: " + client(["nsupdate"], status=False, text=text).strip()

        def others():
            return "others: " + repr([ask("querylog", "on"), ask("sync"), ask("flush"), ask("querylog", "off")])

        def freeze():
            ask("freeze")
            return "reload: " + ask("thaw")[-40:] + ask("reconfig")

        return [statistics, update, others, update, freeze]


PROGRAM = Bind()
