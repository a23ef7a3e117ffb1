# SPDX-License-Identifier: Apache-2.0
"""node with a server whose pool of threads hashes, compresses and reads files, and a worker."""
from program import Server, http_get, wrk

SOURCE = """
const http = require("http"), crypto = require("crypto"), zlib = require("zlib"), fs = require("fs");
const { Worker } = require("worker_threads");
const shared = new Int32Array(new SharedArrayBuffer(64));
const worker = new Worker(`const { parentPort, workerData } = require("worker_threads");
parentPort.on("message", (n) => { let s = 0; for (let i = 0; i < 20000; i++) s += i % n;
Atomics.add(workerData, 0, 1); parentPort.postMessage(s); });`, { eval: true, workerData: shared });
const waiting = [];
worker.on("message", (sum) => waiting.shift().end(`worker ${sum}\\n`));
const text = "word ".repeat(2000);
http.createServer((request, answer) => {
	if (request.url == "/hash")
		crypto.pbkdf2("a", "b", 200, 32, "sha256", (error, key) => answer.end(key.toString("hex") + "\\n"));
	else if (request.url == "/zip")
		zlib.gzip(text, (error, zipped) => answer.end(`${zlib.gunzipSync(zipped).length}\\n`));
	else if (request.url == "/file")
		fs.readFile(__filename, (error, data) => answer.end(`${data.length}\\n`));
	else if (request.url == "/collect") {
		const garbage = []; for (let i = 0; i < 100000; i++) garbage.push({ i });
		answer.end(`${garbage.length}\\n`);
	} else {
		waiting.push(answer); worker.postMessage(7);
	}
}).listen(Number(process.argv[2]), "127.0.0.1");
process.on("SIGTERM", () => { worker.terminate(); process.exit(0); });
"""


class Node(Server):
    name = "node"
    package = "nodejs"
    packages = ("wrk",)
    needs = ("node", "wrk")
    process = "node"
    operation = "HTTP requests that hash, compress, read files in its thread pool; a worker, garbage collection"

    def prepare(self, place):
        place.write("server.js", SOURCE)

    def command(self, place):
        return ["node", place.path("server.js"), str(place.port)]

    def load(self, place, outcome, seconds):
        for path in ("hash", "zip", "file", "worker"):
            wrk(outcome, f"http://127.0.0.1:{place.port}/{path}", seconds / 4, 8)

    def controls(self, place, run):
        def answers():
            return "answers: " + " ".join(http_get(place.port, "/" + path).split("\r\n\r\n")[-1].strip()[-12:]
                                          for path in ("hash", "zip", "file", "worker", "collect"))

        return [answers]


PROGRAM = Node()
