# SPDX-License-Identifier: Apache-2.0
"""A web server of our own, for programs that stand in front of one."""
import http.server
import threading

PAGE = b"<html><head><title>field</title></head><body>" + b"<p>words and <a href='/other'>links</a></p>" * 40 + b"</body></html>"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):  # pylint: disable=invalid-name
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_arguments):  # pylint: disable=arguments-differ
        """Says nothing."""


def serve(place):
    """Answers at place.port_of("web") until the place goes away."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", place.port_of("web")), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place.closing += [server.shutdown, server.server_close]
